/* SPDX-License-Identifier: MIT
 *
 * Write a first settings file: suggestions from the repository's files, all commented out. The
 * files are only read, never run.
 */
#include "cli/cli.h"
#include "ga/config/yaml.h"
#include "ga/net/netplan.h"

#define FILE_NAME GA_CONFIG_REPOSITORY_FILE
#define LOOK_MAX ((size_t)256 << 10)

struct options {
	bool force, print;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(force, "force", 'f', "replace an existing file"),
	CLI_FLAG(print, "print", 0, "write it to standard output"),
};

/* ---- what there is --------------------------------------------------------------- */

/* A tool by the file that shows it is used. Of each `kind` only the first that matches counts. */
struct tool {
	const char *kind, *file;
	const char *setup;  /* what to fetch or build before work begins */
	const char *finish; /* what checks the work */
	const char *has;    /* text that the file must contain, or NULL */
};

static const struct tool tools[] = {
	{ "node", "pnpm-lock.yaml", "pnpm install --frozen-lockfile", NULL, NULL },
	{ "node", "yarn.lock", "yarn install", NULL, NULL },
	{ "node", "bun.lock", "bun install --frozen-lockfile", NULL, NULL },
	{ "node", "bun.lockb", "bun install --frozen-lockfile", NULL, NULL },
	{ "node", "package-lock.json", "npm ci", NULL, NULL },
	{ "node", "package.json", "npm install", NULL, NULL },
	{ "node test", "package.json", NULL, "npm test", "\"test\":" },
	{ "rust", "Cargo.toml", "cargo fetch", "cargo test", NULL },
	{ "go", "go.mod", "go mod download", "go test ./...", NULL },
	{ "python", "uv.lock", "uv sync", NULL, NULL },
	{ "python", "poetry.lock", "poetry install", NULL, NULL },
	{ "python", "requirements.txt",
	  "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt", NULL, NULL },
	{ "python", "pyproject.toml", "python3 -m venv .venv && .venv/bin/pip install -e .", NULL,
	  NULL },
	{ "ruby", "Gemfile", "bundle install", NULL, NULL },
	{ "php", "composer.json", "composer install", NULL, NULL },
	{ "elixir", "mix.exs", "mix deps.get", "mix test", NULL },
	{ "java", "gradlew", NULL, "./gradlew check", NULL },
	{ "java", "pom.xml", NULL, "mvn -q verify", NULL },
	{ "make", "Makefile", NULL, "make check", "\ncheck:" },
	{ "make", "Makefile", NULL, "make test", "\ntest:" },
};

static const char *const compose_files[] = { "compose.yaml", "compose.yml", "docker-compose.yaml",
					     "docker-compose.yml" };

/* Servers by a piece of the name of their container image, and their port. */
static const struct {
	const char *image, *port;
} servers[] = {
	{ "postgis", "5432" },	     { "postgres", "5432" }, { "mysql", "3306" },
	{ "mariadb", "3306" },	     { "redis", "6379" },    { "valkey", "6379" },
	{ "mongo", "27017" },	     { "rabbitmq", "5672" }, { "elasticsearch", "9200" },
	{ "opensearch", "9200" },    { "kafka", "9092" },    { "memcached", "11211" },
	{ "minio", "9000" },	     { "nats", "4222" },
};

struct found {
	struct ga_strv setup, finish, allow;
	struct ga_strv names; /* of the files that suggested them */
};

static void found_release(struct found *f)
{
	ga_strv_release(&f->setup);
	ga_strv_release(&f->finish);
	ga_strv_release(&f->allow);
	ga_strv_release(&f->names);
}

static void push_once(struct ga_strv *sv, const char *s)
{
	if (s && !ga_strv_has(sv, s))
		ga_strv_push(sv, s);
}

/* Read a file, with a newline put before it so that "\nWORD" finds each beginning of a line. False
 * if it cannot be read. */
static bool read_lines(int at, const char *name, struct ga_buf *ret)
{
	ga_buf_addch(ret, '\n');
	return !ga_read_file_at(at, name, LOOK_MAX, ret, GA_IGNORED);
}

