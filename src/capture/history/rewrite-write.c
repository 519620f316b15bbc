/* SPDX-License-Identifier: MIT
 *
 * Rewrite one commit without held paths and with a message that is safe to show, since `git log`
 * prints it unescaped, in the encoding of its header. And find renames of files with uncommitted
 * work, by one `git diff-tree` for all commits.
 */
#include <string.h>
#include <strings.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/session/session.h"
#include "rewrite-internal.h"

enum { CLAIMED_LEN = 40, CLAIMED_MAX = 20 };

/* The length of one header in `extra`, with its continuation lines. */
static size_t header_len(const char *p)
{
	const char *s = p;

	do {
		s += strcspn(s, "\n");
		s += *s == '\n';
	} while (*s == ' ');
	return (size_t)(s - p);
}

static bool is_one_of(const char *header, const char *const *names)
{
	for (; *names; names++) {
		size_t n = strlen(*names);

		if (!strncmp(header, *names, n) && header[n] == ' ')
			return true;
	}
	return false;
}

static void drop_headers(struct ga_commit *c, const char *const *names)
{
	cleanup_buf struct ga_buf kept = GA_BUF_INIT;
	size_t n;

	for (const char *p = c->extra; *p; p += n) {
		n = header_len(p);
		if (!is_one_of(p, names))
			ga_buf_add(&kept, p, n);
	}
	free(c->extra);
	c->extra = ga_buf_steal(&kept);
}

enum encoding { ENC_UTF8, ENC_BYTES, ENC_OTHER };

/* ENC_BYTES are encodings in which each byte below 0x80 means itself, so that control
 * characters can be found in the bytes. In UTF-7 or ISO-2022 they cannot. */
static enum encoding encoding_of(const struct ga_commit *c)
{
	static const char *const name[] = { "encoding", NULL };
	static const char *const bytes[] = { "iso-8859-", "iso8859-", "windows-125", "cp125",
					     "latin", "koi8-", "us-ascii" };
	const char *p = c->extra;

	while (*p && !is_one_of(p, name))
		p += header_len(p);
	if (!*p)
		return ENC_UTF8;
	p += strlen("encoding ");
	if (!strncasecmp(p, "utf-8\n", 6) || !strncasecmp(p, "utf8\n", 5))
		return ENC_UTF8;
	for (size_t i = 0; i < GA_NELEMS(bytes); i++)
		if (!strncasecmp(p, bytes[i], strlen(bytes[i])))
			return ENC_BYTES;
	return ENC_OTHER;
}

static bool has_unsafe(const char *s, enum encoding enc, bool text)
{
	bool utf8 = enc == ENC_UTF8 && ga_utf8_valid(s, strlen(s));
	uint32_t c, before = 0, after;

	for (size_t len; *s; s += len, before = c) {
		c = (unsigned char)*s;
		len = utf8 ? ga_utf8_decode(s, strnlen(s, 4), &c) : 1;
		if (text && (c == '\n' || c == '\t' || (c == '\r' && s[1] == '\n')))
			continue;
		if (c < 0x20 || (c >= 0x7f && c < 0xa0))
			return true;
		if (!utf8 || !ga_is_invisible(c))
			continue;
		if (!s[len] || !ga_utf8_decode(s + len, strnlen(s + len, 4), &after))
			after = 0;
		if (ga_is_hidden(before, c, after))
			return true;
	}
	return false;
}

static void escape(char **s, bool text)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (text)
		ga_quote_add_text(&b, *s, strlen(*s));
	else
		ga_quote_add(&b, *s, strlen(*s));
	free(*s);
	*s = ga_buf_steal(&b);
}

void find_claimed(const struct ga_commit *c, struct ga_strv *keys)
{
	static const char prefix[] = "Agent-", letters[] = "-abcdefghijklmnopqrstuvwxyz"
							   "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (const char *p = c->message; *p; p += *p == '\n') {
		size_t n = strspn(p, letters);
		cleanup_free char *key = n < CLAIMED_LEN ? ga_strndup(p, n) : NULL;

		/* git allows blanks before the colon */
		if (key && !strncasecmp(key, prefix, strlen(prefix)) &&
		    p[n + strspn(p + n, " \t")] == ':' && keys->n < CLAIMED_MAX &&
		    !ga_strv_has(keys, key))
			ga_strv_push(keys, key);
		p += strcspn(p, "\n");
	}
}

