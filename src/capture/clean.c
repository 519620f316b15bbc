/* SPDX-License-Identifier: MIT
 *
 * Convert content as `git add` would (ends of lines, ident, encodings, LFS), by git inside the
 * sandbox: with the agent's files and attributes, the host's configuration, and a git dir of our
 * own in /tmp, so that the agent's private one is not read. Its output is ids and a pack. Also find
 * the files that a filter of the host should have converted and did not.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "capture-internal.h"
#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/gitdir.h"
#include "ga/repo/import.h"
#include "ga/repo/objects.h"
#include "ga/sandbox/sandbox.h"
#include "ga/sys/fd.h"

#define CLEAN_DIR "/tmp/git-agent-clean.git" /* in the /tmp of the sandbox, which is new */
#define MAX_TRIES 100 /* attempts to find the files that git cannot convert */
#define MAX_NAMED 20  /* of these files, in notes */
#define CLEAN_ATTRIBUTES CLEAN_DIR "/attributes"
#define CLEAN_INFO CLEAN_DIR "/info"

struct clean {
	struct capture *c;
	const struct ga_upper_opts *o;
	struct ga_strv env;
	struct ga_strv config; /* "-c", "key=value", ... */
	struct ga_strv args;
	bool lfs;              /* git-lfs can be run inside */
	struct ga_upper_files files; /* the files to be converted */
	bool asked;            /* git inside has named the filter of each file */
	/* Sorted lists of files: those for a filter of the host, those of them that it did not
	 * convert, and those that git could not convert. */
	struct ga_strv filtered, unfiltered, failed;
};

/* The configuration, followed by the arguments of one command; ended by NULL. */
static const char *const *clean_command(struct clean *cl, const char *const *args)
{
	ga_strv_release(&cl->args);
	ga_strv_extend(&cl->args, &cl->config);
	for (; *args; args++)
		ga_strv_push(&cl->args, *args);
	return (const char *const *)cl->args.v;
}

/* Run git inside with this environment and configuration. */
static int clean_git(struct clean *cl, const char *const *args, const struct ga_buf *in,
		     struct ga_buf *out, int out_fd, struct ga_error *err)
{
	struct inside x = INSIDE(.args = clean_command(cl, args), .in = in, .out = out,
				 .env = (const char *const *)cl->env.v);

	x.out_fd = out_fd;
	return run_inside_ok(cl->c, &x, err);
}

/* May this filter run inside? Filters are commands: LFS is known to work inside, others may run if
 * the user says so. */
static bool runs_inside(const struct clean *cl, const char *filter)
{
	if (!strcmp(filter, "lfs"))
		return cl->lfs;
	/* git splits "-c key=value" at the first '=' */
	return cl->c->e->risk && !strchr(filter, '=') &&
	       ga_strv_has(&cl->c->e->risk->filters, filter);
}

static bool host_defines(const struct capture *c, const char *filter)
{
	char *keys[] = { ga_strf("filter.%s.clean", filter),
				      ga_strf("filter.%s.process", filter) };
	bool defined = false;

	for (size_t i = 0; i < GA_NELEMS(keys); i++) {
		const char *command = ga_gitconfig_get(c->e->config, keys[i]);

		defined |= command && *command;
		free(keys[i]);
	}
	return defined;
}

/* Ask for the filter of each of these files. The output repeats path NUL "filter" NUL value NUL, in
 * the order asked. */
static int ask_filters(struct clean *cl, const struct ga_strv *files, bool closed,
		       struct ga_error *err)
{
	static const char *const args[] = { "check-attr", "-z", "--stdin", "filter", NULL };
	cleanup_buf struct ga_buf paths = GA_BUF_INIT, out = GA_BUF_INIT;
	size_t pos = 0;

