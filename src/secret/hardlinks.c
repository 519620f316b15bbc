/* SPDX-License-Identifier: MIT
 *
 * Other hard links of live secrets are secrets too, whatever their names: files with several links
 * are remembered as they are met, and compared when all secrets are known.
 */
#include "finder.h"

void finder_note_twin(struct finder *f, const struct stat *st, const struct ga_secret *s)
{
	if (s->tier != GA_TIER_BLOCK || st->st_nlink < 2)
		return;
	GA_GROW(f->twins, f->n_twins, f->cap_twins);
	f->twins[f->n_twins++] = (struct finder_twin){ st->st_dev, st->st_ino, *s };
}

static int by_inode(const void *a, const void *b)
{
	const struct finder_twin *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

void finder_note_links(struct finder *f, const struct stat *st, const char *path,
		       enum ga_exposed_as as)
{
	if (st->st_nlink < 2)
		return;
	GA_GROW(f->linked, f->n_linked, f->cap_linked);
	f->linked[f->n_linked++] = (struct finder_linked){ st->st_dev, st->st_ino,
							   ga_strdup(path), as };
}

void finder_twins(struct finder *f)
{
	if (f->n_twins)
		qsort(f->twins, f->n_twins, sizeof(*f->twins), by_inode);
	for (size_t i = 0; f->n_twins && i < f->n_linked; i++) {
		const struct finder_linked *l = &f->linked[i];
		struct finder_twin key = { .dev = l->dev, .ino = l->ino };
		const struct finder_twin *twin = bsearch(&key, f->twins, f->n_twins,
							 sizeof(*f->twins), by_inode);
		struct ga_secret s = twin ? twin->secret : key.secret;

		s.copy = true;
		if (twin)
			(void)finder_raise(f, l->path, &s, l->as);
	}
}
