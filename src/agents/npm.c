/* SPDX-License-Identifier: MIT
 *
 * Run npm in a sandbox. It reads no configuration or cache that agents could write, and runs only
 * the scripts of the agent's package.
 */
#include "agents-internal.h"
#include "ga/base/trace.h"
#include "ga/run/confine.h"
#include "ga/run/run.h"
#include "ga/view/view.h"

/* The "project" of the sandbox: the only disk space inside besides the agents' home, removed with
 * the sandbox. */
#define PLACE "/tmp/git-agent-agents"
#define RUN ".run-" /* prefix of its layers' directory, next to the notes */
#define NPM_MS (20u * 60 * 1000)
#define REMOVE_MS (5u * 60 * 1000)
#define ANSWER_MAX 4096

/* Variables that npm needs to reach a registry. */
static const char *const passed[] = {
	"npm_config_registry", "NPM_CONFIG_REGISTRY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "no_proxy", "NODE_EXTRA_CA_CERTS",
};

/* $1 the agent, $2 its package, $3 the package with the version wanted. Install into a new prefix,
 * check that its program runs, and print the version. */
static const char fetch_script[] =
	"set -eu\n"
	"top=$HOME/" GA_AGENTS_DIR "/$1\n"
	"mkdir -p \"$top\" \"$HOME/" GA_AGENT_BIN "\"\n"
	"rm -rf \"$top/.new\" \"$top/.old\"\n"
	"mkdir \"$top/.new\"\n"
	/* another prefix would make npm read the machine's settings there */
	"npm_config_globalconfig=$(npm config get globalconfig)\n"
	"export npm_config_globalconfig\n"
	"npm install --global --prefix \"$top/.new\" --ignore-scripts \"$3\" >&2\n"
	"cd \"$top/.new/lib/node_modules/$2\"\n"
	"npm run --if-present --silent postinstall >&2\n"
	"version=$(sed -n 's/^ *\"version\": *\"\\([^\"]*\\)\".*/\\1/p' package.json | head -n 1)\n"
	"case $version in [0-9]*) ;; *) version=- ;; esac\n"
	"case $version in *[!0-9A-Za-z.+-]* | -)\n"
	"\techo \"the package's version is not one\" >&2; exit 1 ;;\n"
	"esac\n"
	"cd \"$top\"\n"
	".new/bin/\"$1\" --version </dev/null >&2\n"
	"printf '%s\\n' \"$version\"\n";

/* $1 the agent, $2 the version, which the new prefix is named after; if empty, it is removed. */
static const char place_script[] =
	"set -eu\n"
	"top=$HOME/" GA_AGENTS_DIR "/$1 bin=$HOME/" GA_AGENT_BIN "\n"
	"cd \"$top\"\n"
	"[ -n \"$2\" ] || { rm -rf .new; exit 0; }\n"
	"if [ -e \"$2\" ]; then mv \"$2\" .old; fi\n"
	"mv .new \"$2\"\n"
	"rm -rf .old\n"
	"ln -sfn \"../npm/$1/$2/bin/$1\" \"$bin/.$1.new\"\n"
	"mv -fT \"$bin/.$1.new\" \"$bin/$1\"\n";

/* $1 the agent, $2 the version to keep; if empty, none. */
static const char remove_script[] =
	"set -eu\n"
	"cd \"$HOME/" GA_AGENTS_DIR "/$1\" || exit 0\n"
	"for at in * .new .old; do\n"
	"\t[ \"$at\" = \"$2\" ] || rm -rf \"$at\"\n"
	"done\n"
	"[ -n \"$2\" ] || { cd .. && rm -rf \"$1\" \"$HOME/" GA_AGENT_BIN "/$1\"; }\n";

struct job {
	const char *script;
	const char *words[3];
	bool network;
	unsigned ms;
	struct ga_buf out, errout;
	bool fetches;   /* it is an installation; then: */
	/* npm chooses the version, which must not be older than the installed one */
	bool chooses;
	bool older;     /* npm's choice is older */
	char *before;   /* the installed version, or NULL */
	char *version;  /* the version that was fetched */
};

