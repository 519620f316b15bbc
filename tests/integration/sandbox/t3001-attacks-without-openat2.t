#!/bin/sh
# SPDX-License-Identifier: MIT
. "${TEST_SRCDIR:?}/tests/lib/without-openat2.sh"
without_openat2 ENOSYS t3000-attacks.t
