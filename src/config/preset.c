/* SPDX-License-Identifier: MIT
 *
 * The table of agents, and the setting `agents`, whose words become rows of it.
 */
#include "ga/config/preset.h"

#include <string.h>

#include "ga/base/path.h"
#include "ga/config/service.h"
#include "ga/net/netplan.h"
#include "schema.h"

#define LIST(...) (const char *const[]){ __VA_ARGS__, NULL }
#define NONE (const char *const[]){ NULL }

/* Hosts of the providers whose keys are passed to agents for any model. */
#define MODEL_HOSTS                                                                        \
	"api.anthropic.com:443", "api.openai.com:443", "generativelanguage.googleapis.com:443", \
	"openrouter.ai:443"

/* Tested with Claude Code 2.1, Codex 0.171, OpenCode 1.18 and Gemini CLI 0.61. Codex splits a
 * dotted key at every '.', also within quotes, so its flag uses a table. */
static const struct ga_questions of_claude = {
	.versions = "2.",
	.flags = LIST("--settings", "{\"skipDangerousModePermissionPrompt\":true}"),
	.set = LIST("CLAUDE_CODE_SANDBOXED=1"),
	.first = ".claude.json", .text = "{\"hasCompletedOnboarding\":true",
	.key = "ANTHROPIC_API_KEY",
	.key_text = ",\"customApiKeyResponses\":{\"approved\":[\"",
	.configs = LIST(".claude", ".mcp.json"),
	.settings = LIST(".claude/settings.json", ".claude/settings.local.json"),
	.harmless = "$schema includeCoAuthoredBy language model outputStyle permissions",
	.noted = ".claude.json", .member = "hasTrustDialogAccepted",
	.logins = LIST(".claude/settings.json", "/etc/claude-code"),
};

static const struct ga_questions of_codex = {
	.versions = "0.",
	.flags = LIST("-c", "projects={\"%\"={trust_level=\"trusted\"}}"), .set = NONE,
	.configs = LIST(".agents", ".codex"), .settings = NONE,
	.noted = ".codex/config.toml",
	.logins = LIST(".codex/config.toml", "/etc/codex"), .keys_ignored = true,
};

/* Its preset sets GEMINI_CLI_TRUST_WORKSPACE. */
static const struct ga_questions of_gemini = {
	.versions = "0.", .flags = NONE, .set = NONE,
	.configs = LIST(".env", ".gemini"), .settings = NONE,
};

static const struct ga_questions of_opencode = {
	.versions = "1.", .flags = NONE, .set = NONE,
	.configs = LIST(".opencode", "opencode.json", "opencode.jsonc"), .settings = NONE,
};

/* The sandbox confines the agent; its questions before every command would only stop it from
 * working alone. Claude Code refuses to turn them off as root unless IS_SANDBOX is set, which its
 * commands see, too. No agent updates itself: the user does that with `git agent agents update`.
 * The values were looked up in Claude Code 2.1, Codex 0.169, OpenCode 1.18, Gemini CLI 0.61 and
 * Copilot CLI 1.0 themselves, for the others in their documentation. The hosts are those of the
 * agent itself, and those of models whose keys are passed. */
