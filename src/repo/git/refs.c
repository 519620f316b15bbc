/* SPDX-License-Identifier: MIT */
#include "repo/repo-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/refs.h"
#include "ga/sys/fd.h"
#include "ga/sys/sync.h"

#define NAME_MAX_LEN 200
/* 2100-01-01: `git gc` expires entries of reflogs by their time, and these must stay as long as the
 * log. */
#define PIN_TIME 4102444800LL

/* ---- reading ---------------------------------------------------------------- */

int ga_ref_read(struct ga_repo *r, const char *name, struct ga_oid *ret, struct ga_error *err)
{
	git_oid id;
	int rc = git_reference_name_to_id(&id, r->repo, name);

	*ret = (struct ga_oid){ { 0 } };
	if (rc == GIT_ENOTFOUND)
		return 1;
	if (rc)
		return ga_fail_git(err, "cannot read ref '%s'", name);
	*ret = ga_from_git_oid(&id);
	return 0;
}

void ga_refs_release(struct ga_refs *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
	*l = (struct ga_refs)GA_REFS_INIT;
}

static int compare_refs(const void *a, const void *b)
{
	const struct ga_ref *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void ga_refs_add(struct ga_refs *l, const char *name, const struct ga_oid *oid)
{
	GA_GROW(l->v, l->n, l->cap);
	l->v[l->n++] = (struct ga_ref){ ga_strdup(name), *oid };
}

const struct ga_ref *ga_refs_find(const struct ga_refs *l, const char *name)
{
	const struct ga_ref key = { .name = (char *)(uintptr_t)name };

	return l->n ? bsearch(&key, l->v, l->n, sizeof(*l->v), compare_refs) : NULL;
}

/* Refs that do not resolve are skipped: one broken ref of the user must not hide the others. */
static void add_ref(struct ga_repo *r, const git_reference *ref, struct ga_refs *l)
{
	const char *name = git_reference_name(ref);
	/* known for all but symbolic refs: a look-up by name would read each once more */
	const git_oid *target = git_reference_target(ref);
	struct ga_oid oid;
	git_oid id;

	if (!target && git_reference_name_to_id(&id, r->repo, name))
		return;
	oid = ga_from_git_oid(target ? target : &id);
	ga_refs_add(l, name, &oid);
}

int ga_refs_list(struct ga_repo *r, const char *prefix, struct ga_refs *ret, struct ga_error *err)
{
	cleanup_refs struct ga_refs l = GA_REFS_INIT;
	cleanup_free char *glob = ga_strf("%s*", prefix);
	git_reference_iterator *it = NULL;
	git_reference *ref;
	int rc;

	/* no name of a ref has these characters */
	if (strpbrk(prefix, "*?[\\")) {
		ga_refs_release(ret);
		return 0;
	}
	if (git_reference_iterator_glob_new(&it, r->repo, glob))
		return ga_fail_git(err, "cannot list refs");
	while (!(rc = git_reference_next(&ref, it))) {
		if (!strncmp(git_reference_name(ref), prefix, strlen(prefix)))
			add_ref(r, ref, &l);
		git_reference_free(ref);
	}
	git_reference_iterator_free(it);
	if (rc != GIT_ITEROVER)
		return ga_fail_git(err, "cannot list refs");
	if (l.n)
		qsort(l.v, l.n, sizeof(*l.v), compare_refs);
	ga_refs_release(ret);
	*ret = l;
	l = (struct ga_refs)GA_REFS_INIT;
	return 0;
}

/* The rules of git-check-ref-format(1), and more of our own: nothing that has to be quoted, and no
 * '-' at the beginning, as users type these names as arguments. */
bool ga_ref_name_ok(const char *name)
{
	cleanup_free char *quoted = ga_escape(name);
	size_t len = strlen(name), n;

	if (strncmp(name, "refs/", 5) || len > NAME_MAX_LEN || strcmp(quoted, name) != 0 ||
	    strpbrk(name, " ~^:?*[\\") || strstr(name, "..") || strstr(name, "@{") ||
	    name[len - 1] == '.')
		return false;
	for (;; name += n + 1) {
		n = strcspn(name, "/");
		if (!n || *name == '.' || *name == '-' || ga_path_component_is_dotgit(name, n) ||
		    (n >= 5 && !memcmp(name + n - 5, ".lock", 5)))
			return false;
		if (!name[n])
			return true;
	}
}

/* ---- several at once ------------------------------------------------------------ */

void ga_ref_updates_release(struct ga_ref_updates *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->v[i].name);
	free(u->v);
	*u = (struct ga_ref_updates)GA_REF_UPDATES_INIT;
}

