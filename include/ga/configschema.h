/* SPDX-License-Identifier: MIT
 *
 * The configuration keys of ga/config.h as a JSON Schema, for editors.
 */
#ifndef GA_CONFIGSCHEMA_H
#define GA_CONFIGSCHEMA_H

#include <jansson.h>

/* A JSON Schema (draft 7) that accepts what the user's or the repository's file may contain,
 * whether an editor reads it as YAML 1.1 or 1.2. A file that passes may still be refused:
 * ga_config_read() checks patterns and paths more closely. Returns a new reference. */
json_t *ga_config_schema(void);

#endif