	for (size_t i = 0; i < files->n; i++)
		ga_buf_add0(&paths, files->v[i]);
	if (files->n && clean_git(cl, args, &paths, &out, -1, err))
		return -1;
	for (size_t i = 0; i < files->n; i++) {
		const char *path = ga_buf_next0(&out, &pos);
		const char *attr = path ? ga_buf_next0(&out, &pos) : NULL;
		const char *value = attr ? ga_buf_next0(&out, &pos) : NULL;

		if (!value || strcmp(path, files->v[i]) != 0)
			return ga_fail(err, GA_EFATAL, "git inside did not tell the filter of "
				       "each file");
		if (!strcmp(value, "unspecified") || !strcmp(value, "unset") ||
		    !strcmp(value, "set") || !host_defines(cl->c, value))
			continue;
		ga_strv_push(&cl->filtered, path);
		if (closed || !runs_inside(cl, value))
			ga_strv_push(&cl->unfiltered, path);
		else if (!strcmp(value, "lfs"))
			cl->c->convert.lfs = true;
	}
	return 0;
}

/* Find the files that a filter of the host's should convert (to a pointer, to cipher text). */
static int find_filtered(struct clean *cl, struct ga_error *err)
{
	if (ask_filters(cl, &cl->files.open, false, err) ||
	    ask_filters(cl, &cl->files.closed, true, err))
		return -1;
	ga_strv_sort_unique(&cl->filtered);
	cl->asked = true;
	return 0;
}

/* Is any filter configured, for whatever files? */
static bool host_filters(const struct capture *c)
{
	const struct ga_gitconfig *conf = c->e->config;
	bool found = false;

	for (size_t i = 0; i < conf->n && !found; i++) {
		cleanup_free char *name = ga_gitconfig_filter(conf->v[i].key);

		found = name && host_defines(c, name);
	}
	return found;
}

/* Count files whose attributes git cannot read as not filtered: any filter may be for them. */
static void take_unsure(struct clean *cl)
{
	struct capture *c = cl->c;
	const struct ga_strv *unsure = &cl->files.unsure;

	if (!host_filters(c))
		return;
	ga_strv_extend(&c->convert.unfiltered, &cl->files.barred);
	for (size_t i = 0; i < unsure->n; i++)
		if (ga_strv_find(&cl->filtered, unsure->v[i]) < 0)
			ga_strv_push(&c->convert.unfiltered, unsure->v[i]);
}

/* Record that no file was converted. */
static void take_all_unfiltered(struct clean *cl)
{
	struct capture *c = cl->c;

	ga_strv_release(&c->convert.unfiltered);
	if (cl->asked) {
		ga_strv_extend(&c->convert.unfiltered, &cl->filtered);
	} else if (host_filters(c)) {
		ga_strv_extend(&c->convert.unfiltered, &cl->files.open);
		ga_strv_extend(&c->convert.unfiltered, &cl->files.closed);
	}
}

static int open_in(const char *dir, const char *path)
{
	cleanup_close int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return at < 0 ? -1 : ga_openat_beneath(at, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
						    O_NOCTTY, 0);
}

/* Open what the layers beneath the upper show at a path: a file that git checked out, or a copy of
 * the user's; the user's filters have converted either from its blob. `*ret` is -1 if there is none
 * that can be read. */
static int open_beneath(struct capture *c, const char *path, int *ret, struct ga_error *err)
{
	cleanup_free char *extras = ga_path_join(c->s->dir, "extras");
	const char *base;

	*ret = open_in(extras, path);
	if (*ret >= 0 || (errno != ENOENT && errno != ENOTDIR))
		return 0;
	if (c->e->open_base(c->e->payload, &base, err))
		return -1;
	*ret = open_in(base, path);
	return 0;
}

static int is_untouched(struct clean *cl, const char *path, bool *ret, struct ga_error *err)
{
	cleanup_close int ours = open_in(cl->o->upper, path), theirs = -1;

	if (open_beneath(cl->c, path, &theirs, err))
		return -1;
	*ret = ours >= 0 && theirs >= 0 && ga_same_content(ours, theirs);
	return 0;
}

