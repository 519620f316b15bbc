/* SPDX-License-Identifier: MIT */
#include "../scratch.h"

#include "ga/base/buf.h"
#include "ga/base/json.h"
#include "ga/base/path.h"
#include "ga/session/journal.h"

static char *dump(json_t *o)
{
	char *s = json_dumps(o, JSON_COMPACT);

	assert_non_null(s);
	json_decref(o);
	return s;
}

TEST(bytes_are_text_or_base64)
{
	static const struct {
		const char *value, *want;
	} cases[] = {
		{ "", "{\"path\":\"\"}" },
		{ "a b", "{\"path\":\"a b\"}" },
		{ "\xc3\xa4", "{\"path\":\"\xc3\xa4\"}" },
		{ "\n\"\033", "{\"path\":\"\\n\\\"\\u001B\"}" },
		{ "\xff", "{\"path_b64\":\"/w==\"}" },
		{ "\xed\xa0\x80", "{\"path_b64\":\"7aCA\"}" },
		{ "\xc0\xaf", "{\"path_b64\":\"wK8=\"}" },
	};

	for_each (row, cases) {
		json_t *o = json_object();
		cleanup_free char *got = NULL;

		ga_json_set_bytes(o, "path", row->value);
		got = dump(o);
		STREQ(got, row->want);
	}
}

static void append(const char *path, const char *text, size_t n)
{
	cleanup_close int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);

	EQUAL(ga_write_full(fd, text, n), 0);
}

TEST_WITH(of_a_huge_journal_the_end_is_read, make_dir, remove_dir)
{
	const char *dir = *state;
	cleanup_free char *path = ga_path_join(dir, "journal.jsonl");
	BUF(line);
	BUF(all);
	json_t *events = NULL;

	for (int i = 0; i < 1000; i++)
		ga_buf_adds(&line, "0123456789");
	while (all.len <= GA_JOURNAL_READ_MAX)
		ga_buf_addf(&all, "{\"event\":\"%s\"}\n", line.ptr);
	append(path, all.ptr, all.len);
	append(path, "{\"event\":\"last\"}\n", 17);
	OK(ga_journal_read(dir, &events, &err));
	assert_in_range(json_array_size(events), 100, GA_JOURNAL_READ_MAX / line.len);
	STREQ(json_string_value(json_object_get(json_array_get(events, json_array_size(events) - 1), "event")), "last");
	json_decref(events);
}

TEST_WITH(a_long_event_is_cut, make_dir, remove_dir)
{
	const char *dir = *state;
	STRV(list);
	cleanup_free char *path = ga_path_join(dir, "journal.jsonl");
	json_t *events = NULL, *o;
	struct stat st;

	for (int i = 0; i < 200000; i++)
		ga_strv_push(&list, "0123456789");
	EQUAL(ga_journal(dir, "start", json_pack("{s:o}", "list", ga_json_strv(&list))), 0);
	OK(ga_journal_read(dir, &events, &err));
	EQUAL(json_array_size(events), 1);
	o = json_array_get(events, 0);
	STREQ(json_string_value(json_object_get(o, "event")), "start");
	assert_true(json_is_true(json_object_get(o, "cut")) && !json_object_get(o, "list"));
	EQUAL(stat(path, &st), 0);
	EQUAL(st.st_mode & 07777, 0600);
	json_decref(events);
}

TEST(bytes_come_back_from_json)
{
	static const struct {
		const char *json, *want; /* NULL: none */
	} cases[] = {
		{ "\"a b\"", "a b" }, { "\"\"", "" }, { "{\"b64\":\"/w==\"}", "\xff" },
		{ "{\"path\":\"p\",\"x\":1}", "p" }, { "{\"path_b64\":\"/w==\"}", "\xff" },
		{ "{\"b64\":\"/w=\"}", NULL }, { "{\"path\":1}", NULL }, { "1", NULL }, { "null", NULL },
		{ "[\"a\"]", NULL }, { "{}", NULL },
	};

	for_each (row, cases) {
		BUF(b);
		json_t *v = json_loads(row->json, JSON_DECODE_ANY, NULL);

		if (ga_json_bytes(v, &b) != (row->want != NULL) || strcmp(b.ptr, row->want ? row->want : "") != 0)
			fail_msg("%s", row->json);
		json_decref(v);
	}
}

TEST_WITH(a_journal_that_cannot_be_written_is_reported, make_dir, remove_dir)
{
	const char *dir = *state;
	cleanup_free char *path = ga_path_join(dir, "journal.jsonl");

	errno = 0;
	EQUAL(ga_journal("/nonexistent", "start", json_object()), -1);
	EQUAL(errno, ENOENT);
	/* never through a symlink */
	EQUAL(symlink("/tmp/elsewhere", path), 0);
	EQUAL(ga_journal(dir, "start", NULL), -1);
	EQUAL(errno, ELOOP);
	EQUAL(unlink(path), 0);
	EQUAL(ga_journal(dir, "\xff", NULL), -1);
}

TEST_MAIN(NULL, NULL)
