/* SPDX-License-Identifier: MIT */
#include "ga/preset.h"

#include <string.h>

#define LIST(...) (const char *const[]){ __VA_ARGS__, NULL }
#define NONE (const char *const[]){ NULL }

/* Inside, the sandbox is what keeps the agent in; its own questions before
 * every command would only stop it from working alone. Claude Code refuses that
 * flag as root unless IS_SANDBOX says where it runs, which it does to every command. */
static const struct ga_preset presets[] = {
	{ .name = "claude",
	  .state = LIST(".claude", ".claude.json", ".cache/claude-cli-nodejs"),
	  .logins = LIST(".claude/.credentials.json"), .notes = ".claude/CLAUDE.md",
	  .flags = LIST("--dangerously-skip-permissions"),
	  .resume = LIST("--continue"), .resume_args = true,
	  .pass = LIST("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL",
		       "ANTHROPIC_MODEL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK",
		       "CLAUDE_CODE_USE_VERTEX"),
	  .set = LIST("DISABLE_AUTOUPDATER=1") },
	{ .name = "codex",
	  .state = LIST(".codex"),
	  .logins = LIST(".codex/auth.json"), .notes = ".codex/AGENTS.md",
	  .flags = LIST("--dangerously-bypass-approvals-and-sandbox"),
	  .resume = LIST("resume", "--last"),
	  .pass = LIST("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY"), .set = NONE },
	{ .name = "opencode",
	  .state = LIST(".config/opencode", ".local/share/opencode", ".local/state/opencode",
			".cache/opencode"),
	  .logins = LIST(".local/share/opencode/auth.json"),
	  .notes = ".config/opencode/AGENTS.md",
	  .flags = NONE,
	  .resume = LIST("--continue"),
	  .pass = LIST("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY",
		       "GEMINI_API_KEY"),
	  .set = NONE },
	/* a word behind it would be taken for which conversation: flags follow */
	{ .name = "gemini",
	  .state = LIST(".gemini"),
	  .logins = LIST(".gemini/oauth_creds.json", ".gemini/google_accounts.json"),
	  .notes = ".gemini/GEMINI.md",
	  .flags = LIST("--yolo"),
	  .resume = LIST("--resume"), .resume_args = true,
	  .pass = LIST("GEMINI_API_KEY", "GOOGLE_API_KEY"), .set = NONE },
	{ .name = "aider",
	  .state = LIST(".aider", ".aider.conf.yml"),
	  .logins = NONE, .flags = LIST("--yes-always"),
	  .resume = LIST("--restore-chat-history"), .resume_args = true,
	  .pass = LIST("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY",
		       "OPENROUTER_API_KEY"),
	  .set = NONE },
	{ .name = "copilot",
	  .state = LIST(".copilot", ".config/github-copilot"),
	  .logins = NONE, .notes = ".copilot/copilot-instructions.md",
	  .flags = LIST("--allow-all-tools"),
	  .resume = LIST("--continue"), .resume_args = true,
	  .pass = LIST("COPILOT_GITHUB_TOKEN"), .set = NONE },
	{ .name = "cursor-agent",
	  .state = LIST(".cursor", ".config/cursor"),
	  .logins = LIST(".config/cursor/auth.json"), .flags = LIST("--force"), .resume = NONE,
	  .pass = LIST("CURSOR_API_KEY"), .set = NONE },
	{ .name = "goose",
	  .state = LIST(".config/goose", ".local/share/goose", ".local/state/goose"),
	  .logins = LIST(".config/goose/secrets.yaml"),
	  .notes = ".config/goose/.goosehints",
	  .flags = NONE,
	  .resume = LIST("session", "--resume"),
	  .pass = LIST("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOSE_PROVIDER", "GOOSE_MODEL"),
	  .set = LIST("GOOSE_MODE=auto") },
	{ .name = "bash", .state = NONE, .logins = NONE, .flags = NONE, .resume = NONE,
	  .pass = NONE, .set = NONE },
};

const struct ga_preset *ga_preset_find(const char *command)
{
	for (size_t i = 0; i < GA_NELEMS(presets); i++)
		if (!strcmp(presets[i].name, command))
			return &presets[i];
	return NULL;
}

const struct ga_preset *ga_preset_at(size_t i)
{
	return i < GA_NELEMS(presets) ? &presets[i] : NULL;
}
