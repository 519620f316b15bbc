/* SPDX-License-Identifier: MIT
 *
 * Jupyter notebooks: cells are code, outputs are the results of running it.
 */
#include <string.h>

#include "risk/content.h"

/* Are all outputs in forms that are shown as they are, not run or rendered by the page? */
static bool is_plain_output(const json_t *outputs)
{
	const json_t *output;
	const char *type;
	json_t *data;
	size_t i;

	json_array_foreach(outputs, i, output)
		json_object_foreach(json_object_get(output, "data"), type, data)
			if (!ga_has_word("text/plain image/png image/jpeg image/gif", type))
				return false;
	return true;
}

/* Remove the results of running from each cell; false: this is no notebook. */
static bool strip_outputs(json_t *notebook)
{
	json_t *cells = json_object_get(notebook, "cells"), *cell;
	size_t i;

	json_array_foreach(cells, i, cell) {
		(void)json_object_del(cell, "outputs");
		(void)json_object_del(cell, "execution_count");
	}
	return json_is_array(cells);
}

static bool all_plain(const json_t *notebook)
{
	const json_t *cell;
	size_t i;

	json_array_foreach(json_object_get(notebook, "cells"), i, cell)
		if (!is_plain_output(json_object_get(cell, "outputs")))
			return false;
	return true;
}

void ga_known_notebook(const struct ga_known *f)
{
	cleanup_json json_t *a = NULL, *b = NULL;

	if (!f->old->len || !strstr(f->k->base, ".ipynb"))
		return;
	a = ga_known_json(f->old, false);
	b = ga_known_json(f->text, false);
	if (!a || !b || !all_plain(b))
		return;
	if (strip_outputs(a) && strip_outputs(b) && ga_known_json_same(a, b))
		ga_look_lower(f->k, "jupyter", false, "only outputs of cells change");
}
