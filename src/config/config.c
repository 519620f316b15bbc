/* SPDX-License-Identifier: MIT
 *
 * Apply the layers of configuration to the table of keys.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/config/config.h"
#include "ga/config/service.h"
#include "ga/config/yaml.h"
#include "ga/sys/fd.h"
#include "schema.h"

#define LIST_MAX 1000 /* words of one key */
#define SHOWN 60 /* bytes of the user's text that a message shows */

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
	for (size_t i = 0; i < GA_CONFIG_KEYS; i++) {
		void *at = (char *)c + config_keys[i].offset;

		if (config_is_list(&config_keys[i]))
			ga_strv_release(at);
		else if (config_keys[i].type == KEY_PATH)
			free(*(char **)at);
	}
	free(c->from.user_home);
	free(c->from.user_file);
	*c = (struct ga_config)GA_CONFIG_INIT;
}

void ga_config_copy(struct ga_config *to, const struct ga_config *from)
{
	*to = *from;
	for (size_t i = 0; i < GA_CONFIG_KEYS; i++) {
		void *at = (char *)to + config_keys[i].offset;

		if (config_is_list(&config_keys[i])) {
			*(struct ga_strv *)at = (struct ga_strv)GA_STRV_INIT;
			ga_strv_extend(at, config_list(from, &config_keys[i]));
		} else if (config_keys[i].type == KEY_PATH) {
			*(char **)at = ga_strdup(*(char **)at);
		}
	}
	to->from.user_home = ga_strdup(from->from.user_home);
	to->from.user_file = ga_strdup(from->from.user_file);
}

void ga_config_defaults(struct ga_config *c, const char *home, const char *state_home,
			const char *user_file)
{
	*c = (struct ga_config)GA_CONFIG_INIT;
	c->from.user_home = ga_strdup(home);
	c->from.user_file = ga_strdup(user_file);
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

/* Where a value comes from: a file, or the command line (name NULL). */
struct place {
	enum ga_origin origin;
	const char *name;
	unsigned line, column;
	struct ga_grants *grants; /* collects what needs trust; NULL: handle it as the configuration
				   * says */
};

static char *shown(const char *text)
{
	cleanup_free char *cut = ga_strndup(text, SHOWN);
	cleanup_free char *q = ga_escape(cut);

	return ga_strf("%s%s", q, strlen(text) > SHOWN ? "..." : "");
}

#define fail_at(p, err, fmt, ...)                                                               \
	((p)->name ? ga_yaml_fail((err), GA_EFATAL, (p)->name, (p)->line, (p)->column, fmt,     \
				  __VA_ARGS__)                                                  \
		   : ga_fail((err), GA_EUSAGE, fmt, __VA_ARGS__))

static int fail_value(const struct place *p, const struct config_key *k, const char *text,
		      const char *takes, struct ga_error *err)
{
	cleanup_free char *q = shown(text);

	return fail_at(p, err, "'%s' takes %s, not '%s'", k->name, takes, q);
}

/* Fail for a key that a repository's file must not set, or not loosen. */
static int fail_repository(const struct ga_config *c, const struct place *p,
			   const struct config_key *k, struct ga_error *err)
{
	cleanup_free char *text = ga_config_text(c, (size_t)(k - config_keys));

	(void)(k->repository == KEY_NEVER ?
	       fail_at(p, err, "'%s' is yours alone: a repository cannot set it", k->name) :
	       fail_at(p, err, "'%s': a repository can only make '%s' stricter", k->name, text));
	return ga_hint(err, "put it in your own file, '%s', and out of the repository's",
		       c->from.user_file);
}

enum verdict { TAKEN, LEFT_OUT, NEEDS_TRUST };

/* A repository's file comes from the repository's authors. Of its value and the user's, the
 * stricter one counts. A value looser than both the user's and the default needs the user's
 * trust. */
static enum verdict judge(const struct ga_config *c, const struct config_key *k, uint64_t n)
{
	cleanup_config struct ga_config built_in = GA_CONFIG_INIT;

	if (k->repository == KEY_TRUST)
		return NEEDS_TRUST;
	if (config_is_list(k) || !config_is_looser(k, n, config_number(c, k)))
		return TAKEN;
	ga_config_defaults(&built_in, c->from.user_home, NULL, c->from.user_file);
	return config_is_looser(k, n, config_number(&built_in, k)) ? NEEDS_TRUST : LEFT_OUT;
}

static void add_grant(const struct ga_config *c, const struct place *p, const struct config_key *k,
		      const char *text)
{
	struct ga_grants *g = p->grants;

	GA_GROW(g->v, g->n, g->cap);
	g->v[g->n++] = (struct ga_grant){ (size_t)(k - config_keys), ga_strdup(text),
					  config_grant_text(c, k, text), p->line, p->column };
}

/* Returns 1 if the key keeps its value. */
static int check_repository(struct ga_config *c, const struct place *p, const struct config_key *k,
			    const char *text, const union config_value *v, struct ga_error *err)
{
	/* only words and numbers have an order */
	enum verdict verdict = judge(c, k, k->repository == KEY_TRUST ? 0 : v->n);

	if (verdict != NEEDS_TRUST)
		return verdict == LEFT_OUT;
	if (k->repository == KEY_STRICTER)
		return fail_repository(c, p, k, err);
	if (p->grants)
		add_grant(c, p, k, text);
	if (p->grants || c->from.trusted)
		return 0;
	if (c->from.untrusted) {
		c->from.set[k - config_keys].left_out = true;
		return 1;
	}
	(void)fail_at(p, err, "'%s' needs trust", k->name);
	return ga_hint(err, "'git agent trust' shows what it lets agents do, and asks");
}

/* Is the list of the key full, if `text` is added? */
static bool is_full(const struct ga_config *c, const struct config_key *k, const char *text)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_services struct ga_services s = GA_SERVICES_INIT;
	const struct ga_strv *have = config_list(c, k);

	if (!k->named || have->n >= LIST_MAX)
		return have->n >= LIST_MAX;
	ga_strv_extend(&words, have);
	ga_strv_push(&words, text);
	ga_services_parse(&words, &s);
	return s.n > GA_SERVICES_MAX;
}

