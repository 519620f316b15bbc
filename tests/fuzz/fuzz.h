/* SPDX-License-Identifier: MIT
 *
 * What the fuzz targets share. A target is one file with LLVMFuzzerTestOneInput();
 * replay.c gives it a plain main() over a corpus, libFuzzer one that searches.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ga/base/buf.h"
#include "ga/repo/repo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* What must hold whatever the input is. */
#define CHECK(cond) \
	do { \
		if (!(cond)) \
			fuzz_failed(__FILE__, __LINE__, #cond); \
	} while (0)
void fuzz_failed(const char *file, int line, const char *cond) __attribute__((noreturn));

/* Input that is taken apart: what is missing at its end is zero, or empty. */
struct fuzz_in {
	const uint8_t *p;
	size_t n;
};
unsigned fuzz_byte(struct fuzz_in *in);
/* Up to the next NUL, which is skipped; of exactly its size, so that reading beyond is seen.
 * The caller frees it. */
char *fuzz_string(struct fuzz_in *in);
/* All the rest, as a string that ends at its first NUL; the caller frees it. */
char *fuzz_text(struct fuzz_in *in);

/* The bytes in memory of exactly their size, without a NUL behind them; the caller frees it. */
char *fuzz_exact(const void *p, size_t n);
/* A file that holds them, at its start, without a name. */
int fuzz_file(const void *p, size_t n);
/* A directory of this run, in FUZZ_TMPDIR, or else in memory where there is such a place. Removed
 * at exit, but not by libFuzzer. */
const char *fuzz_dir(void);
/* Which of the first 64 descriptors are open, one bit each: for finding lost ones. */
uint64_t fuzz_open_fds(void);

/* A repository in fuzz_dir() whose new objects stay in memory, until fuzz_repo_forget(). */
struct ga_repo *fuzz_repo(void);
void fuzz_repo_forget(void);
