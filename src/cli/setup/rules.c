/* SPDX-License-Identifier: MIT */
#include "ga/repo/history.h"
#include "cli/cli.h"
#include "ga/risk/risk.h"

enum { FILE_MAX = (10 << 20) + 1 }; /* one byte more than rules read, to detect longer files */

struct options {
	bool json, reach;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(reach, "reach", 0, "list what this host executes of the project, by which word"),
	CLI_FLAG_JSON,
};

/* ---- the table ---------------------------------------------------------------- */

static json_t *rule_json(const struct ga_rule *rule)
{
	cleanup_strv struct ga_strv patterns = GA_STRV_INIT;
	json_t *o = json_object();

	for (const char *p = rule->patterns; p;) {
		const char *end = strstr(p, ", ");

		ga_strv_push_n(&patterns, p, end ? (size_t)(end - p) : strlen(p));
		p = end ? end + 2 : NULL;
	}
	ga_json_set(o, "id", json_string(rule->id));
	ga_json_set(o, "category", json_string(rule->category));
	ga_json_set(o, "severity", json_string(ga_severity_name(rule->severity)));
	ga_json_set(o, "editor", json_boolean(rule->editor));
	ga_json_set(o, "on_delete", json_boolean(rule->on_delete));
	ga_json_set(o, "patterns", ga_json_strv(&patterns));
	ga_json_set(o, "when", json_string(ga_rule_when(rule->category, rule->severity)));
	ga_json_set(o, "reason", json_string(rule->reason));
	return o;
}

static int list_rules(struct cli *c, const struct options *o, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	size_t n;
	const struct ga_rule *rules = ga_rules(&n);

	if (o->json) {
		json_t *a = json_array();

		for (size_t i = 0; i < n; i++)
			ga_json_add(a, rule_json(&rules[i]));
		return cli_print_json(a, err);
	}
	for (size_t i = 0; i < n; i++) {
		cleanup_free char *severity = ga_strf("%s%s", ga_severity_name(rules[i].severity),
						      rules[i].editor ? "+E" : "");

		ga_buf_addf(&out, "%-9s %-17s %-24s %s\n", severity, rules[i].category,
			    rules[i].id, rules[i].reason);
	}
	return cli_page(c, out.ptr, out.len, err);
}

/* ---- paths -------------------------------------------------------------------- */

/* A path compared with HEAD, as input of the rules. */
enum state { NEW, CHANGED, UNCHANGED, REMOVED, NAME_ONLY, DIRECTORY, IN_RANGE };

static const char *const state_names[] = {
	[NEW] = "new", [CHANGED] = "changed", [UNCHANGED] = "unchanged", [REMOVED] = "removed",
	[NAME_ONLY] = "name", [DIRECTORY] = "directory", [IN_RANGE] = "range",
};
static const char *const state_texts[] = {
	[NEW] = "not in HEAD", [CHANGED] = "changed since HEAD",
	[UNCHANGED] = "as in HEAD: judged as if it were new", [REMOVED] = "removed since HEAD",
	[NAME_ONLY] = "no such file: its name alone",
	[DIRECTORY] = "a directory: its name alone, not what is in it",
};

struct explained {
	char *path;
	enum state state;
};

struct explain {
	struct cli *c;
	struct ga_repo *repo;
	int root;
	bool have_tree;
	struct ga_oid tree;
	struct explained *v;
	size_t n;
	struct ga_changes changes;
	struct ga_flags flags;
	const struct ga_host_facts *facts;
};

static void explain_release(struct explain *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->v[i].path);
	free(e->v);
	if (e->root >= 0)
		(void)close(e->root);
	ga_changes_release(&e->changes);
	ga_flags_release(&e->flags);
}

/* The path's flag after `f` (NULL: the first), the most severe first, or NULL. */
static const struct ga_flag *next_flag(const struct explain *e, const char *path,
				       const struct ga_flag *f)
{
	for (f = f ? f + 1 : e->flags.v; f < e->flags.v + e->flags.n; f++)
		if (!strcmp(f->path, path))
			return f;
	return NULL;
}

/* The file in the working tree as an entry, its content written to the objects in memory. 1: there
 * is none, or a directory (`*ret_state`). */
static int entry_here(struct explain *e, const char *path, struct ga_entry *ret,
		      enum state *ret_state, struct ga_error *err)
{
	cleanup_close int fd = ga_openat_beneath(e->root, path, O_PATH | O_NOFOLLOW, 0), in = -1;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct stat st;
	ssize_t n;

