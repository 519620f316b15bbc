/* SPDX-License-Identifier: MIT
 *
 * What of the user's own agent is brought to the agents' home besides its login (home-import.def).
 * Of the user's home only an agent's own directory is opened by name; beneath it, and in the
 * agents' home, no link is followed. Everything is read and checked before anything is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/home.h"
#include "ga/json.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/secret.h"
#include "home.h"

#define JSON_MAX ((size_t)16 << 20)
#define FILE_MAX ((size_t)256 << 10)
#define ALL_MAX ((size_t)8 << 20)
#define FILES_MAX 500
#define ENTRIES_MAX 5000 /* read at all */
#define WORDS_MAX ((size_t)64 << 10)
#define DEPTH_MAX 8
/* What no text for an agent has to have in it. */
#define SECRETS (GA_MARK_KEY | GA_MARK_TOKEN | GA_MARK_JWT | GA_MARK_LOGIN | GA_MARK_SECRET | \
		 GA_MARK_RANDOM | GA_MARK_OPAQUE | GA_MARK_SERVICE_ACCOUNT | \
		 GA_MARK_AUTHORIZED_USER | GA_MARK_KUBE_SECRET | GA_MARK_JWK | GA_MARK_KEYSTORE | \
		 GA_MARK_PGP_SECRET)

enum kind { FILES, KEYS, SERVERS };

static const struct row {
	const char *agent;
	enum kind kind;
	const char *path, *keys, *form;
} rows[] = {
#define IMPORT(agent, kind, path, keys, form) { agent, kind, path, keys, form },
#include "home-import.def"
#undef IMPORT
};

struct job {
	const struct ga_start_env *e;
	const struct ga_preset *p;
	struct ga_home_import *ret;
	int home; /* the agents'; -1: there is none yet */
	size_t bytes, entries;
};

void ga_home_import_release(struct ga_home_import *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].rel);
		ga_buf_release(&m->v[i].text);
	}
	free(m->v);
	ga_strv_release(&m->brought);
	ga_strv_release(&m->left);
	*m = (struct ga_home_import)GA_HOME_IMPORT_INIT;
}

static void leave(struct job *j, const char *path, const char *why)
{
	cleanup_free char *q = ga_quote(path);

	ga_strv_pushf(&j->ret->left, "%s: %s", q, why);
}

static bool has_secret(const char *path, const void *p, size_t n)
{
	struct ga_secret_marks m = { 0 };

	ga_secret_look(path, p, n, &m);
	return m.bits & SECRETS;
}

/* Open `rel` in the user's home: the agent's own directory wherever it is, then beneath it. */
static int open_own(const struct job *j, const char *rel, int flags)
{
	for (size_t i = 0; j->p->state[i]; i++) {
		const char *rest = ga_path_below(rel, j->p->state[i]);
		cleanup_free char *top = ga_path_join(j->e->home, j->p->state[i]);
		cleanup_close int dir = -1;

		if (!rest)
			continue;
		if (!*rest)
			return open(top, flags | O_CLOEXEC);
		dir = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
		return dir < 0 ? -1 : ga_openat_beneath(dir, rest, flags, 0);
	}
	errno = ENOENT;
	return -1;
}

static void add_piece(struct job *j, const char *rel, struct ga_buf *text, mode_t mode)
{
	struct ga_home_import *m = j->ret;

	GA_GROW(m->v, m->n, m->cap);
	m->v[m->n++] = (struct ga_home_piece){ ga_strdup(rel), *text, mode };
	*text = (struct ga_buf)GA_BUF_INIT;
}

/* ---- files -------------------------------------------------------------------------------- */

static void take_file(struct job *j, int fd, const char *rel)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf text = GA_BUF_INIT, now = GA_BUF_INIT;
	cleanup_free char *q = ga_quote(rel);
	struct stat st;
	bool other;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return leave(j, rel, "no file");
	if (j->ret->n >= FILES_MAX || (size_t)st.st_size > FILE_MAX ||
	    j->bytes + (size_t)st.st_size > ALL_MAX || ga_read_fd(fd, FILE_MAX, &text, &ignored))
		return leave(j, rel, "too large, or one of too many");
	if (has_secret(rel, text.ptr, text.len))
		return leave(j, rel, "it may hold a secret");
	if (j->p->notes && !strcmp(rel, j->p->notes))
		ga_buf_addf(&text, "\nRead the file that $GIT_AGENT_NOTES names: it says where you "
			    "are.\n");
	if (j->home >= 0 && ga_read_beneath(j->home, rel, FILE_MAX + 1024, &now, &ignored) < 0)
		ga_buf_truncate(&now, 0);
	other = now.len > 0;
	if (other && ga_buf_equal(&now, &text)) {
		j->ret->same = true;
		return;
	}
	j->bytes += text.len;
	ga_strv_pushf(&j->ret->brought, "%s%s", q, other ? ", over another one" : "");
	add_piece(j, rel, &text, st.st_mode & S_IXUSR ? 0700 : 0600);
}

