/* SPDX-License-Identifier: MIT
 *
 *     flagcommits REPOSITORY COMMIT COUNT [host]
 *
 * Compares the newest COUNT commits that COMMIT reaches and that have one parent with that parent,
 * and prints for each "commit ID SUBJECT", "path PATH" for each changed path and "flag SEVERITY
 * RULE PATH<tab>REASON" for each flag: as on a host without hooks and drivers, or with those that
 * the repository has.
 */
#include <stdio.h>
#include <string.h>

#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/repo/history.h"
#include "ga/repo/objects.h"
#include "ga/risk/risk.h"
#include "ga/sys/process.h"

static int flag_commit(struct ga_repo *r, const struct ga_host_facts *facts,
		       const struct ga_oid *id, const struct ga_commit *c, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	const char *m = c->message + strspn(c->message, "\n");
	cleanup_free char *line = ga_strndup(m, strcspn(m, "\n")), *subject = ga_escape(line);
	struct ga_oid old, *was = NULL;

	if (c->n_parents && ga_commit_tree(r, &c->parents[0], &old, err))
		return -1;
	was = c->n_parents ? &old : NULL;
	if (ga_tree_diff(r, was, &c->tree, &changes, err) ||
	    ga_classify(r, facts, was, &c->tree, &changes, &flags, err))
		return -1;
	(void)printf("commit %s %s\n", GA_HEX(id), subject);
	for (size_t i = 0; i < changes.n; i++) {
		cleanup_free char *path = ga_escape(changes.v[i].path);

		(void)printf("path %s\n", path);
	}
	for (size_t i = 0; i < flags.n; i++) {
		cleanup_free char *path = ga_escape(flags.v[i].path);

		(void)printf("flag %s %s %s\t%s\n", ga_severity_name(flags.v[i].severity),
			     flags.v[i].rule, path, flags.v[i].reason);
	}
	return 0;
}

static int run(const char *dir, const char *rev, size_t count, bool host, struct ga_error *err)
{
	cleanup_(ga_gitconfig_release) struct ga_gitconfig config = GA_GITCONFIG_INIT;
	cleanup_host_facts struct ga_host_facts facts = GA_HOST_FACTS_INIT;
	cleanup_free struct ga_oid *ids = NULL;
	cleanup_repo struct ga_repo *r = NULL;
	struct ga_oid tip;
	size_t n;

	if (!ga_oid_parse(rev, strlen(rev), &tip))
		return ga_fail(err, GA_EUSAGE, "a commit is named by its id");
	/* facts of an empty host, gathered once so that the rules are compiled once */
	if (ga_repo_open(dir, &r, err) || (host && ga_gitconfig_load(r, &config, err)) ||
	    ga_host_facts_gather(r, &config, NULL, &facts, err) ||
	    ga_rev_list(r, &tip, 1, NULL, 0, 10000000, &ids, &n, err))
		return -1;
	for (size_t i = n; i-- && count;) {
		cleanup_commit struct ga_commit c = {.parents = NULL};

		if (ga_commit_read(r, &ids[i], &c, err))
			return -1;
		if (c.n_parents != 1)
			continue;
		if (flag_commit(r, &facts, &ids[i], &c, err))
			return -1;
		count--;
	}
	return 0;
}

int main(int argc, char **argv)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	uint64_t count;

	if (argc < 4 || argc > 5 || !ga_parse_u64(argv[3], 1000000, &count)) {
		(void)fputs("usage: flagcommits REPOSITORY COMMIT COUNT [host]\n", stderr);
		return 2;
	}
	if (run(argv[1], argv[2], (size_t)count, argc == 5, &err)) {
		(void)fprintf(stderr, "flagcommits: %s\n", err.msg);
		return 1;
	}
	return 0;
}
