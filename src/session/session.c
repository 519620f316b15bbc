/* SPDX-License-Identifier: MIT
 *
 * Sessions as values: states, names, refs, the commit that was shown, results of finish commands,
 * and the uncommitted part.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/alloc.h"
#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/strv.h"
#include "ga/repo/objects.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"

static const char *const state_names[] = {
	[GA_STATE_NEW] = "new",
	[GA_STATE_RUNNING] = "running",
	[GA_STATE_INTERRUPTED] = "interrupted",
	[GA_STATE_CAPTURED] = "captured",
	[GA_STATE_LANDED] = "landed",
	[GA_STATE_DROPPED] = "dropped",
};

const char *ga_state_name(enum ga_state s)
{
	return state_names[s];
}

bool ga_state_parse(const char *name, enum ga_state *ret)
{
	for (size_t i = 0; i < GA_NELEMS(state_names); i++) {
		if (!strcmp(name, state_names[i])) {
			*ret = (enum ga_state)i;
			return true;
		}
	}
	return false;
}

const struct ga_oid *ga_session_agent_base(const struct ga_session *s)
{
	return ga_oid_is_zero(&s->view.agent_base) ? &s->id.base : &s->view.agent_base;
}

const struct ga_oid *ga_session_branch_base(const struct ga_session *s)
{
	return ga_oid_is_zero(&s->view.branch_base) ? &s->id.onto : &s->view.branch_base;
}

const struct ga_oid *ga_session_own_base(const struct ga_session *s)
{
	return ga_oid_is_zero(&s->view.updated) ? &s->id.onto : &s->view.updated;
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

bool ga_session_name_ok(const char *name)
{
	size_t n = strlen(name);

	if (!n || n > GA_SESSION_NAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!name_char(name[i]))
			return false;
	/* the rest is what git refuses in a ref name, or looks like an option */
	return name_char(name[0]) && !strchr("._-", name[0]) && name[n - 1] != '.' &&
	       !strstr(name, "..") && !(n > 5 && !strcmp(name + n - 5, ".lock"));
}

char *ga_session_stem(const char *command)
{
	const char *slash = strrchr(command, '/');
	const char *p = slash ? slash + 1 : command;
	char *out = ga_malloc(GA_SESSION_NAME_MAX);
	size_t n = 0;

	/* leave room for "-" and a number */
	for (; *p && n < GA_SESSION_NAME_MAX - 12; p++) {
		char c = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;

		if (name_char(c) && c != '.' && !(n == 0 && strchr("_-", c)))
			out[n++] = c;
	}
	out[n] = '\0';
	if (!n)
		memcpy(out, "agent", sizeof("agent"));
	return out;
}

char *ga_session_ref(const struct ga_session *s, const char *what)
{
	return ga_strf(GA_SESSION_REFS "%s/%s", s->name, what);
}

bool ga_session_is_tracked(const char *name)
{
	return !strncmp(name, "refs/remotes/", 13) && strstr(name + 13, "/agent/");
}

int ga_session_host_refs(struct ga_repo *r, struct ga_refs *ret, struct ga_error *err)
{
	static const char *const spaces[] = { "refs/heads/", "refs/remotes/", "refs/tags/" };

	for (size_t i = 0; i < GA_NELEMS(spaces); i++) {
		cleanup_refs struct ga_refs all = GA_REFS_INIT;

		if (ga_refs_list(r, spaces[i], &all, err))
			return -1;
		for (size_t k = 0; k < all.n; k++) {
			if (!strncmp(all.v[k].name, GA_SESSION_BRANCHES,
				     strlen(GA_SESSION_BRANCHES)) ||
			    ga_session_is_tracked(all.v[k].name) ||
			    !ga_object_exists(r, &all.v[k].oid))
				continue;
			ga_refs_add(ret, all.v[k].name, &all.v[k].oid);
		}
	}
	return 0;
}

