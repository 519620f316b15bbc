/* SPDX-License-Identifier: MIT
 *
 * Tables of the host's places that a sandbox shows, and of its own.
 */
#include <stdlib.h>

#include "ga/base/path.h"
#include "sandbox-internal.h"

/* Of /nix and /gnu only the stores: the daemons' sockets are next to them, and a read-only mount
 * does not prevent connecting. */
const char *const sandbox_system_dirs[] = {
	"/usr", "/etc", "/opt", "/nix/store", "/nix/var/nix/profiles", "/gnu/store", "/snap", NULL,
};

/* Only these: the parent has databases and configuration, and /home/linuxbrew may be a user's
 * home. */
const char *const sandbox_brew_dirs[] = {
	"/home/linuxbrew/.linuxbrew/bin", "/home/linuxbrew/.linuxbrew/sbin",
	"/home/linuxbrew/.linuxbrew/lib", "/home/linuxbrew/.linuxbrew/libexec",
	"/home/linuxbrew/.linuxbrew/opt", "/home/linuxbrew/.linuxbrew/Cellar",
	"/home/linuxbrew/.linuxbrew/include", "/home/linuxbrew/.linuxbrew/share",
	"/home/linuxbrew/.linuxbrew/etc/ca-certificates",
	"/home/linuxbrew/.linuxbrew/etc/openssl@3", NULL,
};

const char *const sandbox_root_names[] = { "bin", "sbin", "lib", "lib32", "lib64", "libx32", NULL };

/* Directories with a new mount, which hides the host's. */
const char *const sandbox_fresh_dirs[] = {
	"/proc", "/dev", "/tmp", "/var/tmp", "/run", "/sys", NULL
};

char *sandbox_real(const char *path)
{
	/* from malloc(), like the memory of the ga_ wrappers */
	char *real = realpath(path, NULL);

	return real ? real : ga_strdup(path);
}

const char *sandbox_shown_by(const struct ga_spec *s, const char *path)
{
	const char *dir = ga_path_within(path, sandbox_system_dirs);

	if (!dir)
		dir = ga_path_within(path, sandbox_brew_dirs);
	if (!dir)
		dir = ga_strv_above(&s->host.ro, path);
	return dir ? dir : ga_strv_above(&s->host.rw, path);
}

bool sandbox_is_system(const char *path)
{
	static const char *const more[] = { "/bin",   "/sbin", "/lib", "/lib32",
					    "/lib64", "/boot", "/var", NULL };
	const char *const *const tables[] = { sandbox_system_dirs, sandbox_fresh_dirs, more };

	for (size_t t = 0; t < GA_NELEMS(tables); t++)
		for (size_t i = 0; tables[t][i]; i++)
			if (ga_path_inside(tables[t][i], path))
				return true;
	return ga_path_inside(path, "/proc") || ga_path_inside(path, "/dev") ||
	       ga_path_inside(path, "/sys");
}

bool sandbox_in_system(const char *path)
{
	for (size_t i = 0; sandbox_root_names[i]; i++) {
		cleanup_free char *dir = ga_path_join("/", sandbox_root_names[i]);

		if (ga_path_inside(path, dir))
			return true;
	}
	return ga_path_within(path, sandbox_system_dirs) ||
	       ga_path_within(path, sandbox_brew_dirs);
}

bool sandbox_starts_early(const struct ga_spec *s)
{
	return !sandbox_shown_by(s, s->home) &&
	       (ga_path_inside(s->project, s->home) || !sandbox_shown_by(s, s->project));
}