int shows_beneath(void *payload, const char *path, const struct ga_oid *blob, bool *ret,
		  struct ga_error *err)
{
	cleanup_error struct ga_error unreadable = GA_ERROR_INIT;
	struct capture *c = payload;
	cleanup_close int fd = -1;
	struct ga_oid id;

	if (open_beneath(c, path, &fd, err))
		return -1;
	*ret = fd >= 0 && !ga_blob_id(fd, &id, &unreadable) && ga_oid_equal(&id, blob);
	return 0;
}

/* Record files that a filter did not convert as unconverted, which keeps them off the branch,
 * unless the base or the branch has the same content: git inside wrote that when the session was
 * resumed. */
static int take_unfiltered(struct clean *cl, const struct ga_strv *files, struct ga_entry *entries,
			   struct ga_error *err)
{
	struct capture *c = cl->c;

	for (size_t i = 0; i < cl->unfiltered.n; i++) {
		const char *path = cl->unfiltered.v[i];
		ssize_t at = ga_strv_find(files, path);
		struct ga_entry published;
		bool same;

		if (at < 0) { /* closed: git inside could not convert it */
			ga_strv_push(&c->convert.unfiltered, path);
			continue;
		}
		if (is_untouched(cl, path, &same, err) ||
		    ga_tree_entry(c->e->repo, &c->base.agent_tree, path, &published, err))
			return -1;
		if (same && ga_tree_entry(c->e->repo, &c->base.tree, path, &entries[at], err))
			return -1;
		/* where the filter did not run for the agent, either, its commits may have the
		 * unfiltered content, and no rule flags that */
		if (!entries[at].mode ||
		    (same ? ga_strv_find(&cl->failed, path) >= 0
			  : !ga_oid_equal(&entries[at].oid, &published.oid)))
			ga_strv_push(&c->convert.unfiltered, path);
	}
	return 0;
}

/* Keys of the host's configuration that change what git makes of content. */
static const char *const shaping[] = { "core.autocrlf", "core.eol", "core.ignorecase" };

bool config_converts(const struct capture *c)
{
	const char *crlf = ga_gitconfig_get(c->e->config, "core.autocrlf");
	bool off = false;

	if (ga_gitconfig_get(c->e->config, "core.eol"))
		return true;
	if (crlf && (!ga_parse_bool(crlf, &off) || off))
		return true;
	return c->convert.asked;
}

/* ---- the environment of git inside ------------------------------------- */

static void clean_release(struct clean *cl)
{
	ga_strv_release(&cl->env);
	ga_strv_release(&cl->config);
	ga_strv_release(&cl->args);
	ga_upper_files_release(&cl->files);
	ga_strv_release(&cl->filtered);
	ga_strv_release(&cl->unfiltered);
	ga_strv_release(&cl->failed);
}

static int make_env(struct clean *cl, struct ga_error *err)
{
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;
	cleanup_buf struct ga_buf alternates = GA_BUF_INIT;

	if (ga_repo_object_dirs(cl->c->e->repo, &dirs, err))
		return -1;
	for (size_t i = 0; i < dirs.n; i++) {
		cleanup_free char *shown = ga_spec_object_path(dirs.v[i]);

		ga_buf_addf(&alternates, "%s%s", i ? ":" : "", shown);
	}
	ga_strv_pushf(&cl->env, "GIT_ALTERNATE_OBJECT_DIRECTORIES=%s", alternates.ptr);
	ga_strv_push_many(&cl->env, "GIT_DIR=" CLEAN_DIR, "GIT_INDEX_FILE=" CLEAN_DIR "/index",
			  NULL);
	ga_strv_pushf(&cl->env, "GIT_WORK_TREE=%s", cl->c->s->id.project);
	/* the host's attributes are copied inside, see prepare() */
	ga_strv_push(&cl->env, "GIT_ATTR_NOSYSTEM=1");
	return 0;
}

static void add_config(struct clean *cl, const char *key, const char *value)
{
	cleanup_free char *shown = ga_gitdir_public(value);

	ga_strv_push(&cl->config, "-c");
	ga_strv_pushf(&cl->config, "%s=%s", key, shown);
}

