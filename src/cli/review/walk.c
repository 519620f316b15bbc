/* SPDX-License-Identifier: MIT
 *
 * Run `review -i`: one path after the other, like `git add -p`. All verdicts are applied together
 * at the end; if that is refused, the answers are kept.
 */
#include <sys/ioctl.h>

#include "cli/review.h"
#include "ga/base/strmap.h"

enum choice { LEAVE, ACCEPT, REJECT, N_CHOICES };

struct step {
	const struct ga_review_item *item;
	enum choice choice;
	bool kept;           /* answered in an earlier walk, and not changed since */
};

struct cli_walk {
	struct cli *c;
	const struct ga_report *report;
	struct ga_review_items items;
	const struct ga_palette *palette; /* `colours`, or NULL: none */
	struct ga_palette colours;
	bool single_key;
	struct step *steps;
	size_t n;
	bool refused;   /* applying the verdicts was refused; try again */
	bool abandoned; /* the terminal hung up: do nothing */
};

static void drop_steps(struct cli_walk *w)
{
	free(w->steps);
	ga_review_items_release(&w->items);
}

void cli_walk_free(struct cli_walk *w)
{
	drop_steps(w);
	free(w);
}

/* ---- showing ------------------------------------------------------------- */

static int add_diff(struct cli_walk *w, const struct step *s, struct ga_out *out,
		    struct ga_error *err)
{
	if (s->item->where == GA_REVIEW_ELSEWHERE)
		return 0;
	return ga_review_file_diff(w->c->env.repo, &s->item->change, s->item->flagged,
				   w->palette, out, err);
}

/* Print as many lines as fit the screen below what is asked. */
static void print_top(const char *text)
{
	struct winsize ws = { 0 };
	size_t max = 10, rest = 0;
	const char *p = text;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_row > 20)
		max = ws.ws_row - 10U;
	for (size_t n = 0; *p && n < max; n++) {
		const char *nl = strchr(p, '\n');
		size_t len = nl ? (size_t)(nl - p) + 1 : strlen(p);

		(void)fwrite(p, 1, len, stdout);
		p += len;
	}
	for (; *p; p++)
		rest += *p == '\n';
	if (rest)
		(void)printf("... %zu more lines: p shows all of them\n", rest);
}

static int show(struct cli_walk *w, const struct step *s, struct ga_error *err)
{
	cleanup_buf struct ga_buf item = GA_BUF_INIT;
	cleanup_out struct ga_out out = GA_OUT_INIT;

	ga_review_item_text(w->report, s->item, w->palette != NULL, &item);
	(void)printf("\n%s", item.ptr);
	if (add_diff(w, s, &out, err))
		return -1;
	print_top(out.text.ptr);
	return 0;
}

static int page(struct cli_walk *w, const struct step *s, struct ga_error *err)
{
	cleanup_out struct ga_out out = GA_OUT_INIT;
	struct cli_pager *pager;

	if (cli_pager_begin(w->c, "diff", &out, &pager, err))
		return -1;
	ga_review_item_text(w->report, s->item, w->palette != NULL, &out.text);
	return cli_pager_end(pager, &out, add_diff(w, s, &out, err), err);
}

/* ---- paths --------------------------------------------------------------- */

static void help(void)
{
	(void)printf("y - accept: its flags are answered, and what is held is added\n"
		     "n - reject: this path becomes what it was before the session\n"
		     "p - show all of it in the pager\n"
		     "j - leave it undecided, continue\n"
		     "k - go back one path\n"
		     "u - undo the verdict about this path\n"
		     "q - quit: what was decided so far is summed up, the rest stays as it is\n"
		     "? - this help\n");
}

static int ask(struct cli_walk *w, size_t at, struct ga_error *err)
{
	static const char *const before[] = {
		[LEAVE] = "", [ACCEPT] = "accepted, ", [REJECT] = "rejected, ",
	};
	const struct step *s = &w->steps[at];
	cleanup_free char *q = ga_quote(*s->item->change.path ? s->item->change.path : ".");
	cleanup_free char *prompt = ga_strf("(%s%zu/%zu) accept %s [y,n,p,j,k,u,q,?]? ",
					    before[s->choice], at + 1, w->n, q);

	return cli_ask(prompt, w->single_key, err);
}

/* The next step from `at` on to ask about. Steps answered before are skipped (`k` returns to
 * them). */
static size_t next_from(const struct cli_walk *w, size_t at)
{
	while (at < w->n && w->steps[at].kept)
		at++;
	return at;
}

/* Handle a key at step `*at`; `*again`: show the new step `*at`. */
static int answer(struct cli_walk *w, int letter, size_t *at, bool *again, struct ga_error *err)
{
	struct step *s = &w->steps[*at];

	*again = false;
	switch (letter) {
	case 'y':
	case 'n':
		s->choice = letter == 'y' ? ACCEPT : REJECT;
		*at = next_from(w, *at + 1);
		return 0;
	case 'p':
		return page(w, s, err);
	case 'j':
		*at = next_from(w, *at + 1);
		*again = true;
		return 0;
	case 'k':
		*at -= *at > 0;
		*again = true;
		return 0;
	case 'u':
		s->choice = LEAVE;
		return 0;
	default:
		help();
		return 0;
	}
}

static int walk(struct cli_walk *w, struct ga_error *err)
{
	bool again = true;

	for (size_t at = next_from(w, 0), shown = w->n; at < w->n && !w->abandoned;) {
		int letter;

		if ((again || at != shown) && show(w, &w->steps[at], err))
			return -1;
		shown = at;
		letter = ask(w, at, err);
		if (letter < 0)
			return -1;
		if (letter == 'q')
			break;
		w->abandoned = letter == CLI_ASK_END;
		if (!w->abandoned && answer(w, letter, &at, &again, err))
			return -1;
	}
	return 0;
}

