/* SPDX-License-Identifier: MIT
 *
 * The table of the terminal filter, and matching its rows. docs/terminal.md lists them.
 */
#include <string.h>

#include "ga/base/alloc.h"
#include "run/termfilter-internal.h"

/* clang-format off */
static const struct ga_termrule rules[] = {
	{ GA_TERM_CONTROL, "answerback", GA_TERM_DROP,
	  "makes the terminal type its answerback", "\005", .lo = 5, .hi = 5 },
	{ GA_TERM_CONTROL, "file-transfer", GA_TERM_DROP,
	  "some terminals start to receive a file (ZMODEM); there is nothing to cancel",
	  "\030", .lo = 0x18, .hi = 0x18 },
	{ GA_TERM_CONTROL, "control", GA_TERM_PASS,
	  "changes the screen only", "\r\n\t\b\a", .mark = NULL },

	{ GA_TERM_C1, "8-bit", GA_TERM_REPLACE,
	  "begins a sequence in some terminals, and is a wrong character in the others",
	  "\x9b", .finals = "\x90\x98\x9b\x9d\x9e\x9f" },
	{ GA_TERM_C1, "device", GA_TERM_ASK, "asks what the terminal is: numbers", "\xc2\x9a",
	  .finals = "\x9a" },
	{ GA_TERM_C1, "c1", GA_TERM_PASS, "changes the screen only", "\x85", .mark = NULL },

	{ GA_TERM_ESC, "utf-8", GA_TERM_PASS, "selects UTF-8, the default", "\033%G",
	  .inter = "%", .finals = "G" },
	{ GA_TERM_ESC, "encoding", GA_TERM_DROP,
	  "changes the encoding: other bytes would begin a sequence", "\033%@", .inter = "%" },
	{ GA_TERM_ESC, "8-bit-answers", GA_TERM_DROP,
	  "keys would send sequences that shells do not read", "\033 G",
	  .inter = " ", .finals = "G" },
	{ GA_TERM_ESC, "message", GA_TERM_DROP,
	  "begins a message of screen's, outside the window", "\033!a", .inter = "!" },
	{ GA_TERM_ESC, "terminology", GA_TERM_DROP,
	  "begins a command of Terminology, which may concern files", "\033}",
	  .inter = "", .finals = "}" },
	{ GA_TERM_ESC, "string-end", GA_TERM_DROP,
	  "ends a string that was not begun", "\033\\", .inter = "", .finals = "\\" },
	{ GA_TERM_ESC, "device", GA_TERM_ASK, "asks what the terminal is: numbers", "\033Z",
	  .inter = "", .finals = "Z" },
	{ GA_TERM_ESC, "escape", GA_TERM_PASS, "changes the screen and keys only", "\033M",
	  .mark = NULL },

	{ GA_TERM_CSI, "title-report", GA_TERM_DROP,
	  "makes the terminal type the title, which the program chose", "\033[21t",
	  .mark = "", .inter = "", .finals = "t", .cond = GA_TERM_SOME, .lo = 20, .hi = 21 },
	{ GA_TERM_CSI, "window-size", GA_TERM_ASK,
	  "asks for state, position and size of the window: numbers", "\033[14;2t",
	  .mark = "", .inter = "", .finals = "t", .cond = GA_TERM_FIRST, .lo = 11, .hi = 16 },
	{ GA_TERM_CSI, "window-size", GA_TERM_ASK,
	  "asks for state, position and size of the window: numbers", "\033[18t",
	  .mark = "", .inter = "", .finals = "t", .cond = GA_TERM_FIRST, .lo = 18, .hi = 19 },
	{ GA_TERM_CSI, "title-stack", GA_TERM_PASS,
	  "saves and restores the title", "\033[22;0;0t",
	  .mark = "", .inter = "", .finals = "t", .cond = GA_TERM_FIRST, .lo = 22, .hi = 23 },
	{ GA_TERM_CSI, "window", GA_TERM_DROP,
	  "moves, resizes, hides or raises the window, or reads what it shows", "\033[3;0;0t",
	  .inter = "", .finals = "t" },
	{ GA_TERM_CSI, "print", GA_TERM_DROP,
	  "prints the screen, or all further output", "\033[5i",
	  .inter = "", .finals = "i" },
	{ GA_TERM_CSI, "screen-checksum", GA_TERM_DROP,
	  "reads the screen by checksums, including output from before the session",
	  "\033[1;1;1;1;1;1*y", .inter = "*", .finals = "y" },
	{ GA_TERM_CSI, "screen-rendition", GA_TERM_DROP,
	  "reads attributes of the screen, including output from before the session",
	  "\033[1;1;2;2#|",
	  .inter = "#", .finals = "|" },
	{ GA_TERM_CSI, "state-report", GA_TERM_DROP,
	  "makes the terminal type a state that the program can shape", "\033[1$w",
	  .inter = "$", .finals = "uw" },
	{ GA_TERM_CSI, "macro", GA_TERM_DROP,
	  "runs sequences that were stored in the terminal", "\033[1*z",
	  .inter = "*", .finals = "z" },
	{ GA_TERM_CSI, "vt52", GA_TERM_DROP,
	  "switches to VT52: other bytes would be a sequence", "\033[?2l",
	  .mark = "?", .inter = "", .finals = "l", .cond = GA_TERM_SOME, .lo = 2, .hi = 2 },
	{ GA_TERM_CSI, "tektronix", GA_TERM_DROP,
	  "opens a window in which other bytes are a sequence", "\033[?38h",
	  .mark = "?", .inter = "", .finals = "h", .cond = GA_TERM_SOME, .lo = 38, .hi = 38 },
	{ GA_TERM_CSI, "clipboard", GA_TERM_DROP,
	  "makes a paste offer the clipboard", "\033[?5522h",
	  .mark = "?", .inter = "", .finals = "h", .cond = GA_TERM_SOME, .lo = 5522, .hi = 5522 },
	{ GA_TERM_CSI, "keyboard-lock", GA_TERM_DROP,
	  "locks the keyboard: the program could not be ended", "\033[2h",
	  .mark = "", .inter = "", .finals = "h", .cond = GA_TERM_SOME, .lo = 2, .hi = 2 },
	{ GA_TERM_CSI, "console", GA_TERM_DROP,
	  "switches to another Linux console, or sets the bell and power saving of all of them",
	  "\033[12;2]", .inter = "", .finals = "]" },
	{ GA_TERM_CSI, "device", GA_TERM_ASK, "asks what the terminal is: numbers", "\033[c",
	  .mark = "", .inter = "", .finals = "c" },
	{ GA_TERM_CSI, "device", GA_TERM_ASK, "asks what the terminal is: numbers", "\033[>0c",
	  .mark = ">=", .inter = "", .finals = "c" },
	{ GA_TERM_CSI, "version", GA_TERM_ASK, "asks for the terminal's name", "\033[>0q",
	  .mark = ">", .inter = "", .finals = "q" },
	{ GA_TERM_CSI, "status", GA_TERM_ASK,
	  "asks for state or the cursor's position: numbers", "\033[6n",
	  .mark = "", .inter = "", .finals = "n" },
	{ GA_TERM_CSI, "status", GA_TERM_ASK,
	  "asks for state or the cursor's position: numbers", "\033[?996n",
	  .mark = "?", .inter = "", .finals = "n" },
	{ GA_TERM_CSI, "mode-report", GA_TERM_ASK, "asks whether a mode is on: numbers",
	  "\033[?2026$p", .inter = "$", .finals = "p" },
	{ GA_TERM_CSI, "keyboard-report", GA_TERM_ASK, "asks for modes of the keyboard: numbers",
	  "\033[?u", .mark = "?", .inter = "", .finals = "um" },
	{ GA_TERM_CSI, "report", GA_TERM_ASK, "asks for sizes or line settings: numbers",
	  "\033[?2;1S", .mark = "?", .inter = "", .finals = "S" },
	{ GA_TERM_CSI, "report", GA_TERM_ASK, "asks for sizes or line settings: numbers",
	  "\033[x", .mark = "", .inter = "", .finals = "x" },
	{ GA_TERM_CSI, "report", GA_TERM_ASK, "asks for sizes or line settings: numbers",
	  "\033[?2048h", .mark = "?", .inter = "", .finals = "h", .cond = GA_TERM_SOME,
	  .lo = 2048, .hi = 2048 },
	{ GA_TERM_CSI, "report", GA_TERM_ASK, "asks for extent, palette, a key or the locator",
	  "\033[\"v", .inter = "\"", .finals = "v" },
	{ GA_TERM_CSI, "report", GA_TERM_ASK, "asks for extent, palette, a key or the locator",
	  "\033[#R", .inter = "#", .finals = "R" },
	{ GA_TERM_CSI, "report", GA_TERM_ASK, "asks for extent, palette, a key or the locator",
	  "\033[1+x", .inter = "+", .finals = "x" },
	{ GA_TERM_CSI, "report", GA_TERM_ASK, "asks for extent, palette, a key or the locator",
	  "\033[1'|", .inter = "'", .finals = "|" },
	{ GA_TERM_CSI, "report", GA_TERM_ASK, "asks for the character set",
	  "\033[&u", .inter = "&", .finals = "u" },
	{ GA_TERM_CSI, "csi", GA_TERM_PASS, "changes the screen and keys only",
	  "\033[38;2;1;2;3m", .mark = NULL },

	{ GA_TERM_OSC, "title", GA_TERM_PASS, "sets the title of the window", "\033]0;a title\a",
	  .lo = 0, .hi = 2, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "background-file", GA_TERM_DROP,
	  "shows a file of the host", "\033]11;*/etc/passwd\a",
	  .lo = 10, .hi = 19, .cond = GA_TERM_SOME, .first = "_*%+=" },
	{ GA_TERM_OSC, "colours", GA_TERM_PASS,
	  "sets colours or asks for them: numbers", "\033]4;1;?\a",
	  .lo = 4, .hi = 5, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "colours", GA_TERM_PASS,
	  "sets colours or asks for them: numbers", "\033]11;?\033\\",
	  .lo = 10, .hi = 19, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "colours", GA_TERM_PASS, "resets colours", "\033]104\a",
	  .lo = 104, .hi = 105, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "colours", GA_TERM_PASS, "resets colours", "\033]112\a",
	  .lo = 110, .hi = 119, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "link", GA_TERM_PASS, "marks text as a link",
	  "\033]8;;https://example.org/\033\\", .lo = 8, .hi = 8, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "progress", GA_TERM_PASS, "shows progress", "\033]9;4;1;50\a",
	  .lo = 9, .hi = 9, .cond = GA_TERM_SOME, .prefix = "4;" },
	{ GA_TERM_OSC, "pointer", GA_TERM_PASS, "sets the shape of the pointer",
	  "\033]22;text\033\\", .lo = 22, .hi = 22, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "text-size", GA_TERM_PASS, "writes text of another size",
	  "\033]66;s=2;text\a", .lo = 66, .hi = 66, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "prompt-mark", GA_TERM_PASS, "marks where prompts and output are",
	  "\033]133;A\033\\", .lo = 133, .hi = 133, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "clipboard", GA_TERM_DROP, "reads and writes the clipboard",
	  "\033]52;c;Y3VybA==\a", .lo = 52, .hi = 52, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "clipboard", GA_TERM_DROP, "reads and writes the clipboard",
	  "\033]5522;type=read;Lg==\033\\", .lo = 5522, .hi = 5522, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "directory", GA_TERM_DROP,
	  "sets the directory in which new windows start", "\033]7;file:///tmp\033\\",
	  .lo = 6, .hi = 7, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "notification", GA_TERM_DROP,
	  "shows something outside the window; in one terminal runs programs",
	  "\033]9;done\a", .lo = 9, .hi = 9, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "notification", GA_TERM_DROP,
	  "shows a notification, and answers with text that the program chose",
	  "\033]99;i=1;done\033\\", .lo = 99, .hi = 99, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "notification", GA_TERM_DROP,
	  "shows a notification, or runs an extension of the terminal",
	  "\033]777;notify;a;b\a", .lo = 777, .hi = 777, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "font", GA_TERM_DROP,
	  "asks for the font, whose name the program can set; in one terminal changes its profile",
	  "\033]50;?\a", .lo = 50, .hi = 50, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "editor", GA_TERM_DROP,
	  "calls functions of the editor in whose window it runs", "\033]51;E(message \"a\")\033\\",
	  .lo = 51, .hi = 51, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "editor", GA_TERM_DROP,
	  "tells the editor a command, and where, to run it again", "\033]633;E;ls\a",
	  .lo = 633, .hi = 633, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "iterm", GA_TERM_DROP,
	  "transfers files, sets the clipboard and much else", "\033]1337;File=:YQ==\a",
	  .lo = 1337, .hi = 1337, .cond = GA_TERM_SOME },
	{ GA_TERM_OSC, "osc", GA_TERM_DROP,
	  "an extension of some terminal; its effect is unknown", "\033]83;exec ls\033\\",
	  .mark = NULL },

	{ GA_TERM_DCS, "sixel", GA_TERM_PASS, "draws a picture", "\033P0;1q\"1;1;1;6#0~\r\n-\033\\",
	  .mark = "", .inter = "", .finals = "q" },
	{ GA_TERM_DCS, "synchronize", GA_TERM_PASS, "draws a screen at once", "\033P=1s\033\\",
	  .mark = "=", .inter = "", .finals = "s" },
	{ GA_TERM_DCS, "setting-report", GA_TERM_DROP,
	  "makes the terminal type a setting, or the question itself", "\033P$qm\033\\",
	  .mark = "", .inter = "$", .finals = "q" },
	{ GA_TERM_DCS, "capability-report", GA_TERM_DROP,
	  "makes the terminal type the names it was asked for", "\033P+q544e\033\\",
	  .mark = "", .inter = "+", .finals = "q" },
	{ GA_TERM_DCS, "function-keys", GA_TERM_DROP,
	  "sets what keys type", "\033P0;1|17/41\033\\", .inter = "", .finals = "|" },
	{ GA_TERM_DCS, "macro", GA_TERM_DROP,
	  "stores sequences in the terminal", "\033P1;0;1!z41\033\\", .inter = "!", .finals = "z" },
	{ GA_TERM_DCS, "font", GA_TERM_DROP,
	  "changes what characters look like", "\033P1;1;1{ @????\033\\",
	  .inter = "", .finals = "{" },
	{ GA_TERM_DCS, "tmux-control", GA_TERM_DROP,
	  "turns further output into commands to the terminal", "\033P1000p\033\\",
	  .inter = "", .finals = "p" },
	{ GA_TERM_DCS, "kitty-command", GA_TERM_DROP,
	  "controls the terminal, copies files, reads passwords",
	  "\033P@kitty-cmd{\"cmd\":\"ls\"}\033\\", .inter = "", .finals = "@" },
	{ GA_TERM_DCS, "passthrough", GA_TERM_DROP,
	  "goes past tmux to the terminal around it", "\033Ptmux;\033\033]52;c;YQ==\a\033\\",
	  .inter = "", .finals = "t" },
	{ GA_TERM_DCS, "dcs", GA_TERM_DROP,
	  "an extension of some terminal; screen passes all of them on", "\033Pa\033\\",
	  .mark = NULL },

	{ GA_TERM_APC, "graphics-file", GA_TERM_DROP,
	  "reads, and may delete, a file of the host", "\033_Ga=T,t=f;L2V0Yy9wYXNzd2Q=\033\\",
	  .prefix = "G", .cond = GA_TERM_FILE },
	{ GA_TERM_APC, "graphics", GA_TERM_ASK, "draws a picture, and reports whether it could",
	  "\033_Ga=T,f=24,s=1,v=1;AAAA\033\\",
	  .prefix = "G" },
	{ GA_TERM_APC, "apc", GA_TERM_DROP,
	  "runs commands in some programs", "\033_title\033\\", .mark = NULL },
	{ GA_TERM_PM, "pm", GA_TERM_DROP, "a message outside the window in screen", "\033^a\033\\",
	  .mark = NULL },
	{ GA_TERM_SOS, "sos", GA_TERM_DROP, "shown by no terminal", "\033Xa\033\\", .mark = NULL },
	{ GA_TERM_TITLE, "title", GA_TERM_PASS, "sets the title, in screen and tmux",
	  "\033ka title\033\\", .mark = NULL },
};
/* clang-format on */