	*ret_state = NAME_ONLY;
	if (fd < 0 || fstat(fd, &st))
		return 1;
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(fd, "", ga_buf_reserve(&text, 65536), 65536);
		if (n < 0)
			return ga_fail_path(err, errno, "read", path);
		ret->mode = GA_MODE_LINK;
		return ga_blob_write(e->repo, text.ptr, (size_t)n, &ret->oid, err);
	}
	if (!S_ISREG(st.st_mode)) {
		*ret_state = S_ISDIR(st.st_mode) ? DIRECTORY : NAME_ONLY;
		return 1;
	}
	in = ga_openat_beneath(e->root, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
	if (in < 0)
		return ga_fail_path(err, errno, "open", path);
	ret->mode = st.st_mode & S_IXUSR ? GA_MODE_EXEC : GA_MODE_FILE;
	if (ga_read_most(in, FILE_MAX, &text))
		return ga_fail_path(err, errno, "read", path);
	return ga_blob_write(e->repo, text.ptr, text.len, &ret->oid, err);
}

static int judge_path(struct explain *e, struct explained *x, struct ga_error *err)
{
	struct ga_entry old = { GA_MODE_NONE, { { 0 } } }, new = old, none = old;
	int rc;

	x->state = NAME_ONLY;
	/* a path within .git can be in no tree: its name alone is judged */
	if (ga_path_names_dotgit(x->path))
		return 0;
	if (e->have_tree && ga_tree_file(e->repo, &e->tree, x->path, &old, err))
		return -1;
	rc = entry_here(e, x->path, &new, &x->state, err);
	if (rc < 0)
		return -1;
	if (rc && (x->state == DIRECTORY || !old.mode))
		return 0;
	if (rc || !old.mode)
		x->state = rc ? REMOVED : NEW;
	else
		x->state = ga_entry_equal(&old, &new) ? UNCHANGED : CHANGED;
	ga_changes_add(&e->changes, x->path, x->state == UNCHANGED ? &none : &old, &new);
	return 0;
}

static int classify(struct explain *e, const struct ga_host_facts *facts, struct ga_error *err)
{
	struct ga_oid tree;

	for (size_t i = 0; i < e->n; i++)
		if (e->v[i].state == NAME_ONLY || e->v[i].state == DIRECTORY)
			ga_classify_path(facts, e->v[i].path, e->v[i].state == DIRECTORY,
					 &e->flags);
	if (!e->changes.n)
		return 0;
	ga_changes_sort(&e->changes);
	if (ga_tree_apply(e->repo, NULL, e->have_tree ? &e->tree : NULL, &e->changes, &tree, err))
		return -1;
	return ga_classify(e->repo, facts, e->have_tree ? &e->tree : NULL, &tree, &e->changes,
			   &e->flags, err);
}

