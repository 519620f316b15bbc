/* SPDX-License-Identifier: MIT
 *
 * Try inherited descriptors and keys, and other processes.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe.h"

#define NR_LANDLOCK_CREATE_RULESET 444
#define LANDLOCK_VERSION_QUERY 1u
#define LANDLOCK_SCOPES 6 /* the first ABI with scopes */

static long raise_caps(const void *arg)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	(void)arg;
	memset(caps, 0, sizeof(caps));
	caps[0].effective = caps[0].permitted = 1u << CAP_SYS_CHROOT;
	return syscall(SYS_capset, &head, caps);
}

void probe_caps(const struct facts *f, struct result *r)
{
	static const char *const sets[] = { "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:" };
	char status[8192];
	const char *line;
	int e;

	(void)f;
	if (slurp("/proc/self/status", status, sizeof(status)) < 0) {
		attempt(r, false, 0, "/proc/self/status cannot be read");
		return;
	}
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		line = strstr(status, sets[i]);
		attempt(r, line && starts_with(line + 7, "\t0000000000000000\n"), 0,
			"%s is not empty", sets[i]);
	}
	line = strstr(status, "NoNewPrivs:");
	attempt(r, line && starts_with(line, "NoNewPrivs:\t1"), 0, "new privileges can be had");
	line = strstr(status, "Seccomp:");
	attempt(r, line && starts_with(line, "Seccomp:\t2"), 0, "there is no filter");
	e = in_child(raise_caps, NULL);
	attempt(r, e != 0, e, "a capability can be raised");
	attempt_call(r, prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_CHROOT, 0, 0),
		     "an ambient capability can be raised");
}

static bool has_bytes(const char *buf, size_t n, const char *what)
{
	return memmem(buf, n, what, strlen(what)) != NULL;
}

void probe_environment(const struct facts *f, struct result *r)
{
	static char buf[256 << 10];
	DIR *d = opendir("/proc");
	struct dirent *e;

	attempt(r, f->token && d, 0, "there is nothing to look for");
	while (d && !r->failed && (e = readdir(d)) != NULL) {
		char path[300];
		long n;

		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%s/environ", e->d_name);
		n = slurp(path, buf, sizeof(buf));
		attempt(r, n < 0 || !has_bytes(buf, (size_t)n, f->token), n < 0 ? errno : 0,
			"%s has the host's", path);
	}
	attempt_call(r, slurp("/proc/1/environ", buf, sizeof(buf)), "/proc/1/environ is open");
	if (d)
		(void)closedir(d);
}

void probe_descriptors(const struct facts *f, struct result *r)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	char link[4096], path[300];

	(void)f;
	attempt(r, d != NULL, 0, "/proc/self/fd cannot be read");
	while (d && (e = readdir(d)) != NULL) {
		long fd = strtol(e->d_name, NULL, 10);
		ssize_t n;

		if (e->d_name[0] == '.' || fd == dirfd(d))
			continue;
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		link[n < 0 ? 0 : n] = '\0';
		attempt(r, fd <= 2, EBADF, "descriptor %ld is open: %s", fd, link);
		/* not even the caller's own files, which could be reopened with other modes */
		attempt(r, starts_with(link, "pipe:") || starts_with(link, "/dev/"), EBADF,
			"descriptor %ld is a file: %s", fd, link);
	}
	if (d)
		(void)closedir(d);
}

static long search_key(const void *arg)
{
	return syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", arg, 0);
}

void probe_keyring(const struct facts *f, struct result *r)
{
	static char buf[64 << 10];
	int e = in_child(search_key, f->key ? f->key : "");
	long n = slurp("/proc/keys", buf, sizeof(buf));

	attempt(r, e != 0, e, "a key of the host is found");
	attempt(r, e == EPERM || e >= KILLED || e == ENOSYS, e, "keyctl reaches the kernel");
	attempt(r, n <= 0, e, "/proc/keys lists keys");
}

static void try_socket(struct result *r, const char *path)
{
	int e = connect_unix(path, false);

	attempt(r, e != 0, e, "%s answers", path);
}

