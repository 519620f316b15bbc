/* SPDX-License-Identifier: MIT
 *
 * What a service of a session wrote, as text.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sessions.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/config/service.h"
#include "ga/run/record.h"
#include "ga/sys/fd.h"

#define SUFFIX ".log"

/* There is no such service: name those there are. */
static int fail_unknown(const struct ga_session *s, const char *dir, const char *name,
			struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	cleanup_free char *q = ga_escape(name), *list = NULL;
	cleanup_dir DIR *d = opendir(dir);
	struct dirent *e;

	while ((e = ga_dir_next(d)))
		if (ga_ends_in(e->d_name + 1, SUFFIX))
			ga_strv_push_n(&names, e->d_name, strlen(e->d_name) - strlen(SUFFIX));
	ga_strv_sort_unique(&names);
	list = ga_quote_list(&names, SIZE_MAX);
	(void)ga_fail(err, GA_ENEGATIVE, "session '%s' has no service '%s'", s->name, q);
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

int cli_service_log(const struct ga_session *s, const char *name, struct ga_error *err)
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
