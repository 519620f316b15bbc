/* SPDX-License-Identifier: MIT
 *
 * Records of sessions on other machines.
 */
#include "on-internal.h"

#define RECORD_MAX ((size_t)1 << 20)
#define HOST_MAX 255

void ga_on_release(struct ga_on *o)
{
	free(o->name);
	free(o->host);
	free(o->project);
	free(o->far);
	free(o->directory);
	free(o->state);
	free(o->why);
	ga_host_release(&o->way);
	ga_strv_release(&o->options);
	ga_strv_release(&o->command);
	*o = (struct ga_on)GA_ON_INIT;
}

void ga_ons_release(struct ga_ons *l)
{
	for (size_t i = 0; i < l->n; i++)
		ga_on_release(&l->v[i]);
	free(l->v);
	*l = (struct ga_ons)GA_ONS_INIT;
}

bool ga_on_host_ok(const char *host)
{
	size_t n = strlen(host);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)host[i] <= ' ' || host[i] == 0x7f)
			return false;
	return n && n <= HOST_MAX && *host != '-';
}

static char *get_text(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? ga_strdup(s) : NULL;
}

bool on_decode(const json_t *j, struct ga_on *o)
{
	const char *base = json_string_value(json_object_get(j, "base"));
	const char *snapshot = json_string_value(json_object_get(j, "snapshot"));

	o->host = get_text(j, "host");
	o->way.ssh = get_text(j, "ssh");
	o->project = get_text(j, "project");
	o->far = get_text(j, "far");
	o->directory = get_text(j, "directory");
	o->state = get_text(j, "state");
	o->way.scratch = get_text(j, "scratch");
	ga_json_words(json_object_get(j, "run"), &o->way.run);
	ga_json_words(json_object_get(j, "terminal"), &o->way.terminal);
	ga_json_words(json_object_get(j, "sbatch"), &o->way.sbatch);
	ga_json_words(json_object_get(j, "options"), &o->options);
	ga_json_words(json_object_get(j, "command"), &o->command);
	o->way.slurm = json_is_true(json_object_get(j, "slurm"));
	o->trusted = json_is_true(json_object_get(j, "trusted"));
	o->submitted = json_is_true(json_object_get(j, "submitted"));
	o->runs = json_is_true(json_object_get(j, "runs"));
	o->started = (uint64_t)json_integer_value(json_object_get(j, "started"));
	o->asked = (uint64_t)json_integer_value(json_object_get(j, "asked"));
	return o->host && ga_on_host_ok(o->host) && o->project && o->far &&
	       ga_session_name_ok(o->far) && o->directory && base &&
	       ga_oid_parse(base, strlen(base), &o->base) &&
	       (!snapshot || ga_oid_parse(snapshot, strlen(snapshot), &o->snapshot));
}

json_t *on_encode(const struct ga_on *o)
{
	json_t *ret = json_pack("{s:s, s:s?, s:s, s:s, s:s, s:s?, s:s?, s:o, s:o, s:o, s:o, s:o, "
				"s:b, s:b, s:b, s:b, s:I, s:I}", "host", o->host, "ssh", o->way.ssh,
				"project", o->project, "far", o->far, "directory", o->directory,
				"state", o->state, "scratch", o->way.scratch,
				"run", ga_json_strv(&o->way.run),
				"terminal", ga_json_strv(&o->way.terminal),
				"sbatch", ga_json_strv(&o->way.sbatch),
				"options", ga_json_strv(&o->options),
				"command", ga_json_strv(&o->command), "slurm", o->way.slurm,
				"trusted", o->trusted, "submitted", o->submitted, "runs", o->runs,
				"started", (json_int_t)o->started, "asked", (json_int_t)o->asked);

	ga_json_set_oid(ret, "base", &o->base);
	ga_json_set_oid(ret, "snapshot", &o->snapshot);
	return ret;
}

