/* SPDX-License-Identifier: MIT
 *
 * What the rules say of ignored files that are to be brought: of each file by its content, as for
 * what is on a branch, and of the places they lie in, as in the list of leftovers.
 */
#include <string.h>

#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "decide.h"
#include "ignored.h"

static int judge(const struct landing *l, const struct ga_flags *found, struct ga_error *err)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_free char *list = NULL;
	size_t critical = 0, high = 0;

	ga_report_add_left_flags(l->report, found);
	decide_reopen(l->report, found);
	for (size_t i = 0; i < found->n; i++) {
		const struct ga_flag *f = &found->v[i];
		const struct ga_report_flag *have = ga_report_find_added(l->report, f);

		ga_strv_take(&l->ret->ignored_flags, ga_flag_text(f));
		if (f->severity < GA_HIGH || (have && have->verdict == GA_VERDICT_ACCEPTED))
			continue;
		critical += f->severity == GA_CRITICAL;
		high += f->severity == GA_HIGH;
		ga_strv_push(&paths, f->path);
	}
	if (!paths.n)
		return 0;
	if (!l->opts->dry_run && land_save_report(l, err))
		return -1;
	ga_strv_sort_unique(&paths);
	list = ga_quote_list(&paths, GA_LISTED);
	(void)ga_fail(err, GA_EFLAGS,
		      "the ignored files have open flags (%zu critical, %zu high): %s", critical,
		      high, list);
	if (l->opts->dry_run)
		return ga_hint(err, "'git agent land %s' stores them for 'git agent review %s'",
			       l->s->name, l->s->name);
	return ga_hint(err, "'git agent review --stat %s' says why; then "
		       "'git agent review --accept %s PATH...'", l->s->name, l->s->name);
}

/* Flags on places, which the list of leftovers has as well. Here the verdict on a
 * directory binds to all that is brought of it. */
struct places {
	const struct landing *l;
	const struct land_ignored *ig;
	struct ga_repo *store;
	const struct ga_oid *only; /* a tree of what is brought and nothing else */
	struct ga_flags *found;
};

static int flag_place(struct places *p, const char *rule, const char *path, const char *detail,
		      struct ga_error *err)
{
	struct ga_entry e;

	if (ga_tree_entry(p->store, p->only, path, &e, err))
		return -1;
	if (e.mode != GA_MODE_NONE)
		ga_flags_add_rule(p->found, rule, ga_rule_find(rule)->severity, path, &e, detail);
	return 0;
}

/* The topmost directory from which programs are run, of those above a file that lie at or beneath a
 * path that was asked for; or the file itself if there is none. */
static char *executed_place(const struct landing *l, const char *path)
{
	for (size_t n = 1; n <= strlen(path); n++) {
		cleanup_free char *place = ga_strndup(path, n);
		const struct ga_left_file f = { .path = place, .kind = GA_LEFT_IGNORED };
		cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
		bool named = false;

		if (path[n] && path[n] != '/')
			continue;
		for (size_t i = 0; i < l->opts->ignored->n; i++)
			named |= ga_path_inside(place, l->opts->ignored->v[i]);
		if (named)
			ga_classify_place(&f, false, &flags);
		if (flags.n)
			return ga_steal(&place);
	}
	return ga_strdup(path);
}

/* One file. Rules on its name ran together with those on its content; here it is about its place
 * and permissions. In a place that is flagged as a whole no file needs a flag for lying there. */
static int flag_file(struct places *p, size_t i, const struct ga_host_facts *facts, char **place,
		     struct ga_error *err)
{
	const struct ga_left_file *f = &p->ig->files.v[i];
	const struct ga_entry *e = &p->ig->will[i];
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	bool config = false, executed = false;

	ga_classify_left(facts, f, &flags);
	for (size_t k = 0; k < flags.n; k++) {
		const char *rule = flags.v[k].rule;

		config |= !strcmp(rule, "ignored-config");
		executed |= !strcmp(rule, "ignored-executables");
		if (!strcmp(rule, "setuid-caps-xattr"))
			ga_flags_add_rule(p->found, rule, GA_MEDIUM, f->path, e,
					  "it is brought without that");
	}
	if (!executed)
		return config ? flag_place(p, "ignored-config", f->path, NULL, err) : 0;
	if (*place && ga_path_inside(f->path, *place))
		return 0;
	free(*place);
	*place = executed_place(p->l, f->path);
	return flag_place(p, "ignored-executables", *place, NULL, err);
}

/* Flag what only ignore rules of the session's own hide, if some of it is brought. */
static int flag_hidden(struct places *p, struct ga_error *err)
{
	static const char rule[] = "ignore-rules-source";
	const size_t says = strlen(ga_rule_find(rule)->reason);
	const struct ga_report *r = p->l->report;
	const struct ga_strv *named = p->l->opts->ignored;

	for (size_t i = 0; i < r->n_flags; i++) {
		const struct ga_report_flag *f = &r->flags[i];
		const char *detail = strlen(f->reason) > says + 2 ? f->reason + says + 2 : NULL;

		if (!ga_report_flag_of_place(f) || strcmp(f->id, rule) != 0)
			continue;
		for (size_t k = 0; k < named->n; k++) {
			bool above = ga_path_inside(f->path, named->v[k]);
			const char *path = above ? f->path : named->v[k];

			if ((above || ga_path_inside(path, f->path)) &&
			    !ga_flags_have(p->found, rule, path) &&
			    flag_place(p, rule, path, detail, err))
				return -1;
		}
	}
	return 0;
}

/* Flag whatever was asked for and has no other flag as an ignored file. */
static int flag_rest(struct places *p, struct ga_error *err)
{
	const struct ga_strv *named = p->l->opts->ignored;
	const size_t said = p->found->n;

	for (size_t i = 0; i < named->n; i++) {
		bool flagged = false;

		for (size_t k = 0; k < said; k++)
			flagged |= ga_path_inside(p->found->v[k].path, named->v[i]);
		if (!flagged && flag_place(p, "ignored-file", named->v[i], NULL, err))
			return -1;
	}
	return 0;
}

static int flag_places(struct places *p, const struct ga_host_facts *facts, struct ga_error *err)
{
	cleanup_free char *place = NULL;
	int rc = 0;

	for (size_t i = 0; !rc && i < p->ig->files.n; i++)
		rc = flag_file(p, i, facts, &place, err);
	if (!rc)
		rc = flag_hidden(p, err) || flag_rest(p, err) ? -1 : 0;
	ga_flags_sort(p->found);
	return rc;
}

int land_ignored_judge(const struct landing *l, const struct land_ignored *ig,
		       struct ga_repo *store, const struct ga_oid *merged,
		       const struct ga_oid *tree,
		       const struct ga_oid *only, const struct ga_changes *changes,
		       struct ga_error *err)
{
	cleanup_host_facts struct ga_host_facts facts = GA_HOST_FACTS_INIT;
	cleanup_flags struct ga_flags found = GA_FLAGS_INIT;
	struct places p = { .l = l, .ig = ig, .store = store, .only = only, .found = &found };

	if (ga_host_facts_gather(l->repo, l->config, l->opts->risk, &facts, err) ||
	    ga_classify(store, &facts, merged, tree, changes, &found, err) ||
	    flag_places(&p, &facts, err))
		return -1;
	return judge(l, &found, err);
}
