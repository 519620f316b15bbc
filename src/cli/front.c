/* SPDX-License-Identifier: MIT
 *
 * git-agent itself: small and static, since loading the other libraries takes half as long as
 * setting up a sandbox. For a start it begins the sandbox, which comes up while git-agent-main
 * loads; for commands that need git's configuration, git reads it in parallel, too. Nothing is
 * decided or reported here: git-agent-main repeats what failed, and reports it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/repo.h"
#include "ga/sys/fd.h"
#include "host.h"

static const int passed[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };

static void __attribute__((noreturn)) end_as(int st, const sigset_t *mask)
{
	if (WIFSIGNALED(st)) {
		(void)signal(WTERMSIG(st), SIG_DFL);
		(void)sigprocmask(SIG_SETMASK, mask, NULL);
		(void)raise(WTERMSIG(st));
	}
	_exit(WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st));
}

/* Signals from the terminal or the session's process reach the whole process group anyway. */
static void pass_on(int sigfd, pid_t pid)
{
	struct signalfd_siginfo si;

	while (read(sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		if (si.ssi_signo != SIGCHLD && si.ssi_code <= 0 && si.ssi_pid != (uint32_t)pid)
			(void)kill(pid, (int)si.ssi_signo);
}

/* End or stop as the child did. Signals may have been merged, so check its state. */
static void follow(pid_t pid, const sigset_t *mask)
{
	int st;

	if (waitpid(pid, &st, WNOHANG | WUNTRACED) != pid)
		return;
	if (!WIFSTOPPED(st))
		end_as(st, mask);
	(void)raise(SIGSTOP);
	/* whoever continues us may not know of others */
	(void)kill(pid, SIGCONT);
}

static void __attribute__((noreturn)) keep(int left, int sigfd, pid_t pid, const sigset_t *mask)
{
	for (;;) {
		struct pollfd p[] = { { .fd = left, .events = POLLIN },
				      { .fd = sigfd, .events = POLLIN } };
		char c;

		if (poll(p, GA_NELEMS(p), -1) < 0)
			continue;
		if (p[0].revents && read(left, &c, 1) == 1)
			_exit(0);
		/* it ends, and SIGCHLD comes */
		if (p[0].revents)
			left = -1;
		if (p[1].revents)
			pass_on(sigfd, pid);
		follow(pid, mask);
	}
}

/* Fork a keeper: returns in its child with that descriptor, close-on-exec; or -1 without one. */
static int make_keeper(void)
{
	pid_t pid, parent = getpid();
	sigset_t watch, old;
	int p[2], sigfd;

	(void)sigemptyset(&watch);
	(void)sigaddset(&watch, SIGCHLD);
	for (size_t i = 0; i < GA_NELEMS(passed); i++)
		(void)sigaddset(&watch, passed[i]);
	sigfd = signalfd(-1, &watch, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sigfd < 0 || pipe2(p, O_CLOEXEC)) {
		ga_cleanup_closep(&sigfd);
		return -1;
	}
	(void)sigprocmask(SIG_BLOCK, &watch, &old);
	pid = fork();
	if (pid > 0) {
		(void)close(p[1]);
		keep(p[0], sigfd, pid, &old);
	}
	(void)prctl(PR_SET_PDEATHSIG, pid ? 0 : SIGTERM, 0, 0, 0);
	if (!pid && getppid() != parent)
		_exit(128 + SIGTERM);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	(void)close(sigfd);
	(void)close(p[0]);
	if (pid < 0)
		ga_cleanup_closep(&p[1]);
	return pid < 0 ? -1 : p[1];
}

/* Descriptors 0 to 2 must exist, or the next file opened would become one. */
static void sanitise_std_fds(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= 2);
	if (fd > 2)
		(void)close(fd);
	for (fd = 0; fd <= 2; fd++)
		(void)fcntl(fd, F_SETFD, 0);
}

struct command {
	struct ga_strv words; /* of -c */
	bool configured;      /* it needs git's configuration */
	bool starts;          /* it will most likely start a session */
	bool on_terminal;     /* a session that it starts or resumes uses this terminal */
	const char *network;  /* the mode its options name, "" for one that is not host, or NULL */
};

/* Guess the network from a start's options, which may be words of the agent's command. */
static void read_network(char **argv, struct command *ret)
{
	static const char mode[] = "--network", mode_is[] = "--network=", allow[] = "--allow";

	for (; *argv && strcmp(*argv, "--") != 0; argv++) {
		if (!strcmp(*argv, mode) && argv[1])
			ret->network = argv[1];
		else if (!strncmp(*argv, mode_is, sizeof(mode_is) - 1))
			ret->network = *argv + sizeof(mode_is) - 1;
		else if (!strncmp(*argv, allow, sizeof(allow) - 1) ||
			 !strcmp(*argv, "--no-network"))
			ret->network = "";
	}
}

static void read_command(char **argv, struct command *ret)
{
	static const char *const configured[] = { "capture", "diff", "drop", "land", "list",
						  "log", "resume", "review", "secrets", "show",
						  "start" };

	for (; *argv && !strcmp(*argv, "-c") && argv[1]; argv += 2)
		ga_strv_push(&ret->words, argv[1]);
	for (size_t i = 0; *argv && i < GA_NELEMS(configured); i++)
		ret->configured |= !strcmp(*argv, configured[i]);
	ret->starts = *argv && !strcmp(*argv, "start") && argv[1];
	ret->on_terminal = (ret->starts || (*argv && !strcmp(*argv, "resume"))) && isatty(0) &&
			   isatty(1);
	if (ret->starts)
		read_network(argv, ret);
	for (; *argv && strcmp(*argv, "--") != 0; argv++) {
		bool help = !strcmp(*argv, "-h") || !strcmp(*argv, "--help");

		ret->configured &= !help;
		ret->starts &= !help && strcmp(*argv, "--dry-run") != 0;
	}
}

/* Begin to read git's configuration for the repository of the current directory. */
static void load(const char *project, struct ga_error *err)
{
	cleanup_buf struct ga_buf value = GA_BUF_INIT;
	struct ga_gitconfig_load *l;
	const char *home = getenv("HOME");

	/* without one git-agent-main asks the user database, which no static program can */
	if (!home || *home != '/')
		return;
	l = ga_gitconfig_guess(project);
	if (l && (ga_gitconfig_hand_over(l, &value, err) || setenv(CLI_LOADING, value.ptr, 1)))
		ga_gitconfig_abandon(l);
}

static int begin(struct ga_env *e, const char *project, const struct command *command,
		 struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	cleanup_buf struct ga_buf value = GA_BUF_INIT;
	struct ga_sandbox *sb;
	bool own;

	if (cli_find_host(e, err) || cli_read_settings(e, &conf, &command->words, err))
		return -1;
	own = command->network ? strcmp(command->network, ga_network_name(GA_NETWORK_HOST)) != 0
			       : ga_start_guess_network(e, project);
	e->net.mode = own ? GA_NETWORK_NONE : GA_NETWORK_HOST;
	if (ga_start_begin_beside(e, project, &sb, err))
		return -1;
	if (!ga_run_hand_over(sb, &value, err)) {
		ga_buf_addf(&value, ":%s:%s", own ? "own" : "host", project);
		if (!setenv(CLI_BEGUN, value.ptr, 1))
			return 0;
	}
	ga_run_finish(sb);
	return -1;
}

/* Returns only on failure. */
static int become_main(const struct ga_env *e, int keeper, char **argv, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_parent(e->init), *fd = ga_strf("%d", keeper);
	cleanup_free char *program = ga_path_join(dir, "git-agent-main");

	if (keeper >= 0 && !setenv(CLI_KEEPER, fd, 1))
		(void)fcntl(keeper, F_SETFD, 0);
	(void)execv(program, argv);
	(void)ga_fail_errno(err, GA_ESTART, errno, "cannot run '%s'", program);
	return ga_hint(err, "the installation of git-agent is incomplete: run 'make install' in "
			    "its build directory");
}

int main(int argc, char **argv)
{
	struct ga_error err = GA_ERROR_INIT;
	struct ga_env env = { 0 };
	struct command command = { .words = GA_STRV_INIT };

	if (argc < 1)
		return ga_error_status(GA_EUSAGE);
	sanitise_std_fds();
	/* ignored SIGCHLD would discard the child's status */
	(void)signal(SIGCHLD, SIG_DFL);
	ga_trace_set(getenv("GIT_AGENT_TRACE"));
	ga_fault_set(getenv("GIT_AGENT_FAULT"));
	(void)unsetenv(CLI_BEGUN);
	(void)unsetenv(CLI_LOADING);
	(void)unsetenv(CLI_KEEPER);
	if (!cli_find_programs(&env, &err)) {
		char *project;
		int keeper;

		read_command(argv + 1, &command);
		/* processes begun here must be children of it */
		keeper = command.on_terminal ? make_keeper() : -1;
		project = command.configured ? ga_repo_guess() : NULL;
		if (project && command.starts)
			(void)begin(&env, project, &command, GA_IGNORED);
		if (project)
			load(project, GA_IGNORED);
		(void)become_main(&env, keeper, argv, &err);
	}
	(void)fprintf(stderr, "git-agent: %s\n", err.msg);
	if (err.hint)
		(void)fprintf(stderr, "hint: %s\n", err.hint);
	return ga_error_status(err.code);
}
