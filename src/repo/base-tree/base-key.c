/* SPDX-License-Identifier: MIT */
#include "pool-internal.h"

#include <string.h>

#include "ga/base/path.h"

#define MAGIC "git-agent base 2"

void ga_base_key_release(struct ga_base_key *k)
{
	ga_buf_release(&k->text);
}

/* Does this key of the configuration change what a checkout writes? */
static bool shapes_checkout(const char *key)
{
	static const char *const keys[] = {
		"core.autocrlf", "core.eol", "core.symlinks", "core.filemode", "core.ignorecase",
		"core.precomposeunicode", "core.protecthfs", "core.protectntfs",
		"core.attributesfile", "core.sparsecheckout", "core.sparsecheckoutcone",
	};

	if (!strncmp(key, "filter.", 7) || !strncmp(key, "lfs.", 4))
		return true;
	for (size_t i = 0; i < GA_NELEMS(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* Add the file's content as a record of its own; a missing file counts as empty. */
static int add_file(struct ga_base_key *k, const char *path, struct ga_error *err)
{
	ga_buf_add0(&k->text, path);
	if (ga_user_file_read(path, GA_RULES_MAX, &k->text, err))
		return -1;
	ga_buf_addch(&k->text, '\0');
	return 0;
}

static int add_rules(const struct ga_repo *r, const struct ga_gitconfig *c, struct ga_base_key *k,
		     struct ga_error *err)
{
	cleanup_free char *info = ga_path_join(r->info.commondir, "info/attributes");
	cleanup_free char *sparse = ga_path_join(r->info.gitdir, "info/sparse-checkout");
	const char *system = ga_system_attributes();
	cleanup_free char *own = NULL;

	for (size_t i = 0; i < c->n; i++)
		if (shapes_checkout(c->v[i].key)) {
			ga_buf_addf(&k->text, "%s%c", c->v[i].key, c->v[i].has_value ? '=' : ' ');
			ga_buf_add0(&k->text, c->v[i].value);
		}
	if (ga_user_file(r, c, "core.attributesfile", "attributes", &own, err) ||
	    (system && add_file(k, system, err)) || (own && add_file(k, own, err)) ||
	    add_file(k, info, err))
		return -1;
	if (!ga_gitconfig_bool(c, "core.sparsecheckout", false))
		return 0;
	return add_file(k, sparse, err);
}

int ga_base_key_make(const struct ga_repo *r, const struct ga_gitconfig *c, bool trusted,
		     struct ga_base_key *ret, struct ga_error *err)
{
	ga_buf_clear(&ret->text);
	ga_buf_add0(&ret->text, MAGIC);
	ga_buf_add0(&ret->text, r->info.workdir);
	ga_buf_add0(&ret->text, trusted ? "trusted" : "untrusted");
	ret->place_len = ret->text.len;
	return add_rules(r, c, ret, err);
}