const struct ga_termrule *ga_termfilter_rules(size_t *ret_n)
{
	*ret_n = GA_NELEMS(rules);
	return rules;
}

/* The next row of a kind; `r` NULL: the first. Rows are grouped by kind. */
static const struct ga_termrule *next_rule(enum ga_termkind kind, const struct ga_termrule *r)
{
	const struct ga_termrule *end = rules + GA_NELEMS(rules);

	for (r = r ? r + 1 : rules; r < end && r->kind < kind; r++)
		;
	return r < end && r->kind == kind ? r : NULL;
}

bool term_param(const struct term_seq *s, size_t *at, uint16_t *ret)
{
	uint32_t n = 0;

	/* an empty parameter exists if a separator precedes or follows it */
	if (!s->params_n || *at > s->params_n)
		return false;
	for (; *at < s->params_n && s->params[*at] >= '0' && s->params[*at] <= '9'; (*at)++)
		if (n < UINT16_MAX)
			n = n * 10 + (uint32_t)(s->params[*at] - '0');
	(*at)++;
	*ret = n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
	return true;
}

static bool among(const char *set, char c)
{
	if (!set)
		return true;
	while (*set && *set != c)
		set++;
	return *set && c;
}

enum ga_termverdict term_judge_byte(enum ga_termkind kind, unsigned char c)
{
	const struct ga_termrule *r = NULL;

