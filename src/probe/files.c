/* SPDX-License-Identifier: MIT
 *
 * Try to see and change the host through files.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "probe.h"

#define DEEP 12

/* Try to open for writing, without writing anything. */
static int open_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	(void)close(fd);
	return 0;
}

static void no_write(struct result *r, const char *path)
{
	int e = open_write(path);
	struct statvfs fs;

	/* for a running program the kernel reports this first */
	if (e == ETXTBSY && !statvfs(path, &fs) && fs.f_flag & ST_RDONLY)
		e = EROFS;
	attempt(r, e != 0 && e != ETXTBSY, e, "%s can be written", path);
}

static void no_read(struct result *r, const char *path)
{
	char c[2];
	long n = slurp(path, c, sizeof(c));

	attempt(r, n <= 0, n < 0 ? errno : 0, "%s can be read", path);
}

typedef void visit_fn(struct result *r, const char *path, const struct stat *st);

static void walk(struct result *r, const char *path, unsigned depth, visit_fn *fn)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && !r->failed && (e = readdir(d)) != NULL) {
		char at[4096];
		struct stat st;
		int n = snprintf(at, sizeof(at), "%s/%s", path, e->d_name);

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || n < 0 ||
		    (size_t)n >= sizeof(at) || lstat(at, &st))
			continue;
		if (S_ISDIR(st.st_mode) && depth)
			walk(r, at, depth - 1, fn);
		else if (!S_ISLNK(st.st_mode))
			fn(r, at, &st);
	}
	if (d)
		(void)closedir(d);
}

/* Files that only root can read outside: uid 0 of a session must not own them. */
static void visit_private(struct result *r, const char *path, const struct stat *st)
{
	if (S_ISREG(st->st_mode) && !(st->st_mode & S_IROTH))
		no_read(r, path);
}

/* Try to rename a directory above the project, which would move the mount. Undone if it
 * succeeds. */
static void no_rename(struct result *r, const char *dir)
{
	char away[4096];
	int n = snprintf(away, sizeof(away), "%s-probe", dir);
	int e = n < 0 || (size_t)n >= sizeof(away) ? ENAMETOOLONG : rename(dir, away) ? errno : 0;

	attempt(r, e != 0, e, "%s can be renamed", dir);
	if (!e)
		(void)rename(away, dir);
}

void probe_masks(const struct facts *f, struct result *r)
{
	const char *home = env_value("HOME");
	char cwd[4096];

	(void)f;
	no_rename(r, "/run/git-agent");
	no_rename(r, "/run/git-agent/init");
	attempt_call(r, umount2("/run/git-agent/init", MNT_DETACH), "a mount can be taken away");
	if (home && getcwd(cwd, sizeof(cwd)) && starts_with(cwd, home)) {
		for (size_t n = strlen(cwd); n > strlen(home); cwd[n] = '\0') {
			no_rename(r, cwd);
			while (n && cwd[n] != '/')
				n--;
		}
	}
	if (getuid() == 0) {
		walk(r, "/etc", DEEP, visit_private);
		no_write(r, "/etc/shadow");
		no_write(r, "/etc/passwd");
	}
}

static void visit_sysctl(struct result *r, const char *path, const struct stat *st)
{
	int fd;

	if (!S_ISREG(st->st_mode))
		return;
	if (strcmp(path, "/proc/sys/kernel/ns_last_pid") != 0) {
		no_write(r, path);
		return;
	}
	/* its mode allows opening; writing asks for a capability */
	fd = open(path, O_WRONLY | O_CLOEXEC);
	attempt_call(r, fd < 0 ? fd : write(fd, "", 0), path);
	if (fd >= 0)
		(void)close(fd);
}

/* Every visible process must be of our own pid namespace, and that must not be the host's. */
static void only_ours(const struct facts *f, struct result *r)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	attempt(r, d && f->pidns, 0, "there is nothing to look for");
	while (d && f->pidns && (e = readdir(d)) != NULL) {
		char path[300], number[32];
		struct stat st;

		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%s/ns/pid", e->d_name);
		if (stat(path, &st))
			continue;
		(void)snprintf(number, sizeof(number), "%llu", (unsigned long long)st.st_ino);
		attempt(r, strcmp(number, f->pidns) != 0, ESRCH, "process %s is of the host",
			e->d_name);
	}
	if (d)
		(void)closedir(d);
}

void probe_proc(const struct facts *f, struct result *r)
{
	static const char *const closed[] = { "/proc/1/environ", "/proc/1/mem", "/proc/1/maps",
					      "/proc/kcore", "/proc/kmsg" };
	static const char *const links[] = { "/proc/1/root", "/proc/1/cwd", "/proc/1/exe",
					     "/proc/1/fd/0", "/proc/1/ns/mnt" };
	static const char *const files[] = { "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern",
					     "/proc/sys/kernel/modprobe", "/proc/mtrr",
					     "/proc/irq/default_smp_affinity" };
	struct rlimit core;
	char link[4096];

	only_ours(f, r);
	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		no_read(r, closed[i]);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		attempt_call(r, readlink(links[i], link, sizeof(link)), links[i]);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		no_write(r, files[i]);
	walk(r, "/proc/sys", DEEP, visit_sysctl);
	/* a core_pattern that is a pipe runs its program as root on the host */
	attempt(r, !getrlimit(RLIMIT_CORE, &core) && core.rlim_max <= 1, EPERM,
		"core dumps can be made");
}

