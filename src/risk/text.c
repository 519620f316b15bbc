/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <ctype.h>
#include <string.h>

#include "ga/quote.h"
#include "secret-internal.h"

enum { TOKEN_MAX = 64, RUN_LOOKED_AT = 256, JOINED_LINES = 8, JOINED_MAX = 8192 };

/* ---- characters ------------------------------------------------------------ */

static bool is_bidi(uint32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
	       c == 0x200f || c == 0x61c;
}

static bool is_hidden(uint32_t c)
{
	return (c >= 0xe0000 && c <= 0xe007f) || (c >= 0xe0100 && c <= 0xe01ef) || c == 0x200b ||
	       (c >= 0x2060 && c <= 0x2064) || c == 0xad || c == 0x180e || c == 0xfeff ||
	       c == 0x3164 || c == 0xffa0 || (c >= 0xfe00 && c <= 0xfe0e);
}

/* Joiners shape letters of some scripts, and emoji; next to ASCII they have no use but to hide. */
static bool is_stray_joiner(uint32_t c, uint32_t before, const char *next)
{
	return (c == 0x200c || c == 0x200d) &&
	       ((before > ' ' && before < 0x7f) || (*next > ' ' && *next < 0x7f));
}

static bool redraws(uint32_t c, const char *next)
{
	return c == 0x1b || c == 0x07 || c == 0x08 || (c >= 0x80 && c <= 0x9f) ||
	       (c == '\r' && *next != '\n' && *next);
}

static bool in_token(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

/* Is the word around byte `at` Latin, except for letters that only look Latin? `*ret_end` is where
 * the word ends, or the part of it that is looked at. */
static bool disguised(const char *s, size_t n, size_t at, size_t *ret_end)
{
	size_t from = at, to = at, len;
	bool latin = false;
	uint32_t c;

	while (from && at - from < TOKEN_MAX && in_token(s[from - 1]))
		from--;
	while (to < n && to - at < TOKEN_MAX && in_token(s[to]))
		to++;
	*ret_end = to;
	for (size_t i = from; i < to; i += len) {
		len = ga_utf8_decode(s + i, to - i, &c);
		if (!len) /* cut in two by the limit */
			return false;
		latin |= isalpha((unsigned char)s[i]) != 0;
		if (len > 1 && !ga_lookalike(c))
			return false;
	}
	return latin;
}

void ga_text_characters(struct ga_look *k, const struct ga_buf *added)
{
	bool mixed = false;
	size_t looked = 0;
	uint32_t c, before = 0, bidi = 0, hidden = 0, control = 0;
	const char *s = added->ptr;

	for (size_t i = 0, len; i < added->len; i += len, before = c) {
		c = (unsigned char)s[i];
		len = 1;
		if (c >= ' ' && c < 0x7f)
			continue; /* nearly all there is */
		len = ga_utf8_decode(s + i, added->len - i, &c);
		if (!len) {
			len = 1;
			c = 0;
			continue;
		}
		if (!bidi && is_bidi(c))
			bidi = c;
		if (!hidden && (is_hidden(c) || is_stray_joiner(c, before, s + i + len)))
			hidden = c;
		if (!control && redraws(c, s + i + len))
			control = c;
		if (!mixed && i >= looked && len > 1 && ga_lookalike(c))
			mixed = disguised(s, added->len, i, &looked);
	}
	if (mixed)
		ga_look_fire(k, "homoglyph-identifier", NULL);
	if (bidi)
		ga_look_fire(k, "bidi-controls", ga_strf("U+%04X", (unsigned)bidi));
	if (hidden)
		ga_look_fire(k, "invisible-chars", ga_strf("U+%04X", (unsigned)hidden));
	if (control)
		ga_look_fire(k, "control-escape", ga_strf("U+%04X", (unsigned)control));
}

/* ---- lines ------------------------------------------------------------------- */

static const char *const download_sources[] = { "curl", "wget", "fetch", "iwr",
						"invoke-webrequest", "base64", "xxd", "openssl" };
static const char *const loaders[] = {
	"/dev/tcp/", "/dev/udp/", "mshta ", "certutil -decode", "certutil.exe -decode",
	"downloadstring(", "eval \"$(curl", "eval \"$(wget", "eval $(curl", "eval $(wget",
	"eval `curl", "eval `wget", "eval \"`curl", "eval \"`wget", "<<< \"$(curl",
	"<<< \"$(wget", "<<<\"$(curl", "<<<\"$(wget", "<<< $(curl", "<<< $(wget",
	"-c \"$(curl", "-c \"$(wget", "-c '$(curl", "<(curl", "<(wget", "exec(base64", "eval(atob(",
	"exec(__import__(", "exec(requests.get", "exec(urllib", "frombase64string(",
};
static const char *const collectors[] = {
	"webhook.site", ".ngrok.", "ngrok-free.", "requestbin", ".oast.", "oastify.com",
	"discord.com/api/webhooks", "discordapp.com/api/webhooks", "hooks.slack.com/",
	"api.telegram.org/bot", "169.254.169.254", "metadata.google.internal", "pipedream.net",
	"burpcollaborator", "interact.sh", "transfer.sh", "pastebin.com/raw",
};
static const char *const weakeners[] = {
	"--no-verify", "stricthostkeychecking no", "stricthostkeychecking=no", "verify=false",
	"git_ssl_no_verify", "# nosec", "# noqa", "eslint-disable", "pytest.mark.skip", "it.skip(",
	"describe.skip(", "test.skip(", "t.skip(", "ignore-scripts=false", "@ts-nocheck",
	"node_tls_reject_unauthorized", "#[ignore]",
};
static const char *const plugin_keys[] = { "\"plugins\"", "\"extends\"", "node_modules" };
static const char *const other_marks[] = { "://", "<<<<<<< ", ">>>>>>> ", "//go:generate", "#cgo" };

static unsigned lowered(char c)
{
	return (unsigned char)ga_lower(c);
}

/* A set of the first three bytes of the words above, by a hash of them in lower case. Most lines
 * have none of these, and need no closer look. */
struct ga_sieve {
	unsigned char bits[1 << 11];
};

static unsigned sieve_hash(unsigned a, unsigned b, unsigned c)
{
	return (a * 2654435761u ^ b * 40503u ^ c * 7919u) >> 3 & ((1u << 14) - 1);
}

static void sieve_add(struct ga_sieve *s, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned h = sieve_hash(lowered(words[i][0]), lowered(words[i][1]),
					lowered(words[i][2]));

		s->bits[h >> 3] |= (unsigned char)(1u << (h & 7));
	}
}
#define SIEVE_ADD(s, words) sieve_add((s), (words), GA_NELEMS(words))