void ga_ref_updates_add(struct ga_ref_updates *u, const char *name,
			const struct ga_oid *old_or_null, const struct ga_oid *new_or_null)
{
	struct ga_ref_update *v;

	GA_GROW(u->v, u->n, u->cap);
	v = &u->v[u->n++];
	*v = (struct ga_ref_update){ .name = ga_strdup(name), .has_old = old_or_null != NULL };
	if (old_or_null)
		v->old = *old_or_null;
	if (new_or_null)
		v->new = *new_or_null;
}

void ga_ref_updates_move(struct ga_ref_updates *u, const char *from, const char *to,
			 const struct ga_oid *oid)
{
	ga_ref_updates_add(u, to, &ga_oid_none, oid);
	ga_ref_updates_add(u, from, oid, NULL);
}

int ga_ref_updates_set(struct ga_repo *r, struct ga_ref_updates *u, const char *name,
		       const struct ga_oid *new, struct ga_error *err)
{
	struct ga_oid old;

	if (ga_ref_read(r, name, &old, err) < 0)
		return -1;
	if (ga_oid_equal(&old, new))
		return 1;
	ga_ref_updates_add(u, name, &old, new);
	return 0;
}

static void format_update(const struct ga_ref_update *v, struct ga_buf *out)
{
	/* the named ref itself, not what a symbolic one points to */
	ga_buf_add0(out, "option no-deref");
	ga_buf_adds(out, ga_oid_is_zero(&v->new) ? "delete " : "update ");
	ga_buf_add0(out, v->name);
	if (!ga_oid_is_zero(&v->new))
		ga_buf_add0(out, GA_HEX(&v->new));
	/* an empty field: any old value */
	ga_buf_add0(out, v->has_old ? GA_HEX(&v->old) : "");
}

/* Add a hint for git's message. A lock left by a crash or a full disk blocks every later update;
 * only the user knows whether another git holds it. */
static int explain(const struct ga_repo *r, const struct ga_ref_updates *u, struct ga_error *err)
{
	cleanup_buf struct ga_buf locks = GA_BUF_INIT;

	for (size_t i = 0; i <= u->n; i++) {
		const char *name = i ? u->v[i - 1].name : "packed-refs";
		cleanup_free char *lock = ga_strf("%s/%s.lock", r->info.commondir, name);
		cleanup_free char *q = ga_quote_shell(lock);

		if (!access(lock, F_OK))
			ga_buf_addf(&locks, " %s", q);
	}
	(void)ga_error_wrap(err, "cannot update refs");
	if (locks.len)
		return ga_hint(err, "if no other git is running in this repository: rm%s",
			       locks.ptr);
	return strstr(err->msg, "; cannot create")
		       ? ga_hint(err, "rename or delete the ref that exists (git branch -m)")
		       : -1;
}

static bool has_path(const struct ga_strv *known, const char *path)
{
	return known && ga_strv_find(known, path) >= 0;
}

/* Add the file of a ref and the directories it is in, up to one that existed before: above it
 * nothing is new. */
static void add_written(const char *dir, const char *name, const struct ga_strv *known,
			struct ga_strv *ret)
{
	cleanup_free char *at = ga_path_parent(name);

	ga_strv_take(ret, ga_path_join(dir, name));
	while (*at) {
		char *path = ga_path_join(dir, at);

		ga_strv_take(ret, path);
		ga_path_up(at);
		if (has_path(known, path))
			break;
	}
}

/* Sync the refs that were updated, which git by default leaves to the file system: one that a power
 * cut left empty would block it. A reflog loses at most its last lines to a power cut, and
 * nothing depends on them. */
static struct ga_sync_job *sync_updated(const struct ga_repo *r, const struct ga_ref_updates *u,
					const struct ga_strv *others, const struct ga_strv *known)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT, standing = GA_STRV_INIT;

	for (size_t i = 0; i < u->n; i++)
		if (!ga_oid_is_zero(&u->v[i].new))
			add_written(r->info.commondir, u->v[i].name, known, &paths);
	for (size_t i = 0; others && i < others->n; i++)
		ga_ref_paths(r, others->v[i], &standing);
	for (size_t i = 0; i < standing.n; i++)
		if (!has_path(known, standing.v[i]))
			ga_strv_push(&paths, standing.v[i]);
	ga_strv_sort_unique(&paths);
	return ga_sync_begin(&paths, paths.n / 3);
}

