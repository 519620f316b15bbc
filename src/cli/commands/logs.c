/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "ga/config/service.h"
#include "ga/run/record.h"

#define SUFFIX ".log"

/* Fail for an unknown service, listing the known ones. */
static int fail_unknown(const struct ga_session *s, const char *dir, const char *name,
			struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	cleanup_free char *list = NULL;
	cleanup_dir DIR *d = opendir(dir);
	struct dirent *e;

	while ((e = ga_dir_next(d)))
		if (ga_ends_in(e->d_name + 1, SUFFIX))
			ga_strv_push_n(&names, e->d_name, strlen(e->d_name) - strlen(SUFFIX));
	ga_strv_sort_unique(&names);
	list = ga_quote_list(&names, SIZE_MAX);
	(void)ga_fail(err, GA_ENEGATIVE, "session '%s' has no service '%s'", s->name,
		      name);
	return names.n ? ga_hint(err, "it has: %s", list)
		       : ga_hint(err, "the setting 'services' names those of the sessions to come");
}

static int print_file(int fd, struct ga_record_text *text, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	char buf[16384];
	ssize_t n;

	while ((n = TEMP_FAILURE_RETRY(read(fd, buf, sizeof(buf)))) > 0) {
		ga_record_text(text, buf, (size_t)n, &out);
		if (out.len && fwrite(out.ptr, 1, out.len, stdout) != out.len)
			return 0;
		ga_buf_clear(&out);
	}
	return n < 0 ? ga_fail_errno(err, GA_EFATAL, errno, "cannot read what a service wrote") : 0;
}

static int service_log(const struct ga_session *s, const char *name, struct ga_error *err)
{
	static const char *const suffixes[] = { SUFFIX ".old", SUFFIX };
	cleanup_free char *dir = ga_path_join(s->dir, "services");
	struct ga_record_text text = GA_RECORD_TEXT_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	bool found = false;
	int rc = 0;

	for (size_t i = 0; !rc && ga_service_name_ok(name) && i < GA_NELEMS(suffixes); i++) {
		cleanup_free char *path = ga_strf("%s/%s%s", dir, name, suffixes[i]);
		cleanup_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0 && errno == ENOENT)
			continue;
		found = true;
		rc = fd < 0 ? ga_fail_path(err, errno, "open", path)
			    : print_file(fd, &text, err);
	}
	ga_record_text_end(&text, &out);
	if (out.len)
		(void)fwrite(out.ptr, 1, out.len, stdout);
	ga_record_text_release(&text);
	return rc ? rc : found ? 0 : fail_unknown(s, dir, name, err);
}

struct options {
	const char *service;
	bool follow;
};

static const struct cli_opt opts[] = {
	CLI_VALUE(service, "service", 0, "SERVICE",
		  "print the output of a service, also of a session that has ended"),
	CLI_FLAG(follow, "follow", 'f', "follow until the session ends"),
};

struct printer {
	struct ga_record_text text;
	struct ga_buf line;
};

static int print(struct printer *w)
{
	bool failed = fwrite(w->line.ptr, 1, w->line.len, stdout) != w->line.len || fflush(stdout);

	ga_buf_clear(&w->line);
	return failed ? GA_CONTROL_UNREAD : 0;
}

static int output(void *payload, const char *p, size_t n)
{
	struct printer *w = payload;

	ga_record_text(&w->text, p, n, &w->line);
	return w->line.len ? print(w) : 0;
}

static void missed(void *payload)
{
	struct printer *w = payload;

	ga_record_text_end(&w->text, &w->line);
	(void)print(w);
	cli_note("some output came faster than it was read, and is missing here");
}

static int fail_over(const struct ga_session *s, struct ga_error *err)
{
	return ga_fail(err, GA_ENEGATIVE, "session '%s' does not run" GA_HINT "'git agent show "
		       "--text %s' shows what was recorded of it", s->name, s->name);
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_control_peer struct ga_control_peer peer = GA_CONTROL_PEER_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_close int lock = -1;
	cleanup_free char *only = NULL;
	struct printer w = { .text = GA_RECORD_TEXT_INIT, .line = GA_BUF_INIT };
	const struct ga_control_watch watch = { .follow = o->follow, .output = output,
					     .missed = missed, .payload = &w };
	int rc;

	if (o->service && o->follow)
		return ga_fail(err, GA_EUSAGE, "--service and --follow cannot be used together");
	if (o->service)
		return cli_pick_session(c, argc ? argv[0] : NULL, true, &s, &lock, err) ||
		       service_log(&s, o->service, err) ? -1 : 0;
	if (!argc && cli_only_running(c, &only, err))
		return -1;
	rc = cli_connect_or_lock(c, argc ? argv[0] : only, CLI_COME_UP_MS, &s, &lock, &peer, err);
	if (rc < 0)
		return -1;
	if (rc)
		return fail_over(&s, err);
	(void)ga_fault("logs:connected");
	rc = ga_control_watch(&peer, &watch);
	if (!rc) {
		ga_record_text_end(&w.text, &w.line);
		(void)print(&w);
	}
	ga_record_text_release(&w.text);
	ga_buf_release(&w.line);
	if (rc == GA_CONTROL_OVER)
		return fail_over(&s, err);
	return 0;
}

CLI_COMMAND(logs, "[-f | --service SERVICE] [NAME]",
	    "show the last output of a running session, as text", "SESSION");
