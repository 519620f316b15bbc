/* SPDX-License-Identifier: MIT */
#include "ga/preset.h"

#include <string.h>

#define LIST(...) (const char *const[]){ __VA_ARGS__, NULL }
#define NONE (const char *const[]){ NULL }

/* Inside, the sandbox is what keeps the agent in; its own questions before
 * every command would only stop it from working alone. Claude Code refuses that
 * flag as root unless IS_SANDBOX says where it runs. */
static const struct ga_preset presets[] = {
	{ .name = "claude",
	  .flags = LIST("--dangerously-skip-permissions"),
	  .resume = LIST("--continue"), .resume_args = true,
	  .pass = LIST("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL",
		       "ANTHROPIC_MODEL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK",
		       "CLAUDE_CODE_USE_VERTEX"),
	  .set = LIST("IS_SANDBOX=1", "DISABLE_AUTOUPDATER=1") },
	{ .name = "codex",
	  .flags = LIST("--dangerously-bypass-approvals-and-sandbox"),
	  .resume = LIST("resume", "--last"),
	  .pass = LIST("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY"), .set = NONE },
	{ .name = "opencode", .flags = NONE,
	  .resume = LIST("--continue"),
	  .pass = LIST("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY",
		       "GEMINI_API_KEY"),
	  .set = NONE },
	/* a word behind it would be taken for which conversation: flags follow */
	{ .name = "gemini", .flags = LIST("--yolo"),
	  .resume = LIST("--resume"), .resume_args = true,
	  .pass = LIST("GEMINI_API_KEY", "GOOGLE_API_KEY"), .set = NONE },
	{ .name = "aider", .flags = LIST("--yes-always"),
	  .resume = LIST("--restore-chat-history"), .resume_args = true,
	  .pass = LIST("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY",
		       "OPENROUTER_API_KEY"),
	  .set = NONE },
	{ .name = "copilot", .flags = LIST("--allow-all-tools"),
	  .resume = LIST("--continue"), .resume_args = true,
	  .pass = LIST("COPILOT_GITHUB_TOKEN"), .set = NONE },
	{ .name = "cursor-agent", .flags = LIST("--force"), .resume = NONE,
	  .pass = LIST("CURSOR_API_KEY"), .set = NONE },
	{ .name = "goose", .flags = NONE,
	  .resume = LIST("session", "--resume"),
	  .pass = LIST("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOSE_PROVIDER", "GOOSE_MODEL"),
	  .set = LIST("GOOSE_MODE=auto") },
	{ .name = "bash", .flags = NONE, .resume = NONE, .pass = NONE, .set = NONE },
};

const struct ga_preset *ga_preset_find(const char *command)
{
	for (size_t i = 0; i < GA_NELEMS(presets); i++)
		if (!strcmp(presets[i].name, command))
			return &presets[i];
	return NULL;
}
