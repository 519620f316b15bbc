/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "ga/transfer/transfer.h"

struct options {
	bool dry_run, json;
	const char *base;
};

static const struct cli_opt opts[] = {
	CLI_VALUE(base, "base", 0, "REV", "the session is based on this commit, or one before it"),
	CLI_FLAG(dry_run, "dry-run", 'n', "list what the remote has, and do nothing"),
	CLI_FLAG_JSON,
};

struct fetch {
	struct cli *c;
	const struct options *o;
	struct ga_fetch_opts opts;
	json_t *list; /* with --json */
};

/* Before the fetch, only a session's name and refs are known. */
static void print_remote(const struct fetch *f, const struct ga_remote_session *from)
{
	json_t *o;

	if (!f->list) {
		(void)printf("%-20s %.12s%s\n", from->name, GA_HEX(&from->tip),
			     ga_oid_is_zero(&from->held) ? "" : "  and what is held");
		return;
	}
	o = json_object();
	ga_json_set(o, "name", json_string(from->name));
	ga_json_set_oid(o, "tip", &from->tip);
	ga_json_set_oid(o, "held", &from->held);
	ga_json_add(f->list, o);
}

static int risk_at(void *payload, const struct ga_oid *onto, struct ga_risk_paths *ret,
		   struct ga_error *err)
{
	struct fetch *f = payload;
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;

	if (cli_settings(f->c, onto, &conf, err))
		return -1;
	cli_risk_paths(&conf, ret);
	return 0;
}

static int fetch_one(struct fetch *f, const struct ga_remote_session *from, const char *name,
		     struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_close int lock = -1;
	int rc;

	if (f->o->dry_run) {
		print_remote(f, from);
		return 0;
	}
	rc = ga_fetch_session(&f->c->env, &f->opts, from, name, &s, &lock, &r, err);
	if (rc > 0 && !f->list)
		cli_note("session '%s' is up to date with the remote", name);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (!f->list)
		return cli_summary(f->c, &s, &r, stderr, err);
	ga_json_add(f->list, cli_session_json(&s, false, &r, NULL));
	return 0;
}

/* Parse an argument: NAME, or NAME:NEW-NAME. */
static int fetch_word(struct fetch *f, const struct ga_remote_sessions *l, const char *word,
		      struct ga_error *err)
{
	const char *plain = cli_plain_name(word);
	const char *colon = strchr(plain, ':');
	cleanup_free char *name = ga_strndup(plain, colon ? (size_t)(colon - plain)
							  : strlen(plain));

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			return fetch_one(f, &l->v[i], colon ? colon + 1 : name, err);
	return ga_fail(err, GA_ENEGATIVE,
		       "remote '%s' has no session '%s'" GA_HINT
		       "'git agent fetch --dry-run %s' lists them",
		       f->opts.remote, name, f->opts.remote);
}

/* Fetch all sessions of the remote except those whose name another session has here. One that is
 * refused does not stop the others. */
static void fetch_all(struct fetch *f, const struct ga_remote_sessions *l, int *ret_status)
{
	for (size_t i = 0; i < l->n; i++) {
		cleanup_error struct ga_error one = GA_ERROR_INIT;
		cleanup_session struct ga_session s = GA_SESSION_INIT;

		if (!f->o->dry_run &&
		    !ga_session_load(f->c->env.state_dir, l->v[i].name, &s, &one) &&
		    (!s.id.remote || strcmp(s.id.remote, f->opts.remote) != 0))
			continue;
		ga_error_release(&one);
		if (!fetch_one(f, &l->v[i], l->v[i].name, &one) || one.code == GA_ENEGATIVE)
			continue;
		cli_print_error(&one);
		*ret_status = ga_error_status(one.code);
	}
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	cleanup_remote_sessions struct ga_remote_sessions l = GA_REMOTE_SESSIONS_INIT;
	const struct options *o = p;
	struct fetch f = { .c = c, .o = o, .opts = { .remote = argv[0], .refs = &l.refs,
						     .risk = risk_at, .payload = &f } };
	struct ga_oid base;
	int rc = 0;

	if (o->base && argc != 2)
		return ga_fail(err, GA_EUSAGE, "--base needs the name of one session");
	if (o->base && ga_repo_resolve(c->env.repo, o->base, &base, err))
		return -1;
	f.opts.base = o->base ? &base : NULL;
	if (ga_remote_list(c->env.repo, f.opts.remote, &l, err))
		return -1;
	f.list = o->json ? json_array() : NULL;
	for (size_t i = 1; !rc && i < argc; i++)
		rc = fetch_word(&f, &l, argv[i], err);
	if (argc == 1)
		fetch_all(&f, &l, &c->status);
	if (rc) {
		json_decref(f.list);
		return -1;
	}
	return f.list ? cli_print_json(f.list, err) : 0;
}

CLI_COMMAND(fetch, "[--base REV] [--dry-run] [--json] REMOTE [NAME[:NEW-NAME]...]",
	    "fetch sessions from a remote, to review and land them here", "REMOTE NAME...",
	    .min_args = 1);
