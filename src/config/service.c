/* SPDX-License-Identifier: MIT */
#include "ga/config/service.h"

#include <ctype.h>
#include <string.h>

#include "ga/base/quote.h"

#define READY " ready"

bool ga_command_ok(const char *text)
{
	size_t n = strlen(text);

	if (n > GA_COMMAND_MAX || !text[strspn(text, " \t\n")] || !ga_utf8_valid(text, n))
		return false;
	for (const char *p = text; *p; p++)
		if (((unsigned char)*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f)
			return false;
	return true;
}

static size_t name_length(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || (n && text[n] && strchr("._-", text[n])))
		n++;
	return n;
}

bool ga_service_name_ok(const char *name)
{
	size_t n = name_length(name);

	return n && n <= GA_SERVICE_NAME_MAX && !name[n];
}

/* Split a word: returns the command, the length of the name (0: none), and whether it is a `ready`
 * command. */
static const char *split(const char *text, size_t *ret_name, bool *ret_ready)
{
	size_t n = name_length(text), k = n;

	*ret_ready = n && !strncmp(text + n, READY, strlen(READY));
	k += *ret_ready ? strlen(READY) : 0;
	*ret_name = n && n <= GA_SERVICE_NAME_MAX && text[k] == ':' &&
		    (text[k + 1] == ' ' || text[k + 1] == '\n') ? n : 0;
	*ret_ready = *ret_ready && *ret_name;
	return *ret_name ? text + k + 2 : text;
}

bool ga_service_ok(const char *text)
{
	size_t name;
	bool ready;

	return ga_command_ok(split(text, &name, &ready));
}

void ga_services_release(struct ga_services *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].name);
		free(s->v[i].command);
		free(s->v[i].ready);
	}
	free(s->v);
	*s = (struct ga_services)GA_SERVICES_INIT;
}

static struct ga_service *find(const struct ga_services *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].name && !strcmp(s->v[i].name, name))
			return &s->v[i];
	return NULL;
}

/* A name made from the program's name as far as a service may be called that; else "service". */
static char *make_name(const struct ga_services *s, const char *command)
{
	const char *word = command + strspn(command, " \t\n"), *slash;
	cleanup_free char *first = ga_strndup(word, strcspn(word, " \t\n;&|<>"));
	cleanup_free char *stem = NULL;
	char *name;
	size_t n;

	slash = strrchr(first, '/');
	word = slash ? slash + 1 : first;
	n = name_length(word);
	stem = n ? ga_strndup(word, n < GA_SERVICE_NAME_MAX - 4 ? n : GA_SERVICE_NAME_MAX - 4)
		 : ga_strdup("service");
	name = ga_strdup(stem);
	for (unsigned i = 2; find(s, name); i++) {
		free(name);
		name = ga_strf("%s-%u", stem, i);
	}
	return name;
}

static void add(struct ga_services *s, const char *text)
{
	size_t n;
	bool ready;
	const char *command = split(text, &n, &ready);
	cleanup_free char *name = n ? ga_strndup(text, n) : NULL;
	struct ga_service *have = name ? find(s, name) : NULL;

	if (ready) {
		if (have) {
			free(have->ready);
			have->ready = ga_strdup(command);
		}
		return;
	}
	if (!have) {
		GA_GROW(s->v, s->n, s->cap);
		have = &s->v[s->n++];
		*have = (struct ga_service){ .name = ga_steal(&name) };
	}
	free(have->command);
	free(have->ready);
	have->command = ga_strdup(command);
	have->ready = NULL;
}

void ga_services_parse(const struct ga_strv *words, struct ga_services *ret)
{
	for (size_t i = 0; i < words->n; i++)
		add(ret, words->v[i]);
	/* generated names must not collide with later given ones */
	for (size_t i = 0; i < ret->n; i++)
		if (!ret->v[i].name)
			ret->v[i].name = make_name(ret, ret->v[i].command);
}

char *ga_command_text(const char *command, size_t most)
{
	const char *p = command + strspn(command, " \t\n");
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	size_t n = strlen(p);

	while (n && strchr(" \t\n", p[n - 1]))
		n--;
	if (n <= most) {
		cleanup_free char *all = ga_strndup(p, n);

		/* keep backslashes single: they are the shell's */
		if (!strpbrk(all, "\n\t"))
			ga_quote_add_text(&b, all, n);
		else
			ga_quote_add(&b, all, n);
		return ga_buf_steal(&b);
	}
	while (most && ((unsigned char)p[most] & 0xc0) == 0x80)
		most--;
	ga_quote_add(&b, p, most);
	ga_buf_adds(&b, "...");
	return ga_buf_steal(&b);
}
