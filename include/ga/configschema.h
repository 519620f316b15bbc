/* SPDX-License-Identifier: MIT
 *
 * The table of keys (ga/config.h) for editors.
 */
#ifndef GA_CONFIGSCHEMA_H
#define GA_CONFIGSCHEMA_H

#include <jansson.h>

/* A JSON Schema, draft 7, that takes what both files may say, as YAML 1.1 and 1.2 read it. What
 * passes it can still be refused: patterns and paths are looked at closer by ga_config_read(). The
 * caller's. */
json_t *ga_config_schema(void);

#endif
