/* SPDX-License-Identifier: MIT
 *
 * Symbolic links, and directories that would count as repositories.
 */
#include <ctype.h>
#include <string.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "internal.h"
#include "risk/internal.h"

/* Other paths that a file has because of a link: if web/.vscode links to tools/vscode, an editor
 * reads tools/vscode/tasks.json as web/.vscode/tasks.json. Every link of the old tree counts, and
 * every one that changes. */

/* Linux follows no link with a target longer than TARGET_MAX. */
enum { TARGET_MAX = 4096, HOPS_MAX = 10, TREE_DEPTH_MAX = 4096, STEPS_MAX = 100, DEPTH_MAX = 64 };

struct search {
	struct ga_inspect *k;
	const struct ga_oid *tree;
	struct ga_buf path;
};

/* Does a rule that is high or critical cover a link of this name? */
static bool matters(struct ga_inspect *k, const char *path)
{
	cleanup_hits struct ga_hits hits = GA_HITS_INIT;
	cleanup_buf struct ga_buf folded = GA_BUF_INIT;
	bool severe = false;

	ga_name_fold(&folded, path);
	ga_matcher_find(k->matcher, folded.ptr, true, &hits);
	for (size_t i = 0; i < hits.n; i++)
		severe |= ((const struct ga_rule *)hits.v[i].of)->severity >= GA_HIGH;
	return severe;
}

/* The final target of the link at `path`; NULL: outside the project. */
static char *end_of(struct search *s, const char *path, const struct ga_entry *link)
{
	cleanup_free char *at = ga_strdup(path);
	struct ga_entry e = *link;

	for (int hops = 0; e.mode == GA_MODE_LINK; hops++) {
		cleanup_buf struct ga_buf target = GA_BUF_INIT;
		cleanup_free char *dir = ga_path_parent(at);
		char *next = NULL;

		if (hops < HOPS_MAX && !ga_inspect_blob(s->k, &e, TARGET_MAX, &target))
			next = ga_path_resolve(dir, target.ptr);
		if (!next)
			return NULL;
		free(at);
		at = next;
		e = ga_inspect_entry(s->k, s->tree, at);
	}
	return *at ? ga_steal(&at) : NULL;
}

static void add_link(struct search *s, const char *path, const struct ga_entry *link)
{
	struct ga_inspect *k = s->k;
	char *target;

	if (!matters(k, path))
		return;
	target = end_of(s, path, link);
	if (!target)
		return;
	GA_GROW(k->aliases.v, k->aliases.n, k->aliases.cap);
	ga_strmap_add(&k->aliases.targets, target, strlen(target), (uint32_t)k->aliases.n);
	k->aliases.v[k->aliases.n++] = (struct ga_alias){ ga_strdup(path), target };
}

static void search_tree(struct search *s, const struct ga_oid *tree, int depth)
{
	cleanup_tree_level struct ga_tree_level level = GA_TREE_LEVEL_INIT;
	struct ga_error err = GA_ERROR_INIT;
	size_t before = s->path.len;

	/* a tree that cannot be read is flagged where something in it changes */
	if (ga_tree_level_read(s->k->repo, tree, &level, &err)) {
		ga_error_release(&err);
		return;
	}
	for (size_t i = 0; i < level.n; i++) {
		const struct ga_level_entry *e = &level.v[i];

		ga_buf_addf(&s->path, "%s%s", before ? "/" : "", e->name);
		if (e->entry.mode == GA_MODE_LINK)
			add_link(s, s->path.ptr, &e->entry);
		else if (e->entry.mode == GA_MODE_TREE && depth < TREE_DEPTH_MAX)
			search_tree(s, &e->entry.oid, depth + 1);
		ga_buf_truncate(&s->path, before);
	}
}

