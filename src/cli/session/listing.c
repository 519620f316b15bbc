/* SPDX-License-Identifier: MIT */
#include "cli/listing.h"
#include "cli/on.h"
#include "ga/repo/history.h"

#define SESSIONS_MAX 50 /* compared with each other */

static int count(struct cli *c, const struct ga_oid *tip, const struct ga_oid *has, size_t n,
		 size_t *ret, struct ga_error *err)
{
	cleanup_free struct ga_oid *list = NULL;
	int rc = ga_rev_list_bounded(c->env.repo, tip, 1, has, n, CLI_COMMITS_MAX, &list, ret, err);

	if (rc > 0)
		*ret = CLI_COMMITS_MAX;
	return rc < 0 ? -1 : 0;
}

/* Count the commits it is behind, and its changes, which are kept for comparison if there is
 * room. */
static int count_work(struct cli *c, struct cli_compare *x, const struct ga_session *s,
		      struct cli_counts *ret, struct ga_error *err)
{
	const struct ga_oid *tip = ga_oid_is_zero(&s->result.held) ? &s->result.tip
								   : &s->result.held;
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	const struct ga_oid has[] = { *ga_session_branch_base(s), s->result.tip };

	if (x->has_head && count(c, &x->head, has, ga_oid_is_zero(&has[1]) ? 1 : 2, &ret->behind,
				 err))
		return -1;
	if (ga_oid_is_zero(tip))
		return 0;
	if (count(c, tip, ga_session_own_base(s), 1, &ret->commits, err) ||
	    ga_tree_diff(c->env.repo, ga_session_own_base(s), tip, &changes, err))
		return -1;
	ret->files = changes.n;
	if (x->n == SESSIONS_MAX)
		return 0;
	GA_GROW(x->v, x->n, x->cap);
	x->v[x->n++] = (struct cli_compared){ ga_strdup(s->name), changes };
	changes = (struct ga_changes)GA_CHANGES_INIT;
	return 0;
}

/* The first path that both change, or NULL; both are sorted by path. */
static const char *both(const struct ga_changes *a, const struct ga_changes *b)
{
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		int d = strcmp(a->v[i].path, b->v[k].path);

		if (!d)
			return a->v[i].path;
		i += d < 0;
		k += d > 0;
	}
	return NULL;
}

/* The names of the sessions that change a path that the i-th of `x->v` changes too, and the first
 * such path of each: two words for each. */
static void compare_overlaps(const struct cli_compare *x, size_t i, struct ga_strv *ret)
{
	for (size_t k = 0; k < x->n; k++) {
		const char *path = k == i ? NULL : both(&x->v[i].changes, &x->v[k].changes);

		if (!path)
			continue;
		ga_strv_push(ret, x->v[k].name);
		ga_strv_push(ret, path);
	}
}

#define COLUMNS 80
#define COMMAND_MIN 9
#define NEXT_SHOWN 3
#define SILENT_MS 60000 /* a session is listed as idle after this long */

static void row_release(struct cli_row *w)
{
	ga_session_release(&w->s);
	ga_report_release(&w->r);
	ga_control_peer_release(&w->peer);
	free(w->elsewhere);
	free(w->idle);
	free(w->next);
}

void cli_listing_release(struct cli_listing *l)
{
	for (size_t i = 0; i < l->n; i++)
		row_release(&l->v[i]);
	free(l->v);
	for (size_t i = 0; i < l->compare.n; i++) {
		free(l->compare.v[i].name);
		ga_changes_release(&l->compare.v[i].changes);
	}
	free(l->compare.v);
	*l = (struct cli_listing)CLI_LISTING_INIT;
}

/* ---- reading ------------------------------------------------------------------------------ */

static const char *describe_idle(struct cli *c, const struct ga_session *s)
{
	cleanup_free char *dir = NULL;

	if (s->state != GA_STATE_CAPTURED)
		return "";
	if (cli_has_work(s))
		return ga_oid_is_zero(&s->result.tip) && ga_oid_is_zero(&s->result.held)
		       ? "uncommitted changes" : "";
	/* an unreadable part may have work */
	if (cli_part_work(&c->env, s, &dir, GA_IGNORED) || dir)
		return "in submodules";
	return cli_kept_refs(c->env.repo, s, NULL, GA_IGNORED) ? "other refs" : "no change";
}

