/* SPDX-License-Identifier: MIT */
#include <poll.h>

#include "cli/cli.h"

/* Programs treat an Enter that arrives with text as part of the text. */
#define ENTER_MS 200

static int check_text(const char *text, struct ga_error *err)
{
	size_t left = strlen(text), n;

	for (const char *p = text; *p; p += n, left -= n) {
		uint32_t c;

		n = ga_utf8_decode(p, left, &c);
		if (!n)
			return ga_fail(err, GA_EUSAGE, "the text is not UTF-8");
		if ((c < ' ' && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0))
			return ga_fail(err, GA_EUSAGE, "the text has control characters");
	}
	if (!*text)
		return ga_fail(err, GA_EUSAGE, "the text is empty");
	return 0;
}

/* One sender at a time, so that texts do not mix. */
static int send_all(const struct ga_session *s, const struct ga_control_peer *peer,
		    const char *text, struct ga_error *err)
{
	cleanup_close int alone = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (alone >= 0 && ga_flock(alone, true, true, err))
		return -1;
	for (size_t n, left = strlen(text); left; text += n, left -= n) {
		n = left < GA_CONTROL_SEND_MAX ? left : GA_CONTROL_SEND_MAX;
		while (n < left && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
		if (ga_control_send(peer, text, n, err))
			return -1;
	}
	(void)poll(NULL, 0, ENTER_MS);
	return ga_control_send(peer, "", 0, err);
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	cleanup_control_peer struct ga_control_peer peer = GA_CONTROL_PEER_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	(void)p;
	for (size_t i = 1; i < argc; i++)
		ga_buf_addf(&text, "%s%s", i > 1 ? " " : "", argv[i]);
	return check_text(text.ptr, err) || cli_pick_running(c, argv[0], &s, &peer, err) ||
	       cli_ask_detached(&s, &peer, err) || send_all(&s, &peer, text.ptr, err) ? -1 : 0;
}

CLI_COMMAND_OF(send, "send", .opts = NULL, "[--] NAME TEXT...",
	       "type a text, and Enter, into a detached session", "SESSION TEXT...", .min_args = 2);