void ga_find_aliases(struct ga_inspect *k)
{
	struct search old = {.k = k, .tree = k->old_tree, .path = GA_BUF_INIT};
	struct search new = {.k = k, .tree = k->new_tree, .path = GA_BUF_INIT};
	const struct ga_change top = {.path = (char *)(uintptr_t) ""};

	/* no change is inspected yet, but reading blobs can fire a rule, which needs one */
	/* cppcheck-suppress autoVariables */
	k->c = &top;
	if (k->old_tree)
		search_tree(&old, k->old_tree, 0);
	ga_buf_release(&old.path);
	for (size_t i = 0; i < k->changes->n; i++)
		if (k->changes->v[i].new.mode == GA_MODE_LINK)
			add_link(&new, k->changes->v[i].path, &k->changes->v[i].new);
	ga_drop_fired(k);
}

void ga_aliases_release(struct ga_aliases *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->v[i].link);
		free(a->v[i].target);
	}
	free(a->v);
	ga_strmap_release(&a->targets);
}

/* Does the target's path leave the root, or pass through a link? */
static bool escapes(struct ga_inspect *k, const char *dir, const char *target)
{
	cleanup_free char *at = ga_strdup(dir);
	int steps = 0;

	for (const char *p = target;;) {
		size_t n = strcspn(p, "/");
		cleanup_free char *part = ga_strndup(p, n);
		char *next = ga_path_resolve(at, part);

		free(at);
		at = next;
		/* bounded, since each step is looked up from the root */
		if (!at || ++steps > STEPS_MAX)
			return true;
		if (!p[n])
			return false;
		if (*at && ga_inspect_entry(k, k->new_tree, at).mode == GA_MODE_LINK)
			return true;
		p += n + 1;
	}
}

static bool into_system(const char *target)
{
	cleanup_free char *plain = NULL;

	if (target[0] != '/')
		return false;
	while (*target == '/')
		target++;
	plain = ga_path_resolve("", target);
	if (!plain) /* it goes above the root, where ".." is the root itself */
		return strstr(target, "proc") || strstr(target, "dev");
	return ga_has_word_n("proc dev sys run oldroot newroot", plain, strcspn(plain, "/"));
}

static void check_target(struct ga_inspect *k, const char *target)
{
	cleanup_free char *dir = ga_path_parent(k->c->path);
	cleanup_free char *slashed = ga_strdup(target);
	cleanup_free char *shown = ga_quote(target);
	bool drive = isalpha((unsigned char)target[0]) && target[1] == ':';

	for (char *p = slashed; *p; p++)
		if (*p == '\\')
			*p = '/';
	if (ga_path_names_dotgit(target))
		ga_fire_rule(k, "symlink-into-git", ga_strf("-> %s", shown));
	if (into_system(target))
		ga_fire_rule(k, "symlink-proc-dev", ga_strf("-> %s", shown));
	if (strchr("/~\\", target[0]) || drive)
		ga_fire_rule(k, "symlink-absolute", ga_strf("-> %s", shown));
	else if (escapes(k, dir, target) || (strchr(target, '\\') && escapes(k, dir, slashed)))
		ga_fire_rule(k, "symlink-escapes", ga_strf("-> %s", shown));
	if (k->link_covered)
		ga_fire_rule(k, "symlink-special-name", ga_strf("-> %s", shown));
	/* the target of every link is shown: by one of these flags, or else by this one */
	if (!ga_has_fired(k, "symlink-into-git symlink-proc-dev symlink-absolute "
			     "symlink-escapes symlink-special-name"))
		ga_fire_rule(k, "symlink-any", ga_strf("-> %s", shown));
}

static bool is_plain(uint32_t mode)
{
	return mode == GA_MODE_FILE || mode == GA_MODE_EXEC || mode == GA_MODE_GITLINK;
}

