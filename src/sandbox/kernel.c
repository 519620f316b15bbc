/* SPDX-License-Identifier: MIT
 *
 * What this kernel supports.
 */
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ga/sandbox/sandbox.h"

/* Not in the headers of every libc; the numbers are the kernel's. */
#define SYS_LANDLOCK_CREATE_RULESET 444
#define LANDLOCK_VERSION_QUERY 1u

int ga_landlock_abi(void)
{
	long abi = syscall(SYS_LANDLOCK_CREATE_RULESET, NULL, (size_t)0, LANDLOCK_VERSION_QUERY);

	return abi > 0 ? (int)abi : 0;
}