	while ((r = next_rule(kind, r)))
		if ((!r->hi || (c >= r->lo && c <= r->hi)) && among(r->finals, (char)c))
			return r->verdict;
	return GA_TERM_DROP;
}

static bool between(const struct ga_termrule *r, const struct term_seq *s)
{
	return !r->inter || (strlen(r->inter) == s->inter_n &&
			     !memcmp(r->inter, s->inter, s->inter_n));
}

static bool marked(const struct ga_termrule *r, const struct term_seq *s)
{
	return !r->mark || (s->mark ? strchr(r->mark, s->mark) != NULL : !*r->mark);
}

static bool in_range(const struct ga_termrule *r, uint16_t n)
{
	/* a terminal with a smaller limit could take a larger number for any other */
	return (n >= r->lo && n <= r->hi) || (r->cond == GA_TERM_SOME && n == UINT16_MAX);
}

static bool parameters_fit(const struct ga_termrule *r, const struct term_seq *s)
{
	size_t at = 0, i = 0;
	bool fits = r->cond == GA_TERM_FIRST;
	uint16_t n;

	if (r->cond == GA_TERM_ALWAYS)
		return true;
	for (; term_param(s, &at, &n); i++) {
		if (r->cond == GA_TERM_SOME)
			fits = fits || in_range(r, n);
		else
			fits = fits && (i ? n <= 2 : in_range(r, n));
	}
	return fits && i && (r->cond == GA_TERM_SOME || !memchr(s->params, ':', s->params_n));
}

