/* SPDX-License-Identifier: MIT
 *
 * Import the configuration of the user's agent into the agents' home (import.def). Only the agent's
 * directory is opened by name; beneath it, and in the agents' home, no link is followed. Everything
 * is read and checked before anything is written.
 */
#include "home-internal.h"
#include "ga/base/toml.h"
#include "ga/secret/secret.h"

#define JSON_MAX ((size_t)16 << 20)
#define FILE_MAX ((size_t)256 << 10)
#define ALL_MAX ((size_t)8 << 20)
#define FILES_MAX 500
#define ENTRIES_MAX 5000 /* read limit */
#define WORDS_MAX ((size_t)64 << 10)
#define DEPTH_MAX 8
/* Reject text with unsafe characters. */
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
#include "import.def"
#undef IMPORT
};

struct job {
	const struct ga_env *e;
	const struct ga_preset *p;
	struct ga_home_import *ret;
	int home; /* the agents'; -1: not made yet */
	size_t bytes, entries;
	bool toml; /* the files are TOML, not JSON */
};

void ga_home_import_release(struct ga_home_import *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].rel);
		ga_buf_release(&m->v[i].text);
	}
	free(m->v);
	ga_strv_release(&m->imported);
	ga_strv_release(&m->left);
	*m = (struct ga_home_import)GA_HOME_IMPORT_INIT;
}

static void leave(struct job *j, const char *path, const char *why)
{
	ga_strv_pushf(&j->ret->left, "%s: %s", GA_QUOTED(path), why);
}

static bool has_secret(const char *path, const void *p, size_t n)
{
	struct ga_secret_marks m = { 0 };

	ga_secret_scan(path, p, n, &m);
	return m.bits & SECRETS;
}

/* Open `rel` in the user's home: the agent's directory, which may be a link, then beneath it. */
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

static void import_file(struct job *j, int fd, const char *rel)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT, now = GA_BUF_INIT;
	struct stat st;
	bool other;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return leave(j, rel, "no file");
	if (j->ret->n >= FILES_MAX || (size_t)st.st_size > FILE_MAX ||
	    j->bytes + (size_t)st.st_size > ALL_MAX || ga_read_fd(fd, FILE_MAX, &text, GA_IGNORED))
		return leave(j, rel, "too large, or one of too many");
	if (has_secret(rel, text.ptr, text.len))
		return leave(j, rel, "it may hold a secret");
	if (j->p->notes && !strcmp(rel, j->p->notes))
		ga_buf_addf(&text, "\nRead the file that $GIT_AGENT_NOTES names: it says where you "
			    "are.\n");
	if (j->home >= 0 && ga_read_beneath(j->home, rel, FILE_MAX + 1024, &now, GA_IGNORED) < 0)
		ga_buf_truncate(&now, 0);
	other = now.len > 0;
	if (other && ga_buf_equal(&now, &text)) {
		j->ret->same = true;
		return;
	}
	j->bytes += text.len;
	ga_strv_pushf(&j->ret->imported, "%s%s", GA_QUOTED(rel), other ? ", over another one" : "");
	add_piece(j, rel, &text, st.st_mode & S_IXUSR ? 0700 : 0600);
}

