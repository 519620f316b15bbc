/* SPDX-License-Identifier: MIT
 *
 * Hide the project's secrets from a session. They are in none of its layers: not carried, not
 * copied, and hidden by a whiteout over a user's directory. So nothing can be uncovered inside, and
 * capture sees no change.
 */
#include "view-internal.h"

#define BLOB_MAX ((size_t)64 << 20) /* size of files to look up in the object store */
#define OBJECTS_MAX 8            /* objects to look up in history ... */
#define HISTORY_MS 2000          /* ... with this timeout each */

/* Ids under which git may have stored the content of a hidden file. */
struct blob {
	const char *path;
	struct ga_oid oid;
};
struct blobs {
	struct blob *v;
	size_t n, cap;
	bool asked, answered;  /* git, about which loose objects are in a pack as well ... */
	struct ga_buf packed;  /* ... its answer, in lines like "rm -f .../ab/cdef" */
};

static void add_blob(struct blobs *bs, const char *path, const struct ga_oid *oid)
{
	GA_GROW(bs->v, bs->n, bs->cap);
	bs->v[bs->n++] = (struct blob){ path, *oid };
}

static void add_form(const char *path, const struct ga_buf *text, struct blobs *ret)
{
	struct ga_oid oid;

	if (!ga_blob_id_of(text->ptr, text->len, &oid, GA_IGNORED))
		add_blob(ret, path, &oid);
}

/* Add the content unchanged, and with LF and CRLF line ends: it is unknown which conversion git
 * used when it stored the file. */
static void add_forms(const char *path, const struct ga_buf *text, struct blobs *ret)
{
	cleanup_buf struct ga_buf lf = GA_BUF_INIT, crlf = GA_BUF_INIT;

	(void)ga_buf_reserve(&lf, text->len);
	(void)ga_buf_reserve(&crlf, 2 * text->len);
	for (size_t i = 0; i < text->len; i++) {
		char c = text->ptr[i];

		if (c == '\r' && i + 1 < text->len && text->ptr[i + 1] == '\n')
			continue;
		ga_buf_addch(&lf, c);
		if (c == '\n')
			ga_buf_addch(&crlf, '\r');
		ga_buf_addch(&crlf, c);
	}
	add_form(path, text, ret);
	if (lf.len != text->len)
		add_form(path, &lf, ret);
	if (crlf.len != text->len)
		add_form(path, &crlf, ret);
	explicit_bzero(lf.ptr, lf.len);
	explicit_bzero(crlf.ptr, crlf.len);
}

static void add_files(const char *workdir, const struct ga_strv *hidden, struct blobs *ret)
{
	cleanup_close int work = open(workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < hidden->n; i++) {
		cleanup_close int fd = ga_openat_beneath(work, hidden->v[i],
							 O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
		cleanup_buf struct ga_buf text = GA_BUF_INIT;
		struct stat st;

		if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		    !ga_read_fd(fd, BLOB_MAX, &text, GA_IGNORED))
			add_forms(hidden->v[i], &text, ret);
		explicit_bzero(text.ptr, text.len);
	}
}

/* Add the object of one record of `ls-files -s`, "MODE ID STAGE\tPATH", if the base has not the
 * same. */
static int add_staged_one(struct ga_env *e, const struct ga_view_base *b, const char *rec,
			  struct blobs *ret, struct ga_error *err)
{
	const char *tab = strchr(rec, '\t');
	ssize_t at = tab ? ga_strv_find(&b->hidden, tab + 1) : -1;
	struct ga_entry entry;
	struct ga_oid oid, tree;

	if (at < 0 || strlen(rec) < 7 + GA_OID_HEXSZ || !ga_oid_parse(rec + 7, GA_OID_HEXSZ, &oid))
		return 0;
	if (ga_commit_tree(e->repo, &b->base, &tree, err) ||
	    ga_tree_entry(e->repo, &tree, b->hidden.v[at], &entry, err))
		return -1;
	if (entry.mode == GA_MODE_NONE || !ga_oid_equal(&entry.oid, &oid))
		add_blob(ret, b->hidden.v[at], &oid);
	return 0;
}

