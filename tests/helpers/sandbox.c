/* SPDX-License-Identifier: MIT
 *
 * sandbox STAGE OPTION... -- COMMAND ARG...: start the sandbox that the options describe, with
 * COMMAND as its pid 1 and the caller's standard streams. Options: --dir D (holds stage, upper,
 * work, git; made if missing), --project P, --home H, --home-source S, --lower L, --shared
 * REL=LOWER, --object O, --ro R, --no-network, --find COMMAND (tools for it from $PATH), --fd N
 * (kept open), --print (plan and arguments, one word a line, instead of starting), --time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/sandbox/plan.h"
#include "ga/sandbox/sandbox.h"
#include "ga/sys/fd.h"

extern char **environ;

struct run {
	struct ga_spec spec;
	struct ga_strv keep;
	const char *find;
	bool print, time;
};

static int fail(struct ga_error *err)
{
	fprintf(stderr, "sandbox: %s\n", err->msg);
	if (err->hint)
		fprintf(stderr, "hint: %s\n", err->hint);
	return ga_error_status(err->code);
}

static char *subdir(const char *dir, const char *name)
{
	char *path = ga_path_join(dir, name);

	(void)mkdir(path, 0755);
	return path;
}

static void set_dir(struct ga_spec *s, const char *dir)
{
	cleanup_free char *work = ga_strf("work-%d", (int)getpid());

	(void)mkdir(dir, 0700);
	s->stage_dir = subdir(dir, "stage");
	s->upper = subdir(dir, "upper");
	s->work = subdir(dir, work);
	s->git.upper = subdir(dir, "git");
}

static void add_shared(struct ga_spec *s, const char *arg)
{
	static size_t cap; /* static: there is one spec only */
	const char *eq = strchr(arg, '=');
	cleanup_free char *parent = ga_path_parent(s->upper), *name = NULL, *dir = NULL;
	struct ga_shared *sh;

	GA_GROW(s->shared, s->n_shared, cap);
	name = ga_strf("shared%zu-%d", s->n_shared, (int)getpid());
	dir = subdir(parent, name);
	sh = &s->shared[s->n_shared++];
	*sh = (struct ga_shared){ .rel = ga_strndup(arg, (size_t)(eq - arg)),
				  .lower = ga_strdup(eq + 1),
				  .upper = subdir(dir, "upper"),
				  .work = subdir(dir, "work"),
				  .removed = ga_path_join(dir, "removed") };
}

static int option(struct run *r, const char *name, const char *v)
{
	struct ga_spec *s = &r->spec;

	if (!strcmp(name, "--dir"))
		set_dir(s, v);
	else if (!strcmp(name, "--project"))
		s->project = ga_strdup(v);
	else if (!strcmp(name, "--home"))
		s->home = ga_strdup(v);
	else if (!strcmp(name, "--home-source"))
		s->home_dir.source = ga_strdup(v);
	else if (!strcmp(name, "--lower"))
		ga_strv_push(&s->lowers, v);
	else if (!strcmp(name, "--shared"))
		add_shared(s, v);
	else if (!strcmp(name, "--object"))
		ga_strv_push(&s->object_dirs, v);
	else if (!strcmp(name, "--ro"))
		ga_strv_push(&s->host.ro, v);
	else if (!strcmp(name, "--find"))
		r->find = v;
	else if (!strcmp(name, "--fd"))
		ga_strv_push_many(&r->keep, "--keep", v, NULL);
	else
		return -1;
	return 0;
}

static char **parse(struct run *r, char **argv)
{
	for (; *argv && strcmp(*argv, "--"); argv++) {
		if (!strcmp(*argv, "--no-network"))
			r->spec.network = false;
		else if (!strcmp(*argv, "--print"))
			r->print = true;
		else if (!strcmp(*argv, "--time"))
			r->time = true;
		else if (!argv[1] || option(r, argv[0], argv[1]))
			return NULL;
		else
			argv++;
	}
	return *argv ? argv + 1 : argv;
}

static void show(const struct ga_buf *b)
{
	const char *word;
	size_t pos = 0;

	while ((word = ga_buf_next0(b, &pos)) != NULL)
		puts(word);
}

static int inherit(const char *name, const struct ga_buf *b, struct ga_error *err)
{
	int fd = ga_memfd(name, b->ptr, b->len, err);

	return fd < 0 || fcntl(fd, F_SETFD, 0) ? -1 : fd;
}