static void sieve_fill(struct ga_sieve *s)
{
	memset(s, 0, sizeof(*s));
	SIEVE_ADD(s, download_sources);
	SIEVE_ADD(s, loaders);
	SIEVE_ADD(s, collectors);
	SIEVE_ADD(s, weakeners);
	SIEVE_ADD(s, plugin_keys);
	SIEVE_ADD(s, other_marks);
}

static bool sieve_hits(const struct ga_sieve *s, const char *line, size_t n)
{
	unsigned a, b, c;

	if (n < 3)
		return false;
	a = lowered(line[0]);
	b = lowered(line[1]);
	for (size_t i = 2; i < n; i++, a = b, b = c) {
		unsigned h;

		c = lowered(line[i]);
		h = sieve_hash(a, b, c);
		if (s->bits[h >> 3] >> (h & 7) & 1)
			return true;
	}
	return false;
}

/* Is the command at `p`, after a pipe, an interpreter? */
static bool is_interpreter(const char *p)
{
	static const char names[] = "sh bash zsh dash ksh fish python python3 python2 perl ruby "
				    "node php iex invoke-expression pwsh powershell source .";

	for (int skipped = 0; skipped < 4; skipped++) {
		size_t n;
		const char *slash;

		p += strspn(p, " \t&");
		n = strcspn(p, " \t|;&)\"'`");
		slash = memrchr(p, '/', n);
		if (slash) {
			n -= (size_t)(slash + 1 - p);
			p = slash + 1;
		}
		if (!ga_has_word_n("sudo env exec", p, n) && *p != '-') {
			cleanup_free char *word = ga_strndup(p, n);

			for (char *c = word; *c; c++)
				*c = ga_lower(*c);
			return ga_has_word(names, word);
		}
		p += n;
	}
	return false;
}

