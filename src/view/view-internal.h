/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"
#include "ga/view/view.h"

/* secrets.c: is the path hidden, and how many of these paths are? */
bool view_is_hidden(const struct ga_view_base *b, const char *path);
size_t view_count_hidden(const struct ga_view_base *b, const struct ga_strv *paths);
/* Once b->base is known, fill b->objects and b->stored. */
int view_hide_objects(struct ga_env *e, struct ga_view_base *b, struct ga_error *err);

/* Copy mode and times of the user's directory `source` beneath `from`, if it exists, to `at`
 * beneath the layer `to`: an overlay shows those of the topmost layer. Call it once the directory
 * is complete. -1 with errno. */
int view_dress(int from, const char *source, int to, const char *at);

/* The path inside of the user's known hosts. */
#define VIEW_SSH_KNOWN "/run/git-agent-ssh/known_hosts"
