/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>

#include "ga/base/buf.h"
#include "ga/sys/fd.h"
#include "ga/sys/mount.h"

#define MOUNTINFO "/proc/self/mountinfo"
#define MOUNTINFO_MAX ((size_t)16 << 20)

/* Decode escapes such as "\040", in place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* proc_pid_mountinfo(5): ID PARENT MAJOR:MINOR ROOT PATH OPTIONS [TAG...] - TYPE SOURCE OPTIONS */
static void add_line(char *line, struct ga_strv *ret)
{
	char *type = strstr(line, " - "), *save = NULL;
	char *words[5] = { NULL };

	for (size_t i = 0; type && i < GA_NELEMS(words); i++)
		words[i] = strtok_r(i ? NULL : line, " ", &save);
	if (!words[4])
		return;
	type += strlen(" - ");
	type[strcspn(type, " ")] = '\0';
	unescape(words[4]);
	ga_strv_push_many(ret, words[4], type, words[2], words[3], NULL);
}

int ga_mount_list(struct ga_strv *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	char *save = NULL;

	if (ga_read_file_at(AT_FDCWD, MOUNTINFO, MOUNTINFO_MAX, &text, err))
		return -1;
	for (char *l = strtok_r(text.ptr, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		add_line(l, ret);
	return 0;
}
