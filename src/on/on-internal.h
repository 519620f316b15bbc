/* SPDX-License-Identifier: MIT */
#ifndef ON_INTERNAL_H
#define ON_INTERNAL_H

#include "ga/on.h"

/* The object that a request's word stands for; NULL: it is none. New reference. */
json_t *on_unpack(const char *word);

/* The absolute path of this program; "" if that cannot be told. The caller frees it. */
char *on_self(void);

#endif