static void job_release(struct job *j)
{
	free(j->before);
	free(j->version);
	ga_buf_release(&j->out);
	ga_buf_release(&j->errout);
}

/* Remove leftovers of a killed npm. */
static void remove_stale(int at)
{
	cleanup_dir DIR *d = ga_dir_of(fcntl(at, F_DUPFD_CLOEXEC, 3));
	struct dirent *e;

	while ((e = ga_dir_next(d))) {
		if (!strncmp(e->d_name, RUN, strlen(RUN)))
			(void)ga_rmtree_at(at, e->d_name, GA_IGNORED);
	}
}

/* Make the layers of a sandbox whose project is an empty directory. The lock lets one npm at a time
 * work on a home, since all work in the same place there. */
static int make_scratch(const struct ga_env *e, int *ret_lock, struct ga_strv *ret,
			struct ga_error *err)
{
	static const char *const names[] = { "lower", "lower/.git", "upper", "work", "git" };
	cleanup_free char *notes = agents_notes(e), *dir = NULL;

	if (ga_mkdir_p(notes, 0700, err))
		return -1;
	*ret_lock = open(notes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_lock < 0)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot open '%s'", notes);
	if (ga_flock(*ret_lock, true, true, err))
		return -1;
	remove_stale(*ret_lock);
	dir = ga_path_join(notes, RUN "XXXXXX");
	if (!mkdtemp(dir))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot make a directory in '%s'",
				     notes);
	ga_strv_push(ret, dir);
	for (size_t i = 0; i < GA_NELEMS(names); i++) {
		ga_strv_take(ret, ga_path_join(dir, names[i]));
		if (ga_mkdir_p(ret->v[i + 1], 0755, err))
			return -1;
	}
	return 0;
}

static void remove_scratch(struct ga_strv *dirs)
{
	/* by path: only the user can write the state directory */
	if (dirs->n)
		(void)ga_rmtree_at(AT_FDCWD, dirs->v[0], GA_IGNORED);
	ga_strv_release(dirs);
}

/* Without `mounts`: what these show is for sessions, and a package that has the network must not
 * read it. */
static int make_spec(struct ga_env *e, const struct ga_strv *dirs, bool network,
		     struct ga_spec *s, struct ga_error *err)
{
	cleanup_strv struct ga_strv pass = GA_STRV_INIT;

	if (ga_view_make_surroundings(e, PLACE, s, err) || ga_view_add_tools(e, s, err) ||
	    ga_spec_find_tools(e->home, e->path, "npm", &s->host.tools, err))
		return -1;
	free(s->home_dir.source);
	s->home_dir.source = ga_home_dir(e, e->conf.home_mode);
	s->network = network;
	s->nested = false;
	ga_strv_push(&s->lowers, dirs->v[1]);
	s->upper = ga_strdup(dirs->v[3]);
	s->work = ga_strdup(dirs->v[4]);
	s->git.upper = ga_strdup(dirs->v[5]);
	for (size_t i = 0; network && i < GA_NELEMS(passed); i++)
		ga_strv_push(&pass, passed[i]);
	ga_spec_environment(s, e->path, e->environ, &pass);
	ga_strv_push_many(&s->env, "TMPDIR=" PLACE, "npm_config_userconfig=/dev/null",
			  "npm_config_cache=" PLACE "/cache", "npm_config_audit=false",
			  "npm_config_fund=false", "npm_config_loglevel=error",
			  "npm_config_update_notifier=false", "npm_config_progress=false", NULL);
	return 0;
}

static int run_in(struct ga_sandbox *sb, const struct ga_spec *s, struct job *j, int *ret_status,
		  struct ga_error *err)
{
	const char *const argv[] = { "sh", "-c", j->script, "sh", j->words[0],
				     j->words[1] ? j->words[1] : "",
				     j->words[2] ? j->words[2] : "", NULL };
	struct ga_run_exec x = { .cwd = PLACE, .argv = argv,
				 .envp = (const char *const *)s->env.v, .out = &j->out,
				 .out_max = ANSWER_MAX, .out_fd = -1, .errout = &j->errout,
				 .timeout_ms = j->ms };

