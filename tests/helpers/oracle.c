/* SPDX-License-Identifier: MIT
 *
 *     oracle base SEED        make a repository with one commit in the current directory
 *     oracle dirty SEED       leave uncommitted work in it
 *     oracle rules SEED       leave a file of ignore rules that ignores itself
 *     oracle agent SEED DIR   be the agent: work, then leave a plain copy of what is
 *                             seen in DIR/tree, ids in DIR/head and DIR/refs, and what
 *                             was done in DIR/log
 *
 * Driven by tests/integration/capture/t4100-oracle.t.
 */
#include "oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/alloc.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"

void note(struct work *w, const char *what, const char *a, const char *b)
{
	cleanup_free char *qa = ga_quote(a), *qb = ga_quote(b);

	if (!w->log)
		return;
	(void)fprintf(w->log, "%s %s %s\n", what, qa, qb);
	(void)fflush(w->log);
}

static void write_file(const char *path, const char *s)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	if (fd < 0 || ga_write_full(fd, s, strlen(s)))
		exit(1);
}

/* ---- the user */

/* Properties of the repository besides its files. */
static void configure(struct work *w)
{
	if (chance(w, 12))
		(void)run(w, "git", "config", "core.fileMode", "false", NULL);
	if (chance(w, 50))
		write_file(".git/info/exclude", "*.log\nign/\n");
	/* a file of attributes, if one that says nothing, tells the agent that content is
	 * converted here */
	if (chance(w, 6)) {
		(void)run(w, "git", "config", "core.autocrlf", "input", NULL);
		write_file(".gitattributes", "# none\n");
	} else if (chance(w, 6)) {
		write_file(".gitattributes", chance(w, 50) ? "* text=auto\n" : "a text\nd/* ident eol=lf\n");
	}
}

/* The user's ignored files are shown but not captured, and an ignored directory is shared even if
 * it is empty. */
static void drop_ignored(struct work *w)
{
	(void)run(w, "git", "clean", "-qffdX", NULL);
	(void)run(w, "find", ".", "-type", "d", "-empty", "-not", "-path", "./.git/*", "-delete", NULL);
}

static void base(struct work *w)
{
	static const char link[] = "160000,1111111111111111111111111111111111111111,lib/m";
	bool gitlink = chance(w, 30);
	unsigned n = chance(w, 10) ? 0 : 10 + pick(w, 30);

	(void)run(w, "git", "init", "-q", NULL);
	configure(w);
	for (unsigned i = 0; i < n; i++)
		work_plainly(w);
	(void)run(w, "git", "add", "-Af", ".", NULL);
	if (gitlink) {
		(void)run(w, "rm", "-rf", "lib", NULL);
		(void)run(w, "git", "rm", "-rq", "--cached", "--ignore-unmatch", "lib", NULL);
		(void)run(w, "git", "update-index", "--add", "--cacheinfo", link, NULL);
	}
	(void)run(w, "git", "commit", "-q", "--allow-empty", "-m", "base", NULL);
	(void)run(w, "git", "reset", "-q", "--hard", NULL);
	drop_ignored(w);
}

static void dirty(struct work *w)
{
	look_around(w);
	for (unsigned i = 1 + pick(w, 8); i; i--)
		work_plainly(w);
	drop_ignored(w);
}

/* Ignore rules that ignore themselves, as tools leave them: in no tree, but shown to the agent. All
 * other ignored files are removed, as above. */
static void own_rules(struct work *w)
{
	static const char *const dirs[] = { "d", "f", "lib", "one" };
	static const char *const rules[] = { "*\n", "a\n.gitignore\n", "*.log\nb/\n.git*\n" };
	const char *dir = dirs[pick(w, GA_NELEMS(dirs))], *text = rules[pick(w, GA_NELEMS(rules))];
	cleanup_free char *file = ga_strf("%s/.gitignore", dir);

	for (int i = 0; i < 2; i++) {
		struct stat st;

		if ((mkdir(dir, 0755) && errno != EEXIST) || lstat(dir, &st))
			exit(1);
		if (!S_ISDIR(st.st_mode))
			return;
		write_file(file, text);
		if (!i)
			drop_ignored(w);
	}
}

/* ---- the agent */

static int tell(struct work *w, const char *dir)
{
	cleanup_free char *script = ga_strf("git rev-parse HEAD >'%s/head'; "
					    "git for-each-ref --format='%%(refname) %%(objectname)' "
					    "refs/heads refs/stash >'%s/refs'", dir, dir);

	return w->used_git ? run(w, "sh", "-c", script, NULL) : 0;
}

static int agent(struct work *w, const char *dir)
{
	cleanup_free char *tree = ga_strf("%s/tree", dir), *log = ga_strf("%s/log", dir);
	const char *given = getenv("ORACLE_STEPS");
	unsigned steps = 2 + pick(w, chance(w, 20) ? 40 : 14), use_git = chance(w, 60) ? 25 : 0;

	if (mkdir(dir, 0755) || !(w->log = fopen(log, "we")))
		return 1;
	/* for bisecting a failure: the same work, but only the first part of it */
	if (given)
		steps = (unsigned)strtoul(given, NULL, 10);
	look_around(w);
	for (unsigned i = 0; i < steps; i++) {
		if (chance(w, use_git))
			work_with_git(w);
		else
			work_at_files(w);
	}
	return tell(w, dir) || copy_view(tree) ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct work w = { .wild = false };
	const char *verb = argc > 2 ? argv[1] : "";

	if (argc > 2)
		w.state = strtoull(argv[2], NULL, 10) * 0x2545f4914f6cdd1du;
	(void)umask(022);
	/* so that commit ids depend on the seed alone */
	(void)setenv("GIT_AUTHOR_DATE", "1600000000 +0000", 1);
	(void)setenv("GIT_COMMITTER_DATE", "1600000000 +0000", 1);
	if (!strcmp(verb, "base") && argc == 3) {
		base(&w);
	} else if (!strcmp(verb, "dirty") && argc == 3) {
		dirty(&w);
	} else if (!strcmp(verb, "rules") && argc == 3) {
		own_rules(&w);
	} else if (!strcmp(verb, "agent") && argc == 4) {
		w.wild = chance(&w, 30);
		exit(agent(&w, argv[3]));
	} else {
		(void)fputs("usage: oracle base|dirty|rules SEED, oracle agent SEED DIR\n", stderr);
		return 129;
	}
	return 0;
}
