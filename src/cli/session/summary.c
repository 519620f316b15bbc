/* SPDX-License-Identifier: MIT */
#include "ga/repo/history.h"
#include "cli/cli.h"

#define MAX_PATHS 3 /* on the line of flags */
#define MIN_PATH 12 /* minimum columns of a path */

static void set_counts(json_t *j, const struct ga_report *r)
{
	json_t *severities = json_object(), *verdicts = json_object();
	struct ga_report_counts n = { .held = { 0 } };

	if (r)
		ga_report_count(r, &n);
	for (int s = GA_CRITICAL; s >= GA_LOW; s--)
		ga_json_set(severities, ga_severity_name((enum ga_severity)s),
			    json_integer((json_int_t)n.severity[s]));
	for (int v = GA_VERDICT_OPEN; v <= GA_VERDICT_REJECTED; v++)
		ga_json_set(verdicts, ga_verdict_name((enum ga_verdict)v),
			    json_integer((json_int_t)n.verdict[v]));
	ga_json_set(j, "flags", json_integer((json_int_t)n.all));
	ga_json_set(j, "flags_open", json_integer(r ? (json_int_t)ga_report_open(r) : 0));
	ga_json_set(j, "flags_by_severity", severities);
	ga_json_set(j, "flags_by_verdict", verdicts);
}

/* Each is "LIMIT VALUE BY". */
static json_t *limits_json(const struct ga_session *s)
{
	static const char *const keys[] = { "limit", "value", "by" };
	json_t *list = json_array();

	for (size_t i = 0; i < s->run.limits.n; i++) {
		json_t *j = json_object();
		const char *p = s->run.limits.v[i];

		for (size_t k = 0; k < GA_NELEMS(keys); k++) {
			size_t n = strcspn(p, " ");
			cleanup_free char *word = ga_strndup(p, n);

			ga_json_set_bytes(j, keys[k], word);
			p += n + (p[n] == ' ');
		}
		ga_json_add(list, j);
	}
	return list;
}

/* The results of 'finish': a session without changes has no report, a fetched one nothing else. */
static const struct ga_strv *checks_of(const struct ga_session *s, const struct ga_report *r)
{
	return r && r->checks.n ? &r->checks : &s->run.checks;
}

/* Each is "COUNT TO". */
static const char *split_refused(const char *word, unsigned long long *ret)
{
	const char *to = strchr(word, ' ');
	cleanup_free char *count = ga_strndup(word, to ? (size_t)(to - word) : 0);
	uint64_t n = 1;

	(void)ga_parse_u64(count, UINT64_MAX, &n);
	*ret = n;
	return to ? to + 1 : word;
}

static json_t *refused_json(const struct ga_strv *words)
{
	json_t *list = json_array();

	for (size_t i = 0; i < words->n; i++) {
		unsigned long long n;
		const char *to = split_refused(words->v[i], &n);
		json_t *j = json_object();

		ga_json_set_bytes(j, "to", to);
		ga_json_set(j, "count", json_integer((json_int_t)n));
		ga_json_add(list, j);
	}
	return list;
}

static json_t *network_json(const struct ga_session *s)
{
	return json_pack("{s:s, s:o, s:o, s:I, s:o}", "mode",
			 s->run.network ? s->run.network : "host", "published",
			 ga_json_strv(&s->run.published), "refused", refused_json(&s->run.refused),
			 "unlisted", (json_int_t)s->run.unlisted, "forbidden",
			 refused_json(&s->run.forbidden));
}

static json_t *live_json(const struct ga_control_peer *p)
{
	if (!p || p->fd < 0)
		return json_null();
	return json_pack("{s:b, s:b, s:b, s:i, s:I, s:i}", "detached", p->is.detached, "attached",
			 p->is.attached, "asks", p->is.asks, "shells", (int)p->is.shells, "idle",
			 (json_int_t)(p->is.idle / 1000), "supervisor", (int)p->pid);
}