static int fail_full(const struct place *p, const struct config_key *k, struct ga_error *err)
{
	if (k->named)
		return fail_at(p, err, "there are more than %d %s", GA_SERVICES_MAX, k->name);
	return fail_at(p, err, "'%s' has more than %d words", k->name, LIST_MAX);
}

/* The position recorded for a list is that of its last word. */
static void note_set(struct ga_config *c, const struct config_key *k, const struct place *p)
{
	struct ga_config_set *s = &c->from.set[k - config_keys];

	*s = (struct ga_config_set){ p->origin, p->line, p->column, s->left_out };
	if (k->limit >= 0) {
		uint32_t bit = (uint32_t)1 << k->limit;

		c->limits.lowered = p->origin == GA_ORIGIN_REPOSITORY ? c->limits.lowered | bit
								     : c->limits.lowered & ~bit;
	}
}

static int set(struct ga_config *c, const struct config_key *k, const char *text,
	       const struct place *p, struct ga_error *err)
{
	bool repository = p->origin == GA_ORIGIN_REPOSITORY;
	cleanup_buf struct ga_buf takes = GA_BUF_INIT;
	union config_value v;
	int rc;

	if (repository && k->repository == KEY_NEVER)
		return fail_repository(c, p, k, err);
	if (!config_value_parse(k, c->from.user_home, text, &v, &takes))
		return fail_value(p, k, text, takes.ptr, err);
	rc = config_is_list(k) && is_full(c, k, text) ? fail_full(p, k, err)
	     : repository ? check_repository(c, p, k, text, &v, err) : 0;
	if (rc) {
		if (config_is_list(k) || k->type == KEY_PATH)
			free(v.path);
		return rc < 0 ? -1 : 0;
	}
	config_store(c, k, v);
	note_set(c, k, p);
	return 0;
}

/* ---- a file ---------------------------------------------------------------- */

static int unknown(const struct place *p, const char *group, const char *word, struct ga_error *err)
{
	cleanup_free char *cut = ga_strndup(word, SHOWN), *q = shown(word);
	cleanup_free char *near = config_nearest(group, cut);

	(void)fail_at(p, err, "unknown key '%s%s%s'", group, *group ? "." : "", q);
	if (p->name && near && strchr(cut, '.'))
		return ga_hint(err, "keys are nested: what is before a dot is on a line above, "
				    "followed by a colon");
	if (near)
		return ga_hint(err, "did you mean '%s'?", near);
	return ga_hint(err, "'git agent config' lists the keys");
}

