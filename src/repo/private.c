/* SPDX-License-Identifier: MIT
 *
 * Private handles: the repository's objects, and those of one session, which no ref of the
 * repository names and nobody else reads.
 */
#include "objects-internal.h"

#include <git2/sys/repository.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/quote.h"

static int open_objects(struct ga_repo *p, struct ga_error *err)
{
	cleanup_free char *common = ga_path_join(p->info.commondir, "objects");
	git_odb *odb = NULL;

	if (git_odb_open(&p->own, p->objects) || git_odb_open(&odb, p->objects) ||
	    git_odb_add_disk_alternate(odb, common) || git_repository_set_odb(p->repo, odb)) {
		cleanup_free char *q = ga_escape(p->objects);

		(void)ga_fail_git(err, "cannot open the objects in '%s'", q);
		git_odb_free(odb);
		return -1;
	}
	git_odb_free(p->odb);
	p->odb = odb;
	return 0;
}

int ga_repo_open_private(const struct ga_repo *r, const char *objects, struct ga_repo **ret,
			 struct ga_error *err)
{
	cleanup_free char *packs = ga_path_join(objects, "pack");
	cleanup_repo struct ga_repo *p = NULL;

	if (ga_mkdir_p(packs, 0700, err) || ga_repo_open_as_is(r->info.workdir, &p, err))
		return -1;
	p->info.id = r->info.id ? ga_strdup(r->info.id) : NULL;
	free(p->objects);
	p->objects = ga_strdup(objects);
	p->own = NULL;
	p->private = true;
	if (open_objects(p, err))
		return -1;
	*ret = ga_steal(&p);
	return 0;
}
