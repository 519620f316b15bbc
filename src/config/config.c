/* SPDX-License-Identifier: MIT
 *
 * The layers of configuration over the table.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/yaml.h"
#include "schema.h"

#define LIST_MAX 1000 /* of a key */
#define SHOWN 60 /* bytes of what somebody wrote, in messages */

const char *ga_origin_name(enum ga_origin o)
{
	static const char *const names[] = { [GA_ORIGIN_DEFAULT] = "default",
					     [GA_ORIGIN_USER] = "user",
					     [GA_ORIGIN_REPOSITORY] = "repository",
					     [GA_ORIGIN_COMMAND] = "command" };

	return names[o];
}

void ga_config_release(struct ga_config *c)
{
	free(c->home);
	free(c->state_dir);
	free(c->notify);
	free(c->user_home);
	free(c->user_file);
	ga_strv_release(&c->tools);
	ga_strv_release(&c->secrets_add);
	ga_strv_release(&c->secrets_allow);
	*c = (struct ga_config)GA_CONFIG_INIT;
}

void ga_config_copy(struct ga_config *to, const struct ga_config *from)
{
	*to = *from;
	to->home = ga_strdup(from->home);
	to->state_dir = ga_strdup(from->state_dir);
	to->notify = ga_strdup(from->notify);
	to->user_home = ga_strdup(from->user_home);
	to->user_file = ga_strdup(from->user_file);
	to->tools = to->secrets_add = to->secrets_allow = (struct ga_strv)GA_STRV_INIT;
	ga_strv_extend(&to->tools, &from->tools);
	ga_strv_extend(&to->secrets_add, &from->secrets_add);
	ga_strv_extend(&to->secrets_allow, &from->secrets_allow);
}

void ga_config_defaults(struct ga_config *c, const char *home, const char *state_home,
			const char *user_file)
{
	*c = (struct ga_config)GA_CONFIG_INIT;
	c->user_home = ga_strdup(home);
	c->user_file = ga_strdup(user_file);
	c->state_dir = state_home ? ga_path_join(state_home, "git-agent")
				  : ga_path_join(home, ".local/state/git-agent");
	for (size_t i = 0; i < GA_CONFIG_KEYS; i++) {
		const struct config_key *k = &config_keys[i];
		cleanup_buf struct ga_buf takes = GA_BUF_INIT;
		union config_value v;

		if (!k->value)
			continue;
		if (!config_value_parse(k, home, k->value, &v, &takes))
			GA_BUG(k->name);
		config_store(c, k, v);
	}
}

/* ---- one value ------------------------------------------------------------- */

/* Where it stands: a file, or the command line (name NULL). */
struct place {
	enum ga_origin origin;
	const char *name;
	unsigned line, column;
};

static char *shown(const char *text)
{
	cleanup_free char *cut = ga_strndup(text, SHOWN);
	cleanup_free char *q = ga_escape(cut);

	return ga_strf("%s%s", q, strlen(text) > SHOWN ? "..." : "");
}

static int fail_at(const struct place *p, struct ga_error *err, const char *what)
{
	if (!p->name)
		return ga_fail(err, GA_EUSAGE, "%s", what);
	return ga_yaml_fail(err, GA_EFATAL, p->name, p->line, p->column, "%s", what);
}

static int fail_value(const struct place *p, const struct config_key *k, const char *text,
		      const char *takes, struct ga_error *err)
{
	cleanup_free char *q = shown(text);
	cleanup_free char *what = ga_strf("'%s' takes %s, not '%s'", k->name, takes, q);

	return fail_at(p, err, what);
}

static int fail_loose(const struct ga_config *c, const struct place *p, const char *what,
		      struct ga_error *err)
{
	(void)fail_at(p, err, what);
	return ga_hint(err, "put it in your own file, '%s', and out of the repository's",
		       c->user_file);
}