/* With an unreadable part the next command is unknown. */
static int find_next(struct cli *c, struct cli_row *w, struct ga_error *err)
{
	size_t len = 0;
	FILE *f;

	if (w->unfinished) {
		w->next = ga_strf("  next: git agent land --continue %s, or --abort\n", w->s.name);
		return 0;
	}
	f = open_memstream(&w->next, &len);
	if (!f)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remember a line");
	if (!w->running && w->s.state == GA_STATE_CAPTURED)
		(void)cli_print_next(c, &w->s, &w->r, f, GA_IGNORED);
	(void)fclose(f);
	return 0;
}

/* Returns 1 if it is gone. */
static int read_row(struct cli *c, const char *name, struct cli_compare *x, struct cli_row *w,
		    struct ga_error *err)
{
	cleanup_error struct ga_error why = GA_ERROR_INIT;
	cleanup_close int lock = -1;
	int rc = cli_load_session(c, name, false, &w->s, &lock, err);

	if (rc < 0 || rc == 1)
		return rc;
	/* show a session that is locked as it was read */
	w->running = rc == 2 && (cli_is_running(&w->s) || w->s.state == GA_STATE_RUNNING);
	if (rc == 0 && w->s.state == GA_STATE_INTERRUPTED &&
	    cli_capture_interrupted(c, &w->s, lock, &why)) {
		cli_print_error(&why);
		w->s.state = GA_STATE_INTERRUPTED;
	}
	if (!w->running && ga_report_read(c->env.repo, &w->s, &w->r, err) < 0)
		return -1;
	if (rc == 0 && cli_notice_landed(c, &w->s, err))
		return -1;
	w->idle = ga_strdup(w->running ? "" : describe_idle(c, &w->s));
	return (w->s.state != GA_STATE_LANDED && count_work(c, x, &w->s, &w->counts, err)) ||
	       find_next(c, w, err) ? -1 : 0;
}

static struct cli_row *row_of(struct cli_listing *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].s.name, name))
			return &l->v[i];
	GA_GROW(l->v, l->n, l->cap);
	l->v[l->n] = (struct cli_row){ .s = GA_SESSION_INIT, .r = GA_REPORT_INIT,
				       .peer = GA_CONTROL_PEER_INIT, .idle = ga_strdup(""),
				       .next = ga_strdup("") };
	l->v[l->n].s.name = ga_strdup(name);
	return &l->v[l->n++];
}

/* "5m": the largest unit with a count of two or more. */
static char *span(uint64_t s)
{
	static const struct {
		unsigned seconds;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' } };

	for (size_t i = 0; i < GA_NELEMS(units); i++)
		if (s >= 2 * (uint64_t)units[i].seconds)
			return ga_strf("%u%c", (unsigned)(s / units[i].seconds), units[i].unit);
	return ga_strf("%us", (unsigned)s);
}

/* Add sessions on other machines whose result was not fetched. */
static int read_elsewhere(struct cli *c, struct cli_listing *ret, struct ga_error *err)
{
	cleanup_ons struct ga_ons l = GA_ONS_INIT;
	uint64_t now = (uint64_t)time(NULL);

	if (cli_on_query(c, &l, err))
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		struct cli_row *w = row_of(ret, l.v[i].name);

		w->elsewhere = ga_strdup(cli_on_describe(&l.v[i]));
		if (!l.v[i].answers && l.v[i].state) {
			cleanup_free char *ago = span(now > l.v[i].asked ? now - l.v[i].asked : 0);

			free(w->idle);
			w->idle = ga_strf("%s %s ago", l.v[i].state, ago);
		}
		w->s.id.started = l.v[i].started;
		w->s.run.finished = w->s.run.resumed = 0;
		free(w->s.id.remote);
		w->s.id.remote = ga_strdup(l.v[i].host);
		ga_strv_release(&w->s.id.command);
		w->s.id.command = (struct ga_strv)GA_STRV_INIT;
		ga_strv_extend(&w->s.id.command, &l.v[i].command);
	}
	return 0;
}

