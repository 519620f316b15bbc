/* SPDX-License-Identifier: MIT
 *
 * Copying logins between homes. Agents can write both sides: what is not a regular file, or is too
 * large for a login, is left alone.
 */
#include "home-internal.h"

#define LOGIN_MAX ((size_t)1 << 20)

struct login {
	bool there, odd;         /* odd: not a file that a login could be, or being written */
	struct timespec changed; /* its ctime, which nobody can set */
	struct ga_buf bytes;
};

static void login_release(struct login *l)
{
	ga_buf_release(&l->bytes);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static void read_login(int home, const char *rel, struct login *ret)
{
	cleanup_close int fd = ga_openat_beneath(home, rel, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st, now;

	if (fd < 0) {
		ret->odd = errno != ENOENT;
		return;
	}
	ret->there = true;
	ret->odd = fstat(fd, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size > LOGIN_MAX ||
		   ga_read_fd(fd, LOGIN_MAX, &ret->bytes, GA_IGNORED) || fstat(fd, &now);
	/* one that is empty, or is being written, is no login yet */
	if (!ret->odd)
		ret->odd = !ret->bytes.len || is_later(&now.st_ctim, &st.st_ctim) ||
			   (uint64_t)now.st_size != ret->bytes.len;
	if (!ret->odd)
		ret->changed = st.st_ctim;
}

/* Give the login that changed last to the other home too. */
static int share(const int *homes, const char *rel, struct ga_error *err)
{
	cleanup_(login_release) struct login one = { .bytes = GA_BUF_INIT };
	cleanup_(login_release) struct login two = { .bytes = GA_BUF_INIT };
	const struct login *from;

	read_login(homes[0], rel, &one);
	read_login(homes[1], rel, &two);
	if (one.odd || two.odd || (!one.there && !two.there))
		return 0;
	if (one.there && two.there && ga_buf_equal(&one.bytes, &two.bytes))
		return 0;
	from = !two.there || (one.there && is_later(&one.changed, &two.changed)) ? &one : &two;
	return home_write(homes[from == &one], rel, from->bytes.ptr, from->bytes.len, 0600, err);
}

int home_share_logins(const struct ga_env *e, const char *other, struct ga_error *err)
{
	cleanup_close int a = open(e->agent_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int b = open(other, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const int homes[] = { a, b };
	const struct ga_preset *p;

	if (a < 0 || b < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the agents' homes");
	for (size_t i = 0; (p = ga_preset_at(&e->agents, i)) != NULL; i++)
		for (size_t j = 0; p->logins[j]; j++)
			if (share(homes, p->logins[j], err))
				return -1;
	return 0;
}

/* Read the user's login; with `key`, `ret` is what the file of the agents (`theirs`) is to be: that
 * with the one member set. */
static int read_own(const struct ga_env *e, const char *rel, const char *key,
		    const struct ga_buf *theirs, struct ga_buf *ret)
{
	cleanup_free char *file = ga_path_join(e->home, rel);
	cleanup_close int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_buf struct ga_buf all = GA_BUF_INIT;
	json_t *own, *to, *login;
	struct stat st;
	char *text;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    ga_read_fd(fd, LOGIN_MAX, key ? &all : ret, GA_IGNORED))
		return -1;
	if (!key)
		return ret->len ? 0 : -1;
	own = json_loadb(all.ptr ? all.ptr : "", all.len, 0, NULL);
	login = json_object_get(own, key);
	to = json_loadb(theirs->ptr ? theirs->ptr : "", theirs->len, 0, NULL);
	if (!json_is_object(to)) {
		json_decref(to);
		to = json_object();
	}
	/* the text of the agents' file stays as it is if that is the login they have */
	if (login && json_equal(login, json_object_get(to, key))) {
		ga_buf_add(ret, theirs->ptr, theirs->len);
	} else if (login && !json_object_set(to, key, login) &&
		   (text = json_dumps(to, JSON_INDENT(2)))) {
		ga_buf_addf(ret, "%s\n", text);
		free(text);
	}
	json_decref(to);
	json_decref(own);
	return ret->len ? 0 : -1;
}

int ga_home_look_at_login(const struct ga_env *e, const char *rel, const char *key,
			  enum ga_home_login *ret, struct ga_error *err)
{
	cleanup_(login_release) struct login theirs = { .bytes = GA_BUF_INIT };
	cleanup_buf struct ga_buf own = GA_BUF_INIT;
	cleanup_close int home = open(e->agent_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*ret = GA_HOME_LOGIN_NONE;
	if (home < 0 && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the agents' home");
	if (home >= 0)
		read_login(home, rel, &theirs);
	if (!read_own(e, rel, key, &theirs.bytes, &own))
		*ret = home < 0 || (!theirs.odd && !theirs.there) ? GA_HOME_LOGIN_NEW
		       : !theirs.odd && ga_buf_equal(&theirs.bytes, &own) ? GA_HOME_LOGIN_SAME
									  : GA_HOME_LOGIN_OTHER;
	return 0;
}

int ga_home_import_login(const struct ga_env *e, const char *rel, const char *key,
			 struct ga_error *err)
{
	cleanup_(login_release) struct login theirs = { .bytes = GA_BUF_INIT };
	cleanup_buf struct ga_buf own = GA_BUF_INIT;
	cleanup_free char *q = ga_escape(rel);
	cleanup_close int lock = -1, home = -1;

	/* in any home_mode: projects' own homes get theirs from the shared one */
	if (home_open_shared(e, &lock, err))
		return -1;
	home = open(e->agent_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (home < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the agents' home");
	read_login(home, rel, &theirs);
	if (read_own(e, rel, key, &theirs.bytes, &own))
		return ga_fail(err, GA_EFATAL, "cannot read '%s' of your home", q);
	return home_write(home, rel, own.ptr, own.len, 0600, err);
}
