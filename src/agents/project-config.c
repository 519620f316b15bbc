/* SPDX-License-Identifier: MIT
 *
 * Find files of a project that let an agent run commands without its model, which only the user can
 * trust.
 */
#include <jansson.h>

#include "agents-internal.h"
#include "ga/repo/objects.h"

#define SETTINGS_MAX ((size_t)64 << 10) /* longer ones are not read, and not harmless */
#define FILES_MAX 1000

void ga_agents_config_release(struct ga_agents_config *c)
{
	ga_strv_release(&c->paths);
	ga_buf_release(&c->text);
	free(c->why);
}

static bool has(const char *const *list, const char *word)
{
	while (*list && strcmp(*list, word) != 0)
		list++;
	return *list;
}

/* Only ASCII without a backslash: git may write the file in another encoding (the attribute
 * working-tree-encoding), which can make quotes of the rest, or end strings elsewhere. */
static bool has_only_harmless(const struct ga_questions *q, const struct ga_buf *text)
{
	json_t *j = json_loadb(text->ptr, text->len, JSON_REJECT_DUPLICATES, NULL), *value;
	bool ret = json_is_object(j);
	const char *key;

	for (size_t i = 0; i < text->len; i++)
		ret = ret && text->ptr[i] != '\\' && !(text->ptr[i] & 0x80);
	json_object_foreach(j, key, value)
		ret = ret && ga_has_word(q->harmless, key);
	json_decref(j);
	return ret;
}

static void add(struct ga_agents_config *c, const char *path, const char *why)
{
	if (ga_strv_has(&c->paths, path))
		return;
	ga_strv_push(&c->paths, path);
	if (why && !c->why)
		c->why = ga_strf("%s %s", GA_QUOTED(path), why);
}

static void add_entry(struct ga_repo *r, const struct ga_preset *p, const char *rel,
		      const char *path, const struct ga_entry *entry, struct ga_agents_config *ret)
{
	const struct ga_questions *q = p->questions;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	bool file = entry->mode == GA_MODE_FILE || entry->mode == GA_MODE_EXEC;

	if (file && has(q->settings, rel) &&
	    !ga_blob_read(r, &entry->oid, SETTINGS_MAX, &text, GA_IGNORED) &&
	    has_only_harmless(q, &text))
		return;
	add(ret, path, file ? NULL : "is not a file");
	ga_buf_addf(&ret->text, "have %s run commands from %s (%06o %s)\n", p->name,
		    GA_QUOTED(path), (unsigned)entry->mode, GA_HEX(&entry->oid));
}

/* `rel`: the path from the directory that the agent looks in. */
static void add_config(struct ga_repo *r, const struct ga_preset *p, const char *rel,
		       const char *path, const struct ga_entry *entry, struct ga_agents_config *ret)
{
	cleanup_changes struct ga_changes list = GA_CHANGES_INIT;

	if (entry->mode != GA_MODE_TREE)
		add_entry(r, p, rel, path, entry, ret);
	else if (ga_tree_list(r, &entry->oid, FILES_MAX, &list, GA_IGNORED))
		add(ret, path, "cannot be listed, or has too many files");
	for (size_t i = 0; i < list.n; i++) {
		cleanup_free char *rel_in = ga_path_join(rel, list.v[i].path);
		cleanup_free char *path_in = ga_path_join(path, list.v[i].path);

		add_entry(r, p, rel_in, path_in, &list.v[i].new, ret);
	}
}

/* In the directory `at`, which `tree` is, and those above `below` in it. Git checks out all
 * entries of a name that a tree has more than once. */
static int add_committed(struct ga_repo *r, const struct ga_preset *p, const struct ga_oid *tree,
			 const char *at, const char *below, struct ga_agents_config *ret,
			 struct ga_error *err)
{
	cleanup_tree_level struct ga_tree_level l = GA_TREE_LEVEL_INIT;
	size_t n = strcspn(below, "/");
	cleanup_free char *next = ga_strndup(below, n);

