/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "ga/trash/trash.h"

struct options {
	bool force, dry_run, restore, list;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(force, "force", 'f', "drop work that has not landed"),
	CLI_FLAG(dry_run, "dry-run", 0, "say what would be done, and do nothing"),
	CLI_FLAG(restore, "restore", 0, "restore what was dropped"),
	CLI_FLAG(list, "list", 0, "list what is in the trash"),
};

/* Pick the session to drop. With --force its state file may be unreadable: moving it needs only its
 * name. */
static int load(struct cli *c, const struct options *o, const char *name, struct ga_session *s,
		int *lock, struct ga_error *err)
{
	cleanup_error struct ga_error first = GA_ERROR_INIT;

	name = cli_plain_name(name);
	if (!cli_pick_session(c, name, false, s, lock, &first))
		return 0;
	if (!o->force || !ga_session_name_ok(name))
		return ga_error_move(err, &first);
	ga_session_release(s);
	*s = (struct ga_session)GA_SESSION_INIT;
	/* drop it without the capture that failed */
	if (!cli_load_session(c, name, false, s, lock, err)) {
		cli_note("warning: %s", first.msg);
		return 0;
	}
	ga_error_release(err);
	ga_session_release(s);
	*s = (struct ga_session)GA_SESSION_INIT;
	s->dir = ga_strf("%s/sessions/%s", c->env.state_dir, name);
	s->name = ga_strdup(name);
	s->id.branch = ga_strf(GA_SESSION_BRANCHES "%s", name);
	s->id.project = ga_strdup("");
	s->id.gitdir = ga_strdup("");
	if (access(s->dir, F_OK))
		return ga_error_move(err, &first);
	switch (ga_session_lock(s, false, lock, err)) {
	case 0:
		cli_note("warning: %s", first.msg);
		return 0;
	case 1:
	case 2:
		return ga_error_move(err, &first);
	default:
		return -1;
	}
}

static int drop(struct cli *c, const struct options *o, const char *name, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_free char *where = NULL;
	cleanup_close int lock = -1;
	int rc = cli_finish_drop(c, cli_plain_name(name), err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (load(c, o, name, &s, &lock, err) || (!o->force && cli_check_work(c, &s, err)))
		return -1;
	if (o->dry_run) {
		(void)printf("would move session '%s' and its refs to the trash\n", s.name);
		return 0;
	}
	if (cli_trash(&c->env, &s, &where, err))
		return -1;
	cli_note("dropped session '%s' into %s; 'git agent drop --restore %s' restores it",
		 s.name, GA_QUOTED(where), s.name);
	return 0;
}

static int restore(struct cli *c, const char *name, struct ga_error *err)
{
	cleanup_free char *dir = NULL;
	int rc;

	name = cli_plain_name(name);
	rc = cli_finish_drop(c, name, err) < 0 ? -1 : cli_restore(&c->env, name, NULL, err);
	if (rc <= 0)
		return rc;
	dir = ga_quote(c->env.state_dir);
	return ga_fail(err, GA_EFATAL, "no session '%s' is in the trash" GA_HINT "'git agent drop "
		       "--list' shows what is, in %s/trash", name, dir);
}

/* Delete the whole trash, whatever its age. */
static int list(struct cli *c, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT, whys = GA_STRV_INIT;

	if (ga_trash_sweep(c->env.repo, c->env.state_dir, UINT64_MAX, true, &names, &whys, err))
		return -1;
	for (size_t i = 0; i < names.n; i++)
		(void)printf("%-40s %s\n", names.v[i], whys.v[i]);
	return 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;

	if (o->list)
		return argc || o->restore || o->force || o->dry_run
			       ? ga_fail(err, GA_EUSAGE, "--list takes no name and no other option")
			       : list(c, err);
	if (!argc)
		return ga_fail(err, GA_EUSAGE, "'drop' needs the name of a session");
	if (o->restore && (o->force || o->dry_run))
		return ga_fail(err, GA_EUSAGE, "--restore takes no other option");
	if (!o->restore && cli_check_names(c, argc, argv, err))
		return -1;
	for (size_t i = 0; i < argc; i++) {
		cleanup_error struct ga_error one = GA_ERROR_INIT;

		if (o->restore ? restore(c, argv[i], &one) : drop(c, o, argv[i], &one))
			cli_tell(&one, &c->status);
	}
	return 0;
}

CLI_COMMAND(drop, "[--force] [--dry-run] [--restore] NAME... | --list",
	    "move sessions to the trash, or restore them", "SESSION...");
