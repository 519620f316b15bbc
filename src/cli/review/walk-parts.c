/* SPDX-License-Identifier: MIT
 *
 * Review the hunks and edits of one file, like `git add -p`, and print their diffs.
 */
#include <sys/ioctl.h>

#include "walk.h"

static size_t count_lines(const struct ga_buf *b)
{
	size_t n = b->len && b->ptr[b->len - 1] != '\n';

	for (size_t i = 0; i < b->len; i++)
		n += b->ptr[i] == '\n';
	return n;
}

/* The text after the first `n` lines. */
static const char *skip_lines(const char *p, size_t n)
{
	for (; n && *p; n--) {
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	return p;
}

static int run(const char *filter, const struct ga_buf *in, struct ga_buf *ret,
	       struct ga_error *err)
{
	const char *const argv[] = { "sh", "-c", filter, NULL };
	const struct ga_process p = GA_PROCESS(.argv = argv, .in = in->ptr, .in_len = in->len,
					       .out = ret);
	size_t want = count_lines(in), got;
	int status;

	if (ga_process_run(&p, &status, err))
		return -1;
	if (status == 126 || status == 127)
		return ga_fail(err, GA_EFATAL, "interactive.diffFilter '%s' cannot be run", filter);
	/* any other exit status is ignored, as git does */
	got = count_lines(ret);
	if (got == want)
		return 0;
	return ga_fail(err, GA_EFATAL, "interactive.diffFilter '%s' made %zu lines of %zu" GA_HINT
		       "it has to print a line for each that it reads", filter, got, want);
}

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

void walk_print_diff(struct cli_walk *w, const struct ga_buf *head, const struct ga_buf *diff)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;

	ga_buf_add(&in, head->ptr, head->len);
	ga_buf_add(&in, diff->ptr, diff->len);
	/* like git, use it only with colours */
	if (!w->filter || !w->palette || !in.len) {
		print_top(diff->ptr);
	} else if (!run(w->filter, &in, &out, &err)) {
		print_top(skip_lines(out.ptr, count_lines(head)));
	} else {
		/* continue without the filter, to keep the answers so far */
		(void)fflush(stdout);
		cli_print_error(&err);
		w->filter = NULL;
		print_top(diff->ptr);
	}
}

static void add_part(struct step *s, size_t at, struct part p)
{
	GA_GROW(s->parts, s->n_parts, s->cap_parts);
	memmove(&s->parts[at + 1], &s->parts[at], (s->n_parts - at) * sizeof(*s->parts));
	s->parts[at] = p;
	s->n_parts++;
}

/* Find the hunks of the file. 1: it has none. */
static int read_parts(struct cli_walk *w, struct step *s, struct ga_error *err)
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

/* Split a part into its edits. False: it has only one. */
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

static void part_text(struct cli_walk *w, const struct step *s, const struct part *p,
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

/* The diff's header above the hunks, which a filter may need. */
static int file_header(struct cli_walk *w, const struct step *s, struct ga_buf *ret,
		       struct ga_error *err)
{
	cleanup_out struct ga_out out = GA_OUT_INIT;
	const char *end;

	if (!w->filter)
		return 0;
	if (walk_diff(w, s, &out, err))
		return -1;
	for (end = out.text.ptr; *end;) {
		const char *p = end;

		/* skip the colour that may come first */
		if (*p == '\033')
			p += strcspn(p, "m\n");
		p += *p == 'm';
		if (!strncmp(p, "@@", 2))
			break;
		end += strcspn(end, "\n");
		end += *end == '\n';
	}
	ga_buf_add(ret, out.text.ptr, (size_t)(end - out.text.ptr));
	return 0;
}

static void help_parts(void)
{
	(void)printf("y - keep this part\n"
		     "n - reject this part: it becomes what it was\n"
		     "a - keep this part and the rest of the file\n"
		     "d - reject this part and the rest of the file\n"
		     "s - split this part into smaller ones\n"
		     "p - show this part in the pager\n"
		     "j - leave this part undecided, continue\n"
		     "k - go back one part\n"
		     "q - done with the parts of this file\n"
		     "? - this help\n");
}

static int ask_part(struct cli_walk *w, const struct step *s, size_t at, struct ga_error *err)
{
	cleanup_free char *q = ga_quote(s->item->change.path);
	cleanup_free char *prompt =
	    ga_strf("(%s%zu/%zu of %s) keep this part [y,n,a,d,s,p,j,k,q,?]? ",
		    walk_choice_text(s->parts[at].choice), at + 1, s->n_parts, q);

	return cli_ask(prompt, w->single_key, err);
}

static int answer_part(struct cli_walk *w, struct step *s, int letter, size_t *at,
		       struct ga_error *err)
{
	enum choice c = letter == 'y' || letter == 'a' ? ACCEPT : REJECT;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

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
		part_text(w, s, &s->parts[*at], &text);
		return cli_page(w->c, text.ptr, text.len, err);
	default:
		help_parts();
		return 0;
	}
}

int walk_parts(struct cli_walk *w, struct step *s, struct ga_error *err)
{
	cleanup_buf struct ga_buf head = GA_BUF_INIT;
	size_t n[PARTS] = { 0 };
	int letter = 0, rc = read_parts(w, s, err);

	if (rc) {
		if (rc > 0)
			(void)printf("this has no parts that could be decided one by one\n");
		return rc;
	}
	if (file_header(w, s, &head, err))
		return -1;
	for (size_t at = 0; at < s->n_parts && letter != 'q';) {
		cleanup_buf struct ga_buf text = GA_BUF_INIT;

		part_text(w, s, &s->parts[at], &text);
		(void)putchar('\n');
		walk_print_diff(w, &head, &text);
		letter = ask_part(w, s, at, err);
		if (letter < 0)
			return -1;
		w->abandoned = letter == CLI_ASK_END;
		if (w->abandoned)
			return 0;
		if (letter != 'q' && answer_part(w, s, letter, &at, err))
			return -1;
	}
	for (size_t i = 0; i < s->n_parts; i++)
		n[s->parts[i].choice]++;
	s->choice = n[ACCEPT] == s->n_parts ? ACCEPT : n[REJECT] == s->n_parts ? REJECT :
		    n[REJECT] ? PARTS : LEAVE;
	return 0;
}

int walk_diff(struct cli_walk *w, const struct step *s, struct ga_out *out, struct ga_error *err)
{
	if (s->item->where == GA_REVIEW_ELSEWHERE)
		return 0;
	return ga_review_file_diff(w->c->env.repo, &s->item->change, s->item->flagged,
				   w->palette, out, err);
}

const char *walk_choice_text(enum choice c)
{
	static const char *const texts[] = {
		[LEAVE] = "", [ACCEPT] = "accepted, ", [REJECT] = "rejected, ",
		[PARTS] = "in parts, ",
	};

	return texts[c];
}
