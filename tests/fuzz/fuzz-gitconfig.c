/* SPDX-License-Identifier: MIT
 *
 * What `git config -z --list --show-scope --show-origin` prints, taken apart: nothing is lost.
 */
#include <string.h>

#include "repo/repo-internal.h"
#include "fuzz.h"

/* Written as git would have: the same bytes. */
static void write_list(const struct ga_gitconfig *c, struct ga_buf *out)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct ga_gitconfig_item *it = &c->v[i];

		CHECK(!strchr(it->key, '\n') && (it->has_value || !*it->value));
		ga_buf_add0(out, it->scope);
		ga_buf_add0(out, it->origin);
		ga_buf_adds(out, it->key);
		if (it->has_value) {
			ga_buf_addch(out, '\n');
			ga_buf_adds(out, it->value);
		}
		ga_buf_addch(out, '\0');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cleanup_(ga_gitconfig_release) struct ga_gitconfig c = GA_GITCONFIG_INIT;
	cleanup_buf struct ga_buf in = GA_BUF_INIT, back = GA_BUF_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;

	if (n)
		ga_buf_add(&in, data, n);
	if (ga_gitconfig_parse(&in, &c, &err)) {
		CHECK(err.msg);
		return 0;
	}
	write_list(&c, &back);
	/* the last NUL may be missing */
	CHECK(back.len == n || back.len == n + 1);
	CHECK(!n || !memcmp(back.ptr, data, n));
	for (size_t i = 0; i < c.n; i++) {
		CHECK(ga_gitconfig_get(&c, c.v[i].key));
		(void)ga_gitconfig_bool(&c, c.v[i].key, false);
	}
	return 0;
}