static const struct ga_preset presets[] = {
	{ .name = "claude", .package = "@anthropic-ai/claude-code", .questions = &of_claude,
	  .login = "type /login inside",
	  .state = LIST(".claude", ".claude.json", ".cache/claude-cli-nodejs"),
	  .logins = LIST(".claude/.credentials.json"), .login_key = "claudeAiOauth",
	  .notes = ".claude/CLAUDE.md",
	  .flags = LIST("--dangerously-skip-permissions"),
	  .resume = LIST("--continue"), .resume_prompt = "--continue -p",
	  .conversations = LIST(".claude/projects", ".claude/sessions"), .task = "",
	  .keys = LIST("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
		       "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"),
	  .pass = LIST("ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_MODEL",
		       "ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL",
		       "ANTHROPIC_DEFAULT_SONNET_MODEL",
		       "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
	  .set = LIST("DISABLE_AUTOUPDATER=1"),
	  .hosts = LIST("api.anthropic.com:443", "claude.ai:443", "mcp-proxy.anthropic.com:443",
			"platform.claude.com:443") },
	{ .name = "codex", .package = "@openai/codex", .questions = &of_codex,
	  .login = "run 'codex login --device-auth' inside",
	  .state = LIST(".codex"),
	  .logins = LIST(".codex/auth.json"), .notes = ".codex/AGENTS.md",
	  .flags = LIST("--dangerously-bypass-approvals-and-sandbox"),
	  .resume = LIST("resume", "--last", "--include-non-interactive"),
	  .resume_prompt = "exec resume --last",
	  .conversations = LIST(".codex/sessions", ".codex/sqlite"),
	  .conversation_env = LIST("CODEX_SQLITE_HOME=.codex/sqlite"), .task = "",
	  .keys = LIST("OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN"),
	  .pass = LIST("OPENAI_BASE_URL"), .set = NONE,
	  .hosts = LIST("api.openai.com:443", "auth.openai.com:443", "chatgpt.com:443") },
	{ .name = "opencode", .package = "opencode-ai", .questions = &of_opencode,
	  .login = "run 'opencode auth login' inside",
	  .state = LIST(".config/opencode", ".local/share/opencode", ".local/state/opencode",
			".cache/opencode"),
	  .logins = LIST(".local/share/opencode/auth.json"),
	  .notes = ".config/opencode/AGENTS.md",
	  .flags = NONE,
	  .resume = LIST("--continue"), .resume_prompt = "run --continue",
	  .conversations = LIST(".local/share/opencode/db"),
	  .conversation_env = LIST("OPENCODE_DB=.local/share/opencode/db/opencode.db"),
	  .task = "--prompt",
	  .keys = LIST("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY",
		       "GEMINI_API_KEY", "OPENCODE_API_KEY"),
	  .pass = NONE,
	  .set = LIST("OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_PERMISSION={\"*\":\"allow\"}"),
	  .hosts = LIST(MODEL_HOSTS, "models.dev:443", "opencode.ai:443",
			"registry.npmjs.org:443") },
	{ .name = "gemini", .package = "@google/gemini-cli", .questions = &of_gemini,
	  .login = "choose one inside; NO_BROWSER=1 has it print an address",
	  .state = LIST(".gemini"),
	  .logins = LIST(".gemini/oauth_creds.json", ".gemini/google_accounts.json",
			 ".gemini/gemini-credentials.json"),
	  .notes = ".gemini/GEMINI.md",
	  .flags = LIST("--yolo"),
	  .resume = LIST("--resume"),
	  .conversations = LIST(".gemini/tmp"), .task = "--prompt-interactive",
	  .keys = LIST("GEMINI_API_KEY", "GOOGLE_API_KEY"),
	  .pass = LIST("GEMINI_MODEL", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_PROJECT",
		       "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "NO_BROWSER"),
	  /* without this it ignores --yolo */
	  .set = LIST("GEMINI_CLI_TRUST_WORKSPACE=true"),
	  .hosts = LIST("accounts.google.com:443", "aiplatform.googleapis.com:443",
			"cloudcode-pa.googleapis.com:443", "generativelanguage.googleapis.com:443",
			"oauth2.googleapis.com:443", "www.googleapis.com:443") },
	{ .name = "aider",
	  .state = LIST(".aider", ".aider.conf.yml"),
	  .logins = NONE, .flags = LIST("--yes-always"),
	  .resume = LIST("--restore-chat-history"),
	  .login = "set the key of a model, ANTHROPIC_API_KEY for example",
	  .keys = LIST("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY",
		       "OPENROUTER_API_KEY"),
	  .pass = LIST("AIDER_MODEL", "OPENAI_API_BASE"),
	  .set = LIST("AIDER_CHECK_UPDATE=false"),
	  .hosts = LIST(MODEL_HOSTS) },
	{ .name = "copilot", .package = "@github/copilot",
	  .login = "type /login inside",
	  .state = LIST(".copilot", ".cache/copilot", ".config/github-copilot"),
	  .logins = NONE, .notes = ".copilot/copilot-instructions.md",
	  .flags = LIST("--allow-all"),
	  .resume = LIST("--continue"),
	  .conversations = LIST(".copilot/session-state"),
	  .keys = LIST("COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"),
	  .pass = LIST("COPILOT_MODEL", "COPILOT_OFFLINE", "COPILOT_PROVIDER_BASE_URL",
		       "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_WIRE_API"),
	  .set = LIST("COPILOT_AUTO_UPDATE=false"),
	  .hosts = LIST("*.githubcopilot.com:443", "api.github.com:443", "github.com:443") },
	{ .name = "cursor-agent",
	  .state = LIST(".cursor", ".config/cursor"),
	  .login = "run 'cursor-agent login' inside; NO_OPEN_BROWSER=1 has it print an address",
	  .logins = LIST(".config/cursor/auth.json"), .flags = LIST("--force"),
	  .resume = LIST("--continue"),
	  .conversations = LIST(".cursor/chats", ".config/cursor/chats"), .task = "",
	  .keys = LIST("CURSOR_API_KEY"), .pass = LIST("NO_OPEN_BROWSER"), .set = NONE,
	  .hosts = LIST("*.cursor.sh:443", "cursor.com:443") },
	{ .name = "goose",
	  .state = LIST(".config/goose", ".local/share/goose", ".local/state/goose"),
	  .logins = LIST(".config/goose/secrets.yaml"),
	  .notes = ".config/goose/.goosehints",
	  .flags = NONE,
	  .resume = LIST("session", "--resume"),
	  .conversations = LIST(".local/share/goose/sessions"),
	  .login = "run 'goose configure' inside",
	  .keys = LIST("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"),
	  .pass = LIST("GOOSE_PROVIDER", "GOOSE_MODEL"),
	  /* no keyring is available inside */
	  .set = LIST("GOOSE_MODE=auto", "GOOSE_DISABLE_KEYRING=1"),
	  .hosts = LIST(MODEL_HOSTS) },
	{ .name = "bash", .state = NONE, .logins = NONE, .flags = NONE, .resume = NONE,
	  .keys = NONE, .pass = NONE, .set = NONE, .hosts = NONE },
};

enum member {
	COMMAND, FLAGS, RESUME, KEYS, PASS, SET, STATE, LOGINS, CONVERSATIONS, NOTES, HOSTS,
	MEMBERS
};

const char *const ga_preset_members[] = {
	[COMMAND] = "command", [FLAGS] = "flags", [RESUME] = "resume", [KEYS] = "keys",
	[PASS] = "pass", [SET] = "set", [STATE] = "state", [LOGINS] = "logins",
	[CONVERSATIONS] = "conversations", [NOTES] = "notes", [HOSTS] = "hosts", [MEMBERS] = NULL,
};

struct ga_own_preset {
	char *name;
	struct ga_strv has[MEMBERS];
	struct ga_preset preset; /* of these */
};

/* Split "NAME MEMBER: VALUE": returns VALUE, the number of the member and the length of the name.
 * NULL if the word is not of this form. */
static const char *split(const char *word, size_t *ret_name, enum member *ret)
{
	const char *value = strstr(word, ": ");
	size_t n = strcspn(word, " ");

	*ret_name = n;
	for (int m = 0; value && word[n] && m < MEMBERS; m++)
		if (word + n + 1 + strlen(ga_preset_members[m]) == value &&
		    !strncmp(word + n + 1, ga_preset_members[m], strlen(ga_preset_members[m]))) {
			*ret = (enum member)m;
			return value + 2;
		}
	return NULL;
}

/* A path relative to home, which may be written with "~/". */
static const char *below_home(const char *value)
{
	return strncmp(value, "~/", 2) ? value : value + 2;
}

static bool is_program(const char *value)
{
	return *value != '-' && (*value == '/' || !strchr(value, '/'));
}

static bool value_ok(enum member m, const char *value)
{
	if (strpbrk(value, "\n\t") || !ga_command_ok(value))
		return false;
	switch (m) {
	case COMMAND:
		return is_program(value);
	case KEYS:
	case PASS:
		return config_is_variable(value) && !strchr(value, '*');
	case SET:
		return config_is_assignment(value);
	case STATE:
	case LOGINS:
	case CONVERSATIONS:
	case NOTES:
		return ga_path_relative_ok(below_home(value));
	case HOSTS:
		return ga_net_rule_ok(value);
	case FLAGS:
	case RESUME:
	case MEMBERS:
		break;
	}
	return true;
}

bool ga_preset_word_ok(const char *word)
{
	enum member m;
	size_t n;
	const char *value = split(word, &n, &m);
	cleanup_free char *name = ga_strndup(word, n);

	return ga_service_name_ok(name) && (value ? value_ok(m, value) : !word[n]);
}

void ga_presets_release(struct ga_presets *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].name);
		for (int m = 0; m < MEMBERS; m++)
			ga_strv_release(&p->v[i].has[m]);
	}
	free(p->v);
	*p = (struct ga_presets)GA_PRESETS_INIT;
}