int cli_listing_read(struct cli *c, struct cli_listing *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT, unfinished = GA_STRV_INIT;
	cleanup_strv struct ga_strv conflicts = GA_STRV_INIT;
	cleanup_free char *branch = NULL;
	int unborn;

	if (ga_session_names(c->env.state_dir, &names, err) ||
	    ga_land_unfinished(c->env.repo, &unfinished, &conflicts, err))
		return -1;
	unborn = ga_repo_head(c->env.repo, &ret->compare.head, &branch, err);
	if (unborn < 0)
		return -1;
	ret->compare.has_head = !unborn;
	for (size_t i = 0; i < names.n; i++) {
		struct cli_row w = { .s = GA_SESSION_INIT, .r = GA_REPORT_INIT,
				     .peer = GA_CONTROL_PEER_INIT,
				     .unfinished = ga_strv_has(&unfinished, names.v[i]),
				     .conflicts = ga_strv_has(&conflicts, names.v[i]) };
		cleanup_error struct ga_error one = GA_ERROR_INIT;
		int rc = read_row(c, names.v[i], &ret->compare, &w, &one);

		if (!rc) {
			GA_GROW(ret->v, ret->n, ret->cap);
			ret->v[ret->n++] = w;
			continue;
		}
		row_release(&w);
		if (rc > 0)
			continue;
		/* skip a damaged session, and report it in the exit status */
		cli_print_error(&one);
		c->status = ga_error_status(one.code);
	}
	cli_listing_update(ret);
	return read_elsewhere(c, ret, err);
}

void cli_listing_update(struct cli_listing *l)
{
	for (size_t i = 0; i < l->n; i++) {
		ga_control_peer_release(&l->v[i].peer);
		l->v[i].peer = (struct ga_control_peer)GA_CONTROL_PEER_INIT;
		if (l->v[i].running)
			cli_query_supervisor(&l->v[i].s, &l->v[i].peer);
	}
}

/* ---- a row -------------------------------------------------------------------------------- */

static char *state_of(const struct cli_row *w)
{
	if (w->elsewhere)
		return ga_strdup(w->elsewhere);
	if (w->unfinished)
		return ga_strdup(w->conflicts ? "conflicts" : "landing");
	if (!w->running)
		return ga_strdup(ga_state_name(w->s.state));
	if (w->s.state == GA_STATE_NEW)
		return ga_strdup("starting");
	if (w->s.run.finished)
		return ga_strdup("ending");
	if (w->peer.fd >= 0 && w->peer.is.asks)
		return ga_strdup("asks?");
	if (w->peer.fd >= 0 && w->peer.is.idle >= SILENT_MS) {
		cleanup_free char *t = span(w->peer.is.idle / 1000);

		return ga_strf("silent %s", t);
	}
	return ga_strdup("running");
}

static void add_part(struct ga_buf *b, char *part)
{
	if (part && *part) {
		ga_buf_adds(b, b->len ? ", " : "");
		ga_buf_adds(b, part);
	}
	free(part);
}

/* Remarks on it, the most important first. */
static void add_parts(const struct cli_row *w, struct ga_buf *b)
{
	cleanup_free char *commits = ga_count(w->counts.commits, "commit", "commits");
	cleanup_free char *files = ga_count(w->counts.files, "file", "files");
	size_t open = ga_report_open(&w->r);
	struct ga_report_counts n;

	ga_report_count(&w->r, &n);
	if (open)
		add_part(b, ga_count(open, "open flag", "open flags"));
	if (!w->running && w->s.run.exit_status > 0)
		add_part(b, ga_strf("exit %d", w->s.run.exit_status));
	add_part(b, ga_strdup(w->idle));
	if (w->s.id.remote)
		add_part(b, ga_strf("%s %s", w->elsewhere ? "on" : "from",
				    GA_QUOTED(w->s.id.remote)));
	if (w->peer.fd >= 0 && (w->peer.is.attached || w->peer.is.detached))
		add_part(b, ga_strdup(w->peer.is.attached ? "attached" : "detached"));
	if (w->counts.commits)
		add_part(b, ga_strf("%s, %s", commits, files));
	if (w->counts.behind)
		add_part(b, ga_strf("%zu%s behind", w->counts.behind,
				    w->counts.behind == CLI_COMMITS_MAX ? "+" : ""));
	if (!open && n.all)
		add_part(b, ga_count(n.all, "flag", "flags"));
}

