/* SPDX-License-Identifier: MIT
 *
 * What a search knows, and notes of what it meets.
 */
#include <fcntl.h>
#include <string.h>

#include "finder.h"
#include "ga/sys/fd.h"

#define LINKS_MAX 100000

size_t finder_raise(struct finder *f, const char *path, const struct ga_secret *s,
		    enum ga_exposed_as as)
{
	struct ga_exposure *x = f->ret;

	for (; f->n_at < x->n; f->n_at++)
		ga_strmap_add(&f->at, x->v[f->n_at].path, strlen(x->v[f->n_at].path),
			      (uint32_t)f->n_at);
	for (int32_t i = ga_strmap_first(&f->at, path, strlen(path)); i >= 0;
	     i = f->at.nodes[i].next) {
		struct ga_exposed *e = &x->v[f->at.nodes[i].value];

		/* the committed version of a path and the one in the working tree are two things */
		if ((e->as == GA_EXPOSED_COMMITTED && !e->clear) != (as == GA_EXPOSED_COMMITTED))
			continue;
		if (e->secret.tier < s->tier)
			e->secret = *s;
		return f->at.nodes[i].value;
	}
	secret_add(x, path, s, as);
	return x->n - 1;
}

struct ga_secret_names *finder_names(struct finder *f)
{
	if (!f->names)
		f->names = ga_secret_names_new(f->o->add, f->o->allow);
	return f->names;
}

void finder_release(struct finder *f)
{
	ga_secret_names_free(f->names);
	ga_buf_release(&f->content);
	free(f->gitdir);
	ga_strv_release(&f->links);
	ga_strv_release(&f->tree_links);
	ga_oidmap_release(&f->blob_at[0]);
	ga_oidmap_release(&f->blob_at[1]);
	ga_strmap_release(&f->at);
	for (size_t i = 0; i < f->n_linked; i++)
		free(f->linked[i].path);
	free(f->linked);
	free(f->twins);
	free(f->blobs);
}

void finder_note_link(struct finder *f, struct ga_strv *links, const char *path)
{
	if (links->n < LINKS_MAX)
		ga_strv_push(links, path);
	else
		f->ret->incomplete = true;
}

DIR *finder_opendir(struct finder *f, const char *path, int flags)
{
	return ga_dir_of(ga_openat_beneath(f->work, path,
					   O_RDONLY | O_DIRECTORY | O_NONBLOCK | flags, 0));
}
