/* SPDX-License-Identifier: MIT */
#include "ga/base/nearest.h"

#include <string.h>

#include "ga/base/alloc.h"

/* Edit distance, with a row on the stack: words are short. */
static size_t distance(const char *a, const char *b)
{
	size_t row[64], n = strlen(b);

	if (n >= GA_NELEMS(row))
		return n;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diag = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			size_t up = row[j + 1], best = diag + (a[i] != b[j]);

			if (up + 1 < best)
				best = up + 1;
			if (row[j] + 1 < best)
				best = row[j] + 1;
			row[j + 1] = best;
			diag = up;
		}
	}
	return row[n];
}

const char *ga_nearest(const char *word, const char *const *names, size_t n)
{
	const char *best = NULL;
	size_t least = strlen(word) / 2 + 1;

	for (size_t i = 0; i < n; i++) {
		size_t d = names[i] ? distance(word, names[i]) : least;

		if (d < least) {
			least = d;
			best = names[i];
		}
	}
	return best;
}
