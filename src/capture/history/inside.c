/* SPDX-License-Identifier: MIT
 *
 * Run git inside the sandbox, on files and configuration that the agent wrote.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture-internal.h"
#include "ga/base/clock.h"
#include "ga/repo/import.h"
#include "ga/sys/fd.h"

/* git inside may take as long as honest work of that size does on a slow and busy machine. For
 * scale: two busy cores took 8 s for 50 000 small text files; LFS, if it does not stay in memory,
 * starts processes for each file. */
#define STEP_MS 60000ull  /* for all commands of a step, whatever there is to do, if git_time is
			   * this long; the times below scale with git_time */
#define PER_FILE_MS 20ull /* in addition, for each file ... */
#define PER_MIB_MS 200ull /* ... and for its content, which is hashed and deflated */
#define MOST 10u          /* times a step: a file that is one hole can have any size */

/* Greatest output of one command: a million paths with their ids, several times over. A pack may be
 * as large as an import allows. */
#define MAX_OUTPUT ((size_t)256 << 20)

#define PACK_SLACK ((size_t)1 << 20) /* so much more of a pack is read, so that it is seen to be too
				      * large */

void close_inside(struct capture *c)
{
	ga_run_finish(c->sandbox);
	c->sandbox = NULL;
}

void allow_inside(struct capture *c, uint64_t files, uint64_t bytes)
{
	uint64_t step = c->e->limits->git_time * 1000, most = (MOST - 1) * STEP_MS;
	uint64_t mib = bytes >> 20, more;

	/* each is bounded first, so that their sum does not overflow */
	more = (files < most ? files : most) * PER_FILE_MS + (mib < most ? mib : most) * PER_MIB_MS;
	c->allowed_ms = (unsigned)(step + (more < most ? more : most) * step / STEP_MS);
	c->left_ms = c->allowed_ms;
}

static int too_long(struct capture *c, struct ga_error *err)
{
	cleanup_free char *what = ga_strf("git inside took longer than the %u seconds it is given "
					  "for this", c->allowed_ms / 1000);
	cleanup_free char *full = limit_met(c, GA_LIMIT_GIT_TIME, what);

	return ga_fail(err, GA_EFATAL, "%s", full);
}

static int exec_inside(struct capture *c, struct ga_run_exec *r, int *ret_status,
		       struct ga_error *err)
{
	cleanup_error struct ga_error inner = GA_ERROR_INIT;
	cleanup_free char *pack = NULL;
	int64_t start = ga_now_ms(), took;
	struct stat st;
	int rc;

	if (!c->left_ms)
		return too_long(c, err);
	r->timeout_ms = c->left_ms;
	rc = ga_run_exec(c->sandbox, r, ret_status, &inner);
	took = ga_now_ms() - start;
	c->left_ms = took < c->left_ms ? c->left_ms - (unsigned)took : 0;
	if (!rc)
		return 0;
	if (r->out_fd >= 0 && !fstat(r->out_fd, &st) &&
	    (uint64_t)st.st_size > c->e->limits->pack_size) {
		pack = limit_met(c, GA_LIMIT_PACK_SIZE, "the pack is too large");
		return ga_fail(err, GA_EFATAL, "%s", pack);
	}
	return c->left_ms ? ga_error_move(err, &inner) : too_long(c, err);
}

int run_program_inside(struct capture *c, const char *const *argv, const struct inside *x,
		       int *ret_status, struct ga_error *err)
{
	cleanup_strv struct ga_strv env = GA_STRV_INIT;
	cleanup_buf struct ga_buf dropped = GA_BUF_INIT;
	struct ga_run_exec r = { .cwd = c->s->id.project, .argv = argv, .in = x->in,
				 .out = x->out, .out_fd = x->out_fd,
				 .errout = x->errout ? x->errout : &dropped,
				 .out_max = x->out_fd < 0 ? MAX_OUTPUT :
					    (size_t)c->e->limits->pack_size + PACK_SLACK };

	c->words = false;
	/* not counted as git's time: a base tree may have to be made first */
	if (!c->sandbox && c->e->open_sandbox(c->e->payload, &c->sandbox, err))
		return ga_error_wrap(err, "cannot run git inside");
	for (size_t i = 0; c->e->sandbox_env && c->e->sandbox_env[i]; i++)
		ga_strv_push(&env, c->e->sandbox_env[i]);
	for (size_t i = 0; x->env && x->env[i]; i++)
		ga_strv_push(&env, x->env[i]);
	r.envp = (const char *const *)env.v;
	return exec_inside(c, &r, ret_status, err);
}

int run_inside(struct capture *c, const struct inside *x, int *ret_status, struct ga_error *err)
{
	cleanup_strv struct ga_strv argv = GA_STRV_INIT;

	/* These would run with the agent's rights in a hidden sandbox: harmless, but useless. */
	ga_strv_push_many(&argv, "git", "-c", "core.fsmonitor=false", "-c",
			  "core.hooksPath=/dev/null", "-c", "core.untrackedCache=false", NULL);
	for (size_t i = 0; x->args[i]; i++)
		ga_strv_push(&argv, x->args[i]);
	return run_program_inside(c, (const char *const *)argv.v, x, ret_status, err);
}

bool must_fail(const struct capture *c, const struct ga_error *inner)
{
	return !c->sandbox || (!c->words && ga_means_disk_trouble(inner->msg));
}