/* Pass a command of a filter on, and make the filter required inside, whether it is on the host or
 * not: if it failed, git would otherwise take the file unconverted. */
static void add_filter(struct clean *cl, const struct ga_gitconfig_item *it)
{
	cleanup_free char *name = ga_gitconfig_filter(it->key), *required = NULL;
	const char *variable = strrchr(it->key, '.');

	if (!name || !it->has_value || !runs_inside(cl, name) ||
	    (strcmp(variable, ".clean") && strcmp(variable, ".process")))
		return;
	required = ga_strf("filter.%s.required", name);
	add_config(cl, it->key, it->value);
	add_config(cl, required, "true");
}

static void make_config(struct clean *cl)
{
	const struct ga_gitconfig *conf = cl->c->e->config;

	ga_strv_push_many(&cl->config, "-c", "core.safecrlf=false", "-c",
			  "core.attributesFile=" CLEAN_ATTRIBUTES, "-c", "core.bare=false", NULL);
	/* core.fileMode is not among them: modes are decided outside, and here it would only cost
	 * one more lstat */
	for (size_t i = 0; i < GA_NELEMS(shaping); i++)
		if (ga_gitconfig_get(conf, shaping[i]))
			add_config(cl, shaping[i], ga_gitconfig_get(conf, shaping[i]));
	for (size_t i = 0; i < conf->n; i++)
		add_filter(cl, &conf->v[i]);
}

/* The host's attributes go into two files, as those of the system and the user yield to what the
 * tree has, while those of the repository (info/attributes) override it. */
static int put_attributes(struct capture *c, const struct ga_buf *text, const char *script,
			  struct ga_error *err)
{
	const char *const put[] = { "sh", "-c", script, NULL };
	const struct inside x = INSIDE(.in = text);
	int status;

	if (!text->len)
		return 0;
	if (run_program_inside(c, put, &x, &status, err))
		return -1;
	return status ? ga_fail(err, GA_EFATAL, "cannot write attributes inside") : 0;
}

static int prepare(struct clean *cl, struct ga_error *err)
{
	static const char *const init[] = {
		"init", "-q", "--bare", "--template=", CLEAN_DIR, NULL
	};
	static const char *const lfs[] = { "git-lfs", "version", NULL };
	/* git needs an index of what is tracked: it leaves ends of lines alone in a file that has
	 * CRLF there already, and takes from it attributes that are not among the files */
	const struct ga_oid *tracked = ga_oid_is_zero(&cl->c->git.head) ? &cl->c->base.agent_tree
								    : &cl->c->git.head_tree;
	char hex[GA_OID_HEXSZ + 1];
	const char *const read_tree[] = { "read-tree", ga_oid_hex(tracked, hex), NULL };
	cleanup_error struct ga_error absent = GA_ERROR_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const struct inside git_init = INSIDE(.args = init), git_lfs = INSIDE(.out = &out);
	int status = 0;

	if (make_env(cl, err) || run_inside_ok(cl->c, &git_init, err))
		return -1;
	if (put_attributes(cl->c, &cl->c->convert.attributes, "cat >" CLEAN_ATTRIBUTES, err) ||
	    put_attributes(cl->c, &cl->c->convert.info_attributes,
			   "mkdir -p " CLEAN_INFO " && cat >" CLEAN_INFO "/attributes", err))
		return -1;
	cl->lfs = !run_program_inside(cl->c, lfs, &git_lfs, &status, &absent) && !status;
	make_config(cl);
	return clean_git(cl, read_tree, NULL, NULL, -1, err);
}

/* ---- ids out, blobs out ------------------------------------------------ */