static void take_tree(struct job *j, int at, const char *name, const char *rel, int depth)
{
	int fd = ga_openat_beneath(at, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	cleanup_dir DIR *d = NULL;
	struct dirent *e;

	if (fd < 0)
		return leave(j, rel, errno == ELOOP ? "a link" : strerror(errno));
	d = ga_dir_of(fd); /* closes it if it is no directory */
	if (!d) {
		cleanup_close int file = ga_openat_beneath(at, name, O_RDONLY | O_NONBLOCK |
							   O_NOCTTY, 0);

		if (file >= 0)
			take_file(j, file, rel);
		return;
	}
	if (depth >= DEPTH_MAX)
		return leave(j, rel, "too deep");
	while (j->entries <= ENTRIES_MAX && (e = ga_dir_next(d))) {
		cleanup_free char *path = ga_path_join(rel, e->d_name);

		if (++j->entries > ENTRIES_MAX)
			leave(j, path, "too many files: neither is what comes after it brought");
		else if (strcmp(e->d_name, ".git") && strcmp(e->d_name, "node_modules"))
			take_tree(j, dirfd(d), e->d_name, path, depth + 1);
	}
}

static void take_files(struct job *j, const char *rel)
{
	cleanup_free char *parent = ga_path_parent(rel);
	cleanup_close int at = open_own(j, parent, O_RDONLY | O_DIRECTORY);

	if (at >= 0 && !faccessat(at, ga_path_base(rel), F_OK, AT_SYMLINK_NOFOLLOW))
		take_tree(j, at, ga_path_base(rel), rel, 0);
}

/* ---- members of JSON ------------------------------------------------------------------------ */

static json_t *parse(const struct ga_buf *b)
{
	return b->len ? json_loadb(b->ptr, b->len, 0, NULL) : NULL;
}

static void take_keys(struct job *j, const struct row *r, json_t *from, json_t *to, bool *changed)
{
	for (const char *p = r->keys; *p; p += strspn(p, " ")) {
		cleanup_free char *key = ga_strndup(p, strcspn(p, " ")), *text = NULL;
		json_t *v = json_object_get(from, key);

		p += strlen(key);
		if (!v || json_is_object(v) || json_is_array(v))
			continue;
		if (json_equal(v, json_object_get(to, key))) {
			j->ret->same = true;
			continue;
		}
		text = json_dumps(v, JSON_ENCODE_ANY);
		if (!text || strlen(text) > 200 || has_secret("x.txt", text, strlen(text))) {
			leave(j, key, "it may hold a secret");
			continue;
		}
		(void)json_object_set(to, key, v);
		*changed = true;
		ga_strv_pushf(&j->ret->brought, "%s: %s", r->path, key);
	}
}

/* The words of what it runs, to `shown` for users and to `lines` for the search for secrets. */
static bool add_words(json_t *v, struct ga_buf *shown, struct ga_buf *lines)
{
	const char *s = json_string_value(v);
	cleanup_free char *q = s ? ga_quote(s) : NULL;
	size_t i;
	json_t *w;

	if (json_is_array(v)) {
		json_array_foreach(v, i, w)
			if (json_is_array(w) || !add_words(w, shown, lines))
				return false;
		return true;
	}
	if (!s)
		return false;
	ga_buf_addf(shown, "%s%s", shown->len ? " " : "", q);
	/* `--key VALUE` is looked at as `--key=VALUE` is */
	ga_buf_addf(lines, "%s%s", s, *s == '-' && !strchr(s, '=') ? "=" : "\n");
	return true;
}

/* Instead of their values, references that the agent resolves; `names` for users. */
static json_t *take_variables(json_t *env, const char *form, struct ga_strv *names)
{
	const char *sign = strstr(form, "%s"), *name;
	json_t *ret = json_object(), *v;

	json_object_foreach(env, name, v) {
		size_t n = strlen(name);
		cleanup_free char *text = ga_strf("%.*s%s%s", (int)(sign - form), form, name,
						  sign + 2);

		if (!n || n > 100 || strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
					    "abcdefghijklmnopqrstuvwxyz0123456789") != n)
			continue;
		ga_json_set(ret, name, json_string(text));
		ga_strv_push(names, name);
	}
	return ret;
}