static bool is_looser(const struct config_key *k, uint64_t n, uint64_t than)
{
	if (k->limit == KEY_OR_NONE && (!n || !than))
		return !n && than;
	return k->type == KEY_WORD ? n < than : n > than;
}

/* A repository's file is written by whoever wrote the repository. Of what it says and what the user
 * says the stricter counts: 1, the user's. What is looser than that and than what is built in is
 * an error, since nobody but its writer wants it. */
static int check_repository(const struct ga_config *c, const struct place *p,
			    const struct config_key *k, uint64_t n, struct ga_error *err)
{
	cleanup_config struct ga_config built_in = GA_CONFIG_INIT;
	const struct ga_config *looser = c;
	cleanup_free char *text = NULL, *what = NULL;

	if (!is_looser(k, n, config_number(c, k)))
		return 0;
	ga_config_defaults(&built_in, c->user_home, NULL, c->user_file);
	if (!is_looser(k, n, config_number(&built_in, k)))
		return 1;
	if (is_looser(k, config_number(&built_in, k), config_number(c, k)))
		looser = &built_in;
	text = ga_config_text(looser, (size_t)(k - config_keys));
	what = ga_strf("'%s' needs trust: a repository can only make '%s' stricter", k->name, text);
	return fail_loose(c, p, what, err);
}

static int set(struct ga_config *c, const struct config_key *k, const char *text,
	       const struct place *p, struct ga_error *err)
{
	bool repository = p->origin == GA_ORIGIN_REPOSITORY;
	size_t i = (size_t)(k - config_keys);
	cleanup_buf struct ga_buf takes = GA_BUF_INIT;
	union config_value v;
	int rc;

	if (repository && k->repository == KEY_NEVER) {
		cleanup_free char *what = ga_strf("'%s' needs trust: a repository cannot set it",
						  k->name);

		return fail_loose(c, p, what, err);
	}
	if (!config_value_parse(k, c->user_home, text, &v, &takes))
		return fail_value(p, k, text, takes.ptr, err);
	if (config_is_list(k) && config_list(c, k)->n >= LIST_MAX) {
		cleanup_free char *what = ga_strf("'%s' has more than %d words", k->name,
						  LIST_MAX);

		free(v.path);
		return fail_at(p, err, what);
	}
	rc = repository && !config_is_list(k) ? check_repository(c, p, k, v.n, err) : 0;
	if (rc)
		return rc < 0 ? -1 : 0;
	config_store(c, k, v);
	c->set[i] = (struct ga_config_set){ p->origin, p->line, p->column };
	if (k->limit >= 0) {
		uint32_t bit = (uint32_t)1 << k->limit;

		c->limits.lowered = repository ? c->limits.lowered | bit
					       : c->limits.lowered & ~bit;
	}
	return 0;
}

/* ---- a file ---------------------------------------------------------------- */

static int unknown(const struct place *p, const char *group, const char *word,
		   struct ga_error *err)
{
	cleanup_free char *cut = ga_strndup(word, SHOWN), *q = shown(word);
	cleanup_free char *what = ga_strf("unknown key '%s%s%s'", group, *group ? "." : "", q);
	cleanup_buf struct ga_buf full = GA_BUF_INIT;
	const char *near = config_nearest(group, cut, &full);

	(void)fail_at(p, err, what);
	if (p->name && !*group && strchr(cut, '.') && config_find(cut))
		return ga_hint(err, "keys are nested: what is before a dot stands on a line above, "
				    "followed by a colon");
	if (near)
		return ga_hint(err, "did you mean '%s'?", near);
	return ga_hint(err, "'git agent config' lists the keys");
}

static int read_map(struct ga_config *c, const struct place *in, const char *group,
		    const struct ga_yaml *map, struct ga_error *err);

static int read_list(struct ga_config *c, const struct config_key *k, const struct place *at,
		     const struct ga_yaml *list, struct ga_error *err)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct ga_yaml *y = &list->v[i];
		struct place p = { at->origin, at->name, y->line, y->column };
		cleanup_free char *what = ga_strf("'%s' takes a list of words", k->name);

		if (y->kind != GA_YAML_TEXT)
			return fail_at(&p, err, what);
		if (set(c, k, y->text, &p, err))
			return -1;
	}
	return 0;
}