	return ga_run_exec(sb, &x, ret_status, err);
}

/* The last line that is not empty, escaped. Caller frees. */
static char *last_words(const struct ga_buf *b)
{
	size_t end = b->len, at;

	for (;; end = at) {
		cleanup_free char *line = NULL;

		while (end && strchr(" \t\r\n", b->ptr[end - 1]))
			end--;
		for (at = end; at && b->ptr[at - 1] != '\n'; at--)
			;
		line = ga_strndup(b->ptr + at, end - at);
		if (!at || (!strstr(line, "complete log of this run") &&
			    !strstr(line, PLACE "/cache/_logs")))
			return ga_escape(line);
	}
}

/* Check the fetched version, and decide whether to install it. npm chooses by the Node.js versions
 * that a package supports, so its choice may be older than the installed one. */
static int choose(struct job *j, struct ga_error *err)
{
	while (j->out.len && j->out.ptr[j->out.len - 1] == '\n')
		ga_buf_truncate(&j->out, j->out.len - 1);
	if (strlen(j->out.ptr) != j->out.len || !ga_agents_version_ok(j->out.ptr))
		return ga_fail(err, GA_EFATAL, "'%s' is no version", j->out.ptr);
	j->version = ga_buf_steal(&j->out);
	j->older = j->chooses && j->before &&
		   ga_agents_version_compare(j->version, j->before) < 0;
	j->script = place_script;
	j->words[1] = j->older ? NULL : j->version;
	return 0;
}

static int run_scripts(struct ga_sandbox *sb, const struct ga_spec *s, struct job *j,
		       struct ga_error *err)
{
	int status;

	if (run_in(sb, s, j, &status, err))
		return -1;
	if (!status && j->fetches && (choose(j, err) || run_in(sb, s, j, &status, err)))
		return -1;
	if (status) {
		cleanup_free char *words = last_words(&j->errout);

		return ga_fail(err, GA_EFATAL, "%s", *words ? words : "it said nothing");
	}
	return 0;
}

/* Record the version for new sessions. */
static int note(const struct ga_env *e, const struct job *j, struct ga_error *err)
{
	cleanup_free char *notes = agents_notes(e), *file = ga_path_join(notes, j->words[0]);
	cleanup_free char *line = ga_strf("%s\n", j->version);

	return ga_write_atomic(AT_FDCWD, file, line, strlen(line), 0600, err);
}

/* Run the job in a sandbox with the home of `e`, whose lock is held. Other jobs wait, so that
 * comparing, installing and recording a version is atomic. */
static int run(struct ga_env *e, struct job *j, struct ga_error *err)
{
	cleanup_(remove_scratch) struct ga_strv dirs = GA_STRV_INIT;
	cleanup_(ga_confine_release) struct ga_confine limits = { 0 };
	cleanup_spec struct ga_spec s = GA_SPEC_INIT;
	cleanup_close int lock = -1;
	struct ga_sandbox *sb = NULL;
	struct ga_run_paths paths;
	int rc;

	if ((!e->bwrap && ga_find_bwrap(e->path, false, &e->bwrap, err)) ||
	    make_scratch(e, &lock, &dirs, err) || make_spec(e, &dirs, j->network, &s, err))
		return -1;
	if (j->fetches)
		j->before = ga_agents_version(e, j->words[0]);
	paths = (struct ga_run_paths){ e->stage, e->init, e->bwrap };
	if (ga_run_launch(&s, &paths, &sb, err))
		return -1;
	rc = ga_confine_plan(&e->use, e->environ, e->path, &limits, err) ||
	     ga_run_confine(sb, &limits, err) || run_scripts(sb, &s, j, err) ? -1 : 0;
	ga_run_finish(sb);
	return rc || (j->fetches && !j->older && note(e, j, err)) ? -1 : 0;
}