void probe_devices(const struct facts *f, struct result *r)
{
	static const char *const known[] = { ".",      "..",	 "null",   "zero",   "full",
					     "random", "urandom", "tty",    "fd",     "stdin",
					     "stdout", "stderr", "core",   "ptmx",   "pts",
					     "shm" };
	static const char *const others[] = { "/sys/class",  "/sys/block", "/sys/bus",
					      "/sys/kernel/debug", "/sys/kernel/security",
					      "/var/lib/systemd", "/var/lib/private",
					      "/dev/kvm",  "/dev/fuse",  "/dev/mem",
					      "/dev/kmsg", "/dev/vda",   "/dev/sda",
					      "/dev/loop0", "/dev/net/tun", "/dev/uinput" };
	DIR *d = opendir("/dev");
	struct dirent *e;

	(void)f;
	attempt(r, d != NULL, 0, "/dev cannot be read");
	while (d && (e = readdir(d)) != NULL) {
		bool found = false;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			found = found || !strcmp(known[i], e->d_name);
		attempt(r, found, ENOENT, "/dev/%.100s is there", e->d_name);
	}
	if (d)
		(void)closedir(d);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		attempt_call(r, open(others[i], O_PATH | O_CLOEXEC), others[i]);
}

void probe_setuid(const struct facts *f, struct result *r)
{
	static char buf[512 << 10];
	char *save = NULL;

	(void)f;
	attempt(r, slurp("/proc/self/mountinfo", buf, sizeof(buf)) > 0, 0, "no list of mounts");
	for (char *line = strtok_r(buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *options = strstr(line, " - ");

		if (options)
			*options = '\0';
		attempt(r, strstr(line, "nosuid") != NULL, EPERM, "set-uid bits count: %.99s",
			line);
	}
}

void probe_pivots(const struct facts *f, struct result *r)
{
	static const char *const ways[] = { "", "/oldroot", "/newroot", "/proc/self/root",
					    "/proc/self/root/../..", "/proc/1/root", "/proc/1/cwd",
					    "/proc/self/cwd/../../../../../../../../../../../..",
					    "/proc/thread-self/root", "/dev/fd/../root" };
	struct stat root, up;

	for (const char *const *h = f->hidden; *h; h++) {
		for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
			char path[4096];

			(void)snprintf(path, sizeof(path), "%s%s", ways[i], *h);
			attempt_call(r, open(path, O_PATH | O_CLOEXEC), path);
		}
	}
	attempt(r, f->hidden[0] != NULL, 0, "there is nothing to look for");
	attempt(r, !stat("/", &root) && !stat("/..", &up) && root.st_ino == up.st_ino &&
		root.st_dev == up.st_dev, ENOENT, "there is something above /");
	attempt_call(r, access("/oldroot", F_OK), "/oldroot is there");
	attempt_call(r, access("/newroot", F_OK), "/newroot is there");
}

void probe_helpers(const struct facts *f, struct result *r)
{
	no_write(r, "/run/git-agent/init");
	no_write(r, "/proc/1/exe");
	attempt_call(r, unlink("/run/git-agent/init"), "/run/git-agent/init can be removed");
	for (const char *const *p = f->programs; *p; p++)
		no_write(r, *p);
}

void probe_credentials(const struct facts *f, struct result *r)
{
	static const char *const names[] = {
		".cargo/credentials", ".cargo/credentials.toml", ".npmrc", ".yarnrc", ".yarnrc.yml",
		".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties",
		".gradle/init.gradle", ".nuget/NuGet/NuGet.Config", ".config/NuGet/NuGet.Config",
		".gem/credentials", ".local/share/gem/credentials", ".composer/auth.json",
		".config/composer/auth.json", ".docker/config.json", ".kube/config", ".pypirc",
		".netrc", ".git-credentials", ".config/git/credentials", ".config/gh/hosts.yml",
		".config/hub", ".config/pip/pip.conf", ".aws/credentials", ".ssh/id_rsa",
		".ssh/id_ed25519", ".gnupg/private-keys-v1.d", ".config/gcloud/credentials.db",
		".bunfig.toml", ".terraform.d/credentials.tfrc.json", ".bash_history",
		".zsh_history", ".sdkman/etc/config", ".azure/accessTokens.json",
	};
	const char *home = env_value("HOME");

	(void)f;
	attempt(r, home != NULL, 0, "HOME is not set");
	for (size_t i = 0; home && i < sizeof(names) / sizeof(names[0]); i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/%s", home, names[i]);
		no_read(r, path);
	}
}