int ga_on_read(const char *state_dir, const char *name, struct ga_on *ret, struct ga_error *err)
{
	cleanup_free char *path = ga_strf("%s/on/%s", state_dir, name);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	json_t *j;
	bool ok;

	if (!ga_session_name_ok(name) || access(path, F_OK))
		return 1;
	if (ga_read_file_at(AT_FDCWD, path, RECORD_MAX, &text, err))
		return -1;
	j = json_loadb(text.ptr, text.len, 0, NULL);
	ret->name = ga_strdup(name);
	ok = on_decode(j, ret);
	json_decref(j);
	if (ok)
		return 0;
	ga_on_release(ret);
	return ga_fail(err, GA_EFATAL, "the record '%s' is damaged" GA_HINT "remove it, if you do "
		       "not need the session that it is about", path);
}

void ga_on_names(const char *state_dir, struct ga_strv *ret)
{
	cleanup_free char *path = ga_path_join(state_dir, "on");
	cleanup_dir DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = ga_dir_next(d)))
		if (ga_session_name_ok(e->d_name))
			ga_strv_push(ret, e->d_name);
	ga_strv_sort_unique(ret);
}

int ga_on_list(const char *state_dir, struct ga_ons *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	ga_on_names(state_dir, &names);
	for (size_t i = 0; i < names.n; i++) {
		struct ga_on o = GA_ON_INIT;
		int rc = ga_on_read(state_dir, names.v[i], &o, err);

		if (rc < 0)
			return -1;
		if (rc)
			continue;
		GA_GROW(ret->v, ret->n, ret->cap);
		ret->v[ret->n++] = o;
	}
	return 0;
}

/* Lock a directory. */
static int lock(const char *state_dir, const char *name, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(state_dir, name);
	cleanup_close int fd = -1;

	if (ga_mkdir_p(dir, 0700, err))
		return -1;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ga_fail_path(err, errno, "open", dir);
	return ga_flock(fd, true, true, err) ? -1 : ga_steal_fd(&fd);
}

int ga_on_lock_names(const char *state_dir, struct ga_error *err)
{
	return lock(state_dir, "on-objects", err);
}

static int save(const char *state_dir, const struct ga_on *o, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(state_dir, "on");
	cleanup_free char *path = ga_path_join(dir, o->name);
	json_t *j = on_encode(o);
	cleanup_free char *text = json_dumps(j, JSON_INDENT(1));

	json_decref(j);
	return text ? ga_write_atomic(AT_FDCWD, path, text, strlen(text), 0600, err)
		    : ga_fail(err, GA_EFATAL, "cannot write '%s'", path);
}

int ga_on_save(const char *state_dir, const struct ga_on *o, struct ga_error *err)
{
	cleanup_close int held = lock(state_dir, "on", err);

	return held < 0 ? -1 : save(state_dir, o, err);
}

int ga_on_note(const char *state_dir, const struct ga_on *o, struct ga_error *err)
{
	cleanup_close int held = lock(state_dir, "on", err);
	cleanup_on struct ga_on now = GA_ON_INIT;
	int rc = held < 0 ? -1 : ga_on_read(state_dir, o->name, &now, err);

	if (rc || strcmp(now.far, o->far) != 0)
		return rc < 0 ? -1 : 0;
	free(now.state);
	now.state = o->state ? ga_strdup(o->state) : NULL;
	now.asked = o->asked;
	return save(state_dir, &now, err);
}

char *ga_on_objects(const char *state_dir, const char *name)
{
	return ga_strf("%s/on-objects/%s", state_dir, name);
}

int ga_on_remove(const char *state_dir, const char *name, struct ga_error *err)
{
	cleanup_free char *path = ga_strf("%s/on/%s", state_dir, name);
	cleanup_free char *objects = ga_on_objects(state_dir, name);
	cleanup_close int held = lock(state_dir, "on", err);

	if (held < 0)
		return -1;
	if (unlink(path) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove '%s'", path);
	return ga_rmtree_at(AT_FDCWD, objects, err);
}
