/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "view-internal.h"

#define NAME "shared/seen"
#define BYTES_MAX ((size_t)1 << 20)

void ga_view_seen_release(struct ga_view_seen *seen)
{
	free(seen->v);
	*seen = (struct ga_view_seen){ 0 };
}

void ga_view_seen_set(struct ga_view_seen *seen, size_t i, const struct ga_shared *sh)
{
	while (seen->n <= i) {
		seen->v = ga_reallocarray(seen->v, seen->n + 1, sizeof(*seen->v));
		seen->v[seen->n++] = (struct ga_view_seen_id){ 0, 0 };
	}
	seen->v[i] = (struct ga_view_seen_id){ sh->dev, sh->ino };
}

bool ga_view_seen_has(const struct ga_view_seen *seen, size_t i, const struct stat *st)
{
	return i < seen->n && seen->v[i].dev == st->st_dev && seen->v[i].ino == st->st_ino;
}

/* The file has two numbers for each directory, a NUL after each. */
int ga_view_seen_read(const struct ga_session *s, struct ga_view_seen *ret, struct ga_error *err)
{
	cleanup_free char *path = ga_session_path(s, NAME), *q = ga_escape(path);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *dev, *ino;
	size_t pos = 0;

	if (ga_read_file_at(AT_FDCWD, path, BYTES_MAX, &b, err))
		return -1;
	for (size_t i = 0; (dev = ga_buf_next0(&b, &pos)) && (ino = ga_buf_next0(&b, &pos)); i++) {
		struct ga_shared sh = { 0 };

		if (i >= s->view.shared.n || !ga_parse_u64(dev, UINT64_MAX, &sh.dev) ||
		    !ga_parse_u64(ino, UINT64_MAX, &sh.ino))
			return ga_fail(err, GA_EFATAL, "'%s' is damaged", q);
		ga_view_seen_set(ret, i, &sh);
	}
	return 0;
}

int ga_view_seen_write(const struct ga_view_seen *seen, const struct ga_session *s,
		       struct ga_error *err)
{
	cleanup_free char *path = ga_session_path(s, NAME), *beside = ga_strf("%s.new", path);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < seen->n; i++) {
		ga_buf_addf(&b, "%" PRIu64, seen->v[i].dev);
		ga_buf_addch(&b, '\0');
		ga_buf_addf(&b, "%" PRIu64, seen->v[i].ino);
		ga_buf_addch(&b, '\0');
	}
	/* it is of no use after a power cut: no need to wait for the disk */
	(void)unlink(beside);
	if (ga_write_new(AT_FDCWD, beside, b.len ? b.ptr : "", b.len, 0600, err))
		return -1;
	return rename(beside, path) ? ga_fail_path(err, errno, "write", path) : 0;
}