static struct ga_own_preset *find(const struct ga_presets *own, const char *name)
{
	for (size_t i = 0; i < own->n; i++)
		if (!strcmp(own->v[i].name, name))
			return &own->v[i];
	return NULL;
}

/* By name, or NULL; by number below own->n. */
static bool add(struct ga_presets *own, const char *word)
{
	enum member m = MEMBERS;
	size_t n;
	const char *value = split(word, &n, &m);
	cleanup_free char *name = ga_strndup(word, n);
	struct ga_own_preset *o = find(own, name);

	if (!o && own->n == GA_PRESETS_MAX)
		return false;
	if (!o) {
		GA_GROW(own->v, own->n, own->cap);
		o = &own->v[own->n++];
		*o = (struct ga_own_preset){ .name = ga_steal(&name) };
	}
	if (!value)
		return true;
	if (m == COMMAND || m == NOTES)
		ga_strv_release(&o->has[m]);
	ga_strv_push(&o->has[m], m >= STATE && m <= NOTES ? below_home(value) : value);
	return true;
}

static const char *const *list(const struct ga_own_preset *o, enum member m)
{
	static const char *const none[] = { NULL };

	return o->has[m].n ? (const char *const *)o->has[m].v : none;
}

static const char *one(const struct ga_own_preset *o, enum member m)
{
	return o->has[m].n ? o->has[m].v[0] : NULL;
}