static void import_tree(struct job *j, int at, const char *name, const char *rel, int depth)
{
	int fd = ga_openat_beneath(at, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	cleanup_dir DIR *d = NULL;
	struct dirent *e;

	if (fd < 0)
		return leave(j, rel, errno == ELOOP ? "a link" : strerror(errno));
	d = ga_dir_of(fd); /* closes it unless it is a directory */
	if (!d) {
		cleanup_close int file = ga_openat_beneath(at, name, O_RDONLY | O_NONBLOCK |
							   O_NOCTTY, 0);

		if (file >= 0)
			import_file(j, file, rel);
		return;
	}
	if (depth >= DEPTH_MAX)
		return leave(j, rel, "too deep");
	while (j->entries <= ENTRIES_MAX && (e = ga_dir_next(d))) {
		cleanup_free char *path = ga_path_join(rel, e->d_name);

		if (++j->entries > ENTRIES_MAX)
			leave(j, path, "too many files: neither is what comes after it imported");
		else if (strcmp(e->d_name, ".git") && strcmp(e->d_name, "node_modules"))
			import_tree(j, dirfd(d), e->d_name, path, depth + 1);
	}
}

static void import_files(struct job *j, const char *rel)
{
	cleanup_free char *parent = ga_path_parent(rel);
	cleanup_close int at = open_own(j, parent, O_RDONLY | O_DIRECTORY);

	if (at >= 0 && !faccessat(at, ga_path_base(rel), F_OK, AT_SYMLINK_NOFOLLOW))
		import_tree(j, at, ga_path_base(rel), rel, 0);
}

static json_t *parse(const struct job *j, const struct ga_buf *b)
{
	if (j->toml)
		return ga_toml_parse(b);
	return b->len ? json_loadb(b->ptr, b->len, 0, NULL) : NULL;
}

static bool write_members(const struct job *j, json_t *to, struct ga_buf *out)
{
	char *dump = j->toml ? NULL : json_dumps(to, JSON_INDENT(2));

	if (dump)
		ga_buf_addf(out, "%s\n", dump);
	free(dump);
	return j->toml ? ga_toml_write(to, out) : out->len > 0;
}

/* A number or a date of TOML, which is an object here. */
static bool is_bare(const struct job *j, const json_t *v)
{
	return j->toml && ga_toml_bare(v);
}

static bool is_decimal(const char *s)
{
	static const char digits[] = "0123456789";
	size_t n = strspn(s, digits), more = s[n] == '.' ? strspn(s + n + 1, digits) : 0;

	return n && (n == 1 || *s != '0') && !s[n + (more ? more + 1 : 0)];
}

/* The text of a plain value, or NULL. The caller frees it. */
static char *plain_text(const struct job *j, const json_t *v)
{
	if (is_bare(j, v) && is_decimal(ga_toml_bare(v)))
		return ga_strdup(ga_toml_bare(v));
	return json_is_array(v) || json_is_object(v) ? NULL : json_dumps(v, JSON_ENCODE_ANY);
}

/* The table of that name; "": all. */
static json_t *table(json_t *all, const char *name)
{
	return *name ? json_object_get(all, name) : all;
}

/* Set `key` there; the table replaces any other value of its name. */
static void set_in(const struct job *j, json_t *all, const char *name, const char *key, json_t *v)
{
	json_t *in = table(all, name);

	if (!json_is_object(in) || is_bare(j, in))
		(void)json_object_set_new(all, name, in = json_object());
	(void)json_object_set(in, key, v);
}

static void import_keys(struct job *j, const struct row *r, json_t *from, json_t *to, bool *changed)
{
	const char *name = r->form;

	for (const char *p = r->keys; *p; p += strspn(p, " ")) {
		cleanup_free char *key = ga_strndup(p, strcspn(p, " ")), *text = NULL;
		json_t *v = json_object_get(table(from, name), key);

		p += strlen(key);
		text = plain_text(j, v);
		if (!text)
			continue;
		if (json_equal(v, json_object_get(table(to, name), key))) {
			j->ret->same = true;
			continue;
		}
		if (strlen(text) > 200 || has_secret("x.txt", text, strlen(text))) {
			leave(j, key, "it may hold a secret");
			continue;
		}
		set_in(j, to, name, key, v);
		*changed = true;
		ga_strv_pushf(&j->ret->imported, "%s: %s%s%s", r->path, name, *name ? "." : "",
			      key);
	}
}

/* Add the words of its command to `shown` for users and to `lines` for the search for secrets. */
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
	/* check `--key VALUE` like `--key=VALUE` */
	ga_buf_addf(lines, "%s%s", s, *s == '-' && !strchr(s, '=') ? "=" : "\n");
	return true;
}

/* Copy its command, directory and allowed tools. */
static bool import_runs(json_t *from, json_t *ret, struct ga_buf *shown, struct ga_buf *lines)
{
	static const char *const runs[] = { "command", "args", "url", "httpUrl",
					    "cwd", "enabled_tools", "disabled_tools" };
	enum { URL = 2, MORE = 4 };
	json_t *v;

	for (size_t i = 0; i < GA_NELEMS(runs) && (i < MORE || shown->len); i++) {
		if (!(v = json_object_get(from, runs[i])))
			continue;
		if (i >= MORE) {
			ga_buf_addf(shown, ", %s", runs[i]);
			ga_buf_addch(lines, '\n');
		}
		if (!add_words(v, shown, lines) ||
		    (i >= URL && i < MORE &&
		     (!json_is_string(v) || strpbrk(json_string_value(v), "?@#"))))
			return false;
		(void)json_object_set(ret, runs[i], v);
	}
	return shown->len > 0;
}

