/* SPDX-License-Identifier: MIT
 *
 * Find agents, and the program and arguments of a command word.
 */
#include "ga/base/strv.h"
#include "agents-internal.h"

#define VERSION_MAX 64
#define PACKAGE_MAX ((size_t)1 << 20) /* of a package.json */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The part of a version after '-' or '+': identifiers separated by dots, none of them empty. */
static bool identifiers_ok(const char *s)
{
	bool begun = false;

	for (; *s && *s != '+'; s++) {
		if (*s == '.' ? !begun : !is_letter(*s) && !is_digit(*s) && *s != '-')
			return false;
		begun = *s != '.';
	}
	return begun && (!*s || identifiers_ok(s + 1));
}

bool ga_agents_version_ok(const char *s)
{
	if (strlen(s) > VERSION_MAX || (strchr(s, '+') && strchr(strchr(s, '+') + 1, '+')))
		return false;
	for (int i = 0; i < 3; i++) {
		size_t n = strspn(s, "0123456789");

		if (!n || (n > 1 && *s == '0') || (i < 2 && s[n] != '.'))
			return false;
		s += n + (i < 2);
	}
	return !*s || ((*s == '-' || *s == '+') && identifiers_ok(s + 1));
}

/* Compare one part, up to one of `ends`, as numbers if both are. Moves both to its end. */
static int compare_part(const char **a, const char **b, const char *ends)
{
	size_t n = strcspn(*a, ends), m = strcspn(*b, ends);
	bool x = strspn(*a, "0123456789") == n, y = strspn(*b, "0123456789") == m;
	int c = memcmp(*a, *b, n < m ? n : m);

	if (x && y) {
		/* without leading zeros the longer number is greater; identifiers may have them */
		for (; n && **a == '0'; n--)
			++*a;
		for (; m && **b == '0'; m--)
			++*b;
		c = n != m ? (n < m ? -1 : 1) : memcmp(*a, *b, n);
	} else if (x != y) {
		c = x ? -1 : 1;
	} else if (!c && n != m) {
		c = n < m ? -1 : 1;
	}
	*a += n;
	*b += m;
	return c;
}

int ga_agents_version_compare(const char *a, const char *b)
{
	int c = 0;

	for (int i = 0; !c && i < 3; i++, a += *a == '.', b += *b == '.')
		c = compare_part(&a, &b, ".-+");
	/* a '-' means: before that release; what follows a '+' does not count (semver) */
	if (!c && (*a == '-') != (*b == '-'))
		return *a == '-' ? -1 : 1;
	while (!c && *a && *a != '+' && *b && *b != '+') {
		a++;
		b++;
		c = compare_part(&a, &b, ".+");
	}
	return c || (*a == '.') == (*b == '.') ? c : *a == '.' ? 1 : -1;
}

bool ga_agents_wanted_ok(const char *s)
{
	if (ga_agents_version_ok(s))
		return true;
	if (!is_letter(*s) || strlen(s) > VERSION_MAX)
		return false;
	while (is_letter(*s) || is_digit(*s) || *s == '-' || *s == '_')
		s++;
	return !*s;
}

char *agents_notes(const struct ga_env *e)
{
	return ga_path_join(e->conf.home_mode == GA_HOME_PROJECT ? e->state_dir : e->state_root,
			    "agents");
}

/* Is it a program, or a link, which may lead to one inside? */
static bool is_in_home(const char *home, const char *dir, const char *name)
{
	cleanup_close int at = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	struct stat st;

	if (at >= 0)
		fd = ga_openat_beneath(at, dir, O_PATH | O_DIRECTORY, 0);
	return fd >= 0 && !fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) &&
	       (S_ISLNK(st.st_mode) || (S_ISREG(st.st_mode) && (st.st_mode & S_IXUSR)));
}

char *ga_agents_version(const struct ga_env *e, const char *name)
{
	cleanup_free char *notes = agents_notes(e), *home = ga_home_dir(e, e->conf.home_mode);
	cleanup_free char *file = ga_path_join(notes, name), *dir = NULL;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (ga_read_file_at(AT_FDCWD, file, VERSION_MAX + 1, &b, GA_IGNORED) || !b.len ||
	    b.ptr[b.len - 1] != '\n')
		return NULL;
	ga_buf_truncate(&b, b.len - 1);
	if (strlen(b.ptr) != b.len || !ga_agents_version_ok(b.ptr))
		return NULL;
	dir = ga_strf(GA_AGENTS_DIR "/%s/%s/bin", name, b.ptr);
	return is_in_home(home, dir, name) ? ga_buf_steal(&b) : NULL;
}