bool clean_commit(struct ga_commit *c)
{
	static const char *const encoding[] = { "encoding", NULL };
	enum encoding enc = encoding_of(c);

	if (enc != ENC_OTHER && !has_unsafe(c->message, enc, true) &&
	    !has_unsafe(c->author, enc, false) && !has_unsafe(c->committer, enc, false))
		return false;
	/* the result is UTF-8, whatever the encoding was called */
	escape(&c->message, true);
	escape(&c->author, false);
	escape(&c->committer, false);
	drop_headers(c, encoding);
	return true;
}

struct node *range_find(const struct range *g, const struct ga_oid *id)
{
	size_t i;

	return ga_oidmap_get(&g->index, id, &i) ? &g->v[i] : NULL;
}

struct ga_oid range_mapped(const struct range *g, const struct ga_oid *id)
{
	const struct node *p = range_find(g, id);

	return p ? p->new_id : *id;
}

/* Write the node's new commit, with texts that are safe to show, and without signatures, which no
 * longer hold. */
static int write_commit(struct range *g, struct node *n, const struct ga_oid *parents,
			struct ga_error *err)
{
	cleanup_commit struct ga_commit c = { .parents = NULL };

	if (ga_commit_read(g->r, &n->id, &c, err))
		return -1;
	if (n->unclean)
		(void)clean_commit(&c);
	drop_headers(&c, (const char *const[]){ "gpgsig", "gpgsig-sha256", "mergetag", NULL });
	for (size_t i = 0; i < c.n_parents; i++)
		c.parents[i] = parents[i];
	c.tree = n->new_tree;
	return ga_pack_add_commit(g->pack, &c, &n->new_id, err);
}

/* Did the commit change something of which nothing is left? */
static int is_emptied(struct range *g, const struct node *n, const struct ga_oid *parents,
		      bool *ret, struct ga_error *err)
{
	const struct node *p;
	struct ga_oid was, is;

	*ret = false;
	for (size_t i = 1; i < n->c.n_parents; i++)
		if (!ga_oid_equal(&parents[i], &parents[0]))
			return 0;
	if (!n->c.n_parents)
		return 0;
	p = range_find(g, &n->c.parents[0]);
	if (!p && ga_commit_tree(g->r, &n->c.parents[0], &was, err))
		return -1;
	is = p ? p->new_tree : was;
	was = p ? p->c.tree : was;
	*ret = ga_oid_equal(&n->new_tree, &is) && !ga_oid_equal(&n->c.tree, &was);
	return 0;
}

int write_node(struct range *g, struct node *n, struct ga_error *err)
{
	const struct ga_commit *c = &n->c;
	cleanup_free struct ga_oid *parents = NULL;
	bool same = !n->unclean, emptied;

	parents = ga_calloc(c->n_parents ? c->n_parents : 1, sizeof(*parents));
	for (size_t i = 0; i < c->n_parents; i++) {
		parents[i] = range_mapped(g, &c->parents[i]);
		same &= ga_oid_equal(&parents[i], &c->parents[i]);
	}
	n->new_id = n->id;
	n->new_tree = c->tree;
	if (same && !n->over.n)
		return 0;
	if (ga_tree_apply(g->r, g->pack, &c->tree, &n->over, &n->new_tree, err) ||
	    is_emptied(g, n, parents, &emptied, err))
		return -1;
	if (!emptied)
		return write_commit(g, n, parents, err);
	n->new_id = parents[0];
	return 0;
}

/* Greatest number of files in a directory that is displaced by a file. */
#define BENEATH_MAX ((size_t)10000000)

/* Add the file of `tree` that is an ancestor of `path`, if any, as deleted. */
static int find_file_above(struct range *g, const struct ga_oid *tree, const char *path,
			   struct ga_changes *out, struct ga_error *err)
{
	static const struct ga_entry none;
	struct ga_entry e;
	size_t n;

	if (ga_tree_above(g->r, tree, path, &e, &n, err))
		return -1;
	if (e.mode) {
		cleanup_free char *above = ga_strndup(path, n);

		(void)ga_changes_add(out, above, &e, &none);
	}
	return 0;
}

/* Add all files that `tree` has beneath `path`, as deleted. */
static int find_files_below(struct range *g, const struct ga_oid *tree, const char *path,
			    struct ga_changes *out, struct ga_error *err)
{
	static const struct ga_entry none;
	cleanup_changes struct ga_changes files = GA_CHANGES_INIT;
	struct ga_entry e;

