#!/bin/sh
# SPDX-License-Identifier: MIT
. "${TEST_SRCDIR:?}/tests/lib/without-openat2.sh"
without_openat2 ENOSYS t4000-cases.t