static void find_tools(int at, struct found *f)
{
	const char *done = "";

	for (size_t i = 0; i < GA_NELEMS(tools); i++) {
		const struct tool *t = &tools[i];
		cleanup_buf struct ga_buf text = GA_BUF_INIT;

		if (!strcmp(t->kind, done) || faccessat(at, t->file, F_OK, AT_SYMLINK_NOFOLLOW) ||
		    (t->has && (!read_lines(at, t->file, &text) || !strstr(text.ptr, t->has))))
			continue;
		done = t->kind;
		push_once(&f->setup, t->setup);
		push_once(&f->finish, t->finish);
		push_once(&f->names, t->file);
	}
}

static void push_server(struct ga_strv *allow, const char *port, size_t n)
{
	cleanup_free char *place = ga_strf("localhost:%.*s", (int)n, port);

	/* the setting's limit */
	if (allow->n < GA_NET_RULES_MAX && ga_net_rule_ok(place))
		push_once(allow, place);
}

/* Start of the run of `letters` that ends at `end`, if it starts a word. */
static const char *word_start(const char *text, const char *end, const char *letters)
{
	while (end > text && strchr(letters, end[-1]))
		end--;
	return end > text && strchr(" \t\n\"'[,", end[-1]) ? end : NULL;
}

/* The host port published for a container's port, as in "3307:3306" or "127.0.0.1:3307:3306". If
 * the file publishes none, the same port. */
static void find_port(const char *text, const char *port, struct ga_strv *allow)
{
	cleanup_free char *in = ga_strf(":%s", port);
	bool any = false;

	for (const char *p = strstr(text, in); p; p = strstr(p + 1, in)) {
		const char *word = word_start(text, p, "0123456789.:"), *colon = p;

		while (word && colon > word && colon[-1] != ':')
			colon--;
		if (!word || colon == p || !strchr(" \t\n\"'],/#", p[strlen(in)]))
			continue;
		any = true;
		/* only at an address that localhost reaches */
		if (colon == word || !strncmp(word, "0.0.0.0:", 8) ||
		    !strncmp(word, "127.0.0.1:", 10))
			push_server(allow, colon, (size_t)(p - colon));
	}
	if (!any)
		push_server(allow, port, strlen(port));
}

static void find_servers(int at, struct found *f)
{
	for (size_t i = 0; i < GA_NELEMS(compose_files); i++) {
		cleanup_buf struct ga_buf text = GA_BUF_INIT;
		bool done[GA_NELEMS(servers) + 1] = { [GA_NELEMS(servers)] = true };
		size_t before = f->allow.n;

		if (!read_lines(at, compose_files[i], &text))
			continue;
		for (const char *p = strstr(text.ptr, "image:"); p; p = strstr(p + 1, "image:")) {
			cleanup_free char *image = ga_strndup(p, strcspn(p, "\n"));
			size_t k = 0;

			while (k < GA_NELEMS(servers) && !strstr(image, servers[k].image))
				k++;
			if (!done[k])
				find_port(text.ptr, servers[k].port, &f->allow);
			done[k] = true;
		}
		if (f->allow.n > before)
			push_once(&f->names, compose_files[i]);
	}
}

/* ---- the file --------------------------------------------------------------------- */

/* Add a piece of the file, commented out, if this version would accept it uncommented. */
static void add_piece(const struct cli *c, const char *about, const char *yaml, struct ga_buf *out)
{
	cleanup_config struct ga_config over = GA_CONFIG_INIT;

	ga_config_copy(&over, &c->settings);
	over.from.trusted = true;
	if (ga_config_read(&over, GA_ORIGIN_REPOSITORY, FILE_NAME, yaml, strlen(yaml), GA_IGNORED))
		return;
	ga_buf_addf(out, "\n# %s\n", about);
	for (const char *p = yaml; *p;) {
		size_t n = strcspn(p, "\n");

		ga_buf_addf(out, "#%.*s\n", (int)n, p);
		p += n + (p[n] == '\n');
	}
}