static bool is_variable(const char *name)
{
	size_t n = name ? strlen(name) : 0;

	return n && n <= 100 && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				       "abcdefghijklmnopqrstuvwxyz0123456789") == n;
}

/* Replace values by references that the agent resolves; `names` for users. */
static json_t *import_variables(json_t *env, const char *form, struct ga_strv *names)
{
	const char *sign = strstr(form, "%s"), *name;
	json_t *ret = json_object(), *v;

	json_object_foreach(env, name, v) {
		cleanup_free char *text = ga_strf("%.*s%s%s", (int)(sign - form), form, name,
						  sign + 2);

		if (!is_variable(name))
			continue;
		ga_json_set(ret, name, json_string(text));
		ga_strv_push(names, name);
	}
	return ret;
}

/* The same for an agent with members for names alone; `list` names variables to pass, including
 * those with a value. */
static void import_names(json_t *from, const char *list, json_t *ret, struct ga_strv *names)
{
	static const char token[] = "bearer_token_env_var", headers[] = "env_http_headers";
	json_t *logins = json_object(), *v;
	const char *name;
	size_t i;

	json_object_foreach(json_object_get(from, "env"), name, v)
		if (is_variable(name))
			ga_strv_push(names, name);
	json_array_foreach(json_object_get(from, list), i, v)
		if (is_variable(json_string_value(v)))
			ga_strv_push(names, json_string_value(v));
	ga_strv_sort_unique(names);
	if (names->n)
		ga_json_set(ret, list, ga_json_strv(names));
	json_object_foreach(json_object_get(from, headers), name, v)
		if (strlen(name) <= 100 && is_variable(json_string_value(v))) {
			(void)json_object_set(logins, name, v);
			ga_strv_push(names, json_string_value(v));
		}
	if (json_object_size(logins))
		(void)json_object_set(ret, headers, logins);
	json_decref(logins);
	v = json_object_get(from, token);
	if (!is_variable(json_string_value(v)))
		return;
	(void)json_object_set(ret, token, v);
	ga_strv_push(names, json_string_value(v));
}

static json_t *import_server(struct job *j, const struct row *r, const char *what, json_t *from)
{
	static const char *const plain[] = { "type", "enabled", "disabled", "timeout",
					     "startup_timeout_sec", "tool_timeout_sec" };
	static const char *const variables[] = { "env", "environment" };
	bool by_name = !strstr(r->form, "%s"), ok;
	cleanup_buf struct ga_buf shown = GA_BUF_INIT, lines = GA_BUF_INIT;
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	cleanup_free char *list = NULL;
	json_t *ret = json_object(), *v;

	ga_buf_addf(&lines, "an MCP server:\n"); /* one word alone would be opaque */
	for (size_t i = 0; i < GA_NELEMS(plain); i++) {
		cleanup_free char *text = plain_text(j, json_object_get(from, plain[i]));

		if (!text || strlen(text) > 100)
			continue;
		ga_buf_addf(&lines, "%s\n", text);
		(void)json_object_set(ret, plain[i], json_object_get(from, plain[i]));
	}
	ok = import_runs(from, ret, &shown, &lines);
	if (by_name)
		import_names(from, r->form, ret, &names);
	for (size_t i = 0; !by_name && i < GA_NELEMS(variables); i++)
		if (json_is_object(v = json_object_get(from, variables[i])))
			ga_json_set(ret, variables[i], import_variables(v, r->form, &names));
	for (size_t i = 0; i < names.n; i++)
		ga_buf_addf(&lines, "\n%s\n", names.v[i]);
	if (!ok || lines.len > WORDS_MAX || has_secret("x.txt", lines.ptr, lines.len)) {
		leave(j, what, "what it runs, or its address, may hold a secret");
		json_decref(ret);
		return NULL;
	}
	if (json_object_size(json_object_get(from, "headers")) ||
	    json_object_size(json_object_get(from, "http_headers")))
		leave(j, what, "its headers: log in inside");
	list = ga_quote_list(&names, names.n);
	ga_strv_pushf(&j->ret->imported, "MCP server %s: %s%s%s%s", GA_QUOTED(what), shown.ptr,
		      names.n ? "; it wants " : "", list, names.n ? " ('env.pass')" : "");
	return ret;
}