void ga_inspect_link(struct ga_inspect *k)
{
	cleanup_buf struct ga_buf target = GA_BUF_INIT;
	const struct ga_change *c = k->c;
	int r;

	if (c->old.mode == GA_MODE_LINK && is_plain(c->new.mode))
		ga_fire_rule(k, "symlink-replaces", ga_strdup("was a link"));
	if (c->new.mode != GA_MODE_LINK)
		return;
	if (is_plain(c->old.mode))
		ga_fire_rule(k, "symlink-replaces", ga_strdup("was a file"));
	else if (c->old.mode == GA_MODE_NONE &&
		 ga_inspect_entry(k, k->old_tree, c->path).mode == GA_MODE_TREE)
		ga_fire_rule(k, "symlink-replaces", ga_strdup("was a directory"));
	r = ga_inspect_blob(k, &c->new, TARGET_MAX, &target);
	if (r < 0)
		return;
	if (r > 0 || strlen(target.ptr) != target.len || !target.len) {
		ga_fire_rule(k, "symlink-escapes", ga_strdup("its target is no path"));
		return;
	}
	check_target(k, target.ptr);
}

void ga_inspect_removed_link(struct ga_inspect *k)
{
	if (k->c->old.mode == GA_MODE_LINK &&
	    ga_inspect_entry(k, k->new_tree, k->c->path).mode == GA_MODE_TREE)
		ga_fire_rule(k, "symlink-replaces", ga_strdup("a directory takes its place"));
}

static uint32_t mode_below(struct ga_inspect *k, const char *dir, const char *name)
{
	cleanup_free char *path = ga_path_join(dir, name);

	return ga_inspect_entry(k, k->new_tree, path).mode;
}

static bool head_text(const struct ga_buf *b)
{
	struct ga_oid oid;

	return !strncmp(b->ptr, "ref:", 4) ||
	       (b->len >= GA_OID_HEXSZ && ga_oid_parse(b->ptr, GA_OID_HEXSZ, &oid));
}

/* Git takes a directory for a repository if it has HEAD, and objects and refs or
 * a file that says where those are. */
static bool is_repository(struct ga_inspect *k, const char *dir)
{
	cleanup_buf struct ga_buf head = GA_BUF_INIT;
	cleanup_free char *path = ga_path_join(dir, "HEAD");
	struct ga_entry e = ga_inspect_entry(k, k->new_tree, path);

	if (e.mode == GA_MODE_NONE || e.mode == GA_MODE_TREE)
		return false;
	/* A link named HEAD counts for git as well, whatever it points to. */
	if (e.mode != GA_MODE_LINK &&
	    (ga_inspect_blob(k, &e, TARGET_MAX, &head) != 0 || !head_text(&head)))
		return false;
	return (mode_below(k, dir, "objects") && mode_below(k, dir, "refs")) ||
	       mode_below(k, dir, "commondir") || mode_below(k, dir, "gitdir");
}

static bool config_text(struct ga_inspect *k)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (k->c->new.mode != GA_MODE_FILE && k->c->new.mode != GA_MODE_EXEC)
		return false;
	return ga_inspect_blob(k, &k->c->new, 1 << 20, &b) == 0 &&
	       (strcasestr(b.ptr, "[core]") || strcasestr(b.ptr, "[core "));
}

void ga_inspect_repository(struct ga_inspect *k)
{
	bool found = false;
	int depth = 0;

	if (ga_has_word("head config commondir gitdir", k->base)) {
		cleanup_free char *dir = ga_path_parent(k->c->path);

		found = is_repository(k, dir);
	}
	if (!found && !strcmp(k->base, "config"))
		found = config_text(k);
	/* or the path is what was missing: the first one below objects or refs */
	for (const char *p = k->c->path, *slash; !found && (slash = strchr(p, '/'));
	     p = slash + 1) {
		size_t n = (size_t)(slash - p);
		cleanup_free char *above = NULL;

		if (++depth > DEPTH_MAX) {
			ga_fire_uninspected(k, "nested too deep to look for repositories", NULL);
			return;
		}
		if (!(n == 7 && !memcmp(p, "objects", 7)) && !(n == 4 && !memcmp(p, "refs", 4)))
			continue;
		above = ga_strndup(k->c->path, p > k->c->path ? (size_t)(p - 1 - k->c->path) : 0);
		found = is_repository(k, above);
	}
	if (found)
		ga_fire_rule(k, "embedded-bare-repo", NULL);
}