/* ---- the end ------------------------------------------------------------- */

static void collect(const struct cli_walk *w, struct cli_verdict *v)
{
	v->decision.exact = v->decision.critical_too = true;
	v->decision.reviewed = w->report->tip;
	for (size_t i = 0; i < w->n; i++) {
		const struct step *s = &w->steps[i];
		const char *path = s->item->change.path;

		/* an unflagged path that is not held needs no acceptance */
		if (s->choice == ACCEPT && (s->item->flagged || s->item->where == GA_REVIEW_HELD))
			ga_strv_push(&v->decision.accept, path);
		else if (s->choice == REJECT)
			ga_strv_push(&v->decision.reject, path);
	}
}

/* Print a summary and ask for confirmation. 1: no, or nothing was decided. */
static int confirm(struct cli_walk *w, struct ga_error *err)
{
	size_t n[N_CHOICES] = { 0 };
	int letter;

	for (size_t i = 0; i < w->n; i++)
		n[w->steps[i].choice]++;
	if (w->abandoned || n[LEAVE] == w->n) {
		(void)printf("\nnothing was decided\n");
		return 1;
	}
	(void)printf("\n%zu to accept, %zu to reject, %zu left as they are\n", n[ACCEPT],
		     n[REJECT], n[LEAVE]);
	do
		letter = cli_ask("do it [y,n]? ", w->single_key, err);
	while (letter >= 0 && letter != 'y' && letter != 'n' && letter != CLI_ASK_END);
	if (letter < 0)
		return -1;
	if (letter != 'y')
		(void)printf("nothing was changed\n");
	return letter != 'y';
}

/* ---- once more ----------------------------------------------------------- */

static bool same(const struct ga_review_item *a, const struct ga_review_item *b)
{
	return a->where == b->where && ga_entry_equal(&a->change.old, &b->change.old) &&
	       ga_entry_equal(&a->change.new, &b->change.new);
}

/* Take over `items`, and keep the answers to those that have not changed. True: some answer was
 * lost. */
static bool take_items(struct cli_walk *w, struct ga_review_items *items)
{
	struct step *steps = ga_calloc(items->n + 1, sizeof(*steps));
	cleanup_strmap struct ga_strmap before = GA_STRMAP_INIT;
	bool lost = false;

	for (size_t i = 0; i < w->n; i++)
		ga_strmap_add(&before, w->items.v[i].change.path,
			      strlen(w->items.v[i].change.path), (uint32_t)i);
	for (size_t i = 0; i < items->n; i++) {
		const char *path = items->v[i].change.path;
		int32_t node = ga_strmap_first(&before, path, strlen(path));
		struct step *old = node < 0 ? NULL : &w->steps[before.nodes[node].value];

		if (old && same(old->item, &items->v[i])) {
			steps[i] = *old;
			steps[i].kept = true;
			old->choice = LEAVE;
		}
		steps[i].item = &items->v[i];
	}
	for (size_t i = 0; i < w->n; i++)
		lost = lost || w->steps[i].choice != LEAVE;
	drop_steps(w);
	w->steps = steps;
	w->n = items->n;
	w->items = *items;
	*items = (struct ga_review_items){ NULL, 0, 0 };
	return lost;
}

int cli_walk_refused(struct cli_walk *w, struct ga_error *err)
{
	for (;;) {
		int letter = cli_ask("your answers are kept: try it again [y,r,n,?]? ",
				     w->single_key, err);

		if (letter < 0)
			return -1;
		w->refused = letter == 'y';
		if (letter == 'y' || letter == 'r')
			return 0;
		if (letter == 'n' || letter == CLI_ASK_END)
			return 1;
		(void)printf("y - try it again; what has changed since is asked once more\n"
			     "r - go through all of it again first, with the answers as they are\n"
			     "n - abort: nothing is changed\n"
			     "? - this help\n");
	}
}

/* ---- all of it ----------------------------------------------------------- */

int cli_walk_begin(struct cli *c, struct cli_walk **ret, struct ga_error *err)
{
	struct cli_walk *w;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return ga_fail(err, GA_EUSAGE, "-i asks on a terminal, and there is none here"
			       GA_HINT "--accept and --reject decide without one");
	w = ga_calloc(1, sizeof(*w));
	w->c = c;
	w->single_key = ga_gitconfig_bool(&c->env.config, "interactive.singlekey", false);
	if (cli_palette(c, "diff", &w->colours, &w->palette, err)) {
		free(w);
		return -1;
	}
	*ret = w;
	return 0;
}

int cli_walk(struct cli_walk *w, const struct ga_report *r, struct ga_review_items *items,
	     struct cli_verdict *ret, struct ga_error *err)
{
	bool confirmed = !take_items(w, items) && w->refused && w->n;
	int rc;

	w->report = r;
	for (size_t i = 0; i < w->n; i++) {
		w->steps[i].kept = w->steps[i].kept && w->refused;
		confirmed = confirmed && w->steps[i].kept;
	}
	if (walk(w, err))
		return -1;
	/* do not ask again for a confirmed, unchanged result */
	rc = confirmed ? 0 : confirm(w, err);
	if (rc)
		return rc;
	collect(w, ret);
	if (ret->decision.accept.n || ret->decision.reject.n)
		return 0;
	(void)printf("no flag was among these: there is nothing to be done\n");
	return 1;
}