static void add_command(const struct ga_session *s, struct ga_buf *ret)
{
	for (size_t i = 0; i < s->id.command.n; i++) {
		if (i)
			ga_buf_addch(ret, ' ');
		ga_quote_add(ret, s->id.command.v[i], strlen(s->id.command.v[i]));
	}
}

/* Cut to `room` bytes, at a character boundary. */
static void shorten(struct ga_buf *b, size_t room)
{
	size_t n = room - 3;

	if (b->len <= room)
		return;
	while (n && ((unsigned char)b->ptr[n] & 0xc0) == 0x80)
		n--;
	ga_buf_truncate(b, n);
	ga_buf_adds(b, "...");
}

/* ---- the listing -------------------------------------------------------------------------- */

void cli_listing_print(const struct cli_listing *l, FILE *f)
{
	uint64_t now = (uint64_t)time(NULL);

	for (const struct cli_row *w = l->v; w < l->v + l->n; w++) {
		uint64_t at = w->s.run.finished ? w->s.run.finished
			      : w->s.run.resumed ? w->s.run.resumed : w->s.id.started;
		cleanup_free char *state = state_of(w), *ago = span(now > at ? now - at : 0);
		cleanup_free char *when = ga_strf("%s ago", ago);
		cleanup_free char *head = ga_strf("%-16s %-11s %-8s ", w->s.name, state, when);
		cleanup_buf struct ga_buf parts = GA_BUF_INIT, command = GA_BUF_INIT;
		size_t used = strlen(head), left;

		add_parts(w, &parts);
		add_command(&w->s, &command);
		left = COLUMNS > used + COMMAND_MIN ? COLUMNS - used : COMMAND_MIN;
		shorten(&parts, left);
		left = left > parts.len + 2 ? left - parts.len - 2 : 0;
		if (left >= COMMAND_MIN && command.len)
			shorten(&command, left);
		else
			ga_buf_clear(&command);
		(void)fprintf(f, "%s%s%s%s\n", head, parts.ptr,
			      parts.len && command.len ? "  " : "", command.ptr);
		for (size_t i = 0; w->running && i < w->s.run.published.n; i++)
			(void)fprintf(f, "%-16s published at %s\n", "", w->s.run.published.v[i]);
	}
}

void cli_listing_print_more(const struct cli_listing *l, FILE *f)
{
	for (size_t i = 0, shown = 0; i < l->n && shown < NEXT_SHOWN; i++) {
		(void)fputs(l->v[i].next, f);
		shown += *l->v[i].next != '\0';
	}
	for (size_t i = 0; i < l->compare.n; i++) {
		const char *name = l->compare.v[i].name;
		cleanup_strv struct ga_strv with = GA_STRV_INIT;

		compare_overlaps(&l->compare, i, &with);
		for (size_t k = 0; k < with.n; k += 2)
			if (strcmp(name, with.v[k]) < 0)
				(void)fprintf(f, "%s and %s both change %s\n", name, with.v[k],
					      GA_QUOTED(with.v[k + 1]));
	}
}

static json_t *overlaps_json(const struct cli_listing *l, const char *name)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->compare.n; i++) {
		cleanup_strv struct ga_strv with = GA_STRV_INIT;

		if (strcmp(name, l->compare.v[i].name) != 0)
			continue;
		compare_overlaps(&l->compare, i, &with);
		for (size_t k = 0; k < with.n; k += 2)
			ga_json_add(list, json_string(with.v[k]));
	}
	return list;
}

json_t *cli_listing_json(const struct cli_listing *l)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->n; i++) {
		const struct cli_row *w = &l->v[i];
		json_t *j = cli_session_json(&w->s, w->running, &w->r, &w->peer);

		if (w->elsewhere)
			ga_json_set(j, "state", json_string(w->elsewhere));
		ga_json_set(j, "elsewhere", json_boolean(w->elsewhere != NULL));
		ga_json_set(j, "landing", json_boolean(w->unfinished));
		ga_json_set(j, "conflicts", json_boolean(w->conflicts));
		ga_json_set(j, "commits", json_integer((json_int_t)w->counts.commits));
		ga_json_set(j, "files", json_integer((json_int_t)w->counts.files));
		ga_json_set(j, "behind", json_integer((json_int_t)w->counts.behind));
		ga_json_set(j, "overlaps", overlaps_json(l, w->s.name));
		ga_json_add(list, j);
	}
	return list;
}