/* Parse "<mode> <id> <stage>\t<path>", as `ls-files -s` prints it. */
static bool parse_staged(const char *rec, struct ga_entry *ret, const char **ret_path)
{
	static const struct {
		const char *text;
		uint32_t mode;
	} modes[] = { { "100644 ", GA_MODE_FILE }, { "100755 ", GA_MODE_EXEC } };
	size_t n = strlen(rec);

	if (n < 7 + GA_OID_HEXSZ + 3 + 1)
		return false;
	ret->mode = GA_MODE_NONE;
	for (size_t i = 0; i < GA_NELEMS(modes); i++)
		if (!strncmp(rec, modes[i].text, 7))
			ret->mode = modes[i].mode;
	*ret_path = rec + 7 + GA_OID_HEXSZ + 3;
	return ret->mode && ga_oid_parse(rec + 7, GA_OID_HEXSZ, &ret->oid) &&
	       !memcmp(rec + 7 + GA_OID_HEXSZ, " 0\t", 3);
}

/* Get the blob that git made of each file, in the order of the files. A file that git could not
 * convert gets none, though the index may still have the blob that was tracked there. */
static int read_index(struct clean *cl, const struct ga_strv *files, struct ga_entry *entries,
		      struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-s", "-z", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	size_t pos = 0;
	const char *rec;

	if (clean_git(cl, args, NULL, &out, -1, err))
		return -1;
	while ((rec = ga_buf_next0(&out, &pos))) {
		struct ga_entry e;
		const char *path;
		ssize_t at;

		if (!parse_staged(rec, &e, &path))
			continue; /* a symlink or a submodule */
		at = ga_strv_find(files, path);
		if (at >= 0 && ga_strv_find(&cl->failed, path) < 0)
			entries[at] = e;
	}
	return 0;
}

/* Set the entries of converted files. A file without one is captured unconverted. */
static int read_ids(struct clean *cl, const struct ga_strv *files, struct ga_error *err)
{
	struct ga_entry *entries = ga_calloc(files->n + 1, sizeof(*entries));
	struct capture *c = cl->c;

	free(c->convert.entries);
	c->convert.entries = ga_calloc(files->n + 1, sizeof(*entries));
	if (read_index(cl, files, entries, err) || take_unfiltered(cl, files, entries, err)) {
		free(entries);
		return -1;
	}
	for (size_t i = 0; i < files->n; i++) {
		if (!entries[i].mode)
			continue;
		c->convert.entries[c->convert.paths.n] = entries[i];
		ga_strv_push(&c->convert.paths, files->v[i]);
	}
	free(entries);
	return 0;
}

/* Import the blobs that the base does not have at their path, which are few in most repositories of
 * texts. */
static int import_blobs(struct clean *cl, struct ga_error *err)
{
	static const char *const args[] = { "-c", GA_IMPORT_PIECEWISE, "pack-objects",
					    "--stdout", "--window=0", "-q", NULL };
	cleanup_buf struct ga_buf in = GA_BUF_INIT;
	cleanup_close int fd = -1;
	cleanup_free char *reason = NULL;
	struct capture *c = cl->c;
	int rc;

	for (size_t i = 0; i < c->convert.paths.n; i++) {
		struct ga_entry base;

		if (ga_tree_entry(c->e->repo, &c->base.tree, c->convert.paths.v[i], &base, err))
			return -1;
		if (base.mode && ga_oid_equal(&base.oid, &c->convert.entries[i].oid))
			continue;
		ga_buf_addf(&in, "%s\n", GA_HEX(&c->convert.entries[i].oid));
	}
	if (!in.len)
		return 0;
	fd = ga_scratch_file(c->s->dir, err);
	if (fd < 0 || clean_git(cl, args, &in, NULL, fd, err))
		return -1;
	begin_import(c);
	rc = import_pack(c, fd, NULL, 0, NULL, 0, &reason, err);
	if (rc == 1) {
		cleanup_buf struct ga_buf q = GA_BUF_INIT;

		ga_quote_add(&q, reason, strlen(reason));
		return ga_fail(err, GA_EFATAL, "converted content was refused: %s", q.ptr);
	}
	return rc;
}