/* Import servers that the agents do not have yet. */
static void import_servers(struct job *j, const struct row *r, json_t *from, json_t *to,
			   bool *changed)
{
	json_t *v, *own;
	const char *name;

	json_object_foreach(json_object_get(from, r->keys), name, v) {
		if (json_object_get(json_object_get(to, r->keys), name) || strlen(name) > 100)
			continue;
		own = import_server(j, r, name, v);
		if (!own)
			continue;
		set_in(j, to, r->keys, name, own);
		json_decref(own);
		*changed = true;
	}
}

/* Apply all rows of the file from `first` on to the agents' version, which becomes `text`. */
static void import_rows(struct job *j, const struct row *first, json_t *from, json_t *to)
{
	struct ga_strv *imported = &j->ret->imported;
	struct ga_buf text = GA_BUF_INIT;
	size_t had = imported->n;
	bool changed = false;

	for (const struct row *r = first; r < rows + GA_NELEMS(rows); r++)
		if (!strcmp(r->path, first->path) && r->kind != FILES)
			(r->kind == KEYS ? import_keys : import_servers)(j, r, from, to, &changed);
	if (!changed)
		return;
	if (write_members(j, to, &text))
		return add_piece(j, first->path, &text, 0600);
	ga_buf_release(&text);
	leave(j, first->path, "with it, the agents' own would be too large, or too deep");
	while (imported->n > had) {
		free(imported->v[--imported->n]);
		imported->v[imported->n] = NULL;
	}
}

static void import_members(struct job *j, const struct row *first)
{
	cleanup_buf struct ga_buf own = GA_BUF_INIT, theirs = GA_BUF_INIT;
	cleanup_close int fd = open_own(j, first->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	const char *dot = strrchr(first->path, '.');
	json_t *from, *to;
	struct stat st;
	size_t max;
	int rc;

	j->toml = dot && !strcmp(dot, ".toml");
	max = j->toml ? GA_TOML_MAX : JSON_MAX;
	if (fd < 0)
		return errno == ELOOP ? leave(j, first->path, "a link") : (void)0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || ga_read_fd(fd, max, &own, GA_IGNORED))
		return leave(j, first->path, "no file, or too large");
	from = parse(j, &own);
	/* a link or special file in its place is replaced */
	rc = j->home < 0 ? 0 : ga_read_beneath(j->home, first->path, max, &theirs, GA_IGNORED);
	to = rc ? NULL : theirs.len ? parse(j, &theirs) : json_object();
	if (json_is_object(from) && json_is_object(to))
		import_rows(j, first, from, to);
	else
		leave(j, first->path, json_is_object(from) ?
		      "the agents' own cannot be read, or is too large" :
		      j->toml ? "it cannot be read as TOML" : "it is no JSON");
	json_decref(from);
	json_decref(to);
}

void ga_home_import_find(const struct ga_env *e, const struct ga_preset *p,
			 struct ga_home_import *ret)
{
	cleanup_close int home = open(e->agent_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct job j = { .e = e, .p = p, .ret = ret, .home = home };
	const char *last = "";

	for (const struct row *r = rows; r < rows + GA_NELEMS(rows); r++) {
		if (strcmp(r->agent, p->name))
			continue;
		if (r->kind == FILES)
			import_files(&j, r->path);
		else if (strcmp(r->path, last))
			import_members(&j, r);
		last = r->path;
	}
	ga_strv_sort_unique(&ret->imported);
	ga_strv_sort_unique(&ret->left);
}

int ga_home_import_apply(const struct ga_env *e, const struct ga_home_import *m,
			 struct ga_error *err)
{
	cleanup_close int lock = -1, home = -1;

	if (home_open_shared(e, &lock, err))
		return -1;
	home = open(e->agent_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (home < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the agents' home");
	for (size_t i = 0; i < m->n; i++)
		if (home_write(home, m->v[i].rel, m->v[i].text.ptr, m->v[i].text.len,
			       m->v[i].mode, err))
			return -1;
	return 0;
}