/* Add what is staged of hidden files that are tracked. Lists all of the index, since the names may
 * not fit a command line. */
static int add_staged(struct ga_env *e, const struct ga_view_base *b, struct blobs *ret,
		      struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-sz", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *rec;
	size_t pos = 0, n = 0;
	struct ga_git g = GA_GIT(.args = args, .work_tree = ga_repo_info(e->repo)->workdir,
				 .out = &out);

	for (size_t i = 0; i < b->scan.changed.n; i++)
		n += view_is_hidden(b, b->scan.changed.v[i]);
	if (!n)
		return 0;
	if (ga_git_ok(e->repo, &g, err))
		return -1;
	while ((rec = ga_buf_next0(&out, &pos)))
		if (add_staged_one(e, b, rec, ret, err))
			return -1;
	return 0;
}

/* Does a commit have it that the session sees? True also if git gives no answer in time. */
static bool in_history(struct ga_env *e, const struct ga_oid *oid, const struct ga_oid *base)
{
	cleanup_free char *find = ga_strf("--find-object=%s", GA_HEX(oid));
	char hex[GA_OID_HEXSZ + 1];
	const char *const args[] = { "log", "-1", "--format=%H", "-m", find, "--exclude=agent/*",
				     "--branches", "--tags", "--remotes", ga_oid_hex(base, hex),
				     NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT(.args = args, .out = &out, .timeout_ms = HISTORY_MS);

	return ga_git_ok(e->repo, &g, GA_IGNORED) || out.len;
}

/* Is it in a pack as well, which cannot be hidden? True also if git gives no answer. */
static bool is_packed(struct ga_env *e, const struct ga_oid *oid, struct blobs *bs)
{
	static const char *const args[] = { "prune-packed", "--dry-run", NULL };
	char hex[GA_OID_HEXSZ + 1];
	struct ga_git g = GA_GIT(.args = args, .out = &bs->packed);

	if (!bs->asked)
		bs->answered = !ga_git_ok(e->repo, &g, GA_IGNORED);
	bs->asked = true;
	return !bs->answered || strstr(bs->packed.ptr, ga_oid_hex(oid, hex) + 2) != NULL;
}

/* Hide the object from the session if it can be hidden, else note the path in b->stored. If there
 * are many, those beyond OBJECTS_MAX are only noted. */
static void hide_object(struct ga_env *e, const struct blob *blob, struct blobs *bs,
			const struct ga_strv *dirs, struct ga_view_base *b)
{
	cleanup_buf struct ga_buf unused = GA_BUF_INIT;
	char hex[GA_OID_HEXSZ + 1];
	size_t before = b->objects.n;

	if (ga_blob_read(e->repo, &blob->oid, 0, &unused, GA_IGNORED) < 0)
		return; /* git has not stored it */
	(void)ga_oid_hex(&blob->oid, hex);
	if (b->objects.n + b->stored.n < OBJECTS_MAX && !in_history(e, &blob->oid, &b->base) &&
	    !is_packed(e, &blob->oid, bs))
		for (size_t i = 0; i < dirs->n; i++) {
			cleanup_free char *file = ga_strf("%s/%.2s/%s", dirs->v[i], hex, hex + 2);

			if (!access(file, F_OK))
				ga_strv_push(&b->objects, file);
		}
	if (b->objects.n == before)
		ga_strv_push(&b->stored, blob->path);
}

int view_hide_objects(struct ga_env *e, struct ga_view_base *b, struct ga_error *err)
{
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;
	struct blobs bs = { .packed = GA_BUF_INIT };
	int rc = 0;

	if (!b->hidden.n)
		return 0;
	add_files(ga_repo_info(e->repo)->workdir, &b->hidden, &bs);
	rc = add_staged(e, b, &bs, err) || ga_repo_object_dirs(e->repo, &dirs, err) ? -1 : 0;
	for (size_t i = 0; !rc && i < bs.n; i++)
		hide_object(e, &bs.v[i], &bs, &dirs, b);
	ga_strv_sort_unique(&b->stored);
	ga_strv_sort_unique(&b->objects);
	ga_buf_release(&bs.packed);
	free(bs.v);
	return rc;
}

int view_dress(int from, const char *source, int to, const char *at)
{
	cleanup_close int fd = ga_openat_beneath(from, source, O_PATH | O_DIRECTORY, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return 0;
	return fchmodat(to, at, st.st_mode & 0777, 0) ||
	       utimensat(to, at, (struct timespec[2]){ st.st_atim, st.st_mtim }, 0) ? -1 : 0;
}

/* Make a whiteout over the `.git` of a shared directory: an agent must not see that repository's
 * credentials, and does not need its configuration and hooks. */
int ga_view_mask_git(const struct ga_session *s, size_t i, int fd, struct ga_error *err)
{
	cleanup_free char *mask = ga_strf("%s/shared/%zu/mask", s->dir, i);
	cleanup_free char *white = ga_path_join(mask, ".git");

	if (faccessat(fd, ".git", F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (ga_mkdir_p(mask, 0755, err))
		return -1;
	/* character device 0/0: the only device node that needs no privilege */
	if (mknod(white, S_IFCHR, 0) && errno != EEXIST)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot hide a nested .git");
	return 0;
}

static int fail(const char *path, struct ga_error *err)
{
	return ga_fail_path(err, errno, "hide", path);
}

/* view_dress() for the directories above `path`. */
static int dress_parents(int from, const char *prefix, int to, const char *path,
			 struct ga_error *err)
{
	cleanup_free char *at = ga_strdup(path);

	for (char *p = strrchr(at, '/'); p; p = strrchr(at, '/')) {
		cleanup_free char *source = NULL;

		*p = '\0';
		source = ga_path_join(prefix, at);
		if (view_dress(from, source, to, at))
			return fail(path, err);
	}
	return 0;
}

/* Make a whiteout, a character device 0/0, which hides the lower file in an overlay. */
static int white_out(int to, const char *path, struct ga_error *err)
{
	struct stat st;

	if (!mknodat(to, path, S_IFCHR, 0))
		return 0;
	/* keep an existing whiteout */
	if (errno == EEXIST && !fstatat(to, path, &st, AT_SYMLINK_NOFOLLOW) &&
	    S_ISCHR(st.st_mode) && !st.st_rdev)
		return 0;
	return fail(path, err);
}

int ga_view_mask_shared(const struct ga_view_base *b, int project, const char *dir,
			const char *mask, struct ga_error *err)
{
	cleanup_close int to = -1;

	for (size_t i = 0; i < b->hidden.n; i++) {
		const char *rel = ga_path_below(b->hidden.v[i], dir);

		/* ga_view_mask_git() hides its whole .git */
		if (!rel || !*rel || ga_path_inside(rel, ".git"))
			continue;
		if (to < 0 && !ga_mkdir_p(mask, 0755, err))
			to = open(mask, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (to < 0)
			return err->msg ? -1 : fail(b->hidden.v[i], err);
		if (ga_make_parents(to, rel, NULL, err) || white_out(to, rel, err))
			return -1;
	}
	for (size_t i = 0; to >= 0 && i < b->hidden.n; i++) {
		const char *rel = ga_path_below(b->hidden.v[i], dir);

		if (rel && *rel && !ga_path_inside(rel, ".git") &&
		    dress_parents(project, dir, to, rel, err))
			return -1;
	}
	return 0;
}

int ga_view_mask_project(struct ga_env *e, const struct ga_session *s, const struct ga_view_base *b,
			 const struct ga_oid *tree, int project, int extras, struct ga_error *err)
{
	for (size_t i = 0; i < b->clear.n; i++) {
		const char *path = b->clear.v[i];
		cleanup_buf struct ga_buf stored = GA_BUF_INIT;
		struct ga_entry entry;

		if (ga_strv_above(&s->view.shared, path))
			continue;
		if (ga_tree_entry(e->repo, tree, path, &entry, err) ||
		    ga_make_parents(extras, path, NULL, err))
			return -1;
		if (entry.mode != GA_MODE_FILE && entry.mode != GA_MODE_EXEC
			    ? white_out(extras, path, err)
			    : ga_blob_read(e->repo, &entry.oid, SIZE_MAX, &stored, err) ||
			      ga_write_new(extras, path, stored.ptr, stored.len,
					   entry.mode == GA_MODE_EXEC ? 0755 : 0644, err))
			return -1;
	}
	for (size_t i = 0; i < b->clear.n; i++)
		if (!ga_strv_above(&s->view.shared, b->clear.v[i]) &&
		    dress_parents(project, "", extras, b->clear.v[i], err))
			return -1;
	return 0;
}

/* Hide the configuration of a git directory in the project that is not named ".git": it may have
 * credentials too. */
static void collect(const struct ga_repo *r, struct ga_view_base *b)
{
	cleanup_free char *gitdir = ga_repo_gitdir_inside(r);

	for (size_t i = 0; i < b->secrets.n; i++) {
		const struct ga_exposed *x = &b->secrets.v[i];

		if (x->view != GA_VIEW_MASKED || (gitdir && ga_path_inside(x->path, gitdir)))
			continue;
		ga_strv_push(&b->hidden, x->path);
		if (x->clear)
			ga_strv_push(&b->clear, x->path);
	}
	if (gitdir)
		ga_strv_push(&b->hidden, gitdir);
	ga_strv_sort_unique(&b->hidden);
	ga_strv_sort_unique(&b->clear);
}

int ga_view_find_secrets(struct ga_env *e, const struct ga_view_opts *o, bool dry,
			 bool carried, struct ga_view_base *b, struct ga_error *err)
{
	const char *workdir = ga_repo_info(e->repo)->workdir;
	cleanup_strv struct ga_strv expose = GA_STRV_INIT;
	struct ga_scan scan = b->scan; /* the same lists, not copied */
	struct ga_oid tree;
	struct ga_exposure_opts eo = { .repo = e->repo,
				       .state_dir = e->state_dir,
				       .dry = dry,
				       .add = &e->conf.secret.add,
				       .allow = &e->conf.secret.allow,
				       .scan = &scan,
				       .tree = &tree };

	if (e->conf.secret.mode == GA_SECRETS_OFF) {
		collect(e->repo, b);
		return 0;
	}
	/* uncommitted work that is not carried is invisible anyway */
	if (!carried) {
		scan.changed = (struct ga_strv)GA_STRV_INIT;
		scan.untracked = (struct ga_strv)GA_STRV_INIT;
	}
	if (ga_commit_tree(e->repo, &b->onto, &tree, err) ||
	    ga_exposure_find(&eo, &b->secrets, err))
		return -1;
	for (size_t i = 0; o->expose && i < o->expose->n; i++) {
		const char *rel = ga_path_below(o->expose->v[i], workdir);

		if (rel)
			ga_strv_push(&expose, rel);
	}
	if (e->conf.secret.mode == GA_SECRETS_MASK)
		ga_exposure_mask(&b->secrets, &expose);
	ga_exposure_sort(&b->secrets);
	collect(e->repo, b);
	return 0;
}

bool view_is_hidden(const struct ga_view_base *b, const char *path)
{
	return ga_strv_find(&b->hidden, path) >= 0;
}

size_t view_count_hidden(const struct ga_view_base *b, const struct ga_strv *paths)
{
	size_t n = 0;

	for (size_t i = 0; b->hidden.n && i < paths->n; i++)
		n += view_is_hidden(b, paths->v[i]);
	return n;
}