struct ga_refs_job {
	struct ga_process_job *git;
	int in;
	struct ga_buf out, errout;
};

void ga_refs_abandon(struct ga_refs_job *j)
{
	if (!j)
		return;
	ga_process_abandon(j->git);
	ga_cleanup_closep(&j->in);
	ga_buf_release(&j->out);
	ga_buf_release(&j->errout);
	free(j);
}

int ga_refs_begin(struct ga_repo *r, const char *reason, int lock, struct ga_refs_job **ret,
		  struct ga_error *err)
{
	const char *const args[] = { "update-ref", "--create-reflog", "-m", reason, "-z",
				     "--stdin", NULL };
	/* milliseconds: longer than git's default of 100, as another git may hold the lock while it
	 * waits for the disk */
	static const char *const patience[] = { "core.filesRefLockTimeout=5000", NULL };
	struct ga_refs_job *j = ga_calloc(1, sizeof(*j));
	int p[2], rc;
	struct ga_git g = GA_GIT(.args = args, .config = patience, .out = &j->out,
				 .errout = &j->errout);

	*j = (struct ga_refs_job){ .in = -1, .out = GA_BUF_INIT, .errout = GA_BUF_INIT };
	if (pipe2(p, O_CLOEXEC)) {
		free(j);
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot make a pipe");
	}
	j->in = p[1];
	g.in_fd = p[0];
	g.keep_fd = lock;
	/* no ref may name what only a session has */
	g.private_dir = GA_PRIVATE_NONE;
	rc = ga_git_begin(r, &g, &j->git, err);
	(void)close(p[0]);
	if (rc) {
		ga_refs_abandon(j);
		return -1;
	}
	*ret = j;
	return 0;
}

/* Returns when git reports the commit, without waiting for its exit. */
static int commit(struct ga_refs_job *j, const struct ga_ref_updates *u, struct ga_error *err)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT;
	int done, status;

	/* prepare takes every lock and compares every old value before commit changes anything. If
	 * we or git end before commit, nothing is changed. */
	ga_buf_add0(&in, "start");
	for (size_t i = 0; i < u->n; i++)
		format_update(&u->v[i], &in);
	ga_buf_add0(&in, "prepare");
	ga_buf_add0(&in, "commit");
	/* if git has exited, its own message tells why */
	if (ga_write_full(j->in, in.ptr, in.len) && errno != EPIPE)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write to git");
	(void)close(ga_steal_fd(&j->in));
	done = ga_process_wait_for(j->git, "commit: ok\n", err);
	if (done)
		return done < 0 ? -1 : 0;
	return ga_process_end(ga_steal(&j->git), &status, err) ? -1 :
	       ga_git_failed(NULL, "update-ref", status, &j->errout, err);
}

/* A single deletion is atomic without git. */
bool ga_refs_need_git(const struct ga_ref_updates *u)
{
	return u->n > 1 || (u->n && !(u->v[0].has_old && ga_oid_is_zero(&u->v[0].new)));
}

int ga_refs_end(struct ga_repo *r, struct ga_refs_job *j, const struct ga_ref_updates *u,
		const struct ga_strv *others, const struct ga_strv *known, struct ga_sync_job **ret,
		struct ga_error *err)
{
	const bool by_git = ga_refs_need_git(u);
	int rc = 0, status;

	if (by_git) {
		if (!j)
			GA_BUG("refs that need git, and none was begun");
		rc = commit(j, u, err) ? explain(r, u, err) : 0;
	} else if (u->n) {
		rc = ga_ref_delete(r, u->v[0].name, &u->v[0].old, err);
	}
	*ret = rc ? NULL : sync_updated(r, u, others, known);
	if (!rc && by_git)
		(void)ga_process_end(ga_steal(&j->git), &status, GA_IGNORED);
	ga_refs_abandon(j);
	return rc;
}

int ga_refs_update(struct ga_repo *r, const struct ga_ref_updates *u, const char *reason,
		   struct ga_error *err)
{
	struct ga_refs_job *j = NULL;
	struct ga_sync_job *sync;

	if ((ga_refs_need_git(u) && ga_refs_begin(r, reason, -1, &j, err)) ||
	    ga_refs_end(r, j, u, NULL, NULL, &sync, err))
		return -1;
	return ga_sync_end(sync, err);
}

const char *ga_ref_branch(const char *name)
{
	static const char heads[] = "refs/heads/";

	return name && !strncmp(name, heads, sizeof(heads) - 1) ? name + sizeof(heads) - 1 : NULL;
}

