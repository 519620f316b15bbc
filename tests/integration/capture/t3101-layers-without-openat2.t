#!/bin/sh
# SPDX-License-Identifier: MIT
. "${TEST_SRCDIR:?}/tests/lib/without-openat2.sh"
without_openat2 EPERM t3100-layers.t
