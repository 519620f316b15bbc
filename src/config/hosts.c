/* SPDX-License-Identifier: MIT */
#include "ga/config/hosts.h"

#include <string.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/config/service.h"

enum member { SSH, ENGINE, SBATCH, SCRATCH, RUN, TERMINAL, MEMBERS };

const char *const ga_host_members[] = {
	[SSH] = "ssh", [ENGINE] = "engine", [SBATCH] = "sbatch", [SCRATCH] = "scratch",
	[RUN] = "run", [TERMINAL] = "terminal", [MEMBERS] = NULL,
};

void ga_host_release(struct ga_host *h)
{
	free(h->ssh);
	free(h->scratch);
	ga_strv_release(&h->sbatch);
	ga_strv_release(&h->run);
	ga_strv_release(&h->terminal);
	*h = (struct ga_host)GA_HOST_INIT;
}

/* Split "NAME MEMBER: VALUE". NULL if the word is not of this form. */
static const char *split(const char *word, enum member *ret)
{
	const char *member = word + strcspn(word, " ");
	const char *value = *member ? strstr(++member, ": ") : NULL;

	for (int m = 0; value && m < MEMBERS; m++)
		if ((size_t)(value - member) == strlen(ga_host_members[m]) &&
		    !strncmp(member, ga_host_members[m], strlen(ga_host_members[m]))) {
			*ret = (enum member)m;
			return value + 2;
		}
	return NULL;
}

static bool value_ok(enum member m, const char *value)
{
	if (strpbrk(value, "\n\t") || !ga_command_ok(value))
		return false;
	switch (m) {
	case SSH:
		return *value != '-' && !strchr(value, ' ');
	case ENGINE:
		return !strcmp(value, "slurm");
	case SBATCH:
		/* an argument that is no option would be the script */
		return *value == '-';
	case SCRATCH:
		return *value == '/' && ga_path_relative_ok(value + 1);
	case RUN:
	case TERMINAL:
	case MEMBERS:
		break;
	}
	return true;
}

bool ga_host_word_ok(const char *word)
{
	enum member m = MEMBERS;
	const char *value = split(word, &m);
	size_t n = strcspn(word, " ");

	if (!n || *word == '-' || !ga_utf8_valid(word, n))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)word[i] <= ' ' || word[i] == 0x7f)
			return false;
	return value ? value_ok(m, value) : !word[n];
}

static void take(struct ga_host *h, enum member m, const char *value)
{
	struct ga_strv *const lists[MEMBERS] = { [SBATCH] = &h->sbatch, [RUN] = &h->run,
						 [TERMINAL] = &h->terminal };
	char **one = m == SSH ? &h->ssh : m == SCRATCH ? &h->scratch : NULL;

	if (lists[m])
		ga_strv_push(lists[m], value);
	if (one) {
		free(*one);
		*one = ga_strdup(value);
	}
	h->slurm |= m == ENGINE;
}

int ga_host_find(const struct ga_strv *words, const char *name, struct ga_host *ret,
		 struct ga_error *err)
{
	size_t n = strlen(name);
	const char *why = NULL;

	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->v[i], *value;
		enum member m;

		if (!strncmp(word, name, n) && word[n] == ' ' && (value = split(word, &m)))
			take(ret, m, value);
	}
	if (!ret->slurm && (ret->sbatch.n || ret->scratch))
		why = "has 'sbatch' or 'scratch' and no 'engine: slurm'";
	else if (ret->ssh && ret->run.n)
		why = "has both 'ssh' and 'run'";
	else if (ret->terminal.n && !ret->run.n)
		why = "has 'terminal' and no 'run'";
	return why ? ga_fail(err, GA_EUSAGE, "'%s' of the setting 'hosts' %s", name, why) : 0;
}
