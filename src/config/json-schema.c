/* SPDX-License-Identifier: MIT
 *
 * The table of keys as a JSON Schema (draft 7) for editors, which read some of our words as numbers
 * and booleans.
 */
#include <string.h>

#include "ga/configschema.h"
#include "ga/service.h"
#include "schema.h"

static void put(json_t *obj, const char *key, json_t *value)
{
	if (json_object_set_new(obj, key, value))
		GA_BUG("a JSON object cannot take a member");
}

static void add(json_t *list, json_t *value)
{
	if (json_array_append_new(list, value))
		GA_BUG("a JSON array cannot take a member");
}

static json_t *string_like(const char *pattern)
{
	json_t *j = json_object();

	put(j, "type", json_string("string"));
	if (pattern)
		put(j, "pattern", json_string(pattern));
	return j;
}

static json_t *number(const struct config_key *k)
{
	json_t *j = json_object();

	put(j, "type", json_string("integer"));
	put(j, "minimum", json_integer((json_int_t)k->min));
	put(j, "maximum", json_integer((json_int_t)k->max));
	return j;
}

static json_t *any_of(json_t *a, json_t *b, json_t *c)
{
	json_t *j = json_object(), *list = json_array();

	add(list, a);
	add(list, b);
	if (c)
		add(list, c);
	put(j, "anyOf", list);
	return j;
}

/* Some YAML versions read "on" and "true" as booleans. */
static json_t *words(const struct config_key *k)
{
	json_t *j = json_object(), *list = json_array();

	for (size_t i = 0; k->words[i]; i++) {
		const char *w = k->words[i];

		add(list, json_string(w));
		if (!strcmp(w, "on") || !strcmp(w, "true"))
			add(list, json_true());
		if (!strcmp(w, "off") || !strcmp(w, "false"))
			add(list, json_false());
	}
	put(j, "enum", list);
	return j;
}

static json_t *path(const struct config_key *k)
{
	json_t *j = string_like("^(/|~/).");

	return k->words ? any_of(words(k), j, NULL) : j;
}

static json_t *nothing(void)
{
	json_t *j = json_object();

	put(j, "type", json_string("null"));
	return j;
}

/* A list, or a single word in place of a list of one. */
static json_t *list_of(const char *pattern)
{
	json_t *j = json_object();

	put(j, "type", json_string("array"));
	put(j, "items", string_like(pattern));
	return any_of(j, string_like(pattern), nothing());
}

static json_t *pairs(void)
{
	json_t *j = json_object(), *value = json_object(), *types = json_array();

	add(types, json_string("string"));
	add(types, json_string("number"));
	add(types, json_string("boolean"));
	put(value, "type", types);
	put(j, "type", json_string("object"));
	put(j, "additionalProperties", value);
	return any_of(j, nothing(), NULL);
}

/* A service: a name with a shell command, or with a command and the one that tells that it is
 * ready. */
static json_t *service(void)
{
	json_t *j = json_object(), *properties = json_object(), *required = json_array();

	put(properties, "command", string_like(NULL));
	put(properties, "ready", string_like(NULL));
	add(required, json_string("command"));
	put(j, "type", json_string("object"));
	put(j, "properties", properties);
	put(j, "required", required);
	put(j, "additionalProperties", json_false());
	return any_of(string_like(NULL), j, NULL);
}

static json_t *services(void)
{
	json_t *j = json_object();

	put(j, "type", json_string("object"));
	put(j, "additionalProperties", service());
	put(j, "maxProperties", json_integer(GA_SERVICES_MAX));
	return any_of(j, list_of(NULL), NULL);
}

/* Names with members, each of them a word, a list of words, or pairs. */
static json_t *members(const struct config_key *k)
{
	json_t *j = json_object(), *one = json_object(), *properties = json_object();

	for (size_t i = 0; k->members[i]; i++)
		put(properties, k->members[i], any_of(list_of(NULL), pairs(), NULL));
	put(one, "type", json_string("object"));
	put(one, "properties", properties);
	put(one, "additionalProperties", json_false());
	put(j, "type", json_string("object"));
	put(j, "additionalProperties", any_of(one, nothing(), NULL));
	return any_of(j, list_of(NULL), NULL);
}

static json_t *value_of(const struct config_key *k)
{
	switch (k->type) {
	case KEY_WORD:
		return words(k);
	case KEY_PATH:
		return path(k);
	case KEY_COUNT:
		return number(k);
	case KEY_SIZE:
		return any_of(number(k), string_like("^[0-9]+([KMGT]iB|[kKMGT])?$"), NULL);
	case KEY_TIME:
		return any_of(number(k), string_like("^[0-9]+[smh]?$"), NULL);
	case KEY_PATHS:
		return list_of("^(/|~/).");
	case KEY_PATTERNS:
		return list_of(NULL);
	case KEY_TEXTS:
		return k->named ? services() : k->members ? members(k) : list_of(NULL);
	case KEY_PAIRS:
		return pairs();
	}
	GA_BUG("a type that no value has");
}

static char *description(const struct config_key *k)
{
	static const char *const may[] = {
		[KEY_NEVER] = "; not in a repository's file",
		[KEY_STRICTER] = "",
		[KEY_TIGHTEN] = "; looser in a repository's file it needs trust",
		[KEY_TRUST] = "; in a repository's file it needs trust",
	};

	return ga_strf("%s%s", k->help, may[k->repository]);
}

/* The properties of the map `name` in `in`, created if it is not there yet. */
static json_t *properties_of(json_t *in, const char *name, size_t n)
{
	cleanup_free char *key = ga_strndup(name, n);
	json_t *map = json_object_get(in, key), *properties, *types;

	if (map)
		return json_object_get(map, "properties");
	map = json_object();
	types = json_array();
	add(types, json_string("object"));
	/* a group whose keys are all commented out */
	add(types, json_string("null"));
	put(map, "type", types);
	put(map, "additionalProperties", json_false());
	properties = json_object();
	put(map, "properties", properties);
	put(in, key, map);
	return properties;
}

json_t *ga_config_schema(void)
{
	json_t *top = json_object(), *properties = json_object();

	put(top, "$schema", json_string("http://json-schema.org/draft-07/schema#"));
	put(top, "title", json_string("settings of git agent: " GA_CONFIG_REPOSITORY_FILE
				      " and config.yaml"));
	put(top, "type", json_string("object"));
	put(top, "additionalProperties", json_false());
	put(top, "properties", properties);
	for (size_t i = 0; i < GA_CONFIG_KEYS; i++) {
		const struct config_key *k = &config_keys[i];
		cleanup_free char *about = description(k);
		json_t *in = properties, *value = value_of(k);
		const char *p = k->name, *dot;

		for (; (dot = strchr(p, '.')); p = dot + 1)
			in = properties_of(in, p, (size_t)(dot - p));
		put(value, "description", json_string(about));
		if (k->value)
			put(value, "default", json_string(k->value));
		put(in, p, value);
	}
	return top;
}
