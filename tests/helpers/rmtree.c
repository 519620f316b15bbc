/* SPDX-License-Identifier: MIT
 *
 * rmtree PATH: remove a tree with the function that removes sessions.
 */
#include <fcntl.h>
#include <stdio.h>

#include "ga/sys/fd.h"

int main(int argc, char **argv)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;

	if (argc != 2) {
		(void)fputs("usage: rmtree PATH\n", stderr);
		return 129;
	}
	if (ga_rmtree_at(AT_FDCWD, argv[1], &err)) {
		(void)fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	return 0;
}