static char *list_yaml(const char *head, const char *indent, const struct ga_strv *words)
{
	struct ga_buf b = GA_BUF_INIT;

	ga_buf_adds(&b, head);
	for (size_t i = 0; i < words->n; i++)
		ga_buf_addf(&b, "%s- %s\n", indent, words->v[i]);
	return ga_buf_steal(&b);
}

static void add_found(const struct cli *c, const struct found *f, struct ga_buf *out)
{
	cleanup_free char *setup = list_yaml("setup:\n", "  ", &f->setup);
	cleanup_free char *finish = list_yaml("finish:\n", "  ", &f->finish);
	cleanup_free char *allow = list_yaml("network:\n  mode: allow\n  allow:\n", "    ",
					     &f->allow);

	if (f->setup.n)
		add_piece(c, "Run inside before the agent (needs trust):", setup, out);
	if (f->finish.n)
		add_piece(c, "Run inside after it; how each ends is noted in the commits (needs "
			     "trust):", finish, out);
	if (f->allow.n)
		add_piece(c, "Reach these servers and nothing else (needs trust):", allow, out);
}

static void write_text(const struct cli *c, const struct found *f, struct ga_buf *out)
{
	ga_buf_adds(out, "# Settings of git agent for this repository: agentdev.yaml(5).\n"
			 "# Sessions go by the file of the commit they start from. What makes them "
			 "stricter counts\n# at once; what makes them looser is marked here, and "
			 "counts once a user has run\n# 'git agent trust'. Nothing below counts "
			 "before it is uncommented.\n");
	for (size_t i = 0; i < f->names.n; i++)
		ga_buf_addf(out, "%s%s%s", i ? ", " : "#\n# Suggested by: ", f->names.v[i],
			    i + 1 < f->names.n ? "" : "\n");
	add_found(c, f, out);
	add_piece(c, "Refuse to start on uncommitted work (or 'ignore' it; else it is carried):",
		  "dirty: refuse\n", out);
	add_piece(c, "Files to keep out of sessions, whatever is in them; and some that look like "
		     "secrets and\n# are none (allow needs trust):",
		  "secrets:\n  add: [config/production.*]\n  allow: [tests/fixtures/]\n", out);
	add_piece(c, "Files whose changes are held until they are accepted; and some that are "
		     "not flagged,\n# unless that is critical (allow needs trust):",
		  "risk:\n  hold: [migrations/]\n  allow: [docs/]\n", out);
	add_piece(c, "Directories beside the project that are shown, read-only (needs trust):",
		  "mounts:\n  ro: [~/data]\n", out);
	add_piece(c, "Variables for sessions: of your environment, and set here (needs trust):",
		  "env:\n  pass: [AWS_PROFILE]\n  set:\n    CI: \"1\"\n", out);
	add_piece(c, "What a session may use, and what is captured of it:",
		  "limits:\n  memory: 8GiB\n  tasks: 2000\n  time: 4h\n  capture:\n"
		  "    file_size: 50MiB\n", out);
}

/* ---- the command -------------------------------------------------------------------- */

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	const char *workdir = ga_repo_info(c->env.repo)->workdir;
	cleanup_(found_release) struct found f = { .setup = GA_STRV_INIT };
	cleanup_close int at = open(workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	(void)argc;
	(void)argv;
	if (at < 0)
		return ga_fail_path(err, errno, "open", workdir);
	find_tools(at, &f);
	find_servers(at, &f);
	write_text(c, &f, &text);
	if (o->print) {
		(void)fputs(text.ptr, stdout);
		return 0;
	}
	if (!o->force && !faccessat(at, FILE_NAME, F_OK, AT_SYMLINK_NOFOLLOW))
		return ga_fail(err, GA_EFATAL, FILE_NAME " is there already" GA_HINT
			       "--force replaces it, --print shows what would be written");
	if (o->force ? ga_write_atomic(at, FILE_NAME, text.ptr, text.len, 0644, err)
		     : ga_write_new(at, FILE_NAME, text.ptr, text.len, 0644, err))
		return -1;
	cli_note("wrote " FILE_NAME ": edit it, and commit it");
	return 0;
}

CLI_COMMAND(init, "[--force | --print]", "write a .agentdev.yaml to start from", NULL,
	    .needs = CLI_NEED_REPO);