json_t *cli_session_json(const struct ga_session *s, bool running, const struct ga_report *r,
			 const struct ga_control_peer *peer)
{
	cleanup_strv struct ga_strv shared = GA_STRV_INIT;
	json_t *j = json_object();

	ga_json_set_bytes(j, "name", s->name);
	ga_json_set(j, "state", json_string(running ? "running" : ga_state_name(s->state)));
	ga_json_set_bytes(j, "branch", ga_ref_branch(s->id.branch));
	ga_json_set_bytes(j, "project", s->id.project);
	ga_json_set(j, "command", ga_json_strv(&s->id.command));
	ga_json_set_oid(j, "onto", &s->id.onto);
	ga_json_set_oid(j, "base", &s->id.base);
	ga_json_set_oid(j, "tip", &s->result.tip);
	ga_json_set_oid(j, "held", &s->result.held);
	ga_json_set_bytes(j, "remote", s->id.remote);
	ga_json_set_oid(j, "landed", &s->result.landed);
	ga_json_set_bytes(j, "landed_how", s->result.arrived);
	ga_json_set_bytes(j, "landed_in", s->result.arrived_in);
	ga_json_set(j, "started", json_integer((json_int_t)s->id.started));
	ga_json_set(j, "finished", s->run.finished ? json_integer((json_int_t)s->run.finished) :
		    json_null());
	ga_json_set(j, "resumed", s->run.resumed ? json_integer((json_int_t)s->run.resumed) :
		    json_null());
	ga_json_set(j, "resumed_with", ga_json_strv(&s->run.resumed_with));
	ga_json_set(j, "exit_status", s->run.exit_status >= 0 ? json_integer(s->run.exit_status) :
		    json_null());
	ga_json_set(j, "run", live_json(peer));
	ga_json_set_bytes(j, "incomplete", s->view.incomplete);
	ga_session_shared(s, &shared);
	ga_json_set(j, "shared", ga_json_strv(&shared));
	ga_json_set(j, "submodules", ga_json_strv(&s->id.submodules));
	ga_json_set(j, "skipped", ga_json_strv(&s->view.skipped));
	ga_json_set(j, "masked", ga_json_strv(&s->view.masked));
	ga_json_set(j, "limits", limits_json(s));
	ga_json_set(j, "network", network_json(s));
	ga_json_set(j, "notes", ga_json_strv(&s->result.notes));
	ga_json_set(j, "left_out", ga_json_strv(&s->result.left_out));
	ga_json_set(j, "checks", ga_report_checks_json(checks_of(s, r)));
	set_counts(j, r);
	return j;
}

/* The most columns that each word may have so that all of them, with ": " or ", " before each, fit
 * on a line of which `used` columns are taken; 0: no limit. */
static size_t room_for_each(const struct ga_strv *words, FILE *f, size_t used)
{
	size_t width = cli_width(f), room = width;

	for (; room > MIN_PATH; room--) {
		size_t all = used;

		for (size_t i = 0; i < words->n; i++) {
			size_t n = cli_columns(words->v[i]);

			all += 2 + (n < room ? n : room);
		}
		if (all < width)
			break;
	}
	return room;
}

bool cli_has_work(const struct ga_session *s)
{
	return !ga_oid_is_zero(&s->result.tip) || !ga_oid_is_zero(&s->result.held) ||
	       s->result.left_out.n;
}

char *cli_flag_counts(const struct ga_report *r)
{
	cleanup_buf struct ga_buf counts = GA_BUF_INIT;
	struct ga_report_counts n;

	ga_report_count(r, &n);
	for (int s = GA_CRITICAL; s >= GA_LOW; s--) {
		if (!n.severity[s])
			continue;
		ga_buf_addf(&counts, "%s%zu %s", counts.len ? ", " : "", n.severity[s],
			    ga_severity_name((enum ga_severity)s));
		if (n.held[s] && n.held[s] < n.severity[s])
			ga_buf_addf(&counts, " (%zu of them held)", n.held[s]);
		else if (n.held[s])
			ga_buf_adds(&counts, " (held)");
	}
	return ga_buf_steal(&counts);
}

char *cli_verdict_counts(const struct ga_report *r)
{
	cleanup_buf struct ga_buf counts = GA_BUF_INIT;
	struct ga_report_counts n;

	ga_report_count(r, &n);
	for (int v = GA_VERDICT_ACCEPTED; v <= GA_VERDICT_REJECTED; v++)
		if (n.verdict[v])
			ga_buf_addf(&counts, "%s%zu %s", counts.len ? ", " : "", n.verdict[v],
				    ga_verdict_name((enum ga_verdict)v));
	return ga_buf_steal(&counts);
}

