/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "sandbox-internal.h"

/* What a program needs to talk to the person at the terminal, and nothing that
 * says where a socket, an agent or a credential is. A trailing '*' stands
 * for any end. */
static const char *const passed[] = {
	"TERM", "COLORTERM", "LANG", "LANGUAGE", "LC_*", "TZ", "EDITOR", "VISUAL", "NO_COLOR",
};

static const char *value_of(const char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (!strncmp(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

static bool matches(const char *entry, const char *pattern)
{
	size_t n = strlen(pattern), name = strcspn(entry, "=");

	if (n && pattern[n - 1] == '*')
		return !strncmp(entry, pattern, n - 1) && name >= n - 1;
	return n == name && !strncmp(entry, pattern, n);
}

static bool allowed(const char *entry, const struct ga_strv *pass)
{
	for (size_t i = 0; i < GA_NELEMS(passed); i++)
		if (matches(entry, passed[i]))
			return true;
	for (size_t i = 0; pass && i < pass->n; i++)
		if (matches(entry, pass->v[i]))
			return true;
	return false;
}

/* Set by us, whatever the host or `pass` says. */
static bool ours(const char *entry)
{
	static const char *const names[] = { "HOME", "PATH", "USER", "LOGNAME", "SHELL", "PWD" };

	for (size_t i = 0; i < GA_NELEMS(names); i++)
		if (matches(entry, names[i]))
			return true;
	return false;
}

static void add_path(struct ga_spec *s, const char *host)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (const char *p = host ? host : ""; *p; p += strspn(p, ":")) {
		size_t n = strcspn(p, ":");
		cleanup_free char *dir = ga_strndup(p, n);

		while (n > 1 && dir[n - 1] == '/')
			dir[--n] = '\0';
		if (*dir && ga_spec_visible(s, dir))
			ga_buf_addf(&b, "%s%s", b.len ? ":" : "", dir);
		p += strcspn(p, ":");
	}
	ga_strv_pushf(&s->env, "PATH=%s", b.len ? b.ptr : "/usr/local/bin:/usr/bin:/bin");
}

void ga_spec_environment(struct ga_spec *s, const char *const *host_env, const struct ga_strv *pass)
{
	const char *user = value_of(host_env, "USER"), *login = value_of(host_env, "LOGNAME");
	const char *shell = value_of(host_env, "SHELL");

	ga_strv_release(&s->env);
	ga_strv_pushf(&s->env, "HOME=%s", s->home);
	add_path(s, value_of(host_env, "PATH"));
	if (user || login)
		ga_strv_pushf(&s->env, "USER=%s", user ? user : login);
	if (user || login)
		ga_strv_pushf(&s->env, "LOGNAME=%s", login ? login : user);
	ga_strv_pushf(&s->env, "SHELL=%s", shell && ga_spec_visible(s, shell) ? shell : "/bin/sh");
	for (; host_env && *host_env; host_env++)
		if (strchr(*host_env, '=') && allowed(*host_env, pass) && !ours(*host_env))
			ga_strv_push(&s->env, *host_env);
}