static struct place at_key(const struct place *in, const struct ga_yaml *y)
{
	return (struct place){ in->origin, in->name, y->key_line, y->key_column, in->grants };
}

static struct place at_value(const struct place *in, const struct ga_yaml *y)
{
	return (struct place){ in->origin, in->name, y->line, y->column, in->grants };
}

/* Apply one value, a list of them, or a map, where NAME: VALUE means NAME=VALUE; each prefixed by
 * `head`. */
static int read_values(struct ga_config *c, const struct config_key *k, const struct place *in,
		       const char *head, const struct ga_yaml *y, struct ga_error *err)
{
	bool one = y->kind == GA_YAML_TEXT, pairs = y->kind == GA_YAML_MAP;

	for (size_t i = 0; i < (one ? 1 : y->n); i++) {
		const struct ga_yaml *v = one ? y : &y->v[i];
		struct place p = at_value(in, v);
		cleanup_free char *word = NULL;

		if (v->kind != GA_YAML_TEXT || (pairs && strchr(v->key, '=')))
			return fail_at(&p, err, "'%s' takes %s", k->name,
				       pairs ? "names with one value each" : "a list of words");
		word = ga_strf("%s%s%s%s", head, pairs ? v->key : "", pairs ? "=" : "", v->text);
		if (set(c, k, word, &p, err))
			return -1;
	}
	return 0;
}

/* NAME: COMMAND, or NAME: {command: COMMAND, ready: COMMAND} */
static int read_service(struct ga_config *c, const struct config_key *k, const struct place *in,
			const struct ga_yaml *y, struct ga_error *err)
{
	static const char *const members[] = { "command", "ready" };
	const struct ga_yaml *found[] = { y->kind == GA_YAML_TEXT ? y : NULL, NULL };
	cleanup_free char *head = ga_strf("%s: ", y->key), *ready = ga_strf("%s ready: ", y->key);
	struct place p = at_key(in, y);

	if (!ga_service_name_ok(y->key))
		return fail_at(&p, err, "'%s' is no name of a service: letters, digits, '.', '_' "
			       "and '-'", y->key);
	for (size_t i = 0; y->kind == GA_YAML_MAP && i < y->n; i++) {
		const struct ga_yaml *v = &y->v[i];
		size_t m = strcmp(v->key, members[0]) != 0;

		p = at_key(in, v);
		if (strcmp(v->key, members[m]) != 0)
			return fail_at(&p, err, "a service has 'command' and 'ready', not '%s'",
				       v->key);
		if (v->kind != GA_YAML_TEXT)
			return fail_value(&p, k, "", k->takes, err);
		found[m] = v;
	}
	if (!found[0])
		return fail_at(&p, err, "service '%s' has no 'command'", y->key);
	return read_values(c, k, in, head, found[0], err) ||
	       (found[1] && read_values(c, k, in, ready, found[1], err)) ? -1 : 0;
}

/* NAME: {MEMBER: WORD, MEMBER: [WORD...], MEMBER: {NAME: WORD...}} */
static int read_members(struct ga_config *c, const struct config_key *k, const struct place *in,
			const struct ga_yaml *y, struct ga_error *err)
{
	bool empty = y->kind == GA_YAML_TEXT && y->plain && !*y->text;
	struct place p = at_key(in, y);

	if ((y->kind != GA_YAML_MAP && !empty) || strchr(y->key, ' '))
		return fail_value(&p, k, y->key, k->takes, err);
	if (set(c, k, y->key, &p, err))
		return -1;
	for (size_t i = 0; !empty && i < y->n; i++) {
		cleanup_free char *head = ga_strf("%s %s: ", y->key, y->v[i].key);
		size_t m = 0;

		while (k->members[m] && strcmp(k->members[m], y->v[i].key) != 0)
			m++;
		p = at_key(in, &y->v[i]);
		if (!k->members[m])
			return fail_value(&p, k, y->v[i].key, k->takes, err);
		if (read_values(c, k, in, head, &y->v[i], err))
			return -1;
	}
	return 0;
}

