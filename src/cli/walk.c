/* SPDX-License-Identifier: MIT
 *
 * `review -i`: one path after the other, in the manner of `git add -p`. Nothing is done on the
 * way: what was decided is made true at the end, all at once.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ask.h"
#include "ga/hunk.h"
#include "ga/quote.h"
#include "verdict.h"

enum choice { LEAVE, ACCEPT, REJECT, PARTS };

/* Edits that are decided about together: those of a hunk, or one of them. */
struct part {
	size_t hunk, first, n;
	enum choice choice;
};

struct step {
	const struct ga_review_item *item;
	enum choice choice;
	struct ga_hunks hunks;
	bool read;           /* `hunks` were looked for */
	struct part *parts;  /* once it was split */
	size_t n_parts, cap_parts;
	char *remark;
};

struct walk {
	struct cli *c;
	const struct ga_report *report;
	const struct ga_palette *palette; /* NULL: no colours */
	bool single_key, ask_remarks;
	struct step *steps;
	size_t n;
	bool abandoned; /* the terminal is gone: nothing is to be done */
};

static void walk_release(struct walk *w)
{
	for (size_t i = 0; i < w->n; i++) {
		ga_hunks_release(&w->steps[i].hunks);
		free(w->steps[i].parts);
		free(w->steps[i].remark);
	}
	free(w->steps);
}

/* ---- showing ------------------------------------------------------------- */

/* Lines that leave room for what stands around them. */
static size_t room(void)
{
	struct winsize ws = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || ws.ws_row < 20)
		return 10;
	return ws.ws_row - 10U;
}