static int start(struct run *r, const char *stage, char **command, struct ga_error *err)
{
	cleanup_buf struct ga_buf plan = GA_BUF_INIT, args = GA_BUF_INIT, bpf = GA_BUF_INIT;
	cleanup_buf struct ga_buf record = GA_BUF_INIT;
	cleanup_strv struct ga_strv a = GA_STRV_INIT;
	cleanup_free char *bwrap = NULL;
	const void *filter;
	size_t n;
	struct timespec t0, t1;
	int p, g, b, status[2], go[2], code;
	pid_t pid;

	if (ga_spec_plan_system(&r->spec, &plan, err) || ga_spec_plan_root(&r->spec, "/bin/true", &plan, err))
		return fail(err);
	ga_spec_plan_home(&r->spec, &plan);
	if (ga_spec_plan_trees(&r->spec, &plan, err) || ga_find_bwrap(getenv("PATH"), true, &bwrap, err))
		return fail(err);
	filter = ga_seccomp_program(&n);
	ga_buf_add(&bpf, filter, n);
	ga_spec_bwrap_args(&r->spec, &args);
	if (r->print) {
		show(&plan);
		show(&args);
		return 0;
	}
	p = inherit("plan", &plan, err);
	g = inherit("args", &args, err);
	b = inherit("bpf", &bpf, err);
	if (p < 0 || g < 0 || b < 0 || pipe2(status, O_CLOEXEC) || pipe2(go, O_CLOEXEC))
		return fail(err);
	ga_strv_push_many(&a, stage, "--plan", NULL);
	ga_strv_pushf(&a, "%d", p);
	ga_strv_push(&a, "--status");
	ga_strv_pushf(&a, "%d", status[1]);
	ga_strv_push(&a, "--keep");
	ga_strv_pushf(&a, "%d", g);
	ga_strv_push(&a, "--keep");
	ga_strv_pushf(&a, "%d", b);
	ga_strv_push(&a, "--keep");
	ga_strv_pushf(&a, "%d", go[0]);
	ga_strv_extend(&a, &r->keep);
	ga_strv_push_many(&a, "--", bwrap, "--args", NULL);
	ga_strv_pushf(&a, "%d", g);
	ga_strv_push(&a, "--seccomp");
	ga_strv_pushf(&a, "%d", b);
	/* bwrap may be up before everything is mounted */
	ga_strv_push(&a, "--block-fd");
	ga_strv_pushf(&a, "%d", go[0]);
	ga_strv_push(&a, "--");
	for (; *command; command++)
		ga_strv_push(&a, *command);
	(void)clock_gettime(CLOCK_MONOTONIC, &t0);
	pid = fork();
	if (!pid) {
		(void)fcntl(status[1], F_SETFD, 0);
		(void)fcntl(go[0], F_SETFD, 0);
		(void)execv(stage, a.v);
		_exit(99);
	}
	(void)close(status[1]);
	(void)close(go[0]);
	if (ga_read_fd(status[0], 65536, &record, err) || (!record.len && write(go[1], "", 1) != 1))
		return fail(err);
	(void)clock_gettime(CLOCK_MONOTONIC, &t1);
	if (r->time)
		fprintf(stderr, "stage %.3f ms\n",
			(double)(t1.tv_sec - t0.tv_sec) * 1e3 + (double)(t1.tv_nsec - t0.tv_nsec) / 1e6);
	if (waitpid(pid, &code, 0) != pid)
		return 99;
	(void)clock_gettime(CLOCK_MONOTONIC, &t1);
	if (r->time)
		fprintf(stderr, "whole %.3f ms\n",
			(double)(t1.tv_sec - t0.tv_sec) * 1e3 + (double)(t1.tv_nsec - t0.tv_nsec) / 1e6);
	if (record.len) {
		size_t pos = 0;
		const char *step = ga_buf_next0(&record, &pos), *num = ga_buf_next0(&record, &pos);
		const char *object = ga_buf_next0(&record, &pos);

		fprintf(stderr, "%s %s\n", step, num);
		(void)ga_stage_explain(step, (int)strtol(num, NULL, 10), object, err);
		return fail(err);
	}
	return WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
}

int main(int argc, char **argv)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	struct run r = { .spec = { .network = true } };
	char **command;
	int rc;

	command = argc > 2 ? parse(&r, argv + 2) : NULL;
	if (!command || !r.spec.home || !r.spec.project || !r.spec.stage_dir || !r.spec.home_dir.source) {
		fprintf(stderr, "usage: sandbox STAGE OPTION... -- COMMAND ARG...\n");
		return 99;
	}
	if (r.find && ga_spec_find_tools(r.spec.home, getenv("PATH"), r.find, &r.spec.host.tools, &err))
		return fail(&err);
	ga_spec_environment(&r.spec, getenv("PATH"), (const char *const *)environ, &(const struct ga_strv)GA_STRV_INIT);
	rc = start(&r, argv[1], command, &err);
	ga_spec_release(&r.spec);
	ga_strv_release(&r.keep);
	return rc;
}
