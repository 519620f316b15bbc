/* SPDX-License-Identifier: MIT
 *
 * The table of keys as a JSON Schema (draft 7) for editors, which read some of our words as numbers
 * and booleans.
 */
#include <stdarg.h>
#include <string.h>

#include "ga/configschema.h"
#include "ga/json.h"
#include "ga/service.h"
#include "schema.h"

static json_t *pack(const char *format, ...)
{
	va_list ap;
	json_t *j;

	va_start(ap, format);
	j = json_vpack_ex(NULL, 0, format, ap);
	va_end(ap);
	if (!j)
		GA_BUG("a JSON value cannot be made");
	return j;
}

static json_t *string_like(const char *pattern)
{
	return pattern ? pack("{s:s, s:s}", "type", "string", "pattern", pattern)
		       : pack("{s:s}", "type", "string");
}

static json_t *number(const struct config_key *k)
{
	return pack("{s:s, s:I, s:I}", "type", "integer", "minimum", (json_int_t)k->min,
		    "maximum", (json_int_t)k->max);
}

/* Some YAML versions read "on" and "true" as booleans. */
static json_t *words(const struct config_key *k)
{
	json_t *list = json_array();

	for (size_t i = 0; k->words[i]; i++) {
		const char *w = k->words[i];

		ga_json_add(list, json_string(w));
		if (!strcmp(w, "on") || !strcmp(w, "true"))
			ga_json_add(list, json_true());
		if (!strcmp(w, "off") || !strcmp(w, "false"))
			ga_json_add(list, json_false());
	}
	return pack("{s:o}", "enum", list);
}

static json_t *path(const struct config_key *k)
{
	json_t *j = string_like("^(/|~/).");

	return k->words ? pack("{s:[o,o]}", "anyOf", words(k), j) : j;
}

/* A list, or a single word in place of a list of one. */
static json_t *list_of(const char *pattern)
{
	return pack("{s:[{s:s, s:o}, o, {s:s}]}", "anyOf", "type", "array",
		    "items", string_like(pattern), string_like(pattern), "type", "null");
}

/* A map of names to `value`, or nothing. */
static json_t *map_of(json_t *value)
{
	return pack("{s:[{s:s, s:o}, {s:s}]}", "anyOf", "type", "object",
		    "additionalProperties", value, "type", "null");
}

static json_t *pairs(void)
{
	return map_of(pack("{s:[s,s,s]}", "type", "string", "number", "boolean"));
}

/* A service: a name with a shell command, or with a command and the one that tells that it is
 * ready. */
static json_t *services(void)
{
	json_t *one = pack("{s:s, s:{s:o, s:o}, s:[s], s:b}", "type", "object",
			   "properties", "command", string_like(NULL), "ready", string_like(NULL),
			   "required", "command", "additionalProperties", 0);

	return pack("{s:[{s:s, s:{s:[o,o]}, s:i}, o]}", "anyOf", "type", "object",
		    "additionalProperties", "anyOf", string_like(NULL), one,
		    "maxProperties", GA_SERVICES_MAX, list_of(NULL));
}

/* Names with members, each of them a word, a list of words, or pairs. */
static json_t *members(const struct config_key *k)
{
	json_t *properties = json_object();

	for (size_t i = 0; k->members[i]; i++)
		ga_json_set(properties, k->members[i],
			    pack("{s:[o,o]}", "anyOf", list_of(NULL), pairs()));
	return pack("{s:[{s:s, s:{s:[{s:s, s:o, s:b}, {s:s}]}}, o]}", "anyOf", "type", "object",
		    "additionalProperties", "anyOf", "type", "object", "properties", properties,
		    "additionalProperties", 0, "type", "null", list_of(NULL));
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
		return pack("{s:[o,o]}", "anyOf", number(k),
			    string_like("^[0-9]+([KMGT]iB|[kKMGT])?$"));
	case KEY_TIME:
		return pack("{s:[o,o]}", "anyOf", number(k), string_like("^[0-9]+[smh]?$"));
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

/* The properties of the map `name` in `in`, created if it is not there yet. It can be null: a group
 * whose keys are all commented out. */
static json_t *properties_of(json_t *in, const char *name, size_t n)
{
	cleanup_free char *key = ga_strndup(name, n);

	if (!json_object_get(in, key))
		ga_json_set(in, key, pack("{s:[s,s], s:b, s:{}}", "type", "object", "null",
					  "additionalProperties", 0, "properties"));
	return json_object_get(json_object_get(in, key), "properties");
}

json_t *ga_config_schema(void)
{
	json_t *top = pack("{s:s, s:s, s:s, s:b, s:{}}",
			   "$schema", "http://json-schema.org/draft-07/schema#",
			   "title", "settings of git agent: " GA_CONFIG_REPOSITORY_FILE
			   " and config.yaml",
			   "type", "object", "additionalProperties", 0, "properties");

	for (size_t i = 0; i < GA_CONFIG_KEYS; i++) {
		const struct config_key *k = &config_keys[i];
		cleanup_free char *about = description(k);
		json_t *in = json_object_get(top, "properties"), *value = value_of(k);
		const char *p = k->name, *dot;

		for (; (dot = strchr(p, '.')); p = dot + 1)
			in = properties_of(in, p, (size_t)(dot - p));
		ga_json_set(value, "description", json_string(about));
		if (k->value)
			ga_json_set(value, "default", json_string(k->value));
		ga_json_set(in, p, value);
	}
	return top;
}
