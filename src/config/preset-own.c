/* SPDX-License-Identifier: MIT
 *
 * Agents defined by the user: the words of the setting `agents` become presets.
 */
#include <string.h>

#include "ga/base/path.h"
#include "ga/config/service.h"
#include "ga/net/netplan.h"
#include "preset.h"
#include "schema.h"

enum member {
	COMMAND, FLAGS, RESUME, KEYS, PASS, SET, STATE, LOGINS, CONVERSATIONS, NOTES, HOSTS,
	MEMBERS
};

const char *const ga_preset_members[] = {
	[COMMAND] = "command", [FLAGS] = "flags", [RESUME] = "resume", [KEYS] = "keys",
	[PASS] = "pass", [SET] = "set", [STATE] = "state", [LOGINS] = "logins",
	[CONVERSATIONS] = "conversations", [NOTES] = "notes", [HOSTS] = "hosts", [MEMBERS] = NULL,
};

struct ga_own_preset {
	char *name;
	struct ga_strv has[MEMBERS];
	struct ga_preset preset; /* of these */
};

/* Split "NAME MEMBER: VALUE": returns VALUE, the number of the member and the length of the name.
 * NULL if the word is not of this form. */
static const char *split(const char *word, size_t *ret_name, enum member *ret)
{
	const char *value = strstr(word, ": ");
	size_t n = strcspn(word, " ");

	*ret_name = n;
	for (int m = 0; value && word[n] && m < MEMBERS; m++)
		if (word + n + 1 + strlen(ga_preset_members[m]) == value &&
		    !strncmp(word + n + 1, ga_preset_members[m], strlen(ga_preset_members[m]))) {
			*ret = (enum member)m;
			return value + 2;
		}
	return NULL;
}

/* A path relative to home, which may be written with "~/". */
static const char *below_home(const char *value)
{
	return strncmp(value, "~/", 2) ? value : value + 2;
}

static bool is_program(const char *value)
{
	return *value != '-' && (*value == '/' || !strchr(value, '/'));
}

static bool value_ok(enum member m, const char *value)
{
	if (strpbrk(value, "\n\t") || !ga_command_ok(value))
		return false;
	switch (m) {
	case COMMAND:
		return is_program(value);
	case KEYS:
	case PASS:
		return config_is_variable(value) && !strchr(value, '*');
	case SET:
		return config_is_assignment(value);
	case STATE:
	case LOGINS:
	case CONVERSATIONS:
	case NOTES:
		return ga_path_relative_ok(below_home(value));
	case HOSTS:
		return ga_net_rule_ok(value);
	case FLAGS:
	case RESUME:
	case MEMBERS:
		break;
	}
	return true;
}

bool ga_preset_word_ok(const char *word)
{
	enum member m;
	size_t n;
	const char *value = split(word, &n, &m);
	cleanup_free char *name = ga_strndup(word, n);

	return ga_service_name_ok(name) && (value ? value_ok(m, value) : !word[n]);
}

void ga_presets_release(struct ga_presets *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].name);
		for (int m = 0; m < MEMBERS; m++)
			ga_strv_release(&p->v[i].has[m]);
	}
	free(p->v);
	*p = (struct ga_presets)GA_PRESETS_INIT;
}

static struct ga_own_preset *find(const struct ga_presets *own, const char *name)
{
	for (size_t i = 0; i < own->n; i++)
		if (!strcmp(own->v[i].name, name))
			return &own->v[i];
	return NULL;
}

const struct ga_preset *preset_find_own(const struct ga_presets *own, const char *name)
{
	const struct ga_own_preset *o = find(own, name);

	return o ? &o->preset : NULL;
}

const struct ga_preset *preset_own_at(const struct ga_presets *own, size_t i)
{
	return &own->v[i].preset;
}

static bool add(struct ga_presets *own, const char *word)
{
	enum member m = MEMBERS;
	size_t n;
	const char *value = split(word, &n, &m);
	cleanup_free char *name = ga_strndup(word, n);
	struct ga_own_preset *o = find(own, name);

	if (!o && own->n == GA_PRESETS_MAX)
		return false;
	if (!o) {
		GA_GROW(own->v, own->n, own->cap);
		o = &own->v[own->n++];
		*o = (struct ga_own_preset){ .name = ga_steal(&name) };
	}
	if (!value)
		return true;
	if (m == COMMAND || m == NOTES)
		ga_strv_release(&o->has[m]);
	ga_strv_push(&o->has[m], m >= STATE && m <= NOTES ? below_home(value) : value);
	return true;
}

static const char *const *list(const struct ga_own_preset *o, enum member m)
{
	static const char *const none[] = { NULL };

	return o->has[m].n ? (const char *const *)o->has[m].v : none;
}

static const char *one(const struct ga_own_preset *o, enum member m)
{
	return o->has[m].n ? o->has[m].v[0] : NULL;
}

static void fill(struct ga_own_preset *o)
{
	o->preset = (struct ga_preset){
		.name = o->name, .program = one(o, COMMAND), .flags = list(o, FLAGS),
		.resume = list(o, RESUME), .keys = list(o, KEYS),
		.pass = list(o, PASS), .set = list(o, SET), .state = list(o, STATE),
		.logins = list(o, LOGINS), .conversations = list(o, CONVERSATIONS),
		.notes = one(o, NOTES),
		.hosts = list(o, HOSTS),
		.login = "log in inside",
	};
}

bool ga_presets_parse(const struct ga_strv *words, struct ga_presets *ret)
{
	for (size_t i = 0; i < words->n; i++)
		if (!add(ret, words->v[i]))
			return false;
	for (size_t i = 0; i < ret->n; i++)
		fill(&ret->v[i]);
	return true;
}