enum ga_termverdict term_judge(enum ga_termkind kind, const struct term_seq *s)
{
	const struct ga_termrule *r = NULL;

	while ((r = next_rule(kind, r))) {
		if (among(r->finals, s->final) && between(r, s) && marked(r, s) &&
		    parameters_fit(r, s))
			return r->verdict;
	}
	return GA_TERM_DROP;
}

/* Does a text that begins with these bytes begin with `prefix`? Returns 1, 0, or -1: not known
 * yet. */
static int begins(const char *prefix, const char *text, size_t n, bool ended)
{
	size_t k = strlen(prefix);

	if (memcmp(prefix, text, n < k ? n : k) != 0)
		return 0;
	return n >= k ? 1 : ended ? 0 : -1;
}

bool term_notifies(uint32_t number)
{
	const struct ga_termrule *r = NULL;

	while ((r = next_rule(GA_TERM_OSC, r)))
		if (!strcmp(r->name, "notification") && number >= r->lo && number <= r->hi)
			return true;
	return false;
}

enum ga_termverdict term_judge_osc(const char *text, size_t n, bool ended, uint32_t *ret_number)
{
	const struct ga_termrule *r = NULL;
	size_t d = 0;
	uint32_t number = 0;

	for (; d < n && text[d] >= '0' && text[d] <= '9'; d++)
		if (number < 65536)
			number = number * 10 + (uint32_t)(text[d] - '0');
	if (d == n && !ended)
		return GA_TERM_MORE;
	/* an OSC without a number, or with more than a number before the ';', is an extension */
	if (!d || (d < n && text[d] != ';'))
		number = UINT32_MAX;
	d += d < n;
	while ((r = next_rule(GA_TERM_OSC, r))) {
		if (r->cond == GA_TERM_SOME && (number < r->lo || number > r->hi))
			continue;
		*ret_number = number;
		if (r->first && d == n && !ended)
			return GA_TERM_MORE;
		if (r->first && (d == n || !strchr(r->first, text[d])))
			continue;
		if (r->prefix) {
			int b = begins(r->prefix, text + d, n - d, ended);

			if (b < 0)
				return GA_TERM_MORE;
			if (!b)
				continue;
		}
		return r->verdict;
	}
	return GA_TERM_DROP;
}

/* Parse the keys, of one letter each, with their values: does one say that the data is in a
 * file? */
static bool names_file(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && text[i] != ';') {
		char key = text[i++], first;
		size_t start;

		if ((key | 32) < 'a' || (key | 32) > 'z' || i == n || text[i++] != '=')
			return true;
		for (start = i; i < n && text[i] != ';' && text[i] != ','; i++)
			;
		first = i > start ? text[start] : '\0';
		if (key == 't' && (first != 'd' || i != start + 1))
			return true;
		if (i < n && text[i] == ',')
			i++;
	}
	return false;
}

enum ga_termverdict term_judge_text(enum ga_termkind kind, const char *text, size_t n, bool ended)
{
	const struct ga_termrule *r = NULL;

	while ((r = next_rule(kind, r))) {
		int b = r->prefix ? begins(r->prefix, text, n, ended) : 1;

		if (b < 0)
			return GA_TERM_MORE;
		if (!b)
			continue;
		if (r->cond == GA_TERM_FILE) {
			if (!ended && !memchr(text, ';', n))
				return GA_TERM_MORE;
			if (!names_file(text + 1, n - 1))
				continue;
		}
		return r->verdict;
	}
	return GA_TERM_DROP;
}
