/* SPDX-License-Identifier: MIT
 *
 * What the oracle's agent does with git.
 */
#include "oracle.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/base/alloc.h"
#include "ga/base/buf.h"
#include "ga/base/path.h"

#define MAX_ARGS 16

int run(struct work *w, const char *first, ...)
{
	const char *argv[MAX_ARGS + 1] = { first };
	cleanup_buf struct ga_buf line = GA_BUF_INIT;
	int status = -1;
	va_list ap;
	pid_t pid;

	va_start(ap, first);
	for (size_t n = 1; n < MAX_ARGS && (argv[n] = va_arg(ap, const char *)); n++)
		ga_buf_addf(&line, " %s", argv[n]);
	va_end(ap);
	note(w, first, line.ptr, "");
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		(void)dup2(null, 0);
		(void)dup2(null, 1);
		(void)dup2(w->log ? fileno(w->log) : null, 2);
		(void)execvp(first, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void commit(struct work *w, const char *how)
{
	cleanup_free char *message = ga_strf("commit %u\n\nof the agent\n", w->serial++);

	(void)run(w, "git", "commit", "-q", "-m", message, how, NULL);
}

static void add_some(struct work *w)
{
	cleanup_free char *path = ga_strf(":(literal)%s", some_path(w));

	switch (pick(w, 7)) {
	case 6:
		/* a submodule, where there is one */
		(void)run(w, "git", "rm", "-rqf", chance(w, 60) ? "--cached" : "-q", "--", "lib/m", NULL);
		break;
	case 0:
		(void)run(w, "git", "add", "-f", "--", path, NULL);
		break;
	case 1:
		(void)run(w, "git", "rm", "-rqf", "--cached", "--", path, NULL);
		break;
	case 2:
		(void)run(w, "git", "add", "--", path, NULL);
		break;
	default:
		(void)run(w, "git", "add", "-A", NULL);
		break;
	}
}

/* What people do with a file that should never have been committed. */
static void untrack(struct work *w)
{
	cleanup_free char *path = ga_strdup(some_path(w)), *spec = ga_strf(":(literal)%s", path);
	FILE *f = fopen(".gitignore", "ae");

	if (f) {
		(void)fprintf(f, "/%s\n", path);
		(void)fclose(f);
	}
	(void)run(w, "git", "rm", "-rqf", "--cached", "--", spec, NULL);
	commit(w, chance(w, 50) ? "-a" : "-q");
}

/* Switch to another branch, and back again or not. */
static void branch(struct work *w)
{
	cleanup_free char *name = ga_strf("%s%u", chance(w, 30) ? "topic/" : "side", w->serial++);

	(void)run(w, "git", "switch", "-q", "-c", name, chance(w, 50) ? "HEAD" : "HEAD~1", NULL);
	if (chance(w, 70)) {
		work_plainly(w);
		(void)run(w, "git", "add", "-A", NULL);
		commit(w, "--allow-empty-message");
	}
	if (chance(w, 75))
		(void)run(w, "git", "switch", "-q", "-", NULL);
	if (chance(w, 40))
		(void)run(w, "git", "merge", "-q", "-m", "merge", name, NULL);
}

/* Now and then leave a conflict as it is. */
static void rebase(struct work *w)
{
	(void)run(w, "git", "stash", "-q", "-u", NULL);
	if (run(w, "git", "-c", "core.editor=true", "rebase", "-q", "-f", "HEAD~2", NULL) && chance(w, 70))
		(void)run(w, "git", "rebase", "--abort", NULL);
	if (chance(w, 70))
		(void)run(w, "git", "stash", "pop", "-q", NULL);
}

static void look_back(struct work *w)
{
	cleanup_free char *path = ga_strf(":(literal)%s", some_path(w));

	switch (pick(w, 7)) {
	case 0:
		(void)run(w, "git", "reset", "-q", "--soft", "HEAD~1", NULL);
		break;
	case 1:
		(void)run(w, "git", "reset", "-q", "--hard", chance(w, 50) ? "HEAD" : "HEAD~1", NULL);
		break;
	case 2:
		(void)run(w, "git", "checkout", "-q", "HEAD", "--", path, NULL);
		break;
	case 3:
		(void)run(w, "git", "clean", "-qfd", NULL);
		break;
	case 4:
		(void)run(w, "git", "checkout", "-q", "--detach", NULL);
		break;
	case 5:
		(void)run(w, "git", "rm", "-rqf", "--", path, NULL);
		break;
	default:
		(void)run(w, "git", "cherry-pick", "--allow-empty", "HEAD~1", NULL);
		break;
	}
}

static void nest(struct work *w)
{
	cleanup_free char *path = ga_strdup(chance(w, 10) ? "lib/m" : some_path(w));

	(void)run(w, "git", "init", "-q", "--", path, NULL);
	if (chance(w, 60))
		(void)run(w, "git", "-C", path, "-c", "user.name=n", "-c", "user.email=n@example.com", "commit",
			  "-q", "--allow-empty", "-m", "nested", NULL);
}

static void stash(struct work *w)
{
	(void)run(w, "git", "stash", "-q", chance(w, 50) ? "-u" : "-q", NULL);
	if (chance(w, 60))
		(void)run(w, "git", "stash", "pop", "-q", NULL);
}

void work_with_git(struct work *w)
{
	w->used_git = true;
	switch (pick(w, 14)) {
	case 0: case 1: case 2:
		(void)run(w, "git", "add", "-A", NULL);
		commit(w, "-q");
		break;
	case 3: case 4:
		add_some(w);
		break;
	case 5:
		commit(w, "-a");
		break;
	case 6:
		/* only now and then of the base, which costs the history */
		if (w->serial > 1 || chance(w, 20))
			commit(w, "--amend");
		break;
	case 7:
		branch(w);
		break;
	case 8:
		stash(w);
		break;
	case 9:
		rebase(w);
		break;
	case 10:
		nest(w);
		break;
	case 11:
		commit(w, "--allow-empty");
		break;
	case 12:
		untrack(w);
		break;
	default:
		look_back(w);
		break;
	}
}
