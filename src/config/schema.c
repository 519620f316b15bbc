/* SPDX-License-Identifier: MIT */
#include "ga/config/config.h"
#include "schema.h"

#include <ctype.h>
#include <string.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/strv.h"
#include "ga/base/wildmatch.h"
#include "ga/config/devices.h"
#include "ga/config/hosts.h"
#include "ga/config/preset.h"
#include "ga/config/service.h"
#include "ga/net/net.h"

#define KiB ((uint64_t)1 << 10)
#define MiB ((uint64_t)1 << 20)
#define GiB ((uint64_t)1 << 30)
#define TiB ((uint64_t)1 << 40)

static const char *const dirty_words[] = {
	[GA_DIRTY_CARRY] = "carry", [GA_DIRTY_IGNORE] = "ignore", [GA_DIRTY_REFUSE] = "refuse", NULL
};

static const char *const ignored_words[] = {
	[GA_IGNORED_SHARE] = "share", [GA_IGNORED_HIDE] = "hide", NULL
};

static const char *const secrets_words[] = {
	[GA_SECRETS_OFF] = "off", [GA_SECRETS_WARN] = "warn", [GA_SECRETS_MASK] = "mask", NULL
};

static const char *const network_words[] = {
	[GA_NETWORK_HOST] = "host", [GA_NETWORK_ALLOW] = "allow", [GA_NETWORK_NONE] = "none", NULL
};

static const char *const switch_words[] = { "off", "on", NULL };

static const char *const bool_words[] = { "false", "true", NULL };
static const char *const home_words[] = {
	[GA_HOME_SHARED] = "shared", [GA_HOME_PROJECT] = "project", [GA_HOME_OVERLAY] = "overlay",
	NULL
};

static const char *const questions_words[] = {
	[GA_QUESTIONS_ANSWER] = "answer", [GA_QUESTIONS_ASK] = "ask", NULL
};

static const char *const land_words[] = {
	[GA_WAY_MERGE] = "merge", [GA_WAY_SQUASH] = "squash", [GA_WAY_REBASE] = "rebase",
	[GA_WAY_FF_ONLY] = "ff-only", NULL
};

static const char *const notify_words[] = { "none", "desktop", NULL };

/* A name that can be used in "filter.NAME.clean" on git's command line. */
static bool is_filter(const char *text)
{
	for (const char *p = text; *p; p++)
		if (*p == '=' || iscntrl((unsigned char)*p))
			return false;
	return *text;
}

/* `member`: the member of struct ga_config that the key fills. */
#define KEY(key, kind, may, member, text)                                             \
	.name = key, .type = KEY_##kind, .repository = KEY_##may,                     \
	.offset = offsetof(struct ga_config, member), .value = text, .limit = NO_LIMIT

/* A limit on captures: member, id, type, default, minimum, maximum. The maxima: a walk holds a
 * descriptor for each level; its result is one answer; the others are far beyond sensible values,
 * and no sum of them overflows. */