static int read_item(struct ga_config *c, const struct place *in, const char *group,
		     const struct ga_yaml *item, struct ga_error *err)
{
	struct place p = { in->origin, in->name, item->key_line, item->key_column };
	cleanup_free char *name = ga_strf("%s%s%s", group, *group ? "." : "", item->key);
	const struct config_key *k = config_find(name);
	cleanup_free char *what = NULL;

	if (!*item->key || strchr(item->key, '.') || (!k && !config_is_group(name)))
		return unknown(&p, group, item->key, err);
	p.line = item->line;
	p.column = item->column;
	if (k && config_is_list(k) && item->kind == GA_YAML_LIST)
		return read_list(c, k, &p, item, err);
	/* a list with nothing in it */
	if (k && config_is_list(k) && item->kind == GA_YAML_TEXT && item->plain &&
	    !*item->text)
		return 0;
	if (k && item->kind == GA_YAML_TEXT)
		return set(c, k, item->text, &p, err);
	if (!k && item->kind == GA_YAML_MAP)
		return read_map(c, &p, name, item, err);
	/* a group whose keys are all commented out */
	if (!k && item->kind == GA_YAML_TEXT && item->plain && !*item->text)
		return 0;
	what = ga_strf(k ? "'%s' takes one value" : "'%s' takes keys of its own", name);
	return fail_at(&p, err, what);
}

static int read_map(struct ga_config *c, const struct place *in, const char *group,
		    const struct ga_yaml *map, struct ga_error *err)
{
	for (size_t i = 0; i < map->n; i++)
		if (read_item(c, in, group, &map->v[i], err))
			return -1;
	return 0;
}

int ga_config_read(struct ga_config *c, enum ga_origin origin, const char *name, const void *text,
		   size_t n, struct ga_error *err)
{
	cleanup_yaml struct ga_yaml top = GA_YAML_INIT;
	struct place p = { .origin = origin, .name = name };

	return ga_yaml_parse(name, text, n, &top, err) || read_map(c, &p, "", &top, err) ? -1 : 0;
}

int ga_config_read_user(struct ga_config *c, struct ga_error *err)
{
	/* people keep it as a link to a file elsewhere */
	cleanup_close int fd = open(c->user_file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_free char *q = NULL;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	q = ga_escape(c->user_file);
	if (fd < 0 || fstat(fd, &st))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read '%s'", q);
	if (!S_ISREG(st.st_mode))
		return ga_fail(err, GA_EFATAL, "'%s' is not a file", q);
	if (ga_read_fd(fd, GA_YAML_BYTES_MAX, &text, err))
		return ga_error_wrap(err, "cannot read '%s'", q);
	return ga_config_read(c, GA_ORIGIN_USER, q, text.ptr, text.len, err);
}

/* ---- the command line ------------------------------------------------------- */

int ga_config_set_key(struct ga_config *c, const char *key, const char *value, struct ga_error *err)
{
	const struct place p = { .origin = GA_ORIGIN_COMMAND };
	const struct config_key *k = config_find(key);
	const char *dot = strrchr(key, '.');
	cleanup_free char *group = dot ? ga_strndup(key, (size_t)(dot - key)) : ga_strdup("");

	if (k)
		return set(c, k, value, &p, err);
	/* the last word may be all that is wrong */
	if (!config_is_group(group))
		return unknown(&p, "", key, err);
	return unknown(&p, group, dot ? dot + 1 : key, err);
}

int ga_config_set_word(struct ga_config *c, const char *word, struct ga_error *err)
{
	const char *eq = strchr(word, '=');
	cleanup_free char *key = eq ? ga_strndup(word, (size_t)(eq - word)) : NULL, *q = NULL;

	if (key)
		return ga_config_set_key(c, key, eq + 1, err);
	q = shown(word);
	return ga_fail(err, GA_EUSAGE, "'%s' is not KEY=VALUE", q);
}

int ga_config_set_words(struct ga_config *c, const struct ga_strv *words, struct ga_error *err)
{
	for (size_t i = 0; i < words->n; i++)
		if (ga_config_set_word(c, words->v[i], err))
			return -1;
	return 0;
}

/* ---- printing --------------------------------------------------------------- */

char *ga_config_origin(const struct ga_config *c, size_t i)
{
	const struct ga_config_set *s = &c->set[i];
	cleanup_free char *q = ga_escape(c->user_file);

	switch (s->origin) {
	case GA_ORIGIN_DEFAULT:
		break;
	case GA_ORIGIN_USER:
		return ga_strf("%s:%u", q, s->line);
	case GA_ORIGIN_REPOSITORY:
		return ga_strf(GA_CONFIG_REPOSITORY_FILE ":%u", s->line);
	case GA_ORIGIN_COMMAND:
		return ga_strdup("command line");
	}
	return ga_strdup("default");
}

static bool is_plain(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!strchr("/._-~+", *p) && (*p < '0' || *p > '9') && (*p < 'a' || *p > 'z') &&
		    (*p < 'A' || *p > 'Z'))
			return false;
	return *text != '\0';
}