static bool downloads_and_runs(const char *line)
{
	size_t first = SIZE_MAX;

	if (GA_FINDS_ANY(strcasestr, line, loaders))
		return true;
	for (size_t i = 0; i < GA_NELEMS(download_sources); i++) {
		const char *at = strcasestr(line, download_sources[i]);

		if (at && (size_t)(at - line) < first)
			first = (size_t)(at - line);
	}
	if (first == SIZE_MAX)
		return false;
	for (const char *p = line + first; (p = strchr(p, '|')); p++)
		if (is_interpreter(p + 1))
			return true;
	return false;
}

/* A URL whose host is written in numbers. */
static bool numeric_host(const char *line)
{
	for (const char *p = line; (p = strstr(p, "://")); p += 3) {
		size_t n = strspn(p + 3, "0123456789.");
		const char *end = p + 3 + n;

		if (n >= 7 && (*end == '/' || *end == ':' || !*end || strchr(" \"'`)", *end)) &&
		    strncmp(p + 3, "127.", 4) != 0 && strncmp(p + 3, "0.0.0.0", 7) != 0)
			return true;
	}
	return false;
}

static bool sends_data(const char *line)
{
	return GA_FINDS_ANY(strcasestr, line, collectors) || numeric_host(line);
}

static bool encoded(const char *line, size_t n)
{
	size_t run = 0, solid = 0, blank = 0;

	if (n <= 200)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)line[i];
		bool space = c == ' ' || c == '\t';

		run = isalnum(c) || strchr("+/=_-", c) ? run + 1 : 0;
		solid = space ? 0 : solid + 1;
		if (run >= 512 || (solid == RUN_LOOKED_AT &&
				      /* more than 5.5 bits each: it looks random */
				      secret_entropy(line + i + 1 - solid, solid) >
					      RUN_LOOKED_AT * 5632))
			return true;
		if (!space && blank > 200)
			return true;
		blank = space ? blank + 1 : 0;
	}
	return false;
}

static bool imports_outside(const char *line)
{
	static const char *const forms[] = { "@/", "@~/", "@../" };

	for (size_t i = 0; i < GA_NELEMS(forms); i++)
		for (const char *p = line; (p = strstr(p, forms[i])); p++)
			if (p == line || strchr(" \t(`\"'", p[-1]))
				return true;
	return false;
}

static bool go_command(const char *line)
{
	while (*line == ' ' || *line == '\t' || *line == '*' || *line == '/') {
		if (!strncmp(line, "//go:generate", 13))
			return true;
		line++;
	}
	return !strncmp(line, "#cgo", 4);
}

/* Which of the rules about certain kinds of files apply to this one. */
struct kind {
	bool go, tsconfig, instructions;
};

bool ga_text_is_for_agents(const struct ga_look *k)
{
	return ga_look_fired(k, "instruction-files claude-code-dirs cursor-rules copilot agents-dir "
				"gemini opencode codex agents-other issue-templates");
}

static struct kind kind_of(const struct ga_look *k)
{
	const char *ext = strrchr(k->base, '.');
	bool json = ext && !strcmp(ext, ".json");

	return (struct kind){
		.go = ext && !strcmp(ext, ".go"),
		.tsconfig = json && (!strncmp(k->base, "tsconfig", 8) ||
				     !strncmp(k->base, "jsconfig", 8)),
		.instructions = ga_text_is_for_agents(k),
	};
}

static void fire_quoting(struct ga_look *k, const char *rule, const char *line)
{
	struct ga_buf b = GA_BUF_INIT;

	if (ga_look_fired(k, rule))
		return; /* the first line stands for all */
	ga_risk_quote_start(&b, line + strspn(line, " \t"));
	ga_look_fire(k, rule, ga_buf_steal(&b));
}

static void check_words(struct ga_look *k, const struct kind *is, const char *line)
{
	if (downloads_and_runs(line))
		fire_quoting(k, "download-exec", line);
	if (sends_data(line))
		fire_quoting(k, "exfil-endpoint", line);
	if (GA_FINDS_ANY(strcasestr, line, weakeners))
		fire_quoting(k, "test-weakening", line);
	if (!strncmp(line, "<<<<<<< ", 8) || !strncmp(line, ">>>>>>> ", 8))
		ga_look_fire(k, "merge-markers", NULL);
	if (is->go && go_command(line))
		fire_quoting(k, "go-generate", line);
	if (is->tsconfig && GA_FINDS_ANY(strcasestr, line, plugin_keys))
		fire_quoting(k, "ts-plugins", line);
}