static void print_flags(const struct ga_report *r, FILE *f)
{
	cleanup_free char *counts = cli_flag_counts(r), *verdicts = cli_verdict_counts(r);
	cleanup_flag_lines struct ga_flag_lines lines = { NULL, 0, 0 };
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	size_t room;

	if (!*counts)
		return;
	(void)fprintf(f, "  flagged: %s", counts);
	/* the few most severely flagged paths, each once, on the rest of the line */
	ga_flag_lines(r, &lines);
	for (size_t i = 0; i < lines.n && words.n <= MAX_PATHS; i++)
		if (*r->flags.v[lines.v[i].first].path && !ga_strv_has(&words, lines.v[i].path))
			ga_strv_push(&words, words.n < MAX_PATHS ? lines.v[i].path : "...");
	room = room_for_each(&words, f, strlen("  flagged: ") + strlen(counts));
	for (size_t i = 0; i < words.n; i++) {
		cleanup_free char *fit = cli_fit(words.v[i], room);

		(void)fprintf(f, "%s%s", i ? ", " : ": ", fit);
	}
	(void)fputc('\n', f);
	if (*verdicts)
		(void)fprintf(f, "  decided: %s\n", verdicts);
}

static void print_leftovers(const struct ga_report *r, FILE *f)
{
	const size_t beside = strlen("  leftovers:  (repository, 1000000 files)");
	size_t width = cli_width(f), room = width > beside + MIN_PATH ? width - beside : MIN_PATH;

	for (size_t i = 0; i < r->left.n; i++) {
		const struct ga_leftover *l = &r->left.v[i];
		cleanup_free char *n = ga_count(l->count, "file", "files");
		cleanup_free char *fit = NULL;

		if (i == 4) {
			(void)fprintf(f, "  leftovers: %zu more\n", r->left.n - i);
			break;
		}
		fit = cli_fit(GA_QUOTED(l->path), width ? room : 0);
		(void)fprintf(f, "  leftovers: %s (%s, %s)\n", fit,
			      ga_leftover_kind_name(l->kind), n);
	}
}

static int count_work(struct cli *c, const struct ga_session *s, size_t *commits, size_t *files,
		      struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_free struct ga_oid *list = NULL;
	const struct ga_oid *own = ga_session_own_base(s);

	*commits = *files = 0;
	if (ga_oid_is_zero(&s->result.tip))
		return 0;
	if (ga_rev_list(c->env.repo, &s->result.tip, 1, own, 1, 1000000, &list, commits,
			err) ||
	    ga_tree_diff(c->env.repo, own, &s->result.tip, &changes, err))
		return -1;
	*files = changes.n;
	return 0;
}

int cli_print_next(struct cli *c, const struct ga_session *s, const struct ga_report *r, FILE *f,
		   struct ga_error *err)
{
	cleanup_free char *dir = NULL;
	int kept = 0;

	if (!cli_has_work(s) && cli_part_work(&c->env, s, &dir, err))
		return -1;
	/* if there are kept refs, there is a note about them */
	if (!cli_has_work(s) && s->result.notes.n)
		kept = cli_kept_refs(c->env.repo, s, NULL, err);
	if (kept < 0)
		return -1;
	/* if the submodule is gone, a note has the next step */
	if (dir && access(dir, F_OK))
		return 0;
	if (dir) {
		cleanup_free char *word = ga_quote_shell(dir);
		cleanup_buf struct ga_buf safe = GA_BUF_INIT;

		ga_quote_add_text(&safe, word, strlen(word));
		(void)fprintf(f, "  next: git -C %s agent review %s\n", safe.ptr, s->name);
	} else if (!cli_has_work(s) && r->limits.n) {
		(void)fprintf(f, "  next: git agent capture %s, with other limits\n", s->name);
	} else if (kept) {
		(void)fprintf(f, "  next: git for-each-ref " GA_SESSION_REFS "%s/\n", s->name);
	} else if (!cli_has_work(s) && r->unkept.n) {
		(void)fprintf(f, "  next: git agent resume %s, for commits that are nowhere else\n",
			      s->name);
	} else if (!cli_has_work(s)) {
		(void)fprintf(f, "  next: git agent drop %s\n", s->name);
	} else if (ga_report_open(r)) {
		(void)fprintf(f, "  next: git agent review %s\n", s->name);
	} else {
		(void)fprintf(f, "  next: git agent review %s, then git agent land %s\n", s->name,
			      s->name);
	}
	return 0;
}

/* Print how to continue the conversation, if the agent can. */
static void print_resume(const struct cli *c, const struct ga_session *s, FILE *f)
{
	const char *command = s->id.command.n ? s->id.command.v[0] : "";
	const struct ga_preset *p = ga_preset_find(&c->env.agents, command);

	if (!p || !p->resume[0] || s->id.submodules.n || s->id.within)
		return;
	if (p->resume_prompt)
		(void)fprintf(f, "  with a prompt: git agent resume %s -- %s %s PROMPT\n", s->name,
			      p->name, p->resume_prompt);
	(void)fprintf(f, "  to continue with %s: git agent resume %s\n", p->name, s->name);
}