char *ga_ref_upstream(const struct ga_repo *r, const char *branch)
{
	git_buf name = GIT_BUF_INIT;
	char *ret = NULL;

	/* a broken configuration counts as no upstream */
	if (!git_branch_upstream_name(&name, r->repo, branch))
		ret = ga_strdup(name.ptr);
	git_buf_dispose(&name);
	return ret;
}

/* ---- one, in process -------------------------------------------------------------- */

int ga_ref_create(struct ga_repo *r, const char *name, const struct ga_oid *oid, const char *reason,
		  struct ga_error *err)
{
	git_oid id = ga_to_git_oid(oid), none = { { 0 } };
	git_reference *ref = NULL;
	int rc;

	/* the old value is compared under the ref's lock */
	rc = git_reference_create_matching(&ref, r->repo, name, &id, 0, &none, reason);
	git_reference_free(ref);
	if (rc == GIT_EEXISTS || rc == GIT_EMODIFIED)
		return ga_fail(err, GA_EFATAL, "ref '%s' exists already", name);
	return rc ? ga_fail_git(err, "cannot make ref '%s'", name) : 0;
}

/* Remove directories left empty, which would block a ref with their name: libgit2 leaves
 * those of logs, and of refs that were packed. */
static void remove_empty(const char *dir, const char *name)
{
	cleanup_free char *at = ga_path_parent(name);

	/* "refs" and the directories directly below it stay */
	while (!strncmp(at, "refs/", 5) && strchr(at + 5, '/')) {
		cleanup_free char *path = ga_path_join(dir, at);

		if (rmdir(path))
			return;
		ga_path_up(at);
	}
}

int ga_ref_delete(struct ga_repo *r, const char *name, const struct ga_oid *old,
		  struct ga_error *err)
{
	cleanup_free char *logs = ga_path_join(r->info.commondir, "logs");
	git_reference *ref = NULL;
	const git_oid *has;
	git_oid id = ga_to_git_oid(old);
	int rc = git_reference_lookup(&ref, r->repo, name);

	if (rc == GIT_ENOTFOUND)
		return 0;
	if (rc)
		return ga_fail_git(err, "cannot read ref '%s'", name);
	has = git_reference_target(ref);
	/* the deletion compares the value with the one looked up, under the ref's lock */
	if (!has || !git_oid_equal(has, &id))
		rc = GIT_EMODIFIED;
	else
		rc = git_reference_delete(ref);
	git_reference_free(ref);
	if (rc == GIT_EMODIFIED)
		return ga_fail(err, GA_EFATAL, "ref '%s' has changed", name);
	if (rc && rc != GIT_ENOTFOUND)
		return ga_fail_git(err, "cannot delete ref '%s'", name);
	remove_empty(r->info.commondir, name);
	remove_empty(logs, name);
	return 0;
}

/* Add `name` below `dir`, and its directories up to "refs", which may all be new. */
static void add_paths(const char *dir, const char *name, struct ga_strv *ret)
{
	cleanup_free char *at = ga_strdup(name);

	for (; strchr(at, '/'); ga_path_up(at))
		ga_strv_take(ret, ga_path_join(dir, at));
	ga_strv_take(ret, ga_path_join(dir, at));
}

void ga_ref_paths(const struct ga_repo *r, const char *name, struct ga_strv *ret)
{
	cleanup_free char *logs = ga_path_join(r->info.commondir, "logs");

	add_paths(r->info.commondir, name, ret);
	add_paths(logs, name, ret);
}

int ga_reflog_pin(struct ga_repo *r, const char *name, const struct ga_oid *oids, size_t n,
		  struct ga_error *err)
{
	cleanup_free char *logs = ga_path_join(r->info.commondir, "logs");
	cleanup_free char *path = ga_path_join(logs, name), *dir = ga_path_parent(path);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_oid from = { { 0 } };

	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		ga_buf_addf(&b, "%s %s git-agent <git-agent@localhost> %lld +0000\t"
				"git-agent: kept\n",
			    GA_HEX(&from), GA_HEX(&oids[i]), PIN_TIME);
		from = oids[i];
	}
	/* not by libgit2, which makes an empty log and then replaces it: replacing makes the file
	 * system begin to write at once */
	if (ga_mkdir_p(dir, 0777, err) ||
	    ga_write_new(AT_FDCWD, path, b.ptr, b.len, 0666, err))
		return ga_error_wrap(err, "cannot write the log of ref '%s'", name);
	return 0;
}