/* An id from inside is only a claim: check that its blob has been imported. */
static int verify(struct capture *c, struct ga_error *err)
{
	for (size_t i = 0; i < c->convert.paths.n; i++) {
		cleanup_buf struct ga_buf none = GA_BUF_INIT;

		if (ga_blob_read(c->e->repo, &c->convert.entries[i].oid, 0, &none, err) < 0)
			return ga_error_wrap(err, "the converted content of '%s' is missing",
					     c->convert.paths.v[i]);
	}
	return 0;
}

static int add_batch(struct clean *cl, const struct ga_strv *files, size_t from, size_t n,
		     int *ret_status, struct ga_error *err)
{
	static const char *const update[] = { "update-index", "-z", "--add", "--replace",
					      "--stdin", NULL };
	cleanup_buf struct ga_buf paths = GA_BUF_INIT;
	const struct inside x = INSIDE(.args = clean_command(cl, update),
				       .env = (const char *const *)cl->env.v, .in = &paths);

	for (size_t i = from; i < from + n; i++)
		ga_buf_add0(&paths, files->v[i]);
	return run_inside(cl->c, &x, ret_status, err);
}

/* git stops at the first file that it cannot convert (bytes that are not UTF-16, a filter that
 * fails), and then has added none: so halve the list until that file is found. Files that are not
 * reached within `tries` are taken as they are, too. */
static int add_files(struct clean *cl, const struct ga_strv *files, size_t from, size_t n,
		     unsigned *tries, struct ga_error *err)
{
	int status = 1;

	if (*tries && add_batch(cl, files, from, n, &status, err))
		return -1;
	if (!status)
		return 0;
	if (*tries && --*tries && n > 1)
		return add_files(cl, files, from, n / 2, tries, err) ||
				       add_files(cl, files, from + n / 2, n - n / 2, tries, err)
			       ? -1
			       : 0;
	for (size_t i = from; i < from + n; i++) {
		ga_strv_push(&cl->failed, files->v[i]);
		if (ga_strv_find(&cl->filtered, files->v[i]) >= 0)
			ga_strv_push(&cl->unfiltered, files->v[i]);
	}
	return 0;
}

static void note_failed(struct clean *cl)
{
	ga_strv_extend(&cl->failed, &cl->files.closed);
	ga_strv_extend(&cl->failed, &cl->files.barred);
	ga_strv_sort_unique(&cl->failed);
	for (size_t i = 0; i < cl->failed.n && i < MAX_NAMED; i++) {
		cleanup_free char *q = ga_quote(cl->failed.v[i]);

		ga_strv_pushf(&cl->c->notes,
			      "%s: git could not convert it, so it was captured unconverted", q);
	}
	if (cl->failed.n > MAX_NAMED)
		ga_strv_pushf(&cl->c->notes, "and %zu more: git could not convert them, or was not "
			      "asked about each; they were captured unconverted",
			      cl->failed.n - MAX_NAMED);
}

/* Returns 1 if git inside cannot do it, with the reason in `err`. */
static int convert(struct clean *cl, struct ga_error *err)
{
	const struct ga_strv *files = &cl->files.open;
	unsigned tries = MAX_TRIES;
	int rc;

	if (!files->n && !cl->files.closed.n)
		return 0;
	allow_inside(cl->c, files->n + cl->files.closed.n, cl->files.bytes);
	rc = prepare(cl, err) || find_filtered(cl, err) ||
	     (files->n && add_files(cl, files, 0, files->n, &tries, err));
	ga_strv_sort_unique(&cl->unfiltered);
	return rc || read_ids(cl, files, err) || import_blobs(cl, err) || verify(cl->c, err);
}

int clean_content(struct capture *c, const struct ga_upper_opts *o, struct ga_error *err)
{
	cleanup_(clean_release) struct clean cl = { .c = c, .o = o };
	int rc = ga_upper_list(c->e->repo, o, &cl.files, err);

	c->late = rc == GA_UPPER_LATE;
	if (rc)
		return -1;
	rc = convert(&cl, err);
	if (rc)
		take_all_unfiltered(&cl);
	else
		note_failed(&cl);
	take_unsure(&cl);
	ga_strv_sort_unique(&c->convert.unfiltered);
	return rc;
}