static int read_named(struct ga_config *c, const struct config_key *k, const struct place *in,
		      const struct ga_yaml *map, struct ga_error *err)
{
	for (size_t i = 0; i < map->n; i++)
		if (k->named ? read_service(c, k, in, &map->v[i], err)
			     : read_members(c, k, in, &map->v[i], err))
			return -1;
	return 0;
}

static int read_map(struct ga_config *c, const struct place *in, const char *group,
		    const struct ga_yaml *map, struct ga_error *err);

static int read_item(struct ga_config *c, const struct place *in, const char *group,
		     const struct ga_yaml *item, struct ga_error *err)
{
	struct place p = at_key(in, item);
	cleanup_free char *name = ga_strf("%s%s%s", group, *group ? "." : "", item->key);
	const struct config_key *k = config_find(name);

	if (!*item->key || strchr(item->key, '.') || (!k && !config_is_group(name)))
		return unknown(&p, group, item->key, err);
	p = at_value(in, item);
	if (k && (k->named || k->members) && item->kind == GA_YAML_MAP)
		return read_named(c, k, &p, item, err);
	if (k && config_is_list(k) &&
	    item->kind == (k->type == KEY_PAIRS ? GA_YAML_MAP : GA_YAML_LIST))
		return read_values(c, k, in, "", item, err);
	/* an empty list */
	if (k && config_is_list(k) && item->kind == GA_YAML_TEXT && item->plain &&
	    !*item->text)
		return 0;
	if (k && k->type != KEY_PAIRS && item->kind == GA_YAML_TEXT)
		return set(c, k, item->text, &p, err);
	if (!k && item->kind == GA_YAML_MAP)
		return read_map(c, &p, name, item, err);
	/* a group whose keys are all commented out */
	if (!k && item->kind == GA_YAML_TEXT && item->plain && !*item->text)
		return 0;
	return fail_at(&p, err, "'%s' takes %s", name, !k ? "keys of its own" :
		       k->type == KEY_PAIRS ? "names with a value each" : "one value");
}

static int read_map(struct ga_config *c, const struct place *in, const char *group,
		    const struct ga_yaml *map, struct ga_error *err)
{
	for (size_t i = 0; i < map->n; i++)
		if (read_item(c, in, group, &map->v[i], err))
			return -1;
	return 0;
}

static int read_text(struct ga_config *c, const struct place *p, const void *text, size_t n,
		     struct ga_error *err)
{
	cleanup_yaml struct ga_yaml top = GA_YAML_INIT;

	return ga_yaml_parse(p->name, text, n, &top, err) || read_map(c, p, "", &top, err) ? -1 : 0;
}

int ga_config_read(struct ga_config *c, enum ga_origin origin, const char *name, const void *text,
		   size_t n, struct ga_error *err)
{
	struct place p = { .origin = origin, .name = name };

	return read_text(c, &p, text, n, err);
}

void ga_grants_release(struct ga_grants *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free(g->v[i].value);
		free(g->v[i].words);
	}
	free(g->v);
	*g = (struct ga_grants)GA_GRANTS_INIT;
}

bool ga_grants_have(const struct ga_grants *g, const struct ga_grant *one)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i].key == one->key && !strcmp(g->v[i].value, one->value))
			return true;
	return false;
}

int ga_config_grants(const struct ga_config *c, const char *name, const void *text, size_t n,
		     struct ga_grants *ret, struct ga_error *err)
{
	cleanup_config struct ga_config over = GA_CONFIG_INIT;
	struct place p = { .origin = GA_ORIGIN_REPOSITORY, .name = name, .grants = ret };

	ga_config_copy(&over, c);
	return read_text(&over, &p, text, n, err);
}

int ga_config_read_user(struct ga_config *c, struct ga_error *err)
{
	/* it may be a symlink, for users who keep it elsewhere */
	cleanup_close int fd = open(c->from.user_file,
				    O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_free char *q = NULL;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct stat st;

	/* a dangling link is an error: it must not drop settings silently */
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR) && lstat(c->from.user_file, &st))
		return 0;
	q = ga_escape(c->from.user_file);
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

	return k ? set(c, k, value, &p, err) : unknown(&p, "", key, err);
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

void ga_limits_default(struct ga_limits *ret)
{
	cleanup_config struct ga_config c = GA_CONFIG_INIT;

	ga_config_defaults(&c, "/", NULL, "");
	*ret = c.limits;
}