int ga_session_taken_names(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	struct ga_oid oid;
	int rc = ga_ref_read(r, "refs/heads/agent", &oid, err);

	if (rc < 0)
		return -1;
	if (!rc)
		return ga_fail(err, GA_EFATAL, "branch 'agent' leaves no room for branches below "
			       "'agent/'"
			       GA_HINT "'git branch -m agent NAME' gives it another name");
	if (ga_refs_list(r, GA_SESSION_BRANCHES, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++) {
		const char *name = refs.v[i].name + strlen(GA_SESSION_BRANCHES);
		/* where there is a branch agent/x/y there can be no agent/x */
		cleanup_free char *first = ga_strndup(name, strcspn(name, "/"));

		ga_strv_push(ret, first);
	}
	return 0;
}

/* The session's result as text, which a capture or a fetch changes and a verdict does not. */
static char *format_result(const struct ga_session *s)
{
	return ga_strf("%" PRIu64 " %s %s %s\n", s->run.finished, GA_HEX(&s->view.tree),
		       GA_HEX(&s->result.remote_tip), GA_HEX(&s->result.remote_held));
}

/* The first line is the result, the second the commit that was shown. False if the result has
 * changed since. */
static bool read_shown(const struct ga_session *s, const char *file, struct ga_oid *ret_commit)
{
	cleanup_free char *now = format_result(s);
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	cleanup_buf struct ga_buf was = GA_BUF_INIT;
	const char *second;

	*ret_commit = (struct ga_oid){ 0 };
	if (ga_read_file_at(AT_FDCWD, file, 4096, &was, &unread))
		return false;
	second = strchr(was.ptr, '\n');
	if (second)
		(void)ga_oid_parse(second + 1, strcspn(second + 1, "\n"), ret_commit);
	return !strncmp(was.ptr, now, strlen(now));
}

int ga_session_mark_shown(const struct ga_session *s, const struct ga_oid *commit,
			  struct ga_oid *ret_former, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(s->dir, "shown"), *now = format_result(s);
	cleanup_free char *text = ga_strf("%s%s\n", now, GA_HEX(commit));

	if (read_shown(s, file, ret_former) && ga_oid_equal(ret_former, commit))
		return 0;
	return ga_write_atomic(AT_FDCWD, file, text, strlen(text), 0600, err);
}

int ga_session_check_shown(const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(s->dir, "shown");
	struct ga_oid commit;

	if ((access(file, F_OK) && errno == ENOENT) || read_shown(s, file, &commit))
		return 0;
	return ga_fail(err, GA_ECONFLICT, "agent/%s was captured again since it was shown"
		       GA_HINT "'git agent review %s' shows what it is now", s->name, s->name);
}

#define COMMAND_MAX ((size_t)16 << 10)

static const char *const names[] = {
	[GA_CHECK_EXITED] = "exited", [GA_CHECK_TIMED_OUT] = "timed-out",
	[GA_CHECK_INTERRUPTED] = "interrupted", [GA_CHECK_NOT_RUN] = "not-run",
};

const char *ga_check_end_name(enum ga_check_end e)
{
	return names[e];
}

char *ga_check_encode(const struct ga_check *c)
{
	return ga_strf("%s %d %s", names[c->end], c->status, c->command);
}

bool ga_check_parse(const char *word, struct ga_check *ret)
{
	size_t n = strcspn(word, " "), k;
	const char *rest = word + n + (word[n] == ' ');
	cleanup_free char *status = NULL;
	uint64_t v;

	k = strcspn(rest, " ");
	status = ga_strndup(rest, k);
	if (!rest[k] || !ga_parse_u64(status, 255, &v) || strlen(rest) > COMMAND_MAX)
		return false;
	for (size_t i = 0; i < GA_NELEMS(names); i++) {
		if (strlen(names[i]) != n || strncmp(names[i], word, n))
			continue;
		*ret = (struct ga_check){ (enum ga_check_end)i, (int)v, rest + k + 1 };
		return !strpbrk(ret->command, "\n\r\x1b");
	}
	return false;
}

char *ga_check_text(const struct ga_check *c)
{
	static const char *const how[] = {
		[GA_CHECK_TIMED_OUT] = "timed out", [GA_CHECK_INTERRUPTED] = "interrupted",
		[GA_CHECK_NOT_RUN] = "not run",
	};

	return c->end == GA_CHECK_EXITED ? ga_strf("%s \xe2\x86\x92 %d", c->command, c->status)
					 : ga_strf("%s \xe2\x86\x92 %s", c->command, how[c->end]);
}

void ga_wip_release(struct ga_wip *w)
{
	free(w->objects);
	ga_strv_release(&w->paths);
	*w = (struct ga_wip)GA_WIP_INIT;
}

char *ga_wip_objects(const struct ga_session *s)
{
	return ga_path_join(s->dir, "objects");
}

int ga_wip_use(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *objects = ga_wip_objects(s);

	if (ga_oid_equal(&s->id.base, &s->id.onto))
		return 0;
	return ga_repo_use_private(r, objects, err);
}

int ga_wip_attach(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *objects = ga_wip_objects(s);

	return ga_repo_read_private(r, objects, err);
}

/* The first entry of the sorted list that is not less than `s`. */
static size_t lower_bound(const struct ga_strv *paths, const char *s)
{
	size_t lo = 0, hi = paths->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(paths->v[mid], s) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool ga_wip_has(const struct ga_strv *paths, const char *path)
{
	cleanup_free char *below = ga_strf("%s/", path);
	size_t at = lower_bound(paths, below);

	if (at < paths->n && !strncmp(paths->v[at], below, strlen(below)))
		return true;
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		cleanup_free char *above = ga_strndup(path, (size_t)(p - path));

		if (ga_strv_find(paths, above) >= 0)
			return true;
	}
	return ga_strv_find(paths, path) >= 0;
}

int ga_wip_paths(struct ga_repo *r, const struct ga_session *s, struct ga_strv *ret,
		 struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;

	if (ga_oid_equal(&s->id.base, &s->id.onto))
		return 0;
	if (ga_tree_diff(r, &s->id.onto, &s->id.base, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		ga_strv_push(ret, all.v[i].path);
	ga_strv_extend(ret, &s->view.renamed);
	ga_strv_sort_unique(ret);
	return 0;
}

int ga_wip_changes(struct ga_repo *r, const struct ga_wip *w, struct ga_changes *ret,
		   struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;

	if (!w->paths.n)
		return 0;
	if (ga_tree_diff(r, &w->snapshot, &w->seen, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (ga_strv_find(&w->paths, all.v[i].path) >= 0)
			(void)ga_changes_add(ret, all.v[i].path, &all.v[i].old, &all.v[i].new);
	return 0;
}

void ga_wip_load(const struct ga_session *s, struct ga_wip *ret)
{
	*ret = (struct ga_wip)GA_WIP_INIT;
	ret->objects = ga_wip_objects(s);
	if (ga_oid_equal(&s->id.base, &s->id.onto))
		return;
	ret->snapshot = s->id.base;
	ret->seen = s->view.tree;
	ga_strv_extend(&ret->paths, &s->result.left_out);
	ga_strv_sort_unique(&ret->paths);
}
