/* SPDX-License-Identifier: MIT */
#include "ga/session/session.h"

#include <string.h>

#include "ga/repo/objects.h"

static const char *const state_names[] = {
	[GA_STATE_NEW] = "new",
	[GA_STATE_RUNNING] = "running",
	[GA_STATE_INTERRUPTED] = "interrupted",
	[GA_STATE_CAPTURED] = "captured",
	[GA_STATE_LANDED] = "landed",
	[GA_STATE_DROPPED] = "dropped",
};

const char *ga_state_name(enum ga_state s)
{
	return state_names[s];
}

bool ga_state_parse(const char *name, enum ga_state *ret)
{
	for (size_t i = 0; i < GA_NELEMS(state_names); i++) {
		if (!strcmp(name, state_names[i])) {
			*ret = (enum ga_state)i;
			return true;
		}
	}
	return false;
}

const struct ga_oid *ga_session_agent_base(const struct ga_session *s)
{
	return ga_oid_is_zero(&s->view.agent_base) ? &s->id.base : &s->view.agent_base;
}

const struct ga_oid *ga_session_branch_base(const struct ga_session *s)
{
	return ga_oid_is_zero(&s->view.branch_base) ? &s->id.onto : &s->view.branch_base;
}

const struct ga_oid *ga_session_own_base(const struct ga_session *s)
{
	return ga_oid_is_zero(&s->view.updated) ? &s->id.onto : &s->view.updated;
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

bool ga_session_name_ok(const char *name)
{
	size_t n = strlen(name);

	if (!n || n > GA_SESSION_NAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!name_char(name[i]))
			return false;
	/* the rest is what git refuses in a ref name, or looks like an option */
	return name_char(name[0]) && !strchr("._-", name[0]) && name[n - 1] != '.' &&
	       !strstr(name, "..") && !(n > 5 && !strcmp(name + n - 5, ".lock"));
}

char *ga_session_stem(const char *command)
{
	const char *slash = strrchr(command, '/');
	const char *p = slash ? slash + 1 : command;
	char *out = ga_malloc(GA_SESSION_NAME_MAX);
	size_t n = 0;

	/* leave room for "-" and a number */
	for (; *p && n < GA_SESSION_NAME_MAX - 12; p++) {
		char c = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;

		if (name_char(c) && c != '.' && !(n == 0 && strchr("_-", c)))
			out[n++] = c;
	}
	out[n] = '\0';
	if (!n)
		memcpy(out, "agent", sizeof("agent"));
	return out;
}

char *ga_session_ref(const struct ga_session *s, const char *what)
{
	return ga_strf(GA_SESSION_REFS "%s/%s", s->name, what);
}

bool ga_session_is_tracked(const char *name)
{
	return !strncmp(name, "refs/remotes/", 13) && strstr(name + 13, "/agent/");
}

int ga_session_host_refs(struct ga_repo *r, struct ga_refs *ret, struct ga_error *err)
{
	static const char *const spaces[] = { "refs/heads/", "refs/remotes/", "refs/tags/" };

	for (size_t i = 0; i < GA_NELEMS(spaces); i++) {
		cleanup_refs struct ga_refs all = GA_REFS_INIT;

		if (ga_refs_list(r, spaces[i], &all, err))
			return -1;
		for (size_t k = 0; k < all.n; k++) {
			if (!strncmp(all.v[k].name, GA_SESSION_BRANCHES,
				     strlen(GA_SESSION_BRANCHES)) ||
			    ga_session_is_tracked(all.v[k].name) ||
			    !ga_object_here(r, &all.v[k].oid))
				continue;
			ga_refs_add(ret, all.v[k].name, &all.v[k].oid);
		}
	}
	return 0;
}

int ga_session_taken_names(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	struct ga_oid oid;
	int rc = ga_ref_read(r, "refs/heads/agent", &oid, err);

	if (rc < 0)
		return -1;
	if (!rc) {
		(void)ga_fail(err, GA_EFATAL,
			      "branch 'agent' leaves no room for branches below 'agent/'");
		return ga_hint(err, "'git branch -m agent NAME' gives it another name");
	}
	if (ga_refs_list(r, GA_SESSION_BRANCHES, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++) {
		const char *name = refs.v[i].name + strlen(GA_SESSION_BRANCHES);
		/* where there is a branch agent/x/y there can be no agent/x */
		cleanup_free char *first = ga_strndup(name, strcspn(name, "/"));

		ga_strv_push(ret, first);
	}
	return 0;
}
