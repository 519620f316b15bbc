/* SPDX-License-Identifier: MIT
 *
 * What was decided for a session, for users.
 */

#include "ga/base/path.h"
#include "ga/repo/refs.h"
#include "ga/view/base.h"
#include "ga/view/spec.h"
#include "submodule-sessions.h"
#include "start-internal.h"

struct told {
	struct ga_strv masked, stored;
	size_t n_seen, n_committed;
	bool incomplete;
};

static void tell(const struct ga_view_base *b, const struct ga_start *st, const char *at,
		 struct told *t)
{
	t->incomplete |= b->secrets.incomplete;
	for (size_t i = 0; i < b->secrets.n; i++) {
		const struct ga_exposed *x = &b->secrets.v[i];

		if (x->secret.tier <= GA_TIER_NOTE)
			continue;
		if (x->view == GA_VIEW_MASKED) {
			ga_strv_take(&t->masked, ga_path_join(at, x->path));
		} else {
			t->n_seen++;
			t->n_committed += x->as == GA_EXPOSED_COMMITTED;
		}
	}
	for (size_t i = 0; i < b->stored.n; i++)
		ga_strv_take(&t->stored, ga_path_join(at, b->stored.v[i]));
	for (size_t i = 0; i < st->parts.n; i++) {
		cleanup_free char *sub = ga_path_join(at, st->parts.v[i].path);

		tell(&st->parts.v[i].base, &st->parts.v[i].start, sub, t);
	}
}

void ga_start_describe_secrets(const struct ga_view_base *b, struct ga_start *st)
{
	struct told t = { .masked = GA_STRV_INIT, .stored = GA_STRV_INIT };

	tell(b, st, "", &t);
	ga_view_describe_paths("secrets kept out (--expose PATH shows one)", &t.masked,
			       &st->banner);
	ga_view_describe_paths("kept out, but git has stored it (commit, stash or index), where it "
			       "can be read", &t.stored, &st->banner);
	if (t.n_seen)
		ga_strv_pushf(&st->banner, "%zu file%s with secrets can be read inside, %zu of "
			      "them committed: 'git agent secrets'", t.n_seen,
			      t.n_seen == 1 ? "" : "s", t.n_committed);
	if (t.incomplete)
		ga_strv_push(&st->banner, "not everything could be searched for secrets");
	ga_strv_release(&t.masked);
	ga_strv_release(&t.stored);
}

void start_describe(const struct ga_env *e, const struct ga_start_opts *o,
		    const struct ga_view_base *b, struct ga_start *st)
{
	const struct ga_session *s = &st->session;
	const char *branch = o->view.base_rev ? NULL : ga_ref_branch(b->onto_ref);
	char hex[GA_OID_HEXSZ + 1];

	(void)ga_oid_hex(&b->onto, hex);
	hex[10] = '\0';
	if (!b->carried)
		ga_strv_pushf(&st->banner, "base %s%s%s", hex, branch ? " of " : "",
			      branch ? branch : "");
	else
		ga_strv_pushf(&st->banner,
			      "base %s and %zu uncommitted path%s, kept off the branch", hex,
			      b->carried, b->carried == 1 ? "" : "s");
	if (o->view.live)
		ga_strv_push(&st->banner,
			     "the working tree itself lies beneath: changes you make show inside");
	ga_view_describe_paths("shared", &s->view.shared, &st->banner);
	ga_view_describe_paths("submodules", &s->id.submodules, &st->banner);
	ga_view_describe_mounts(e, &st->spec, &st->banner);
	ga_start_describe_secrets(b, st);
	ga_start_describe_limits(st);
	for (size_t i = 0; i < s->view.skipped.n; i++) {
		if (i == 5) {
			ga_strv_pushf(&st->banner, "left out: %zu more ('git agent show %s')",
				      s->view.skipped.n - 5, s->name);
			break;
		}
		ga_strv_pushf(&st->banner, "left out: %s", s->view.skipped.v[i]);
	}
	ga_strv_extend(&st->banner, &st->notes);
}