static void fill(struct ga_own_preset *o)
{
	o->preset = (struct ga_preset){
		.name = o->name, .program = one(o, COMMAND), .flags = list(o, FLAGS),
		.resume = list(o, RESUME), .keys = list(o, KEYS),
		.pass = list(o, PASS), .set = list(o, SET), .state = list(o, STATE),
		.logins = list(o, LOGINS), .conversations = list(o, CONVERSATIONS),
		.notes = one(o, NOTES),
		.hosts = list(o, HOSTS),
		.login = "log in inside",
	};
}

bool ga_presets_parse(const struct ga_strv *words, struct ga_presets *ret)
{
	for (size_t i = 0; i < words->n; i++)
		if (!add(ret, words->v[i]))
			return false;
	for (size_t i = 0; i < ret->n; i++)
		fill(&ret->v[i]);
	return true;
}

/* ---- look-up */

/* The preset of this name in the table. */
static const struct ga_preset *find_built_in(const char *name)
{
	for (size_t i = 0; i < GA_NELEMS(presets); i++)
		if (!strcmp(presets[i].name, name))
			return &presets[i];
	return NULL;
}

const struct ga_preset *ga_preset_find(const struct ga_presets *own, const char *command)
{
	const struct ga_own_preset *o = own ? find(own, command) : NULL;

	return o ? &o->preset : find_built_in(command);
}

const struct ga_preset *ga_preset_at(const struct ga_presets *own, size_t i)
{
	if (i < GA_NELEMS(presets))
		return ga_preset_find(own, presets[i].name);
	i -= GA_NELEMS(presets);
	for (size_t k = 0; own && k < own->n; k++) {
		const struct ga_preset *p = &own->v[k].preset;

		/* skip one that replaced a built-in preset */
		if (!find_built_in(p->name) && !i--)
			return p;
	}
	return NULL;
}

const char *ga_preset_program(const struct ga_preset *p)
{
	return p->program ? p->program : p->name;
}
