/* SPDX-License-Identifier: MIT
 *
 * Whether the layers of a session still show what was captured of them. The overlay is mounted
 * volatile, so its files get to the disk when the kernel gets to it. If the machine loses power,
 * some may be lost even long after the capture, and would be published as if the agent had removed
 * them.
 */
#include <string.h>

#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "resume-internal.h"

int resume_layers_lost(const struct ga_session *s, const char *path, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(path);

	(void)ga_fail(err, GA_ESTART, "session '%s' lost some of its work when the machine went "
		      "down: '%s' is not as it was captured", s->name, q);
	return resume_anew_hint(s, err);
}

/* As long as the machine is not booted anew nothing is lost, whatever is killed. */
static bool is_same_boot(const struct ga_session *s)
{
	cleanup_free char *boot = ga_boot_id();

	return *boot && s->view.boot && !strcmp(boot, s->view.boot);
}

int resume_find_doubt(struct ga_env *e, const struct ga_session *s, struct resume_point *p,
		      struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	cleanup_strv struct ga_strv notes = GA_STRV_INIT;
	struct ga_oid shown;

	if (is_same_boot(s))
		return 0;
	if (ga_start_peek(e, s, &shown, &notes, err) ||
	    ga_tree_diff(e->repo, &s->view.tree, &shown, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		const struct ga_change *c = &all.v[i];

		/* an interrupted resume was writing this, and it is written again as a whole */
		if (ga_changes_find(&p->again, c->path))
			continue;
		/* something that was removed is back */
		if (c->old.mode == GA_MODE_NONE)
			return resume_layers_lost(s, c->path, err);
		(void)ga_changes_add(&p->doubt, c->path, &c->new, &c->old);
	}
	return 0;
}