/* `n` 0: a byte that is none, which the environment can have and no YAML. */
static void print_character(const char *s, size_t n, uint32_t c, struct ga_buf *out)
{
	cleanup_buf struct ga_buf q = GA_BUF_INIT;

	ga_quote_add(&q, s, n ? n : 1);
	if (n && (q.len != n || *s == '"'))
		ga_buf_addf(out, "\\U%08x", (unsigned)c);
	else
		ga_buf_add(out, q.ptr, q.len);
}

static void print_value(const char *text, struct ga_buf *out)
{
	if (is_plain(text)) {
		ga_buf_adds(out, text);
		return;
	}
	ga_buf_addch(out, '"');
	for (size_t left = strlen(text), n; left; text += n, left -= n) {
		uint32_t c;

		n = ga_utf8_decode(text, left, &c);
		print_character(text, n, c, out);
		n = n ? n : 1;
	}
	ga_buf_addch(out, '"');
}

static void print_list(const struct ga_strv *list, struct ga_buf *out)
{
	ga_buf_addch(out, '[');
	for (size_t i = 0; i < list->n; i++) {
		ga_buf_adds(out, i ? ", " : "");
		print_value(list->v[i], out);
	}
	ga_buf_addch(out, ']');
}

/* The names of maps that the key is in and the one before was not; its own name. */
static void print_name(const char *name, const char *before, struct ga_buf *out)
{
	unsigned depth = 0;
	const char *p = name, *dot;
	bool same = true;

	for (; (dot = strchr(p, '.')); p = dot + 1, depth++) {
		size_t upto = (size_t)(dot + 1 - name);

		same = same && !strncmp(name, before, upto);
		if (!same)
			ga_buf_addf(out, "%*s%.*s:\n", (int)depth * 2, "", (int)(dot - p), p);
	}
	ga_buf_addf(out, "%*s%s: ", (int)depth * 2, "", p);
}

void ga_config_print(const struct ga_config *c, bool origin, struct ga_buf *out)
{
	const char *before = "";

	for (size_t i = 0; i < GA_CONFIG_KEYS; i++) {
		cleanup_free char *text = ga_config_text(c, i), *from = ga_config_origin(c, i);

		print_name(ga_config_key(i), before, out);
		before = ga_config_key(i);
		if (config_is_list(&config_keys[i]))
			print_list(config_list(c, &config_keys[i]), out);
		else
			print_value(text, out);
		if (origin)
			ga_buf_addf(out, " # %s", from);
		ga_buf_addch(out, '\n');
	}
}
