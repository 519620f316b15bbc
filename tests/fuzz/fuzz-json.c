/* SPDX-License-Identifier: MIT
 *
 * JSON with any bytes in it: it parses, and holds them.
 */
#include <jansson.h>
#include <string.h>

#include "fuzz.h"
#include "ga/base/json.h"
#include "ga/base/quote.h"
#include "ga/review/review.h"

static void check_bytes(const json_t *o, const char *key, const char *want)
{
	cleanup_free char *b64 = ga_strf("%s_b64", key);
	const json_t *plain = json_object_get(o, key), *encoded = json_object_get(o, b64);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	CHECK(!plain != !encoded);
	CHECK((plain != NULL) == ga_utf8_valid(want, strlen(want)));
	if (plain) {
		CHECK(json_string_length(plain) == strlen(want));
		CHECK(!strcmp(json_string_value(plain), want));
		return;
	}
	CHECK(ga_base64_decode(json_string_value(encoded), &b));
	CHECK(b.len == strlen(want) && !memcmp(b.ptr, want, b.len));
}

/* To text, which has no control byte but newlines of its own, and back. Takes the value. */
static json_t *through_text(json_t *v)
{
	char *text = json_dumps(v, JSON_INDENT(2));
	json_error_t why;
	json_t *back;

	CHECK(text);
	for (const char *p = text; *p; p++)
		CHECK((unsigned char)*p >= ' ' || *p == '\n');
	back = json_loads(text, JSON_REJECT_DUPLICATES, &why);
	CHECK(back && json_equal(v, back));
	json_decref(v);
	free(text);
	return back;
}

static void check_list(const struct ga_strv *sv)
{
	json_t *a = through_text(ga_json_strv(sv)), *paths = through_text(ga_report_paths_json(sv));

	CHECK(json_array_size(a) == sv->n && json_array_size(paths) == sv->n);
	for (size_t i = 0; i < sv->n; i++)
		check_bytes(json_array_get(paths, i), "path", sv->v[i]);
	json_decref(a);
	json_decref(paths);
}

static void check_report(const struct ga_strv *sv)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT, back = GA_REPORT_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_free char *text = NULL;

	r.session = ga_strdup(sv->v[0]);
	ga_strv_extend(&r.command, sv);
	ga_strv_extend(&r.notes, sv);
	for (size_t i = 0; i < sv->n; i++)
		ga_leftovers_add(&r.left, sv->v[i], GA_LEFTOVER_IGNORED, i, i);
	text = ga_report_encode(&r);
	for (const char *p = text; *p; p++)
		CHECK((unsigned char)*p < 0x80);
	CHECK(!ga_report_decode(text, strlen(text), &back, &err));
	CHECK(!strcmp(back.session, r.session) && back.command.n == sv->n);
	for (size_t i = 0; i < sv->n; i++)
		CHECK(!strcmp(back.command.v[i], sv->v[i]) && !strcmp(back.notes.v[i], sv->v[i]));
	CHECK(back.left.n == r.left.n);
	for (size_t i = 0; i < r.left.n; i++)
		CHECK(!strcmp(back.left.v[i].path, r.left.v[i].path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	cleanup_strv struct ga_strv sv = GA_STRV_INIT;
	json_t *o = json_object();

	do
		ga_strv_take(&sv, fuzz_string(&in));
	while (in.n);
	ga_json_set_bytes(o, "path", sv.v[0]);
	o = through_text(o);
	check_bytes(o, "path", sv.v[0]);
	json_decref(o);
	check_list(&sv);
	check_report(&sv);
	return 0;
}