#define REFUSED_SHOWN 5

static void print_refused(const struct ga_session *s, FILE *f)
{
	cleanup_buf struct ga_buf list = GA_BUF_INIT;
	cleanup_buf struct ga_buf allow = GA_BUF_INIT;
	unsigned long long all = 0, n;

	for (size_t i = 0; i < s->run.refused.n; i++) {
		const char *to = split_refused(s->run.refused.v[i], &n);
		bool name = !strchr(to, ':');

		/* a C library looks a name up several times for one attempt to reach it */
		if (name)
			n = 1;
		all += n;
		if (i >= REFUSED_SHOWN)
			continue;
		ga_buf_addf(&list, "%s%s", i ? ", " : "", GA_QUOTED(to));
		if (n > 1)
			ga_buf_addf(&list, " (%llu times)", n);
		if (!ga_ends_in(to, GA_USE_UDP))
			ga_buf_addf(&allow, " --allow %s%s", GA_QUOTED(to), name ? ":PORT" : "");
	}
	if (!all)
		return;
	if (s->run.refused.n > REFUSED_SHOWN)
		ga_buf_addf(&list, " and %llu more",
			    s->run.refused.n - REFUSED_SHOWN + (unsigned long long)s->run.unlisted);
	(void)fprintf(f, "  refused %s%llu connection%s: %s; %s%s\n",
		      s->run.unlisted ? "more than " : "", all, all == 1 ? "" : "s", list.ptr,
		      allow.len ? "allow with" : "only TCP can be allowed", allow.ptr);
}

/* Names that are allowed but resolve to refused addresses: allowing them again is no help. */
static void print_forbidden(const struct ga_session *s, FILE *f)
{
	cleanup_strv struct ga_strv to = GA_STRV_INIT;
	cleanup_free char *list = NULL;
	unsigned long long n;

	for (size_t i = 0; i < s->run.forbidden.n; i++)
		ga_strv_push(&to, split_refused(s->run.forbidden.v[i], &n));
	list = ga_quote_list(&to, REFUSED_SHOWN);
	if (to.n)
		(void)fprintf(f, "  allowed, and refused for the address it leads to: %s; only "
			      "with --allow ADDRESS:PORT\n", list);
}

int cli_summary(struct cli *c, const struct ga_session *s, const struct ga_report *r, FILE *f,
		struct ga_error *err)
{
	cleanup_strv struct ga_strv checks = GA_STRV_INIT;
	cleanup_free char *n = NULL, *m = NULL;
	size_t commits, files;

	if (count_work(c, s, &commits, &files, err))
		return -1;
	n = ga_count(commits, "commit", "commits");
	m = ga_count(files, "file", "files");
	if (s->state == GA_STATE_DROPPED)
		(void)fprintf(f, "agent/%s: changed nothing, and is in the trash; 'git agent %s "
			      "%s' restores it\n", s->name,
			      s->id.submodules.n ? "drop --restore" : "resume", s->name);
	else if (!cli_has_work(s))
		(void)fprintf(f, "agent/%s: nothing to commit\n", s->name);
	else if (ga_oid_is_zero(&s->result.tip) && ga_oid_is_zero(&s->result.held))
		(void)fprintf(f, "agent/%s: no commit, but uncommitted changes\n", s->name);
	else if (ga_oid_is_zero(&s->result.tip))
		(void)fprintf(f, "agent/%s: no commit: nothing of it can be on a branch yet\n",
			      s->name);
	else
		(void)fprintf(f, "agent/%s: %s, %s changed\n", s->name, n, m);
	ga_report_checks(checks_of(s, r), &checks);
	for (size_t i = 0; i < checks.n; i++)
		(void)fprintf(f, "  check: %s\n", checks.v[i]);
	print_flags(r, f);
	for (size_t i = 0; i < s->result.left_out.n; i++)
		(void)fprintf(f, "  uncommitted changes: %s ('land' applies them)\n",
			      GA_QUOTED(s->result.left_out.v[i]));
	print_leftovers(r, f);
	print_refused(s, f);
	print_forbidden(s, f);
	for (size_t i = 0; i < s->result.notes.n; i++)
		(void)fprintf(f, "  note: %s\n", s->result.notes.v[i]);
	if (s->state == GA_STATE_DROPPED)
		return 0;
	if (cli_print_next(c, s, r, f, err))
		return -1;
	print_resume(c, s, f);
	return 0;
}
