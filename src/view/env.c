/* SPDX-License-Identifier: MIT */
#include "ga/view/env.h"

int ga_env_config(struct ga_env *e, struct ga_error *err)
{
	return e->loading ? ga_gitconfig_end(ga_steal(&e->loading), &e->config, err) : 0;
}