	if (ga_tree_level_read(r, tree, &l, err))
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		const struct ga_entry *entry = &l.v[i].entry;
		cleanup_free char *path = ga_path_join(at, l.v[i].name);

		if (has(p->questions->configs, l.v[i].name))
			add_config(r, p, l.v[i].name, path, entry, ret);
		if (!strcmp(l.v[i].name, next) && entry->mode == GA_MODE_TREE &&
		    add_committed(r, p, &entry->oid, path, below + n + (below[n] == '/'), ret, err))
			return -1;
	}
	return 0;
}

/* In the working tree: a file of harmless settings, or a directory with nothing else in it? */
static bool is_harmless(int top, const struct ga_questions *q, const char *rel, const char *path,
			bool enter)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_dir DIR *d = ga_dir_of(ga_openat_beneath(top, path, O_RDONLY | O_DIRECTORY, 0));
	struct dirent *e;
	bool ret = d && enter;

	if (!d)
		return has(q->settings, rel) &&
		       !ga_read_beneath(top, path, SETTINGS_MAX, &text, GA_IGNORED) &&
		       has_only_harmless(q, &text);
	while (ret && (e = ga_dir_next(d))) {
		cleanup_free char *rel_in = ga_path_join(rel, e->d_name);
		cleanup_free char *path_in = ga_path_join(path, e->d_name);

		ret = is_harmless(top, q, rel_in, path_in, false);
	}
	return ret;
}

/* Check untracked `paths` that the session shows; a repository's files are not among them, so the
 * user made them. */
static void add_loose(int top, const struct ga_questions *q, const struct ga_strv *paths,
		      const struct ga_strv *masked, const char *rel, const char *path,
		      struct ga_agents_config *ret)
{
	for (size_t i = 0; i < paths->n; i++) {
		bool in = ga_path_inside(paths->v[i], path);
		const char *at = in ? paths->v[i] : path;
		cleanup_close int fd = -1;

		if (!in && !ga_path_inside(path, paths->v[i]))
			continue;
		fd = ga_openat_beneath(top, at, O_PATH, 0);
		if ((fd >= 0 || errno != ENOENT) && !ga_strv_has(masked, at) &&
		    !is_harmless(top, q, at + (strlen(path) - strlen(rel)), at, true))
			add(ret, at, "is in no commit");
	}
}

int ga_agents_find_config(struct ga_repo *r, const struct ga_preset *p, const struct ga_oid *tree,
			  struct ga_agents_config *ret, struct ga_error *err)
{
	const char *workdir = ga_repo_info(r)->workdir;
	cleanup_free char *cwd = ga_agents_cwd(workdir);

	ga_buf_addch(&ret->text, '\0');
	return p->questions ? add_committed(r, p, tree, "", ga_path_below(cwd, workdir), ret, err)
			    : 0;
}

void ga_agents_find_loose(struct ga_repo *r, const struct ga_preset *p, const struct ga_scan *scan,
			  bool uncommitted, const struct ga_strv *masked,
			  struct ga_agents_config *ret)
{
	const struct ga_strv *const loose[] = { &scan->ignored_dirs, &scan->ignored_files,
						&scan->changed, &scan->untracked };
	const struct ga_questions *q = p->questions;
	const char *workdir = ga_repo_info(r)->workdir;
	cleanup_close int top = open(workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *dir = ga_agents_cwd(workdir);

	for (; ga_path_inside(dir, workdir); ga_path_up(dir))
		for (size_t i = 0; q->configs[i]; i++) {
			const char *rel = q->configs[i];
			cleanup_free char *path = ga_path_join(ga_path_below(dir, workdir), rel);

			for (size_t k = 0; k < (uncommitted ? GA_NELEMS(loose) : 2); k++)
				add_loose(top, q, loose[k], masked, rel, path, ret);
		}
}