static void print_top(const char *text, size_t max)
{
	const char *p = text;
	size_t rest = 0;

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

static int diff_of(struct walk *w, const struct step *s, struct ga_out *out, struct ga_error *err)
{
	const struct ga_review_opts o = { .palette = w->palette };

	if (s->item->where == GA_REVIEW_ELSEWHERE)
		return 0;
	return ga_review_file_diff(w->c->env.repo, &s->item->change, s->item->flagged, &o, out,
				   err);
}

static int show(struct walk *w, const struct step *s, struct ga_error *err)
{
	cleanup_buf struct ga_buf head = GA_BUF_INIT;
	cleanup_out struct ga_out out = GA_OUT_INIT;

	ga_review_item_text(w->report, s->item, w->palette != NULL, &head);
	(void)printf("\n%s", head.ptr);
	if (diff_of(w, s, &out, err))
		return -1;
	print_top(out.text.ptr, room());
	return 0;
}

static int page(struct walk *w, const struct step *s, struct ga_error *err)
{
	cleanup_out struct ga_out out = GA_OUT_INIT;
	struct cli_pager *pager;

	if (cli_pager_begin(w->c, "diff", &out, &pager, err))
		return -1;
	ga_review_item_text(w->report, s->item, w->palette != NULL, &out.text);
	return cli_pager_end(pager, &out, diff_of(w, s, &out, err), err);
}

static const char *choice_text(enum choice c)
{
	static const char *const texts[] = {
		[LEAVE] = "", [ACCEPT] = "accepted, ", [REJECT] = "rejected, ",
		[PARTS] = "in parts, ",
	};

	return texts[c];
}

/* ---- parts --------------------------------------------------------------- */

static void add_part(struct step *s, size_t at, struct part p)
{
	GA_GROW(s->parts, s->n_parts, s->cap_parts);
	memmove(&s->parts[at + 1], &s->parts[at], (s->n_parts - at) * sizeof(*s->parts));
	s->parts[at] = p;
	s->n_parts++;
}

/* 1: it has none. */
static int read_parts(struct walk *w, struct step *s, struct ga_error *err)
{
	int rc = 0;

	if (s->item->where != GA_REVIEW_BRANCH && s->item->where != GA_REVIEW_HELD)
		return 1;
	if (!s->read)
		rc = ga_hunks_read(w->c->env.repo, &s->item->change.old, &s->item->change.new,
				   &s->hunks, err);
	if (rc)
		return rc;
	for (size_t i = 0; !s->read && i < s->hunks.n; i++)
		add_part(s, i, (struct part){ i, s->hunks.v[i].first, s->hunks.v[i].n, LEAVE });
	s->read = true;
	return 0;
}

/* A part of several edits becomes as many. */
static bool split_part(struct step *s, size_t at)
{
	struct part p = s->parts[at];

	if (p.n < 2)
		return false;
	s->parts[at].n = 1;
	for (size_t i = 1; i < p.n; i++)
		add_part(s, at + i, (struct part){ p.hunk, p.first + i, 1, LEAVE });
	return true;
}

static void part_text(struct walk *w, const struct step *s, const struct part *p,
		      struct ga_buf *out)
{
	const struct ga_hunk *h = &s->hunks.v[p->hunk];
	cleanup_buf struct ga_buf raw = GA_BUF_INIT;

	if (p->n == h->n)
		ga_buf_add(&raw, s->hunks.text.ptr + h->at, h->len);
	else
		ga_hunks_edit_text(&s->hunks, h, p->first, &raw);
	ga_review_hunks_text(&raw, w->palette, out);
}

static int page_part(struct walk *w, const struct step *s, const struct part *p,
		     struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	part_text(w, s, p, &text);
	return cli_page(w->c, text.ptr, text.len, err);
}

static void help_parts(void)
{
	(void)printf("y - keep this part\n"
		     "n - reject this part: it becomes what it was\n"
		     "a - keep this part and the rest of the file\n"
		     "d - reject this part and the rest of the file\n"
		     "s - split this part into smaller ones\n"
		     "p - show this part in the pager\n"
		     "j - leave this part undecided, go on\n"
		     "k - go back one part\n"
		     "q - done with the parts of this file\n"
		     "? - this help\n");
}

static int ask_part(struct walk *w, const struct step *s, size_t at, struct ga_error *err)
{
	cleanup_free char *q = ga_quote(s->item->change.path);
	cleanup_free char *prompt =
	    ga_strf("(%s%zu/%zu of %s) keep this part [y,n,a,d,s,p,j,k,q,?]? ",
		    choice_text(s->parts[at].choice), at + 1, s->n_parts, q);

	return cli_ask(prompt, w->single_key, err);
}

/* What one letter does to part `*at`. */
static int answer_part(struct walk *w, struct step *s, int letter, size_t *at,
		       struct ga_error *err)
{
	enum choice c = letter == 'y' || letter == 'a' ? ACCEPT : REJECT;

	switch (letter) {
	case 'a':
	case 'd':
		while (*at < s->n_parts)
			s->parts[(*at)++].choice = c;
		return 0;
	case 'y':
	case 'n':
		s->parts[(*at)++].choice = c;
		return 0;
	case 'j':
		++*at;
		return 0;
	case 'k':
		*at -= *at > 0;
		return 0;
	case 's':
		if (!split_part(s, *at))
			(void)printf("it cannot be split any further\n");
		return 0;
	case 'p':
		return page_part(w, s, &s->parts[*at], err);
	default:
		help_parts();
		return 0;
	}
}

/* All parts decided alike are the file decided so. */
static void sum_up(struct step *s)
{
	size_t n[PARTS] = { 0 };

	for (size_t i = 0; i < s->n_parts; i++)
		n[s->parts[i].choice]++;
	s->choice = n[ACCEPT] == s->n_parts ? ACCEPT : n[REJECT] == s->n_parts ? REJECT :
		    n[REJECT] ? PARTS : LEAVE;
}

static int walk_parts(struct walk *w, struct step *s, struct ga_error *err)
{
	int letter = 0, rc = read_parts(w, s, err);

	if (rc) {
		if (rc > 0)
			(void)printf("there are no parts to tell apart\n");
		return rc < 0 ? -1 : 0;
	}
	for (size_t at = 0; at < s->n_parts && letter != 'q';) {
		cleanup_buf struct ga_buf text = GA_BUF_INIT;

		part_text(w, s, &s->parts[at], &text);
		(void)putchar('\n');
		print_top(text.ptr, room());
		letter = ask_part(w, s, at, err);
		if (letter < 0)
			return -1;
		w->abandoned = letter == CLI_ASK_END;
		if (w->abandoned)
			return 0;
		if (letter != 'q' && answer_part(w, s, letter, &at, err))
			return -1;
	}
	sum_up(s);
	return 0;
}

/* ---- paths --------------------------------------------------------------- */

static void help(void)
{
	(void)printf("y - accept: its flags are answered, and what is held back is brought\n"
		     "n - reject: this path becomes what it was before the session\n"
		     "s - split: decide about parts of it\n"
		     "p - show all of it in the pager\n"
		     "j - leave it as it is, go on\n"
		     "k - go back one path\n"
		     "u - take back what was decided about this path\n"
		     "q - quit: what was decided so far is summed up, the rest stays as it is\n"
		     "? - this help\n");
}

static int ask(struct walk *w, size_t at, struct ga_error *err)
{
	const struct step *s = &w->steps[at];
	cleanup_free char *q = ga_quote(*s->item->change.path ? s->item->change.path : ".");
	cleanup_free char *prompt = ga_strf("(%s%zu/%zu) accept %s [y,n,s,p,j,k,u,q,?]? ",
					    choice_text(s->choice), at + 1, w->n, q);

	return cli_ask(prompt, w->single_key, err);
}

static int remark(struct walk *w, struct step *s, struct ga_error *err)
{
	cleanup_buf struct ga_buf line = GA_BUF_INIT;

	if (!w->ask_remarks || (s->choice != REJECT && s->choice != PARTS))
		return 0;
	if (cli_ask_line("what to tell the agent (nothing: just the patch): ", &line, &w->abandoned,
			 err))
		return -1;
	free(s->remark);
	s->remark = line.len ? ga_buf_steal(&line) : NULL;
	return 0;
}

/* What one letter does at step `*at`; `*again`: it is shown once more. */
static int answer(struct walk *w, int letter, size_t *at, bool *again, struct ga_error *err)
{
	struct step *s = &w->steps[*at];

	*again = false;
	switch (letter) {
	case 'y':
	case 'n':
		s->choice = letter == 'y' ? ACCEPT : REJECT;
		++*at;
		return remark(w, s, err);
	case 's':
		if (walk_parts(w, s, err))
			return -1;
		*at += s->choice != LEAVE;
		return w->abandoned ? 0 : remark(w, s, err);
	case 'p':
		return page(w, s, err);
	case 'j':
		++*at;
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

static int walk(struct walk *w, struct ga_error *err)
{
	bool again = true;

	for (size_t at = 0, shown = w->n; at < w->n && !w->abandoned;) {
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

static void add_parts(const struct step *s, struct ga_decision *d)
{
	cleanup_free bool *undo = ga_calloc(s->hunks.n_edits, sizeof(*undo));
	bool open = false;

	for (size_t i = 0; i < s->n_parts; i++) {
		open = open || s->parts[i].choice == LEAVE;
		for (size_t e = 0; s->parts[i].choice == REJECT && e < s->parts[i].n; e++)
			undo[s->parts[i].first + e] = true;
	}
	ga_decision_add_hunks(d, &s->item->change, s->item->where == GA_REVIEW_HELD, undo,
			      s->hunks.n_edits);
	/* whoever kept each of the others has accepted what is left */
	if (!open)
		ga_strv_push(&d->accept, s->item->change.path);
}

static void collect(const struct walk *w, struct cli_verdict *v)
{
	v->decision.exact = v->decision.critical_too = true;
	v->decision.reviewed = w->report->tip;
	for (size_t i = 0; i < w->n; i++) {
		const struct step *s = &w->steps[i];
		const char *path = s->item->change.path;

		/* accepting what nothing is said of means nothing */
		if (s->choice == ACCEPT && (s->item->flagged || s->item->where == GA_REVIEW_HELD))
			ga_strv_push(&v->decision.accept, path);
		else if (s->choice == REJECT)
			ga_strv_push(&v->decision.reject, path);
		else if (s->choice == PARTS)
			add_parts(s, &v->decision);
		if (s->remark && (s->choice == REJECT || s->choice == PARTS))
			ga_remarks_add(&v->remarks, path, s->remark);
	}
}

/* 1: no. */
static int confirm(struct walk *w, struct ga_error *err)
{
	size_t n[PARTS + 1] = { 0 };
	int letter;

	for (size_t i = 0; i < w->n; i++)
		n[w->steps[i].choice]++;
	if (w->abandoned || n[LEAVE] == w->n) {
		(void)printf("\nnothing was decided\n");
		return 1;
	}
	(void)printf("\n%zu to accept, %zu to reject, %zu to reject in part, "
		     "%zu left as they are\n", n[ACCEPT], n[REJECT], n[PARTS], n[LEAVE]);
	do
		letter = cli_ask("do it [y,n]? ", w->single_key, err);
	while (letter >= 0 && letter != 'y' && letter != 'n' && letter != CLI_ASK_END);
	if (letter < 0)
		return -1;
	if (letter != 'y')
		(void)printf("nothing was changed\n");
	return letter != 'y';
}

int cli_walk(struct cli *c, const struct ga_report *r, const struct ga_review_items *items,
	     struct cli_verdict *ret, struct ga_error *err)
{
	struct ga_palette palette;
	__attribute__((cleanup(walk_release))) struct walk w = {
		.c = c,
		.report = r,
		.single_key = ga_gitconfig_bool(&c->env.config, "interactive.singlekey", false),
		.ask_remarks = ret->feedback != NULL,
	};
	int rc;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		(void)ga_fail(err, GA_EUSAGE, "-i asks on a terminal, and this is none");
		return ga_hint(err, "--accept and --reject decide without one");
	}
	if (cli_palette(c, "diff", &palette, &w.palette, err))
		return -1;
	w.n = items->n;
	w.steps = ga_calloc(w.n + 1, sizeof(*w.steps));
	for (size_t i = 0; i < w.n; i++) {
		w.steps[i].item = &items->v[i];
		w.steps[i].hunks = (struct ga_hunks)GA_HUNKS_INIT;
	}
	if (walk(&w, err))
		return -1;
	rc = confirm(&w, err);
	if (rc)
		return rc;
	collect(&w, ret);
	if (ret->decision.accept.n || ret->decision.reject.n || ret->decision.n_hunks)
		return 0;
	(void)printf("no flag was among it: there is nothing to be done\n");
	return 1;
}