/* The path of that version's program inside a sandbox. The caller frees it. */
static char *ga_agents_program(const struct ga_env *e, const char *name, const char *version)
{
	return ga_strf("%s/" GA_AGENTS_DIR "/%s/%s/bin/%s", e->home, name, version, name);
}

static bool agents_own(const struct ga_env *e, const char *name)
{
	cleanup_free char *home = ga_home_dir(e, e->conf.home_mode);

	return is_in_home(home, GA_AGENT_BIN, name);
}

/* Installers' places, on PATH or not: below the user's home, or absolute. */
static const char *const places[] = {
	".local/bin", ".claude/local", ".opencode/bin", ".npm-global/bin", ".bun/bin", ".volta/bin",
	".local/share/pnpm", ".local/share/mise/shims", ".asdf/shims", ".linuxbrew/bin",
	"/home/linuxbrew/.linuxbrew/bin",
};

static bool is_agents(const struct ga_env *e, const char *command)
{
	const struct ga_preset *p;

	for (size_t i = 0; (p = ga_preset_at(&e->agents, i)) != NULL; i++)
		if (!strcmp(ga_preset_program(p), command))
			return true;
	return false;
}

char *agents_find_command(const struct ga_env *e, const char *command, char **ret_place)
{
	char *found = ga_find_program(e->path, command);

	for (size_t i = 0; !found && is_agents(e, command) && i < GA_NELEMS(places); i++) {
		cleanup_free char *dir = places[i][0] == '/' ? ga_strdup(places[i])
							     : ga_path_join(e->home, places[i]);

		/* a directory with a ':' in its name cannot be on PATH */
		found = strchr(dir, ':') ? NULL : ga_find_program(dir, command);
		if (found && ret_place)
			*ret_place = ga_steal(&dir);
	}
	return found;
}

/* The last directory or file in the path of a program whose name is a version, as installers other
 * than npm name them; NULL: none is. */
static char *version_on_path(const char *real)
{
	cleanup_free char *path = ga_strdup(real);
	char *ret = NULL;

	for (char *p = path, *word; (word = strsep(&p, "/"));)
		if (ga_agents_version_ok(word)) {
			free(ret);
			ret = ga_strdup(word);
		}
	return ret;
}

/* The version of an npm package that the user has on the host; NULL: not known. */
static char *package_version(const char *program, const char *package)
{
	cleanup_free char *real = realpath(program, NULL), *file = NULL;
	cleanup_free char *below = package ? ga_strf("/node_modules/%s/", package) : NULL;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *at = real && below ? strstr(real, below) : NULL, *version;
	json_t *j = NULL;
	char *ret = NULL;

	if (!at)
		return real && package ? version_on_path(real) : NULL;
	file = ga_strf("%.*spackage.json", (int)((size_t)(at - real) + strlen(below)), real);
	if (!ga_read_file_at(AT_FDCWD, file, PACKAGE_MAX, &b, GA_IGNORED))
		j = json_loadb(b.ptr, b.len, 0, NULL);
	version = json_string_value(json_object_get(j, "version"));
	if (version && ga_agents_version_ok(version))
		ret = ga_strdup(version);
	json_decref(j);
	return ret;
}

static bool has_login(const char *home, const struct ga_preset *p)
{
	cleanup_close int at = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; at >= 0 && p->logins[i]; i++) {
		cleanup_close int fd = ga_openat_beneath(at, p->logins[i], O_PATH, 0);
		struct stat st;

		if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
			return true;
	}
	return false;
}

/* Did we make the file `name` in `path`: notes, or a mount point for conversations? */
static bool is_ours(const struct ga_preset *p, const char *path, const char *name)
{
	cleanup_free char *file = ga_path_join(path, name);

	if (p->notes && !strcmp(file, p->notes))
		return true;
	for (size_t i = 0; p->conversations && p->conversations[i]; i++)
		if (ga_path_inside(p->conversations[i], file))
			return true;
	return false;
}

/* Has `path` any files but ours? */
static bool has_more(int home, const char *path, const struct ga_preset *p)
{
	int fd = ga_openat_beneath(home, path, O_RDONLY | O_DIRECTORY, 0);
	cleanup_dir DIR *d = ga_dir_of(fd);
	struct dirent *e = ga_dir_next(d);

	if (!d) {
		cleanup_close int file = fd < 0 ? ga_openat_beneath(home, path, O_PATH, 0) : -1;

		return file >= 0 || fd >= 0;
	}
	while (e && is_ours(p, path, e->d_name))
		e = ga_dir_next(d);
	return e != NULL;
}

