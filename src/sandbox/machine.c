/* SPDX-License-Identifier: MIT
 *
 * What kind of machine this is: the remedy for a sandbox that fails depends on it.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "sandbox-internal.h"

enum machine { PLAIN, CODESPACES, DOCKER, PODMAN, KUBERNETES, OTHER, WSL1, WSL2 };

static const struct {
	const char *name;
	const char *allow; /* what allows namespaces and mounts there; a complete phrase */
} machines[] = {
	[PLAIN] = { NULL, NULL },
	[CODESPACES] = { "GitHub Codespaces",
			 "add to .devcontainer/devcontainer.json: \"runArgs\": "
			 "[\"--security-opt\", \"seccomp=unconfined\", "
			 "\"--security-opt\", \"apparmor=unconfined\", "
			 "\"--security-opt\", \"systempaths=unconfined\"]; then rebuild the "
			 "container" },
	[DOCKER] = { "Docker",
		     "docker run --security-opt seccomp=unconfined --security-opt "
		     "apparmor=unconfined --security-opt systempaths=unconfined ..." },
	[PODMAN] = { "Podman",
		     "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL "
		     "--security-opt label=disable ..." },
	[KUBERNETES] = { "Kubernetes",
			 "in the pod: securityContext: {seccompProfile: {type: Unconfined}, "
			 "appArmorProfile: {type: Unconfined}, procMount: Unmasked}, hostUsers: "
			 "false" },
	[OTHER] = { "a container", "allow it user namespaces, mounts and a /proc of its own" },
	[WSL1] = { "WSL 1", "in Windows: wsl --set-version DISTRIBUTION 2" },
	[WSL2] = { "WSL 2", "in Windows: wsl --update, then wsl --shutdown" },
};

static bool there(const char *path)
{
	return !access(path, F_OK);
}

static enum machine find(void)
{
	struct utsname u;

	if (there("/workspaces/.codespaces"))
		return CODESPACES;
	if (there("/run/secrets/kubernetes.io"))
		return KUBERNETES;
	if (there("/.dockerenv"))
		return DOCKER;
	if (there("/run/.containerenv"))
		return PODMAN;
	if (there("/run/systemd/container"))
		return OTHER;
	if (uname(&u) || !strcasestr(u.release, "microsoft"))
		return PLAIN;
	return strstr(u.release, "WSL2") || strstr(u.release, "-standard") ? WSL2 : WSL1;
}

const char *ga_machine(void)
{
	return machines[find()].name;
}

bool sandbox_hint_machine(struct ga_error *err)
{
	enum machine p = find();

	if (p == PLAIN)
		return false;
	(void)ga_hint(err, "this looks like %s: %s", machines[p].name, machines[p].allow);
	return true;
}

bool sandbox_is_filtered(void)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	return !ga_read_file_at(AT_FDCWD, "/proc/self/status", 65536, &b, &ignored) &&
	       strstr(b.ptr, "\nSeccomp:\t2");
}

bool sandbox_explain_old(struct ga_error *err)
{
	cleanup_free char *q = NULL;
	struct ga_version v;
	struct utsname u;

	if (uname(&u) || !ga_parse_release(u.release, &v) || !ga_version_before(&v, 5, 12))
		return false;
	q = ga_escape(u.release);
	(void)ga_fail(err, GA_ESTART, "this kernel (%s) is too old: Linux 5.12 or newer is needed",
		      q);
	if (find() != WSL1 && find() != WSL2)
		(void)ga_hint(err, "install a newer kernel and restart the machine (Debian: "
				   "linux-image-amd64 of backports; Ubuntu: linux-generic-hwe)");
	else
		(void)sandbox_hint_machine(err);
	return true;
}
