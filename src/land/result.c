/* SPDX-License-Identifier: MIT
 *
 * The result of a landing, and its JSON.
 */

#include "ga/json.h"
#include "ga/land.h"

void ga_land_result_release(struct ga_land_result *r)
{
	ga_strv_release(&r->brought);
	ga_strv_release(&r->not_brought);
	ga_strv_release(&r->new_flags);
	ga_left_release(&r->ignored);
	ga_strv_release(&r->ignored_flags);
	*r = (struct ga_land_result)GA_LAND_RESULT_INIT;
}

static json_t *ignored_json(const struct ga_left_list *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++) {
		json_t *o = json_object();

		ga_json_set_bytes(o, "path", l->v[i].path);
		(void)json_object_set_new(o, "count", json_integer((json_int_t)l->v[i].count));
		(void)json_object_set_new(o, "bytes", json_integer((json_int_t)l->v[i].bytes));
		(void)json_array_append_new(a, o);
	}
	return a;
}

json_t *ga_land_json(const struct ga_session *s, const struct ga_land_result *r, bool dry_run)
{
	json_t *o = json_object();

	ga_json_set_bytes(o, "session", s->name);
	(void)json_object_set_new(o, "dry_run", json_boolean(dry_run));
	(void)json_object_set_new(o, "landed",
				  json_boolean(!dry_run && !r->nothing && !r->uncommitted));
	(void)json_object_set_new(o, "nothing", json_boolean(r->nothing));
	(void)json_object_set_new(o, "uncommitted", json_boolean(r->uncommitted));
	(void)json_object_set_new(o, "rest", json_boolean(r->rest));
	ga_json_set_oid(o, "commit", &r->commit);
	(void)json_object_set_new(o, "brought", ga_report_paths_json(&r->brought));
	(void)json_object_set_new(o, "not_brought", ga_json_strv(&r->not_brought));
	(void)json_object_set_new(o, "ignored", ignored_json(&r->ignored));
	(void)json_object_set_new(o, "ignored_flags", ga_json_strv(&r->ignored_flags));
	return o;
}