int run_inside_ok(struct capture *c, const struct inside *x, struct ga_error *err)
{
	cleanup_buf struct ga_buf errout = GA_BUF_INIT;
	cleanup_free char *line = NULL;
	struct inside heard = *x;
	size_t verb = 0;
	int status;

	heard.errout = &errout;
	if (run_inside(c, &heard, &status, err))
		return -1;
	if (!status)
		return 0;
	while (!strcmp(x->args[verb], "-c"))
		verb += 2;
	c->words = true;
	line = ga_git_last_line(&errout);
	return ga_fail(err, GA_EFATAL, "git %s inside failed: %s", x->args[verb],
		       line ? line : "no message");
}

/* Assumes that a path has at most 256 bytes on average, and that a history changes each path 25
 * times. */
void ga_capture_import_limits(const struct ga_limits *l, struct ga_import_limits *ret)
{
	*ret = (struct ga_import_limits){
		.max_pack_bytes = l->pack_size,
		.max_object_bytes = l->object_size,
		.max_total_bytes = l->unpacked_size,
		.max_objects = (uint32_t)l->objects,
		.max_commits = (uint32_t)l->commits,
		.max_paths = l->entries,
		.max_path_bytes = l->entries * 256 + 4096,
		.max_all_paths = l->entries * 25,
		.timeout_ms = (unsigned)l->git_time * MOST * 1000,
	};
}

void begin_import(struct capture *c)
{
	c->until = ga_now_ms() + (int64_t)c->e->limits->git_time * MOST * 1000;
}

unsigned import_left(const struct capture *c)
{
	int64_t now = ga_now_ms();

	return now < c->until ? (unsigned)(c->until - now) : 0;
}

/* Name the limit that the import exceeded, if it did. */
static void name_limit(struct capture *c, enum ga_import_over over, char **reason)
{
	static const enum ga_limit limits[] = {
		[GA_IMPORT_PACK_BYTES] = GA_LIMIT_PACK_SIZE,
		[GA_IMPORT_OBJECT_BYTES] = GA_LIMIT_OBJECT_SIZE,
		[GA_IMPORT_TOTAL_BYTES] = GA_LIMIT_UNPACKED_SIZE,
		[GA_IMPORT_OBJECTS] = GA_LIMIT_OBJECTS,
		[GA_IMPORT_COMMITS] = GA_LIMIT_COMMITS,
		[GA_IMPORT_PATHS] = GA_LIMIT_ENTRIES,
		[GA_IMPORT_TIME] = GA_LIMIT_GIT_TIME,
	};
	cleanup_free char *plain = NULL;

	if (over == GA_IMPORT_WITHIN)
		return;
	plain = *reason;
	*reason = limit_met(c, limits[over], plain);
}

static int try_pack(struct capture *c, int fd, const struct ga_oid *tips, size_t n_tips,
		    const struct ga_oid *hide, size_t n_hide, bool *ret_over, char **ret_reason,
		    struct ga_error *err)
{
	struct ga_import_limits limits;
	struct ga_import *im = NULL;
	int rc;

	ga_capture_import_limits(c->e->limits, &limits);
	limits.timeout_ms = import_left(c);
	if (lseek(fd, 0, SEEK_SET))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read the agent's objects");
	if (ga_import_begin(c->e->repo, &limits,
			    c->e->progress ? c->e->progress_delay_ms : GA_PROGRESS_NEVER, &im, err))
		return -1;
	rc = ga_import_pack(im, fd, ret_reason, err);
	if (!rc && n_tips)
		rc = ga_import_check(im, tips, n_tips, hide, n_hide, ret_reason, err);
	if (!rc)
		rc = ga_import_migrate(im, &c->keeps, err);
	/* before ga_import_free() removes what was written, which gives the space back */
	if (rc == 1 && ga_disk_full(ga_repo_info(c->e->repo)->commondir))
		rc = ga_fail(err, GA_EFATAL, "no space left for the agent's objects");
	*ret_over = rc == 1 && ga_import_over(im) != GA_IMPORT_WITHIN;
	if (rc == 1)
		name_limit(c, ga_import_over(im), ret_reason);
	ga_import_free(im);
	return rc;
}

/* Can as much as the pack has be written to the object directory? */
static int probe_objects(const struct capture *c, int fd, struct ga_error *err)
{
	off_t size = lseek(fd, 0, SEEK_END);

	if (ga_import_probe(c->e->repo, size < 0 ? 0 : (uint64_t)size, err))
		return ga_error_wrap(err, "cannot store the agent's objects");
	return 0;
}

/* git fails with the same exit status for bad objects and for objects that it cannot write, and its
 * messages contain the agent's words. So a pack is the agent's doing only if it is refused twice
 * and as much can be written. */
int import_pack(struct capture *c, int fd, const struct ga_oid *tips, size_t n_tips,
		const struct ga_oid *hide, size_t n_hide, char **ret_reason, struct ga_error *err)
{
	cleanup_free char *first = NULL;
	bool over;
	int rc;

	c->words = false;
	rc = try_pack(c, fd, tips, n_tips, hide, n_hide, &over, &first, err);
	if (rc != 1)
		return rc;
	/* a limit is our own refusal: trying again is useless */
	if (over)
		*ret_reason = ga_steal(&first);
	else
		rc = probe_objects(c, fd, err);
	if (!rc)
		rc = try_pack(c, fd, tips, n_tips, hide, n_hide, &over, ret_reason, err);
	c->words = rc == 1;
	return rc;
}