/* Paths below the user's runtime directory, as systemd makes it. */
static void try_runtime(struct result *r, const char *const *names)
{
	for (; *names; names++) {
		char path[200];

		(void)snprintf(path, sizeof(path), "/run/user/%u/%s", (unsigned)getuid(), *names);
		try_socket(r, path);
	}
}

static void no_variable(struct result *r, const char *name)
{
	attempt(r, !env_value(name), ENOENT, "%s is set", name);
}

void probe_sockets(const struct facts *f, struct result *r)
{
	static const char *const system[] = {
		"/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock",
		"/run/containerd/containerd.sock", "/run/buildkit/buildkitd.sock",
		"/run/libvirt/libvirt-sock", "/run/snapd.socket", "/run/crio/crio.sock",
		"/var/snap/lxd/common/lxd/unix.socket", "/run/nscd/socket", "/dev/log",
		"/run/systemd/journal/stdout", "/run/mysqld/mysqld.sock",
		"/run/postgresql/.s.PGSQL.5432", "/nix/var/nix/daemon-socket/socket",
	};
	static const char *const user[] = { "docker.sock", "podman/podman.sock", "gvfsd",
					    "emacs/server", NULL };

	/* without such a socket the test would prove nothing */
	attempt(r, f->socket != NULL, 0, "there is nothing to look for");
	if (f->socket)
		try_socket(r, f->socket);
	for (size_t i = 0; i < sizeof(system) / sizeof(system[0]); i++)
		try_socket(r, system[i]);
	try_runtime(r, user);
}

static long landlock_abi(void)
{
	return syscall(NR_LANDLOCK_CREATE_RULESET, NULL, (size_t)0, LANDLOCK_VERSION_QUERY);
}

void probe_abstract(const struct facts *f, struct result *r)
{
	int e = f->abstract ? connect_unix(f->abstract, true) : 0;

	attempt(r, e != 0, e, landlock_abi() < LANDLOCK_SCOPES
		? "answers; Linux 6.12 or newer with Landlock keeps sessions from it"
		: "answers");
}

void probe_scope(const struct facts *f, struct result *r)
{
	int e = f->abstract ? connect_unix(f->abstract, true) : 0;

	r->absent = landlock_abi() < LANDLOCK_SCOPES;
	/* where the scope is not in force, connecting succeeds or fails with another error */
	if (!r->absent)
		attempt(r, e == EPERM, e, "it is not in force");
}

void probe_bus(const struct facts *f, struct result *r)
{
	static const char *const user[] = { "bus", "systemd/private", "systemd/notify", NULL };

	(void)f;
	no_variable(r, "DBUS_SESSION_BUS_ADDRESS");
	no_variable(r, "DBUS_SYSTEM_BUS_ADDRESS");
	no_variable(r, "XDG_RUNTIME_DIR");
	try_socket(r, "/run/dbus/system_bus_socket");
	try_socket(r, "/run/systemd/private");
	try_runtime(r, user);
}

void probe_display(const struct facts *f, struct result *r)
{
	static const char *const user[] = { "wayland-0", "wayland-1", "pipewire-0",
					    "pulse/native", NULL };
	int e;

	(void)f;
	no_variable(r, "DISPLAY");
	no_variable(r, "WAYLAND_DISPLAY");
	no_variable(r, "XAUTHORITY");
	no_variable(r, "PULSE_SERVER");
	try_socket(r, "/tmp/.X11-unix/X0");
	try_runtime(r, user);
	e = connect_unix("/tmp/.X11-unix/X0", true);
	attempt(r, e != 0, e, "the X server answers");
}

void probe_agents(const struct facts *f, struct result *r)
{
	static const char *const user[] = { "gnupg/S.gpg-agent", "gnupg/S.gpg-agent.ssh",
					    "keyring/ssh", "keyring/control", "ssh-agent.socket",
					    NULL };
	const char *home = env_value("HOME");
	char path[200];

	(void)f;
	no_variable(r, "SSH_AUTH_SOCK");
	no_variable(r, "SSH_AGENT_PID");
	no_variable(r, "GPG_AGENT_INFO");
	try_runtime(r, user);
	(void)snprintf(path, sizeof(path), "%.150s/.gnupg/S.gpg-agent", home ? home : "");
	try_socket(r, path);
}
