/* SPDX-License-Identifier: MIT */
#include "ga/repo/configfile.h"

#include "repo/repo-internal.h"

#include "ga/base/quote.h"

#define LIST_MAX ((size_t)8 << 20) /* a section's name is in it for each of its variables */
enum { PARSE_MS = 10000 };

static int add(const git_config_entry *e, void *payload)
{
	struct ga_gitconfig *c = payload;

	/* from an included file: libgit2 follows includes */
	if (e->include_depth)
		return 0;
	GA_GROW(c->v, c->n, c->cap);
	c->v[c->n++] = (struct ga_gitconfig_item){
		.scope = ga_strdup("file"),
		.origin = ga_strdup(""),
		.key = ga_strdup(e->name),
		.value = ga_strdup(e->value ? e->value : ""),
		.has_value = e->value != NULL,
	};
	return 0;
}

int ga_configfile_read(const char *path, struct ga_gitconfig *ret, struct ga_error *err)
{
	struct ga_gitconfig c = GA_GITCONFIG_INIT;
	git_config *cfg = NULL;
	int rc;

	if (ga_library_begin(err))
		return -1;
	rc = git_config_open_ondisk(&cfg, path);
	if (!rc)
		rc = git_config_foreach(cfg, add, &c);
	if (rc < 0) {
		const git_error *e = git_error_last();
		cleanup_free char *q = ga_escape(path);

		(void)ga_fail(err, GA_EFATAL, "cannot read '%s': %s", q,
			      e && e->message ? e->message : "not in git-config syntax");
		ga_gitconfig_release(&c);
	} else {
		*ret = c;
	}
	git_config_free(cfg);
	(void)git_libgit2_shutdown();
	return rc < 0 ? -1 : 0;
}

int ga_configfile_parse(const struct ga_repo *r, const struct ga_buf *text,
			struct ga_gitconfig *ret, struct ga_error *err)
{
	static const char *const args[] = { "config", "--no-includes", "--file", "-", "-z",
					    "--list", "--show-scope", "--show-origin", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT, said = GA_BUF_INIT;
	struct ga_git g = GA_GIT(.args = args, .in = text->ptr, .in_len = text->len, .out = &out,
				 .out_max = LIST_MAX, .timeout_ms = PARSE_MS, .errout = &said);
	struct ga_process_job *job;
	int status;

	/* it reads no object: what is not written yet can wait */
	if (ga_git_spawn(r, &g, true, NULL, &job, err) || ga_process_end(job, &status, err))
		return -1;
	return status ? ga_fail(err, GA_EFATAL, "git cannot parse it")
		      : ga_gitconfig_parse(&out, ret, err);
}