static int begin(struct explain *e, struct cli *c, struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int rc;

	if (cli_read_settings(&c->env, &c->settings, &c->overrides, err) ||
	    ga_repo_open(".", &c->env.repo, err) ||
	    ga_gitconfig_load(c->env.repo, &c->env.config, err))
		return -1;
	e->repo = c->env.repo;
	if (ga_repo_write_to_memory(e->repo, err))
		return -1;
	e->root = open(ga_repo_info(e->repo)->workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (e->root < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the working tree");
	rc = ga_repo_head(e->repo, &head, &branch, err);
	if (rc < 0 || cli_settings(c, rc ? NULL : &head, &conf, err))
		return -1;
	cli_risk_paths(&conf, &c->env.risk);
	if (rc)
		return 0;
	e->have_tree = true;
	return ga_commit_tree(e->repo, &head, &e->tree, err);
}

/* ---- what they say -------------------------------------------------------- */

static void put_path(const struct explain *e, const struct explained *x, struct ga_buf *out)
{
	size_t n = 0;

	if (x->state == IN_RANGE)
		ga_buf_addf(out, "%s\n", GA_QUOTED(x->path));
	else
		ga_buf_addf(out, "%s (%s)\n", GA_QUOTED(x->path), state_texts[x->state]);
	for (const struct ga_flag *f = NULL; (f = next_flag(e, x->path, f)); n++) {
		ga_buf_addf(out, "  %s: ", ga_severity_name(f->severity));
		ga_quote_add_text(out, f->reason, strcspn(f->reason, "\n"));
		ga_buf_addf(out, " [%s]\n", f->rule);
		for (size_t k = 0; k < f->also.n; k++)
			ga_buf_addf(out, "%s%s%s", k ? ", " : "    fires as well: ", f->also.v[k],
				    k + 1 < f->also.n ? "" : "\n");
	}
	if (!n)
		ga_buf_adds(out, "  no rule fires\n");
}

static json_t *path_json(const struct explain *e, const struct explained *x)
{
	json_t *o = json_object(), *a = json_array();

	ga_json_set_bytes(o, "path", x->path);
	ga_json_set(o, "state", json_string(state_names[x->state]));
	for (const struct ga_flag *f = NULL; (f = next_flag(e, x->path, f));) {
		json_t *flag = json_object();

		ga_json_set(flag, "id", json_string(f->rule));
		ga_json_set(flag, "also", ga_json_strv(&f->also));
		ga_json_set(flag, "severity", json_string(ga_severity_name(f->severity)));
		ga_json_set(flag, "category", json_string(f->category));
		ga_json_set(flag, "when", json_string(ga_rule_when(f->category, f->severity)));
		ga_json_set_bytes(flag, "reason", f->reason);
		ga_json_set(flag, "held", json_boolean(ga_flag_holds(e->facts, f)));
		ga_json_add(a, flag);
	}
	ga_json_set(o, "flags", a);
	return o;
}

static int print(const struct explain *e, const struct options *o, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	if (o->json) {
		json_t *a = json_array();

		for (size_t i = 0; i < e->n; i++)
			ga_json_add(a, path_json(e, &e->v[i]));
		return cli_print_json(a, err);
	}
	for (size_t i = 0; i < e->n; i++)
		put_path(e, &e->v[i], &out);
	return cli_page(e->c, out.ptr, out.len, err);
}

static int add_path(struct explain *e, const char *arg, struct ga_error *err)
{
	struct explained x = { .path = cli_path_from_top(e->repo, arg) };

	if (!x.path || !*x.path) {
		free(x.path);
		return ga_fail(err, GA_EUSAGE, "'%s' is no path in this working tree",
			       arg);
	}
	e->v[e->n++] = x;
	for (size_t i = 0; i + 1 < e->n; i++)
		if (!strcmp(e->v[i].path, x.path)) {
			free(e->v[--e->n].path);
			return 0;
		}
	return judge_path(e, &e->v[e->n - 1], err);
}

static int explain(struct cli *c, const struct options *o, size_t n, char **paths,
		   struct ga_error *err)
{
	cleanup_(explain_release) struct explain e = { .c = c, .root = -1,
						       .changes = GA_CHANGES_INIT,
						       .flags = GA_FLAGS_INIT };
	cleanup_host_facts struct ga_host_facts facts = GA_HOST_FACTS_INIT;

	e.facts = &facts;
	if (begin(&e, c, err))
		return -1;
	e.v = ga_calloc(n, sizeof(*e.v));
	for (size_t i = 0; i < n; i++)
		if (add_path(&e, paths[i], err))
			return -1;
	if (ga_host_facts_gather(e.repo, &c->env.config, &c->env.risk, &facts, err) ||
	    classify(&e, &facts, err))
		return -1;
	c->status = e.flags.n ? 0 : 1;
	return print(&e, o, err);
}

/* ---- any range of commits ---------------------------------------------------------- */

/* "A..B", or a commit, which is compared with where it left HEAD. */
static int resolve(struct explain *e, const char *range, struct ga_oid *ret_old,
		   struct ga_oid *ret_new, struct ga_error *err)
{
	const char *dots = strstr(range, "..");
	cleanup_free char *from = ga_strndup(range, dots ? (size_t)(dots - range) : 0);
	struct ga_oid old, new, head;

	if (ga_repo_resolve(e->repo, dots ? dots[2] ? dots + 2 : "HEAD" : range, &new, err))
		return -1;
	if (dots && ga_repo_resolve(e->repo, *from ? from : "HEAD", &old, err))
		return -1;
	if (!dots) {
		int r = ga_repo_resolve(e->repo, "HEAD", &head, err) ?
				-1 : ga_merge_base(e->repo, &head, &new, &old, err);

		if (r)
			return r < 0 ? -1 : ga_fail(err, GA_EUSAGE, "it has no commit of HEAD's");
	}
	return ga_commit_tree(e->repo, &old, ret_old, err) ||
	       ga_commit_tree(e->repo, &new, ret_new, err) ? -1 : 0;
}

/* The paths that have a flag, the most severe first. */
static void list_flagged(struct explain *e)
{
	cleanup_strmap struct ga_strmap seen = GA_STRMAP_INIT;

	e->v = ga_calloc(e->flags.n + 1, sizeof(*e->v));
	for (size_t i = 0; i < e->flags.n; i++) {
		const char *path = e->flags.v[i].path;

		if (ga_strmap_first(&seen, path, strlen(path)) >= 0)
			continue;
		ga_strmap_add(&seen, path, strlen(path), 0);
		e->v[e->n++] = (struct explained){ ga_strdup(path), IN_RANGE };
	}
}

static int judge_range(struct cli *c, const struct options *o, const char *range,
		       struct ga_error *err)
{
	cleanup_(explain_release) struct explain e = { .c = c, .root = -1,
						       .changes = GA_CHANGES_INIT,
						       .flags = GA_FLAGS_INIT };
	cleanup_host_facts struct ga_host_facts facts = GA_HOST_FACTS_INIT;
	struct ga_oid old, new;

	e.facts = &facts;
	if (begin(&e, c, err) || resolve(&e, range, &old, &new, err) ||
	    ga_tree_diff(e.repo, &old, &new, &e.changes, err) ||
	    ga_host_facts_gather(e.repo, &c->env.config, &c->env.risk, &facts, err) ||
	    ga_classify(e.repo, &facts, &old, &new, &e.changes, &e.flags, err))
		return -1;
	list_flagged(&e);
	c->status = e.flags.n ? 0 : 1;
	return print(&e, o, err);
}

/* ---- what the host reaches ------------------------------------------------------------ */

static const char *const reach_names[] = {
	[GA_REACH_FILE] = "file", [GA_REACH_BELOW] = "below", [GA_REACH_GIVEN] = "given",
	[GA_REACH_BARE] = "started", [GA_REACH_RULE] = "rule", [GA_REACH_SCRIPT] = "script",
	[GA_REACH_PROJECT] = "runs",
};

static const char *severity_at(enum ga_reach_when when)
{
	return when == GA_REACH_PUSH ? "high" : "critical";
}

static void put_reached(const struct ga_reached *x, struct ga_buf *out)
{
	static const char *const forms[] = {
		[GA_REACH_FILE] = "", [GA_REACH_BELOW] = "everything below ",
		[GA_REACH_GIVEN] = "any path that ends in ",
		[GA_REACH_BARE] = "any program that ends in ",
		[GA_REACH_RULE] = "the files of the rule ",
		[GA_REACH_SCRIPT] = "the script of package.json ",
		[GA_REACH_PROJECT] = "the project's own code, by the hook ",
	};

	ga_buf_addf(out, "%-8s  %s%s: %s\n", severity_at(x->when), forms[x->what],
		    GA_QUOTED(x->text), x->why);
}

static int show_reach(struct cli *c, const struct options *o, struct ga_error *err)
{
	cleanup_reach struct ga_reach reach = GA_REACH_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	json_t *a;

	if (ga_repo_open(".", &c->env.repo, err) ||
	    ga_gitconfig_load(c->env.repo, &c->env.config, err) ||
	    ga_reach_gather(c->env.repo, &c->env.config, &reach, err))
		return -1;
	for (size_t i = 0; !o->json && i < reach.n; i++)
		put_reached(&reach.v[i], &out);
	if (!o->json)
		return cli_page(c, out.ptr, out.len, err);
	a = json_array();
	for (size_t i = 0; i < reach.n; i++) {
		const struct ga_reached *x = &reach.v[i];
		json_t *one = json_object();

		ga_json_set(one, "kind", json_string(reach_names[x->what]));
		ga_json_set_bytes(one, "text", x->text);
		ga_json_set(one, "severity", json_string(severity_at(x->when)));
		ga_json_set(one, "rule", json_string(x->rule));
		ga_json_set_bytes(one, "by", x->why);
		ga_json_add(a, one);
	}
	return cli_print_json(a, err);
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;

	if (o->reach)
		return show_reach(c, o, err);
	if (!argc)
		return list_rules(c, p, err);
	if (!strcmp(argv[0], "explain")) {
		if (argc < 2)
			return ga_fail(err, GA_EUSAGE, "'git agent rules explain' needs a path");
		return explain(c, p, argc - 1, argv + 1, err);
	}
	if (argc > 1)
		return ga_fail(err, GA_EUSAGE, "'git agent rules' takes one range of commits");
	return judge_range(c, p, argv[0], err);
}

CLI_COMMAND(rules, "[--json] [--reach | RANGE | explain PATH...]",
	    "list the rules that flag changes, or what they say of commits or a path",
	    "REV|explain explain:PATH...", .needs = CLI_NEED_NOTHING);
