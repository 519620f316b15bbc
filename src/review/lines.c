/* SPDX-License-Identifier: MIT
 *
 * How flags are listed: for users so that many are read like few, and none is hidden among many.
 */
#include <string.h>

#include "ga/base/json.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/strmap.h"
#include "review-internal.h"

#define SINGLY 3  /* so many of one kind in a directory have a line each */
#define REASONS 3 /* different ones on a line */

void ga_flag_lines_release(struct ga_flag_lines *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].path);
		free(l->v[i].reason);
	}
	free(l->v);
	*l = (struct ga_flag_lines){ NULL, 0, 0 };
}

struct kind {
	size_t n, line, reasons; /* its flags; the line of all of them; what that says */
};
struct kinds {
	struct kind *v;
	size_t n, cap;
	size_t *of; /* index in `v` for each flag */
	struct ga_strv keys;
	struct ga_strmap by_key;
};

/* What agents are told is one thing to read, in whatever directories it is. */
static bool is_prose(const struct ga_report_flag *f)
{
	return !strcmp(f->id, "instruction-files");
}

static void count_flag(struct kinds *k, size_t flag, const struct ga_report_flag *f)
{
	int dir = is_prose(f) ? 0 : (int)(ga_path_base(f->path) - f->path);
	char *key = ga_strf("%s %d%d%d %.*s", f->id, (int)f->severity, (int)f->verdict, f->held,
			    dir, f->path);
	int32_t at = ga_strmap_first(&k->by_key, key, strlen(key));

	k->of[flag] = at >= 0 ? k->by_key.nodes[at].value : k->n;
	if (at < 0) {
		GA_GROW(k->v, k->n, k->cap);
		k->v[k->n] = (struct kind){ .line = SIZE_MAX };
		ga_strmap_add(&k->by_key, key, strlen(key), (uint32_t)k->n++);
	}
	ga_strv_take(&k->keys, key);
	k->v[k->of[flag]].n++;
}

static void add_line(struct ga_flag_lines *l, size_t flag, const struct ga_report_flag *f,
		     size_t n)
{
	cleanup_free char *dir = ga_path_parent(f->path), *q = ga_quote(*dir ? dir : ".");

	char *one = ga_quote(*f->path ? f->path : "."), *path = one;

	if (n > 1)
		path = is_prose(f) ? ga_strf("%s and %zu more", one, n - 1)
				   : ga_strf("%s/ (%zu paths)", q, n);
	if (path != one)
		free(one);
	GA_GROW(l->v, l->n, l->cap);
	l->v[l->n++] = (struct ga_flag_line){ flag, path, ga_strdup(f->reason) };
}

/* Say what another flag of the line says beyond the sentence with which they all begin. */
static void add_reason(struct ga_flag_line *l, const struct ga_report_flag *f)
{
	cleanup_free char *q = ga_quote(is_prose(f) ? f->path : ga_path_base(f->path));
	size_t own = 0;
	char *both;

	for (size_t i = 0; f->reason[i] && f->reason[i] == l->reason[i]; i++)
		if (i && f->reason[i - 1] == ':' && f->reason[i] == ' ')
			own = i + 1;
	both = ga_strf("%s; %s: %s", l->reason, q, f->reason + own);
	free(l->reason);
	l->reason = both;
}

void ga_flag_lines(const struct ga_report *r, struct ga_flag_lines *ret)
{
	struct kinds k = { .of = ga_calloc(r->n_flags + 1, sizeof(*k.of)) };

	for (size_t i = 0; i < r->n_flags; i++)
		if (!r->flags[i].left)
			count_flag(&k, i, &r->flags[i]);
	for (size_t i = 0; i < r->n_flags; i++) {
		const struct ga_report_flag *f = &r->flags[i];
		struct kind *of = &k.v[k.of[i]];

		if (f->left)
			continue;
		if (of->n <= (is_prose(f) ? 1 : SINGLY)) {
			add_line(ret, i, f, 1);
		} else if (of->line == SIZE_MAX) {
			of->line = ret->n;
			add_line(ret, i, f, of->n);
		} else if (of->reasons < REASONS - 1 &&
			   !strstr(ret->v[of->line].reason, f->reason)) {
			add_reason(&ret->v[of->line], f);
			of->reasons++;
		}
	}
	free(k.v);
	free(k.of);
	ga_strv_release(&k.keys);
	ga_strmap_release(&k.by_key);
}

static const char *const sgr[] = {
    [RC_NONE] = "",          [RC_BOLD] = "\033[1m",    [RC_RED] = "\033[1;31m",
    [RC_GREEN] = "\033[32m", [RC_YELLOW] = "\033[33m", [RC_CYAN] = "\033[36m",
    [RC_DIM] = "\033[2m",
};

void review_paint(struct ga_buf *out, bool colour, enum review_colour c, const char *text)
{
	if (!colour || c == RC_NONE) {
		ga_buf_adds(out, text);
		return;
	}
	ga_buf_addf(out, "%s%s\033[m", sgr[c], text);
}

enum review_colour review_severity_colour(enum ga_severity s)
{
	switch (s) {
	case GA_CRITICAL:
		return RC_RED;
	case GA_HIGH:
		return RC_YELLOW;
	case GA_MEDIUM:
		return RC_CYAN;
	case GA_LOW:
		break;
	}
	return RC_NONE;
}

void review_put_reason(struct ga_buf *out, const char *reason, const char *rule)
{
	ga_quote_add_text(out, reason, strcspn(reason, "\n"));
	ga_buf_adds(out, " [");
	ga_quote_add(out, rule, strlen(rule));
	ga_buf_adds(out, "]");
}
