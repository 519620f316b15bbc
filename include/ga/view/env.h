/* SPDX-License-Identifier: MIT
 *
 * The environment of a session's flows: host and settings.
 */
#pragma once

#include <stdbool.h>

#include "ga/base/error.h"
#include "ga/base/strv.h"
#include "ga/config/config.h"
#include "ga/config/preset.h"
#include "ga/repo/repo.h"
#include "ga/risk/risk.h"
#include "ga/run/confine.h"

/* The network settings of a session. The lists are borrowed. */
struct ga_env_network {
	enum ga_network mode;
	const struct ga_strv *allow, *sockets, *publish; /* as in struct ga_config; NULL: none */
	/* where `allow` is set, if `mode` ignores it and no warning was given; or NULL */
	const char *allow_at;
	const struct ga_strv *options; /* set on the command line, as KEY=VALUE; or NULL */
	bool by_repository; /* the repository's file made `mode` stricter than the user's
			     * settings */
};

/* The host, as the flows see it; filled by the command line. */
struct ga_env {
	struct ga_repo *repo;
	struct ga_gitconfig config;
	struct ga_gitconfig_load *loading; /* see ga_env_config(); NULL once `config` is read */
	char *state_root;           /* state directory of all repositories */
	char *state_dir;            /* that of this repository, below it */
	char *home;                 /* the real $HOME, resolved */
	char *path;                 /* $PATH */
	char *agent_home;           /* shown in place of `home`: ~/aihome, or as configured */
	struct ga_presets agents;   /* the user's own agents */
	struct ga_config conf;      /* the settings of the current session, or else the user's */
	struct ga_risk_paths risk;  /* the setting `risk` for this session ... */
	struct ga_risk_paths risk_own; /* ... and for its submodules: of the user's file alone */
	struct ga_use_limits use;   /* what a session may use */
	struct ga_env_network net; /* of the session at hand */
	char *stage, *init;         /* absolute paths of the two helpers */
	char *bwrap;                /* found on demand; NULL before */
	const char *const *environ; /* the host's environment */
	bool progress;              /* show progress of long steps on standard error ... */
	int64_t progress_delay_ms;  /* ... for ours after this delay */
};
