/* SPDX-License-Identifier: MIT */
#include "ga/base/json.h"

#include <string.h>

#include "ga/base/alloc.h"
#include "ga/base/quote.h"

/* jansson can fail here only for lack of memory or for a string that is not UTF-8, which every
 * caller has ruled out. */
static void set_new(json_t *obj, const char *key, json_t *value)
{
	if (json_object_set_new(obj, key, value))
		GA_BUG("a JSON object cannot take a member");
}

/* JSON has no byte strings. `s` is NUL-terminated, so U+0000 does not occur. */
static json_t *from_bytes(const char *s, bool *ret_base64)
{
	size_t n = strlen(s);

	*ret_base64 = !ga_utf8_valid(s, n);
	if (*ret_base64) {
		cleanup_free char *b64 = ga_base64(s, n);

		return json_string(b64);
	}
	return json_stringn_nocheck(s, n);
}

void ga_json_set_bytes(json_t *obj, const char *key, const char *s)
{
	bool base64 = false;
	json_t *v = s ? from_bytes(s, &base64) : json_null();
	cleanup_free char *name = ga_strf("%s%s", key, base64 ? "_b64" : "");

	set_new(obj, name, v);
}

void ga_json_set_oid(json_t *obj, const char *key, const struct ga_oid *oid)
{
	char hex[GA_OID_HEXSZ + 1];

	if (ga_oid_is_zero(oid))
		set_new(obj, key, json_null());
	else
		set_new(obj, key, json_string(ga_oid_hex(oid, hex)));
}

void ga_json_add_text(const json_t *v, struct ga_buf *ret)
{
	cleanup_free char *text = json_dumps(v, JSON_COMPACT);

	ga_buf_adds(ret, text ? text : "");
}

json_t *ga_json_strv(const struct ga_strv *sv)
{
	json_t *a = json_array();

	for (size_t i = 0; i < sv->n; i++) {
		bool base64;
		json_t *v = from_bytes(sv->v[i], &base64);

		if (base64)
			v = json_pack("{s:o}", "b64", v);
		if (json_array_append_new(a, v))
			GA_BUG("a JSON array cannot take an element");
	}
	return a;
}

void ga_json_words(const json_t *list, struct ga_strv *ret)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v) {
		cleanup_buf struct ga_buf word = GA_BUF_INIT;

		ga_strv_push(ret, ga_json_bytes(v, &word) ? word.ptr : "(not text)");
	}
}

bool ga_json_bytes(const json_t *v, struct ga_buf *ret)
{
	static const char *const coded[] = { "b64", "path_b64" };
	const json_t *path = json_object_get(v, "path");

	v = json_is_string(path) ? path : v;
	if (json_is_string(v)) {
		ga_buf_add(ret, json_string_value(v), json_string_length(v));
		return true;
	}
	for (size_t i = 0; i < GA_NELEMS(coded); i++) {
		const char *text = json_string_value(json_object_get(v, coded[i]));

		if (text && ga_base64_decode(text, ret))
			return true;
	}
	return false;
}