/* Does a shell continue the command in the next line? */
static bool goes_on(const char *line, size_t n)
{
	while (n && strchr(" \t\r", line[n - 1]))
		n--;
	return n && (line[n - 1] == '\\' || line[n - 1] == '|');
}

/* Append the lines that continue the command. */
static void join_lines(struct ga_buf *line, const struct ga_buf *added, size_t next)
{
	const char *start;
	size_t n;

	for (int i = 0; i < JOINED_LINES && (start = ga_buf_next_line(added, &next, &n)); i++) {
		if (!goes_on(line->ptr, line->len) || line->len + n > JOINED_MAX)
			return;
		while (line->len && strchr(" \t\r\\", line->ptr[line->len - 1]))
			ga_buf_truncate(line, line->len - 1);
		ga_buf_addch(line, ' ');
		ga_buf_add(line, start, n);
	}
}

void ga_text_lines(struct ga_look *k, const struct ga_buf *added)
{
	struct kind is = kind_of(k);
	cleanup_buf struct ga_buf line = GA_BUF_INIT;
	const char *start;

	if (!k->sieve) {
		k->sieve = ga_malloc(sizeof(*k->sieve));
		sieve_fill(k->sieve);
	}
	for (size_t pos = 0, n; (start = ga_buf_next_line(added, &pos, &n));) {
		bool words = sieve_hits(k->sieve, start, n);

		if (encoded(start, n))
			ga_look_fire(k, "obfuscated-blob", NULL);
		if (!words && !is.instructions)
			continue;
		ga_buf_clear(&line);
		ga_buf_add(&line, start, n);
		if (is.instructions && imports_outside(line.ptr))
			fire_quoting(k, "import-of-outside", line.ptr);
		if (!words)
			continue;
		check_words(k, &is, line.ptr);
		join_lines(&line, added, pos);
		if (downloads_and_runs(line.ptr))
			fire_quoting(k, "download-exec", line.ptr);
	}
}

/* ---- modelines ----------------------------------------------------------------- */

static bool is_modeline(const char *line)
{
	static const char *const editors[] = { "vim:", "vi:", "ex:" };

	for (size_t i = 0; i < GA_NELEMS(editors); i++)
		for (const char *p = line; (p = strstr(p, editors[i])); p++)
			if ((p == line || p[-1] == ' ' || p[-1] == '\t') &&
			    (strchr(p, '=') || strstr(p, "set ") || strstr(p, "se ")))
				return true;
	return strstr(line, "-*-") && strcasestr(line, "eval:");
}

static void check_modeline(struct ga_look *k, const struct ga_buf *old, const char *s, size_t n)
{
	cleanup_free char *line = ga_strndup(s, n);

	if (is_modeline(line) && (!old->len || !memmem(old->ptr, old->len, s, n)))
		fire_quoting(k, "editor-modeline", line);
}

void ga_text_modelines(struct ga_look *k, const struct ga_buf *old, const struct ga_buf *text)
{
	const char *s = text->ptr, *end = s + text->len;
	const char *tail;

	for (int i = 0; i < 5 && s < end; i++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		const char *stop = nl ? nl : end;

		check_modeline(k, old, s, (size_t)(stop - s));
		s = nl ? nl + 1 : end;
	}
	if (end > text->ptr && end[-1] == '\n')
		end--;
	for (int i = 0; i < 5 && end > s; i++) {
		const char *nl = memrchr(s, '\n', (size_t)(end - s));
		const char *start = nl ? nl + 1 : s;

		check_modeline(k, old, start, (size_t)(end - start));
		end = nl ? nl : s;
	}
	/* Emacs looks for a list of variables in the last 3000 characters */
	tail = text->len > 3000 ? text->ptr + text->len - 3000 : text->ptr;
	tail = strstr(tail, "Local Variables:");
	if (tail && (strstr(tail, "eval:") || strstr(tail, "compile-command:")) &&
	    !(old->len && memmem(old->ptr, old->len, tail, strlen(tail))))
		ga_look_fire(k, "editor-modeline", ga_strdup("Emacs local variables"));
}