static json_t *take_server(struct job *j, const struct row *r, const char *what, json_t *from)
{
	static const char *const plain[] = { "type", "enabled", "disabled", "timeout" };
	static const char *const runs[] = { "command", "args", "url", "httpUrl" };
	static const char *const variables[] = { "env", "environment" };
	cleanup_buf struct ga_buf shown = GA_BUF_INIT, lines = GA_BUF_INIT;
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	cleanup_free char *list = NULL, *q = ga_quote(what);
	json_t *ret = json_object(), *v;
	bool ok = true;

	ga_buf_addf(&lines, "an MCP server:\n"); /* one word alone would be opaque */
	for (size_t i = 0; i < GA_NELEMS(plain); i++)
		if ((v = json_object_get(from, plain[i])) && !json_is_object(v) &&
		    !json_is_array(v) && json_string_length(v) < 100)
			(void)json_object_set(ret, plain[i], v);
	for (size_t i = 0; i < GA_NELEMS(runs); i++)
		if ((v = json_object_get(from, runs[i]))) {
			ok &= add_words(v, &shown, &lines) &&
			      (i < 2 || (json_is_string(v) &&
					 !strpbrk(json_string_value(v), "?@#")));
			(void)json_object_set(ret, runs[i], v);
		}
	if (!ok || !shown.len || lines.len > WORDS_MAX ||
	    has_secret("x.txt", lines.ptr, lines.len)) {
		leave(j, what, "what it runs, or its address, may hold a secret");
		json_decref(ret);
		return NULL;
	}
	for (size_t i = 0; i < GA_NELEMS(variables); i++)
		if (json_is_object(v = json_object_get(from, variables[i])))
			ga_json_set(ret, variables[i], take_variables(v, r->form, &names));
	if (json_object_size(json_object_get(from, "headers")))
		leave(j, what, "its headers: log in inside");
	list = ga_quote_list(&names, names.n);
	ga_strv_pushf(&j->ret->brought, "MCP server %s: %s%s%s%s", q, shown.ptr,
		      names.n ? "; it wants " : "", list, names.n ? " ('env.pass')" : "");
	return ret;
}

/* One that the agents have is not replaced. */
static void take_servers(struct job *j, const struct row *r, json_t *from, json_t *to,
			 bool *changed)
{
	json_t *all = json_object_get(to, r->keys), *v, *own;
	const char *name;

	if (!json_is_object(all)) {
		(void)json_object_set_new(to, r->keys, json_object());
		all = json_object_get(to, r->keys);
	}
	json_object_foreach(json_object_get(from, r->keys), name, v) {
		own = json_object_get(all, name) || strlen(name) > 100 ? NULL
								       : take_server(j, r, name, v);
		if (own)
			*changed |= !json_object_set_new(all, name, own);
	}
}

/* All rows of one file, from `first` on, into what the agents have there. */
static void take_json(struct job *j, const struct row *first)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf own = GA_BUF_INIT, theirs = GA_BUF_INIT, text = GA_BUF_INIT;
	cleanup_close int fd = open_own(j, first->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	json_t *from, *to;
	bool changed = false;
	struct stat st;
	char *dump;
	int rc;

	if (fd < 0)
		return errno == ELOOP ? leave(j, first->path, "a link") : (void)0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || ga_read_fd(fd, JSON_MAX, &own, &ignored))
		return leave(j, first->path, "no file, or too large");
	from = parse(&own);
	/* a link or the like in its place counts as nothing, and is replaced */
	rc = j->home < 0 ? 0 : ga_read_beneath(j->home, first->path, JSON_MAX, &theirs, &ignored);
	to = rc ? NULL : theirs.len ? parse(&theirs) : json_object();
	if (!json_is_object(from) || !json_is_object(to)) {
		leave(j, first->path, !json_is_object(from) ? "it is no JSON" :
				      "the agents' own is no JSON, or too large");
	} else {
		for (const struct row *r = first; r < rows + GA_NELEMS(rows); r++)
			if (!strcmp(r->path, first->path) && r->kind != FILES)
				(r->kind == KEYS ? take_keys : take_servers)(j, r, from, to,
									     &changed);
	}
	dump = changed ? json_dumps(to, JSON_INDENT(2)) : NULL;
	if (dump) {
		ga_buf_addf(&text, "%s\n", dump);
		add_piece(j, first->path, &text, 0600);
	}
	free(dump);
	json_decref(from);
	json_decref(to);
}

/* ---- both ----------------------------------------------------------------------------------- */

void ga_home_import_find(const struct ga_start_env *e, const struct ga_preset *p,
			 struct ga_home_import *ret)
{
	cleanup_close int home = open(e->agent_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct job j = { .e = e, .p = p, .ret = ret, .home = home };
	const char *last = "";

	for (const struct row *r = rows; r < rows + GA_NELEMS(rows); r++) {
		if (strcmp(r->agent, p->name))
			continue;
		if (r->kind == FILES)
			take_files(&j, r->path);
		else if (strcmp(r->path, last))
			take_json(&j, r);
		last = r->path;
	}
	ga_strv_sort_unique(&ret->brought);
	ga_strv_sort_unique(&ret->left);
}

int ga_home_import_bring(const struct ga_start_env *e, const struct ga_home_import *m,
			 struct ga_error *err)
{
	cleanup_close int lock = -1, home = -1;

	if (home_open_shared(e, &lock, err))
		return -1;
	home = open(e->agent_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (home < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the agents' home");
	for (size_t i = 0; i < m->n; i++)
		if (home_write(home, m->v[i].rel, m->v[i].text.ptr ? m->v[i].text.ptr : "",
			       m->v[i].text.len, m->v[i].mode, err))
			return -1;
	return 0;
}
