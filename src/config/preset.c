/* SPDX-License-Identifier: MIT */
#include "ga/preset.h"

#include <string.h>

#define LIST(...) (const char *const[]){ __VA_ARGS__, NULL }
#define NONE (const char *const[]){ NULL }

/* Inside, the sandbox is what keeps the agent in; its own questions before
 * every command would only stop it from working alone. Claude Code refuses that
 * flag as root unless IS_SANDBOX says where it runs. */
static const struct ga_preset presets[] = {
	{ "claude", LIST("--dangerously-skip-permissions"),
	  LIST("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL",
	       "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"),
	  LIST("IS_SANDBOX=1", "DISABLE_AUTOUPDATER=1") },
	{ "codex", LIST("--dangerously-bypass-approvals-and-sandbox"),
	  LIST("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY"), NONE },
	{ "opencode", NONE,
	  LIST("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"),
	  NONE },
	{ "gemini", LIST("--yolo"), LIST("GEMINI_API_KEY", "GOOGLE_API_KEY"), NONE },
	{ "aider", LIST("--yes-always"),
	  LIST("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
	  NONE },
	{ "copilot", LIST("--allow-all-tools"), LIST("COPILOT_GITHUB_TOKEN"), NONE },
	{ "cursor-agent", LIST("--force"), LIST("CURSOR_API_KEY"), NONE },
	{ "goose", NONE,
	  LIST("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOSE_PROVIDER", "GOOSE_MODEL"),
	  LIST("GOOSE_MODE=auto") },
	{ "bash", NONE, NONE, NONE },
};

const struct ga_preset *ga_preset_find(const char *command)
{
	for (size_t i = 0; i < GA_NELEMS(presets); i++)
		if (!strcmp(presets[i].name, command))
			return &presets[i];
	return NULL;
}
