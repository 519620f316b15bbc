/* SPDX-License-Identifier: MIT
 *
 * package.json
 */

#include "ga/base/quote.h"
#include "risk/content.h"

static void fire_value(struct ga_look *k, const char *where, const char *key, const json_t *value)
{
	cleanup_free char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	struct ga_buf b = GA_BUF_INIT;

	ga_buf_addf(&b, "%s%s: ", where, key);
	ga_risk_quote_start(&b, text ? text : "");
	ga_look_fire(k, "npm-manifest-lifecycle", ga_buf_steal(&b));
}

static void compare_keys(struct ga_look *k, const json_t *old, const json_t *new,
			 const char *where, const char *const *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const json_t *a = json_object_get(old, keys[i]), *b = json_object_get(new, keys[i]);

		if (b && !ga_known_json_same(a, b))
			fire_value(k, where, keys[i], b);
	}
}

/* Keys that have installing or committing run something. */
static void check_lifecycle(struct ga_look *k, const json_t *old, const json_t *new)
{
	static const char *const scripts[] = { "preinstall", "install", "postinstall",
					       "preprepare", "prepare", "postprepare",
					       "prepublish", "dependencies" };
	static const char *const keys[] = { "gypfile", "husky", "gitHooks", "simple-git-hooks",
					    "lint-staged", "pre-commit" };

	compare_keys(k, json_object_get(old, "scripts"), json_object_get(new, "scripts"),
		     "scripts.", scripts, GA_NELEMS(scripts));
	compare_keys(k, old, new, "", keys, GA_NELEMS(keys));
}

/* Is a version a path to code, instead of the version wanted? */
static bool is_local(const char *value)
{
	return ga_known_in(value, "file:* link:* portal:* patch:* ./* ../* /*");
}

/* Fire for entries of a map from packages whose values have become paths. */
static void check_map(struct ga_look *k, const json_t *old, const json_t *new, const char *where)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)new, key, value) {
		const char *to = json_string_value(value);
		cleanup_free char *shown = NULL;

		if (!to || key[0] == '.' || key[0] == '#' || !is_local(to) ||
		    ga_known_json_same(json_object_get(old, key), value))
			continue;
		shown = ga_quote(key);
		ga_look_fire(k, "node-shadow", ga_strf("%s: %s", where, shown));
	}
}

static void check_shadow(struct ga_look *k, const json_t *old, const json_t *new)
{
	static const char *const maps[] = { "overrides", "resolutions", "browser", "imports",
					    "exports" };
	const json_t *a = json_object_get(old, "pnpm"), *b = json_object_get(new, "pnpm");

	for (size_t i = 0; i < GA_NELEMS(maps); i++)
		check_map(k, json_object_get(old, maps[i]), json_object_get(new, maps[i]),
			  maps[i]);
	check_map(k, json_object_get(a, "overrides"), json_object_get(b, "overrides"),
		  "pnpm.overrides");
	if (json_object_get(b, "patchedDependencies") &&
	    !ga_known_json_same(json_object_get(a, "patchedDependencies"),
				json_object_get(b, "patchedDependencies")))
		ga_look_fire(k, "node-shadow", ga_strdup("pnpm.patchedDependencies"));
}

/* Fire what the host runs of a manifest: `f->text` is a script's name, or "*" for what hook
 * managers and lint-staged take from it. */
static void fire_reached(struct ga_look *k, const struct ga_reached *f, const json_t *old,
			 const json_t *new)
{
	static const char *const read[] = { "lint-staged", "nano-staged", "simple-git-hooks",
					    "gitHooks", "pre-commit", "husky" };
	static const char *const any[] = { "workspaces", "packageManager", "type", "imports" };
	const json_t *a = json_object_get(old, "scripts"), *b = json_object_get(new, "scripts");
	const char *const *keys = *f->text == '*' ? read : any;
	size_t n = *f->text == '*' ? GA_NELEMS(read) : GA_NELEMS(any);

	cleanup_free char *name = ga_quote(f->text);

	if (!new ||
	    !ga_known_json_same(json_object_get(a, f->text), json_object_get(b, f->text)))
		ga_look_fire_reached(k, f, ga_strf("%s runs scripts.%s", f->why, name));
	for (size_t i = 0; new && i < n; i++)
		if (!ga_known_json_same(json_object_get(old, keys[i]),
					json_object_get(new, keys[i])))
			ga_look_fire_reached(k, f, ga_strf("%s reads \"%s\"", f->why, keys[i]));
}

static void check_reached(struct ga_look *k, const json_t *old, const json_t *new)
{
	for (size_t i = 0; i < k->n_facts; i++)
		for (size_t j = 0; j < k->facts[i].h->n; j++)
			if (k->facts[i].h->v[j].what == GA_REACH_SCRIPT)
				fire_reached(k, &k->facts[i].h->v[j], old, new);
}

/* What is in it beyond packages (deps.h). */
void ga_known_package_json(const struct ga_known *f)
{
	cleanup_json json_t *a = ga_known_json(f->old, false), *b = ga_known_json(f->text, false);

	check_reached(f->k, a, f->text->len ? b : NULL);
	if (!b || !f->text->len) {
		ga_look_fire(f->k, "npm-manifest-lifecycle", ga_strdup("it could not be parsed"));
		return;
	}
	check_lifecycle(f->k, a, b);
	check_shadow(f->k, a, b);
}