#define LIMIT(member, id, kind, text, least, most, about)                                 \
	{ .name = "limits.capture." #member, .type = KEY_##kind, .repository = KEY_TIGHTEN, \
	  .offset = offsetof(struct ga_config, limits.member), .value = text, .min = least, \
	  .max = most, .limit = GA_LIMIT_##id, .help = about }

/* The same for a limit on what a session may use. */
#define USE(member, kind, text, most, about)                                          \
	{ .name = "limits." #member, .type = KEY_##kind, .repository = KEY_TIGHTEN,   \
	  .offset = offsetof(struct ga_config, use.member), .value = text, .max = most, \
	  .limit = KEY_OR_NONE, .help = about }

/* A list of shell commands, all of which run, even repeated ones. */
#define COMMANDS                                                                      \
	.check = ga_command_ok, .repeats = true,                                      \
	.takes = "shell commands, of 16 KiB at most, without control characters"

const struct config_key config_keys[GA_CONFIG_KEYS] = {
	{ KEY("dirty", WORD, STRICTER, dirty, "carry"), .words = dirty_words,
	  .help = "uncommitted work at a start: show it, start from HEAD without it, or refuse" },
	{ KEY("ignored", WORD, STRICTER, ignored, "share"), .words = ignored_words,
	  .help = "ignored files at a start: show them, or those that .worktreeinclude lists; or "
		  "none" },
	{ KEY("home", PATH, NEVER, home, "~/aihome"),
	  .help = "the agents' home, shown inside in place of yours" },
	{ KEY("home_mode", WORD, STRICTER, home_mode, "shared"), .words = home_words,
	  .help = "who has it: all sessions, those of one repository, or each a layer of its own" },
	{ KEY("agents", TEXTS, NEVER, agents, NULL), .check = ga_preset_word_ok, .repeats = true,
	  .members = ga_preset_members,
	  .takes = "names of agents, with 'command', 'flags', 'resume', 'keys', 'pass', 'set', "
		   "'state', 'logins', 'conversations', 'notes' and 'hosts'",
	  .help = "agents of your own, which are started by their names" },
	{ KEY("hosts", TEXTS, NEVER, hosts, NULL), .check = ga_host_word_ok, .repeats = true,
	  .members = ga_host_members,
	  .takes = "names of hosts, with 'ssh', 'engine', 'sbatch', 'scratch', 'run' and "
		   "'terminal'",
	  .help = "other machines for start --on, and how to run something there" },
	{ KEY("questions", WORD, STRICTER, questions, "answer"), .words = questions_words,
	  .help = "what an agent asks before it begins: answer what the sandbox answers, or let it "
		  "ask" },
	{ KEY("tools", PATHS, NEVER, inside.tools, NULL),
	  .help = "more directories with programs, shown inside read-only" },
	{ KEY("mounts.ro", PATHS, TRUST, inside.ro, NULL),
	  .help = "more directories that are shown, read-only, at their own place",
	  .grants = "read everything in %s" },
	{ KEY("mounts.rw", PATHS, TRUST, inside.rw, NULL),
	  .help = "the same, and what is written there is written on your disk at once",
	  .grants = "read and change everything in %s, at once and without a review" },
	{ KEY("devices", TEXTS, TRUST, inside.devices, NULL), .check = ga_device_ok,
	  .takes = "'kvm', 'dri', 'nvidia', and paths below /dev",
	  .help = "devices of the host that sessions can use",
	  .grants = "use %s of this machine, through the kernel's driver" },
	{ KEY("env.pass", TEXTS, TRUST, env.pass, NULL), .check = config_is_variable,
	  .takes = "names of variables, with '*' at most at their end, and none that git-agent "
		   "sets",
	  .help = "variables of your environment that sessions have too",
	  .grants = "read the value of %s in your environment" },
	{ KEY("env.set", PAIRS, TRUST, env.set, NULL), .check = config_is_assignment,
	  .takes = "names of variables with a value each, and none that git-agent sets",
	  .help = "variables that sessions have",
	  .grants = "run with %s in the environment" },
	{ KEY("state_dir", PATH, NEVER, state_dir, NULL),
	  .help = "where sessions and base trees are kept" },
	{ KEY("disk_free", SIZE, NEVER, disk_free, "256MiB"), .max = 16 * TiB,
	  .help = "a session is ended when less than that is free where its files go; 0: never" },
	{ KEY("setup", TEXTS, TRUST, beside.setup, NULL), COMMANDS,
	  .help = "commands that run inside before the agent, one after the other",
	  .grants = "run, in the sandbox and before the agent: %s" },
	{ KEY("services", TEXTS, TRUST, beside.services, NULL), .check = ga_service_ok,
	  .repeats = true, .named = true,
	  .takes = "shell commands, or names with a shell command each, or with 'command' and "
		   "'ready'",
	  .help = "commands that run inside beside the agent, until it has ended",
	  .grants = "run, in the sandbox and beside the agent: %s" },
	{ KEY("finish", TEXTS, TRUST, beside.finish, NULL), COMMANDS,
	  .help = "commands that run inside after the agent; how they end is noted",
	  .grants = "run, in the sandbox and after the agent: %s" },
	{ KEY("filters", TEXTS, TRUST, inside.filters, NULL), .check = is_filter,
	  .takes = "names of filters of git's configuration, without '=' or control characters",
	  .help = "filters that run inside: on what the agent commits, and at the capture",
	  .grants = "run the filter %s of your git configuration inside, and see its command" },
	{ KEY("land", WORD, NEVER, land, "merge"), .words = land_words,
	  .help = "how to land: a merge commit, one commit of all changes, rebased, or only moving "
		  "on" },
	{ KEY("terminal_filter", WORD, STRICTER, terminal_filter, "on"), .words = switch_words,
	  .help = "keep sequences from the terminal that reach beyond its window, or make it "
		  "type" },
	{ KEY("notify", PATH, NEVER, notify, "none"), .words = notify_words,
	  .help = "the end of a detached session: none, desktop (notify-send), or a program to "
		  "run" },
	{ KEY("record", WORD, NEVER, record, "true"), .words = bool_words,
	  .help = "keep what goes to the terminal of a session, to be read or shown again" },
	{ KEY("keep_unchanged", WORD, NEVER, keep_unchanged, "false"), .words = bool_words,
	  .help = "keep a session that changed nothing, rather than move it to the trash" },
	{ KEY("network.mode", WORD, TIGHTEN, net.mode, "host"), .words = network_words,
	  .help = "what a session can reach: all that you can, what is listed, or nothing" },
	{ KEY("network.allow", TEXTS, TRUST, net.allow, NULL), .check = ga_net_rule_ok,
	  .takes = GA_NET_RULE_TAKES,
	  .help = "hosts and ports that can be reached, of the network that is called 'allow'",
	  .grants = "reach %s over the network" },
	{ KEY("network.sockets", TEXTS, TRUST, net.sockets, NULL), .check = ga_net_socket_ok,
	  .takes = GA_NET_SOCKET_TAKES,
	  .help = "unix sockets of the host that are shown inside, unless the network is 'none'",
	  .grants = "talk to what listens at %s on your machine" },
	{ KEY("network.publish", TEXTS, TRUST, net.publish, NULL), .check = ga_net_publish_ok,
	  .takes = GA_NET_PUBLISH_TAKES,
	  .help = "ports of a session that can be reached on the host",
	  .grants = "listen on your machine (%s)", .worse = ga_net_publish_open,
	  .more = ", where others on the network reach it" },
	{ KEY("sandbox.nested", WORD, TRUST, inside.nested, "false"), .words = bool_words,
	  .help = "let programs inside make sandboxes of their own, as browsers do",
	  .grants = "make sandboxes of its own inside (%s), which shows it more of the kernel" },
	{ KEY("sandbox.rename", WORD, NEVER, inside.rename, "true"), .words = bool_words,
	  .help = "rename directories inside where the overlay refuses to" },
	{ KEY("secrets.mode", WORD, TIGHTEN, secret.mode, "mask"), .words = secrets_words,
	  .help = "secrets in the project: keep the live ones out of sessions, warn, or do not "
		  "look" },
	{ KEY("secrets.add", PATTERNS, TIGHTEN, secret.add, NULL),
	  .help = "more files that are kept out, whatever is in them" },
	{ KEY("secrets.allow", PATTERNS, TRUST, secret.allow, NULL),
	  .help = "files that are no secrets",
	  .grants = "show files that match %s, though they look like secrets" },
	{ KEY("risk.add", PATTERNS, TIGHTEN, risk.add, NULL),
	  .help = "more files whose changes are flagged, and wait for a verdict to land" },
	{ KEY("risk.allow", PATTERNS, TRUST, risk.allow, NULL),
	  .help = "files whose changes are not flagged, unless that is critical",
	  .grants = "change files that match %s without a flag, unless that is critical" },
	{ KEY("risk.hold", PATTERNS, TIGHTEN, risk.hold, NULL),
	  .help = "files whose changes are held until they are accepted" },
	{ KEY("risk.block", PATTERNS, TIGHTEN, risk.block, NULL),
	  .help = "files whose changes are held, and can only be rejected" },
	{ KEY("flags.strict", WORD, TIGHTEN, risk.strict, "false"), .words = bool_words,
	  .help = "hold what builds, installations and tests execute, too" },
	{ KEY("limits.transcript", SIZE, NEVER, transcript, "64MiB"), .min = 64 * KiB, .max = TiB,
	  .help = "size of a recording; what comes after that is not recorded" },
	USE(memory, SIZE, "0", 16 * TiB, "memory of a session; 0: no limit"),
	USE(tasks, COUNT, "8192", 4194304, "processes and threads of a session; 0: no limit"),
	USE(files, COUNT, "0", 1048576, "open files of each process of a session; 0: no limit"),
	USE(cpu, COUNT, "0", 1000000,
	    "processor time of a session, in percent of one processor; 0: no limit"),
	USE(time, TIME, "0", 31536000, "time from its start to its end; 0: no limit"),
	USE(setup, TIME, "30m", 31536000, "time for all commands of setup; 0: no limit"),
	USE(ready, TIME, "1m", 31536000, "time until all services are up; 0: no limit"),
	USE(finish, TIME, "30m", 31536000, "time for all commands of finish; 0: no limit"),
	USE(output, SIZE, "0", 16 * TiB, "what it writes to the terminal; 0: no limit"),
	USE(upper, SIZE, "0", 16 * TiB, "what its layers take of the disk; 0: no limit"),
	LIMIT(depth, DEPTH, COUNT, "128", 1, 512, "directories in one another"),
	LIMIT(entries, ENTRIES, COUNT, "2000000", 1, 10000000,
	      "files and directories, of a layer or changed by a commit"),
	LIMIT(file_size, FILE_SIZE, SIZE, "2GiB", 1, TiB, "size of a file"),
	LIMIT(total_size, TOTAL_SIZE, SIZE, "20GiB", 1, 16 * TiB, "size of all files together"),
	LIMIT(rules_size, RULES_SIZE, SIZE, "1MiB", 1, 64 * MiB,
	      "size of a .gitignore or .gitattributes"),
	LIMIT(commits, COMMITS, COUNT, "20000", 1, 1000000, "commits of the agent"),
	LIMIT(history, HISTORY, COUNT, "100000", 1, 10000000,
	      "commits from the base to the agent's, yours among them"),
	LIMIT(branches, BRANCHES, COUNT, "100", 1, 10000, "further branches of the agent"),
	LIMIT(pack_size, PACK_SIZE, SIZE, "4GiB", 1, TiB, "size of the pack of its commits"),
	LIMIT(objects, OBJECTS, COUNT, "2000000", 1, 100000000, "objects in it"),
	LIMIT(object_size, OBJECT_SIZE, SIZE, "1GiB", 1, TiB, "size of an object in it"),
	LIMIT(unpacked_size, UNPACKED_SIZE, SIZE, "16GiB", 1, 16 * TiB,
	      "size of all objects in it together"),
	LIMIT(read_time, READ_TIME, TIME, "30m", 1, 86400, "time for reading a layer"),
	LIMIT(git_time, GIT_TIME, TIME, "1m", 1, 3600,
	      "time for a step of git's; with much to do up to ten times as much"),
};

/* ---- names ---------------------------------------------------------------- */

const struct config_key *config_find(const char *name)
{
	for (size_t i = 0; i < GA_CONFIG_KEYS; i++)
		if (!strcmp(config_keys[i].name, name))
			return &config_keys[i];
	return NULL;
}

/* What follows the group in a key's name; NULL if the key is not in the group. */
static const char *name_in(const struct config_key *k, const char *group)
{
	size_t n = strlen(group);

	if (!n)
		return k->name;
	return strncmp(k->name, group, n) || k->name[n] != '.' ? NULL : k->name + n + 1;
}

bool config_is_group(const char *name)
{
	for (size_t i = 0; i < GA_CONFIG_KEYS; i++)
		if (name_in(&config_keys[i], name))
			return true;
	return false;
}

static char *nearest_in(const char *group, const char *word)
{
	char *names[GA_CONFIG_KEYS], *full;
	const char *near;

	for (size_t i = 0; i < GA_CONFIG_KEYS; i++) {
		const char *rest = name_in(&config_keys[i], group);

		names[i] = rest ? ga_strndup(rest, strcspn(rest, ".")) : NULL;
	}
	near = ga_nearest(word, (const char *const *)names, GA_CONFIG_KEYS);
	full = near ? ga_strf("%s%s%s", group, *group ? "." : "", near) : NULL;
	for (size_t i = 0; i < GA_CONFIG_KEYS; i++)
		free(names[i]);
	return full;
}

char *config_nearest(const char *group, const char *word)
{
	char *ret = ga_strdup(group);

	/* each part of a dotted word may be misspelt */
	for (const char *p = word; ret; p++) {
		size_t n = strcspn(p, ".");
		cleanup_free char *part = ga_strndup(p, n), *in = ret;

		ret = nearest_in(in, part);
		p += n;
		if (!*p)
			break;
	}
	return ret;
}

/* ---- values --------------------------------------------------------------- */

static bool parse_word(const struct config_key *k, const char *text, uint64_t *ret)
{
	for (unsigned i = 0; k->words[i]; i++) {
		if (!strcmp(k->words[i], text)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* A path that is absolute or begins with "~/", and has no component such as "..". */
static char *parse_path(const char *user_home, const char *text)
{
	const char *rel = !strncmp(text, "~/", 2) ? text + 2 : text[0] == '/' ? text + 1 : NULL;
	cleanup_free char *path = rel ? ga_strdup(rel) : NULL;
	size_t n;

	if (!path)
		return NULL;
	for (n = strlen(path); n && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
	for (const char *p = path; *p; p++)
		if (iscntrl((unsigned char)*p))
			return NULL;
	if (!n || !ga_path_relative_ok(path))
		return NULL;
	return text[0] == '~' ? ga_path_join(user_home, path) : ga_strf("/%s", path);
}

static bool parse_number(const struct config_key *k, const char *text, uint64_t *ret)
{
	bool ok;

	/* octal to some YAML parsers, decimal to others */
	if (text[0] == '0' && text[1] >= '0' && text[1] <= '9')
		return false;
	ok = k->type == KEY_SIZE   ? ga_parse_size(text, k->max, ret)
	     : k->type == KEY_TIME ? ga_parse_seconds(text, k->max, ret)
				   : ga_parse_u64(text, k->max, ret);
	return ok && *ret >= k->min;
}

static char *number_text(const struct config_key *k, uint64_t n)
{
	if (k->type == KEY_SIZE)
		return ga_size_text(n);
	return k->type == KEY_TIME ? ga_seconds_text(n) : ga_strf("%llu", (unsigned long long)n);
}

static void say_what_it_takes(const struct config_key *k, struct ga_buf *out)
{
	static const char *const kinds[] = { [KEY_WORD] = "", [KEY_PATH] = "",
					     [KEY_COUNT] = "a number", [KEY_SIZE] = "a size",
					     [KEY_TIME] = "a time", [KEY_PATTERNS] = "",
					     [KEY_PATHS] = "", [KEY_TEXTS] = "" };
	cleanup_free char *min = number_text(k, k->min), *max = number_text(k, k->max);

	if (k->type == KEY_PATH || k->type == KEY_PATHS) {
		for (size_t i = 0; k->words && k->words[i]; i++)
			ga_buf_addf(out, "%s, ", k->words[i]);
		ga_buf_adds(out, k->words ? "or " : "");
		ga_buf_adds(out, "a path that begins with / or ~/, without '..'");
		return;
	}
	if (k->type == KEY_PATTERNS) {
		ga_buf_adds(out, "patterns as in .gitignore, without '!', braces and backslashes");
		return;
	}
	if (k->type == KEY_TEXTS || k->type == KEY_PAIRS) {
		ga_buf_adds(out, k->takes);
		return;
	}
	if (k->type != KEY_WORD) {
		ga_buf_addf(out, "%s from %s to %s", kinds[k->type], min, max);
		return;
	}
	for (size_t i = 0; k->words[i]; i++)
		ga_buf_addf(out, "%s%s", !i ? "" : k->words[i + 1] ? ", " : " or ", k->words[i]);
}

bool config_value_parse(const struct config_key *k, const char *user_home, const char *text,
			union config_value *ret, struct ga_buf *ret_takes)
{
	bool ok;

	if (k->type == KEY_PATH && k->words && parse_word(k, text, &ret->n))
		ok = (ret->path = ga_strdup(text)) != NULL;
	else if (k->type == KEY_PATH || k->type == KEY_PATHS)
		ok = (ret->path = parse_path(user_home, text)) != NULL;
	else if (k->type == KEY_PATTERNS)
		ok = (ret->path = ga_pattern_ok(text) ? ga_strdup(text) : NULL) != NULL;
	else if (k->type == KEY_TEXTS || k->type == KEY_PAIRS)
		ok = (ret->path = k->check(text) ? ga_strdup(text) : NULL) != NULL;
	else
		ok = k->type == KEY_WORD ? parse_word(k, text, &ret->n)
					 : parse_number(k, text, &ret->n);
	if (!ok)
		say_what_it_takes(k, ret_takes);
	return ok;
}

bool config_is_list(const struct config_key *k)
{
	return k->type == KEY_PATTERNS || k->type == KEY_PATHS || k->type == KEY_TEXTS ||
	       k->type == KEY_PAIRS;
}

uint64_t config_number(const struct ga_config *c, const struct config_key *k)
{
	const char *at = (const char *)c + k->offset;

	return k->type == KEY_WORD ? *(const unsigned *)at : *(const uint64_t *)at;
}

const struct ga_strv *config_list(const struct ga_config *c, const struct config_key *k)
{
	return (const struct ga_strv *)((const char *)c + k->offset);
}

bool config_is_looser(const struct config_key *k, uint64_t n, uint64_t than)
{
	if (k->limit == KEY_OR_NONE && (!n || !than))
		return !n && than;
	return k->type == KEY_WORD ? n < than : n > than;
}

/* The pair with the same NAME as `pair`, or NULL. */
static char **pair_of(struct ga_strv *pairs, const char *pair)
{
	size_t n = strcspn(pair, "=") + 1;

	for (size_t i = 0; i < pairs->n; i++)
		if (!strncmp(pairs->v[i], pair, n))
			return &pairs->v[i];
	return NULL;
}

static void store_pair(struct ga_strv *pairs, char *pair)
{
	char **same = pair_of(pairs, pair);

	if (!same) {
		ga_strv_take(pairs, pair);
		return;
	}
	free(*same);
	*same = pair;
}

void config_store(struct ga_config *c, const struct config_key *k, union config_value v)
{
	char *at = (char *)c + k->offset;

	if (k->type == KEY_PAIRS) {
		store_pair((struct ga_strv *)at, v.path);
	} else if (config_is_list(k)) {
		if (!k->repeats && ga_strv_has((struct ga_strv *)at, v.path))
			free(v.path);
		else
			ga_strv_take((struct ga_strv *)at, v.path);
	} else if (k->type == KEY_PATH) {
		free(*(char **)at);
		*(char **)at = v.path;
	} else if (k->type == KEY_WORD) {
		*(unsigned *)at = (unsigned)v.n;
	} else {
		*(uint64_t *)at = v.n;
	}
}

char *config_grant_text(const struct ga_config *c, const struct config_key *k, const char *text)
{
	cleanup_free char *q = ga_escape(text), *old = NULL;
	const char *at = k->grants ? strstr(k->grants, "%s") : NULL;

	if (at)
		return ga_strf("%.*s%s%s%s", (int)(at - k->grants), k->grants, q, at + 2,
			       k->worse && k->worse(text) ? k->more : "");
	old = ga_config_text(c, (size_t)(k - config_keys));
	return ga_strf("set %s to %s instead of %s (%s)", k->name, q, old, k->help);
}

/* ---- other accessors -------------------------------------------------------- */

const char *ga_config_key(size_t i)
{
	return config_keys[i].name;
}

const char *ga_network_name(enum ga_network n)
{
	return network_words[n];
}

const char *ga_config_help(size_t i)
{
	return config_keys[i].help;
}

const char *ga_config_may(size_t i)
{
	static const char *const names[] = { [KEY_NEVER] = "never", [KEY_STRICTER] = "stricter",
					     [KEY_TIGHTEN] = "tighten", [KEY_TRUST] = "trust" };

	return names[config_keys[i].repository];
}

char *ga_config_text(const struct ga_config *c, size_t i)
{
	const struct config_key *k = &config_keys[i];

	if (k->type == KEY_PATH)
		return ga_strdup(*(char *const *)((const char *)c + k->offset));
	if (config_is_list(k)) {
		const struct ga_strv *sv = config_list(c, k);
		struct ga_buf b = GA_BUF_INIT;

		for (size_t n = 0; n < sv->n; n++)
			ga_buf_addf(&b, "%s%s", n ? ", " : "", sv->v[n]);
		return b.len ? ga_buf_steal(&b) : ga_strdup("");
	}
	if (k->type == KEY_WORD)
		return ga_strdup(k->words[config_number(c, k)]);
	return number_text(k, config_number(c, k));
}

bool ga_config_number(const struct ga_config *c, size_t i, uint64_t *ret)
{
	const struct config_key *k = &config_keys[i];

	if (k->type == KEY_WORD || k->type == KEY_PATH || config_is_list(k))
		return false;
	*ret = config_number(c, k);
	return true;
}

struct ga_use_limits ga_config_use(const struct ga_config *c)
{
	struct ga_use_limits l = c->use;
	const struct config_key *k = config_find("limits.tasks");

	l.tasks_default = c->from.set[k - config_keys].origin == GA_ORIGIN_DEFAULT;
	return l;
}

static size_t index_of(enum ga_limit l)
{
	for (size_t i = 0; i < GA_CONFIG_KEYS; i++)
		if (config_keys[i].limit == (int)l)
			return i;
	GA_BUG("a limit that is no key");
}

const char *ga_limit_key(enum ga_limit l)
{
	return config_keys[index_of(l)].name;
}

char *ga_limit_text(const struct ga_limits *l, enum ga_limit which)
{
	struct ga_config c = { .limits = *l };

	return ga_config_text(&c, index_of(which));
}