	if (ga_tree_entry(g->r, tree, path, &e, err))
		return -1;
	if (e.mode != GA_MODE_TREE)
		return 0;
	if (ga_tree_list(g->r, &e.oid, BENEATH_MAX, &files, err))
		return -1;
	for (size_t i = 0; i < files.n; i++) {
		cleanup_free char *below = ga_path_join(path, files.v[i].path);

		(void)ga_changes_add(out, below, &files.v[i].new, &none);
	}
	return 0;
}

int close_over_collisions(struct range *g, const struct ga_oid *tree, struct ga_changes *over,
			  struct ga_error *err)
{
	cleanup_changes struct ga_changes more = GA_CHANGES_INIT;

	/* where `tree` has a file, it has nothing above or below */
	for (size_t i = 0; i < over->n; i++)
		if (over->v[i].new.mode && !over->v[i].old.mode &&
		    (find_file_above(g, tree, over->v[i].path, &more, err) ||
		     find_files_below(g, tree, over->v[i].path, &more, err)))
			return -1;
	ga_changes_sort(&more);
	for (size_t i = 0, n = over->n; i < more.n; i++) {
		const struct ga_changes had = { over->v, n, 0 };
		const struct ga_change *c = &more.v[i];

		if (!ga_changes_find(&had, c->path) && (!i || strcmp(c[-1].path, c->path) != 0))
			(void)ga_changes_add(over, c->path, &c->old, &c->new);
	}
	if (more.n)
		ga_changes_sort(over);
	return 0;
}

/* Beyond so many candidates git only compares by content as a whole. */
#define RENAMES "-l1000"

/* A line for each commit: its parents and the snapshot that it is based on, to compare it with. */
static void add_commits(struct range *g, struct ga_buf *in)
{
	for (size_t i = g->n_wip_bases; i < g->n; i++) {
		struct node *n = &g->v[i];

		for (size_t k = 0; k < n->c.n_parents; k++) {
			const struct node *p = range_find(g, &n->c.parents[k]);

			if (p && p->stand > n->stand)
				n->stand = p->stand;
		}
		if (!n->c.n_parents)
			continue;
		ga_buf_adds(in, GA_HEX(&n->id));
		for (size_t k = 0; k < n->c.n_parents; k++)
			ga_buf_addf(in, " %s", GA_HEX(&n->c.parents[k]));
		if (n->stand)
			ga_buf_addf(in, " %s", GA_HEX(&g->v[n->stand - 1].id));
		ga_buf_addch(in, '\n');
	}
}

/* Returns 1 if git does not manage it in time, or lacks an object of a partial clone. */
static int list_renames(struct range *g, bool exact, unsigned ms, const struct ga_buf *in,
			struct ga_buf *out, struct ga_error *err)
{
	const char *const args[] = { "diff-tree", "--stdin", "-r", "-m", "-z", "--name-status",
				     "--no-commit-id", "--no-ext-diff", "--no-textconv",
				     "--no-rename-empty", "--diff-filter=R", RENAMES,
				     exact ? "-M100%" : "-M50%", NULL };
	cleanup_error struct ga_error late = GA_ERROR_INIT;
	struct ga_git g1 = GA_GIT(.args = args, .in = in->ptr, .in_len = in->len, .out = out,
				  .timeout_ms = exact ? 0 : ms);

	if (exact)
		return ga_git_ok(g->r, &g1, err);
	return ga_git_ok(g->r, &g1, &late) ? 1 : 0;
}

/* Add the new names of renamed paths, through any sequence of renames. */
static void add_moved(const struct ga_buf *out, struct ga_strv *paths)
{
	size_t had;

	do {
		const char *kind, *from, *to;
		size_t pos = 0;

		had = paths->n;
		while ((kind = ga_buf_next0(out, &pos)) && (from = ga_buf_next0(out, &pos)) &&
		       (to = ga_buf_next0(out, &pos)))
			if (*kind == 'R' && ga_wip_has(paths, from) && !ga_wip_has(paths, to)) {
				ga_strv_push(paths, to);
				ga_strv_sort_unique(paths);
			}
	} while (paths->n > had);
}

int find_moved(struct range *g, unsigned ms, struct ga_strv *paths, bool *ret_exact,
	       struct ga_error *err)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	int rc = 1;

	add_commits(g, &in);
	if (!in.len || !paths->n)
		return 0;
	*ret_exact = ga_repo_is_partial(g->r);
	if (!*ret_exact)
		rc = list_renames(g, false, ms, &in, &out, err);
	if (rc > 0) {
		*ret_exact = true;
		ga_buf_clear(&out);
		rc = list_renames(g, true, 0, &in, &out, err);
	}
	if (!rc)
		add_moved(&out, paths);
	return rc;
}
