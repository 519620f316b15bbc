/* SPDX-License-Identifier: MIT
 *
 * git-agent-probe NAME=VALUE...: run inside a session, try what an agent might, and print a line
 * for each id of docs/threats.md: "ID\tHELD\tERRNO\tWHAT", HELD being "held", "failed" or "absent".
 * `git agent doctor --deep` runs it; it exits 1 if anything failed.
 *
 * git-agent-probe --linger FILE: make FILE, then wait to be killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

#define LIST_MAX 128

static const struct {
	const char *id;
	probe_fn *fn;
	const char *what;
} probes[] = {
	{ "SB-01", probe_caps, "no capability, and none to be had" },
	{ "SB-02", probe_namespaces, "no further namespaces" },
	{ "SB-03", probe_masks, "what is hidden stays hidden" },
	{ "SB-05", probe_environment, "no variable of the host" },
	{ "SB-06", probe_descriptors, "no descriptor of the host" },
	{ "SB-07", probe_keyring, "no key of the host" },
	{ "SB-08", probe_sockets, "no socket by its path" },
	{ "SB-09", probe_abstract, "no abstract socket" },
	{ "SB-10", probe_bus, "no D-Bus, no systemd" },
	{ "SB-11", probe_display, "no display, no sound" },
	{ "SB-12", probe_agents, "no ssh-agent, no gpg-agent" },
	{ "SB-13", probe_proc, "/proc shows and changes nothing outside" },
	{ "SB-14", probe_devices, "no devices, no /sys" },
	{ "SB-15", probe_processes, "pid 1 cannot be read or traced" },
	{ "SB-16", probe_setuid, "no set-uid program works" },
	{ "SB-17", probe_table, "refused system calls, in every ABI" },
	{ "SB-18", probe_scope, "Landlock scopes sockets and signals" },
	{ "SB-19", probe_pivots, "no other way to the host's files" },
	{ "SB-22", probe_helpers, "our own programs cannot be written" },
	{ "TT-01", probe_typing, "nothing types into a terminal" },
	{ "TT-02", probe_console, "nothing changes a console" },
	{ "PS-03", probe_credentials, "no credentials beside the toolchains" },
};
#define N_PROBES (sizeof(probes) / sizeof(probes[0]))

/* Creating it may succeed; the host checks whether it arrived there. */
static void leave_traces(const struct facts *f)
{
	for (const char **d = f->dirs; f->token && *d; d++) {
		char path[4096];
		int n = snprintf(path, sizeof(path), "%s/git-agent-probe-%s", *d, f->token), fd;

		if (n < 0 || (size_t)n >= sizeof(path))
			continue;
		fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
		if (fd >= 0)
			(void)close(fd);
	}
}

static const char *errno_name(int e, char buf[16])
{
	static const struct {
		int e;
		const char *name;
	} names[] = {
		{ 0, "-" }, { EPERM, "EPERM" }, { ENOENT, "ENOENT" }, { EACCES, "EACCES" },
		{ ESRCH, "ESRCH" }, { EBUSY, "EBUSY" }, { ENOSYS, "ENOSYS" }, { EROFS, "EROFS" },
		{ ENOTTY, "ENOTTY" }, { EXDEV, "EXDEV" }, { ENOSPC, "ENOSPC" },
		{ ECONNREFUSED, "ECONNREFUSED" }, { EAFNOSUPPORT, "EAFNOSUPPORT" },
		{ EPROTONOSUPPORT, "EPROTONOSUPPORT" }, { EIO, "EIO" }, { EINVAL, "EINVAL" },
		{ KILLED + SIGSYS, "SIGSYS" }, { KILLED + SIGSEGV, "SIGSEGV" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].e == e)
			return names[i].name;
	(void)snprintf(buf, 16, "%d", e);
	return buf;
}

static void print(const char *id, const struct result *r, const char *what)
{
	char number[16];

	(void)printf("%s\t%s\t%s\t%s%s%s\n", id,
		     r->failed ? "failed" : r->absent ? "absent" : "held",
		     errno_name(r->errnum, number), what, r->failed ? ": " : "",
		     r->failed ? r->what : "");
}

static int linger(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return 1;
	(void)close(fd);
	for (;;)
		(void)pause();
}

struct lists {
	const char *dirs[LIST_MAX + 1], *hidden[LIST_MAX + 1], *programs[LIST_MAX + 1];
};

static bool push(const char **list, const char *value)
{
	size_t n = 0;

	while (list[n])
		n++;
	if (n == LIST_MAX)
		return false;
	list[n] = value;
	return true;
}

static bool take_fact(struct facts *f, const char *arg)
{
	const struct {
		const char *name;
		const char **one, **list;
	} names[] = {
		{ "token=", &f->token, NULL },	   { "socket=", &f->socket, NULL },
		{ "abstract=", &f->abstract, NULL }, { "key=", &f->key, NULL },
		{ "pidns=", &f->pidns, NULL },	   { "dir=", NULL, f->dirs },
		{ "hidden=", NULL, f->hidden },	   { "program=", NULL, f->programs },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i].name);

		if (strncmp(arg, names[i].name, n) != 0)
			continue;
		if (names[i].list)
			return push(names[i].list, arg + n);
		*names[i].one = arg + n;
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	static struct lists lists;
	struct facts f = { .dirs = lists.dirs, .hidden = lists.hidden,
			   .programs = lists.programs };
	int status = 0;

	if (argc == 3 && !strcmp(argv[1], "--linger"))
		return linger(argv[2]);
	for (int i = 1; i < argc; i++) {
		if (!take_fact(&f, argv[i])) {
			(void)fprintf(stderr, "usage: git-agent-probe NAME=VALUE...\n"
					      "git-agent runs this program\n");
			return 129;
		}
	}
	leave_traces(&f);
	for (size_t i = 0; i < N_PROBES; i++) {
		struct result r = { .failed = false };

		probes[i].fn(&f, &r);
		print(probes[i].id, &r, probes[i].what);
		status = r.failed ? 1 : status;
		/* so that a child that is killed later does not print it again */
		(void)fflush(stdout);
	}
	return ferror(stdout) ? 1 : status;
}