int ga_agents_check(const struct ga_env *e, const struct ga_preset *p, const char *wanted,
		    struct ga_error *err)
{
	cleanup_free char *npm = agents_find_command(e, "npm", NULL);

	if (!p->package)
		return ga_fail(err, GA_EUSAGE, "npm does not distribute '%s'" GA_HINT
			       "install it on the host as its makers say; a start finds it",
			       p->name);
	if (wanted && !ga_agents_wanted_ok(wanted))
		return ga_fail(err, GA_EUSAGE, "'%s' is no version of '%s'" GA_HINT "one is 1.2.3, "
			       "or a word such as latest", wanted, p->name);
	if (npm)
		return 0;
	return ga_fail(err, GA_ESTART, "npm was not found on PATH, which '%s' is installed by"
		       GA_HINT "install Node.js", p->name);
}

/* Remove all versions but `keep`, in a home that is locked for us alone. */
static int remove_but(struct ga_env *e, const char *name, const char *keep, struct ga_error *err)
{
	cleanup_(job_release) struct job j = { .script = remove_script, .words = { name, keep },
					       .ms = REMOVE_MS, .out = GA_BUF_INIT,
					       .errout = GA_BUF_INIT };
	cleanup_free char *home = ga_home_dir(e, e->conf.home_mode);

	/* a home that was reset has nothing to remove */
	return !access(home, F_OK) && (ga_fault_stop("agents:others", err) || run(e, &j, err))
		       ? -1 : 0;
}

static int install(struct ga_env *e, const struct ga_preset *p, const char *wanted,
		   struct job *j, struct ga_error *err)
{
	cleanup_free char *spec = wanted ? ga_strf("%s@%s", p->package, wanted)
					 : ga_strdup(p->package);
	cleanup_close int lock = -1;

	j->words[0] = p->name;
	j->words[1] = p->package;
	j->words[2] = spec;
	if (ga_home_open(e, &lock, err))
		return -1;
	return run(e, j, err) ? ga_error_wrap(err, "cannot install '%s'", p->name) : 0;
}

int ga_agents_install(struct ga_env *e, const struct ga_preset *p, const char *wanted,
		      struct ga_agents_installed *ret, struct ga_error *err)
{
	cleanup_(job_release) struct job j = { .script = fetch_script, .fetches = true,
					       .chooses = !wanted, .network = true, .ms = NPM_MS,
					       .out = GA_BUF_INIT, .errout = GA_BUF_INIT };
	cleanup_close int lock = -1;
	int rc;

	if (install(e, p, wanted, &j, err))
		return -1;
	ret->older = j.older ? ga_steal(&j.version) : NULL;
	ret->version = ga_strdup(j.older ? j.before : j.version);
	/* the new version is installed: failing to remove others is no failure */
	rc = ga_home_lock(e, &lock, &ret->left);
	ret->kept = rc > 0;
	if (!rc)
		(void)remove_but(e, p->name, ret->version, &ret->left);
	return 0;
}

void ga_agents_installed_release(struct ga_agents_installed *i)
{
	free(i->version);
	free(i->older);
	ga_error_release(&i->left);
}

int ga_agents_remove(struct ga_env *e, const struct ga_preset *p, struct ga_error *err)
{
	cleanup_free char *notes = agents_notes(e), *file = ga_path_join(notes, p->name);
	cleanup_close int lock = -1;
	int rc;

	if (access(file, F_OK))
		return 1;
	/* held until the record is removed, which could else be another installation's */
	rc = ga_home_lock(e, &lock, err);
	if (rc > 0)
		return 2;
	if (rc || remove_but(e, p->name, NULL, err) || ga_fault_stop("agents:forget", err))
		return ga_error_wrap(err, "cannot remove '%s'", p->name);
	return unlink(file) ? ga_fail_errno(err, GA_EFATAL, errno, "cannot forget '%s'", p->name)
			    : 0;
}