static bool has_state(const struct ga_env *e, const struct ga_preset *p)
{
	cleanup_free char *home = ga_home_dir(e, e->conf.home_mode);
	cleanup_close int at = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; at >= 0 && p->state[i]; i++)
		if (has_more(at, p->state[i], p))
			return true;
	return false;
}

/* In the user's home a login may be a link. */
static bool has_importable(const char *home, const struct ga_preset *p)
{
	for (size_t i = 0; p->logins[i]; i++) {
		cleanup_free char *file = ga_path_join(home, p->logins[i]);
		struct stat st;

		if (!stat(file, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
			return true;
	}
	return false;
}

static const char *find_key(const struct ga_env *e, const struct ga_preset *p)
{
	const char *const *const envs[] = { e->environ, (const char *const *)e->conf.env.set.v };

	for (size_t i = 0; p->keys[i]; i++)
		for (size_t k = 0; k < GA_NELEMS(envs); k++) {
			const char *value = ga_environ_get(envs[k], p->keys[i]);

			if (value && *value)
				return p->keys[i];
		}
	return NULL;
}

void ga_agents_found_release(struct ga_agents_found *f)
{
	free(f->path);
	free(f->version);
	*f = (struct ga_agents_found){ 0 };
}

static void find_logins(const struct ga_env *e, const struct ga_preset *p,
			struct ga_agents_found *ret)
{
	cleanup_free char *home = ga_home_dir(e, e->conf.home_mode);

	ret->key = find_key(e, p);
	/* a project's own home gets the logins of the shared one when a session starts */
	ret->login = has_login(home, p) || has_login(e->agent_home, p);
	ret->importable = has_importable(e->home, p);
}

void ga_agents_find(const struct ga_env *e, const struct ga_preset *p, struct ga_agents_found *ret)
{
	const char *program = ga_preset_program(p);

	*ret = (struct ga_agents_found){
		.version = p->package ? ga_agents_version(e, p->name) : NULL
	};
	find_logins(e, p, ret);
	if (ret->version) {
		ret->where = GA_AGENTS_HOME;
		ret->path = ga_agents_program(e, p->name, ret->version);
		return;
	}
	ret->path = agents_find_command(e, program, NULL);
	if (ret->path) {
		ret->where = GA_AGENTS_HOST;
		ret->version = p->package ? package_version(ret->path, p->package) : NULL;
	} else if (agents_own(e, program)) {
		ret->where = GA_AGENTS_OWN;
		ret->path = ga_strf("%s/" GA_AGENT_BIN "/%s", e->home, program);
	}
}

void ga_agents_describe_login(const struct ga_env *e, const struct ga_preset *p,
			      struct ga_strv *banner)
{
	cleanup_(ga_agents_found_release) struct ga_agents_found f = { 0 };
	const char *key;

	if (!p || !p->login)
		return;
	find_logins(e, p, &f);
	/* without a login file, take existing state as a sign of an earlier login */
	if (f.login || f.key || (!p->logins[0] && (!p->state[0] || has_state(e, p))))
		return;
	key = p->keys[0] && !strstr(p->login, p->keys[0]) ? p->keys[0] : NULL;
	ga_strv_pushf(banner, "%s is not logged in: %s%s%s", p->name, p->login,
		      key ? ", or set " : "", key ? key : "");
	if (f.importable)
		ga_strv_pushf(banner, "your own login stays outside: 'git agent home import "
			      "%s' copies it", p->name);
}

void ga_agents_command_release(struct ga_agents_command *c)
{
	ga_strv_release(&c->argv);
	free(c->own);
}

/* The command with its preset's words between the first and its arguments. An agent that continues
 * its conversation (`again`) gets no arguments: it knows them. */
void ga_agents_make_command(const struct ga_env *e, char *const *argv, size_t argc,
			    bool again, struct ga_agents_command *c)
{
	const struct ga_preset *preset = ga_preset_find(&e->agents, argv[0]);
	struct ga_strv *ret = &c->argv;

	c->preset = preset;
	again = again && preset && preset->resume[0];
	ga_strv_push(ret, preset ? ga_preset_program(preset) : argv[0]);
	for (size_t i = 0; again && preset->resume[i]; i++)
		ga_strv_push(ret, preset->resume[i]);
	for (size_t i = 0; preset && preset->flags[i]; i++)
		ga_strv_push(ret, preset->flags[i]);
	c->own_words = ret->n;
	/* one word with a blank can only be a prompt */
	c->at_prompt = again || argc == 1 || (argc == 2 && strchr(argv[1], ' '));
	for (size_t i = 1; i < argc && !again; i++)
		ga_strv_push(ret, argv[i]);
}

int ga_agents_add_task(const char *task, struct ga_agents_command *c, struct ga_error *err)
{
	const struct ga_preset *p = c->preset;

	if (!p || !p->task)
		return ga_fail(err, GA_EUSAGE, "cannot give '%s' a task: its way to take one is "
			       "not known" GA_HINT "put the task after the command, as the program "
			       "itself takes it", c->argv.v[0]);
	if (*task == '-')
		return ga_fail(err, GA_EUSAGE, "the task begins with '-', which '%s' takes for an "
			       "option", p->name);
	if (*p->task)
		ga_strv_push(&c->argv, p->task);
	ga_strv_push(&c->argv, task);
	return 0;
}

/* The end of an installation hint: how to log in. Caller frees. */
static char *login_words(const struct ga_env *e, const struct ga_preset *p)
{
	cleanup_(ga_agents_found_release) struct ga_agents_found f = { 0 };

	if (p)
		find_logins(e, p, &f);
	if (!p || !p->login || f.login || f.key)
		return ga_strdup("");
	if (f.importable)
		return ga_strf("; 'git agent home import %s' copies your login there", p->name);
	return ga_strf("; to log in, %s%s", p->login,
		       p->logins[0] ? ", which stays in that home ('git agent home')" : "");
}

static const char *near_agent(const struct ga_env *e, const char *command)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	cleanup_free char *word = ga_strndup(command, 64);
	const struct ga_preset *p;
	const char *near;

	for (size_t i = 0; (p = ga_preset_at(&e->agents, i)); i++)
		ga_strv_push(&names, p->name);
	near = ga_nearest(word, (const char *const *)names.v, names.n);
	p = near ? ga_preset_find(&e->agents, near) : NULL;
	return p ? p->name : NULL;
}

static int not_found(const struct ga_env *e, const char *command, struct ga_error *err)
{
	const struct ga_preset *p = ga_preset_find(&e->agents, command);
	bool package = p && p->package;
	cleanup_free char *login = NULL;
	const char *near;
	cleanup_free char *npm = package ? agents_find_command(e, "npm", NULL) : NULL;

	(void)ga_fail(err, GA_ESTART, "command '%s' was not found on PATH%s", command,
		      package ? ", nor in the agents' home" : "");
	near = p ? NULL : near_agent(e, command);
	if (near)
		return ga_hint(err, "did you mean 'git agent start %s'?", near);
	login = login_words(e, p);
	if (npm)
		return ga_hint(err, "'git agent agents install %s' puts it into the agents' home%s",
			       command, login);
	return package ? ga_hint(err, "install it, or Node.js for 'git agent agents install %s'%s",
				 command, login)
		       : ga_hint(err, "install it, or give its path%s", login);
}

int ga_agents_check_command(struct ga_env *e, struct ga_agents_command *c, struct ga_error *err)
{
	const char *command = c->argv.v[0];
	const struct ga_preset *p = ga_preset_find(&e->agents, command);
	cleanup_free char *file = NULL, *place = NULL, *version = NULL;

	if (!*command)
		return ga_fail(err, GA_EUSAGE, "the command is empty" GA_HINT "name a program, as "
			       "in 'git agent start bash'");
	if (strchr(command, '/'))
		return 0; /* a path inside is not checked here */
	/* a version of 'git agent agents' takes precedence */
	version = p && p->package ? ga_agents_version(e, command) : NULL;
	c->own = version ? ga_agents_program(e, command, version) : NULL;
	file = c->own ? NULL : agents_find_command(e, command, &place);
	if (place) {
		char *path = ga_strf("%s:%s", e->path, place);

		free(e->path);
		e->path = path;
	}
	return c->own || file || agents_own(e, command) ? 0 : not_found(e, command, err);
}

char *ga_agents_cwd(const char *project)
{
	cleanup_free char *cwd = getcwd(NULL, 0);
	const char *rel = cwd ? ga_path_below(cwd, project) : NULL;

	/* not in .git, which differs inside */
	return rel && !ga_path_inside(rel, ".git") ? ga_steal(&cwd) : ga_strdup(project);
}
