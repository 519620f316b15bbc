/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow.
 */
#ifndef START_H
#define START_H

#include <sys/stat.h>

#include "ga/capture.h"
#include "ga/exposure.h"
#include "ga/record.h"
#include "ga/refs.h"
#include "ga/snapshot.h"
#include "ga/start.h"
#include "ga/sync.h"

/* Where the session will stand. */
struct start_base {
	struct ga_oid onto, base;
	char *onto_ref;
	bool trusted;        /* no agent content that was not landed */
	size_t carried;
	size_t max_shared;   /* ignored directories that can be */
	struct ga_scan scan;
	struct ga_exposure secrets;
	struct ga_strv hidden;  /* paths that are kept out, sorted ... */
	struct ga_strv clear;   /* ... and those of them that git's filters open at checkout */
	struct ga_strv objects; /* loose objects of what is in them, hidden as well ... */
	struct ga_strv stored;  /* ... and paths of what git has stored where it cannot be */
};
void start_base_release(struct start_base *b);

/* Refuse working trees no session can stand in: home and what contains it. */
int start_check_project(const struct ga_start_env *e, struct ga_error *err);
int start_choose_base(struct ga_start_env *e, const struct ga_start_opts *o, bool dry,
		      struct start_base *ret, struct ga_error *err);

/* include.c: leave no more of what is ignored in `scan` than the session is to show. */
int start_narrow_ignored(struct ga_start_env *e, const struct ga_start_opts *o,
			 struct ga_scan *scan, struct ga_error *err);

/* secrets.c: fill b->secrets and b->hidden; `carried`: uncommitted work is shown as well. A dry
 * run keeps nothing on the disk. */
int start_find_secrets(struct ga_start_env *e, const struct ga_start_opts *o, bool dry,
		       bool carried, struct start_base *b, struct ga_error *err);
bool start_is_hidden(const struct start_base *b, const char *path);
size_t start_count_hidden(const struct start_base *b, const struct ga_strv *paths);
/* What a session that is there would show of secrets now, with its branch at `tip`. */
int start_look_again(struct ga_start_env *e, const struct ga_start_opts *o,
		     const struct ga_session *s, const struct ga_oid *tip, struct start_base *b,
		     struct ga_error *err);
/* Once the base is there: fill b->objects and b->stored. */
int start_hide_objects(struct ga_start_env *e, struct start_base *b, struct ga_error *err);
/* Lines for the banner, parts included. */
void start_describe_secrets(const struct start_base *b, struct ga_start *st);
/* Lay whiteouts over what is hidden in the shared directory `dir`, into `mask`, made if it needs
 * to be. */
int start_mask_shared(const struct start_base *b, int project, const char *dir, const char *mask,
		      struct ga_error *err);
/* And over the rest, into `extras`: for a session with the working tree beneath whiteouts, or
 * what the base has; for all what is committed of files that a filter opens. */
int start_mask_project(struct ga_start_env *e, const struct ga_session *s,
		       const struct start_base *b, const struct ga_oid *tree, int project,
		       int extras, struct ga_error *err);

/* The base of a submodule is the commit that the superproject's base has for it. What is not
 * committed in it stays outside: `*ret_dirty` paths. Returns 1 and why for people if the submodule
 * cannot be a part of the session. */
int start_choose_part_base(struct ga_start_env *e, const struct ga_start_opts *o,
			   const struct ga_oid *commit, struct start_base *ret, size_t *ret_dirty,
			   const char **ret_why, struct ga_error *err);

struct ga_part {
	char *path;               /* relative to the superproject */
	struct ga_start_env env;  /* the superproject's, but for repository, configuration, state
				   * directory and bwrap, which are its own */
	struct start_base base;
	struct ga_start start;
};
/* Parts of what stands on `b`: their repositories opened and their bases chosen, recursively. The
 * names no session may have because of them are added to `taken`, what is left out and why to
 * `b->scan.skipped`. */
int start_open_parts(struct ga_start_env *e, const struct ga_start_opts *o,
		     struct start_base *b, struct ga_start *st, struct ga_strv *taken,
		     struct ga_error *err);
void start_parts_release(struct ga_start *st);
/* The environment of a submodule's repository: the one that is checked out at `path` of `project`,
 * and, unless `id` is NULL, has that id; without its configuration. To be released on failure,
 * too. */
int start_part_env(const struct ga_start_env *e, const char *project, const char *path,
		   const char *id, struct ga_start_env *ret, struct ga_error *err);
void start_part_env_release(struct ga_start_env *e);
/* Once a session has its name: its parts get theirs, and go into its spec. */
int start_make_parts(const struct ga_start_opts *o, struct ga_start *st, struct ga_error *err);
/* Parts are in the same state, and ended with the same result. */
int start_save_parts(struct ga_start *st, struct ga_error *err);
/* What of them is to get to the disk later. */
void start_part_paths(const struct ga_start *st, struct ga_strv *ret);
void start_unlock_parts(struct ga_start *st);
/* Remove the parts of a session that never ran. */
int start_discard_parts(const struct ga_start_env *e, const struct ga_session *s,
			struct ga_error *err);
/* Capture the parts; what became of them goes to `ret`. */
int start_capture_parts(const struct ga_start_env *e, const struct ga_session *s,
			struct ga_sandbox **ended, struct ga_links *ret, struct ga_error *err);

/* resume.c: what is left where a session cannot go on. Returns -1. */
int start_anew_hint(const struct ga_session *s, struct ga_error *err);
/* resume-point.c: where a session goes on. */
struct start_point {
	struct ga_oid under;   /* its branch, or what that would stand on */
	struct ga_oid from;    /* what its private HEAD is put on */
	struct ga_oid former;  /* the report there is; zero: none */
	struct ga_oid view;    /* what its layers are to show ... */
	struct ga_oid full;    /* ... and that without the user's uncommitted work */
	struct ga_oid was, was_full; /* what they are to be taken from ... */
	struct ga_changes bring; /* ... and what is different: done on the host since */
	struct ga_changes doubt; /* what may have been lost since it was captured */
	struct ga_changes again; /* before that: what a try that ended may have half done */
};
void start_point_release(struct start_point *p);
int start_find_point(struct ga_start_env *e, const struct ga_session *s, struct start_point *ret,
		     struct ga_error *err);
/* resume-keep.c: keep the commit of uncommitted work that the last run stood on, if it was made by
 * a resume, on refs/agent/NAME/stood/: branches of the agent's may go on standing on it. */
int start_keep_stand(struct ga_start_env *e, const struct ga_session *s, struct ga_error *err);
/* The report that belongs to what the session goes on from; zero: there is none. */
int start_find_former(struct ga_start_env *e, const struct ga_session *s, struct ga_oid *ret,
		      struct ga_error *err);
/* resume-doubt.c: if the machine was started anew since the layers were written to, find where
 * they may not show what was captured. */
int start_find_doubt(struct ga_start_env *e, const struct ga_session *s, struct start_point *p,
		     struct ga_error *err);
int start_layers_lost(const struct ga_session *s, const char *path, struct ga_error *err);
/* resume-masks.c: hide what is a secret by now in the layers, and note it in `s`. */
int start_mask_again(struct ga_start_env *e, const struct ga_start_opts *o,
		     const struct start_point *p, struct ga_session *s, struct start_base *b,
		     struct ga_error *err);
/* resume-inside.c: git in the sandbox of `st`, in which nothing of the agent's runs yet, brings
 * the layers to `p`, and then the private git dir. What cannot be brought is refused, with nothing
 * of it changed. Before anything is, the state file says to what: done again after it was killed
 * it gives the same. */
int start_move_to_point(struct ga_start_env *e, struct ga_start *st, const struct start_point *p,
			struct ga_error *err);
/* The environment of git inside, without what is one command's. */
extern const char *const start_git_env[];

/* note.c: what the journal says: before a run what it is given; how it ended; what was captured. */
void start_note_begin(const struct ga_start_env *e, const struct ga_start *st);
void start_note_exit(const struct ga_start *st);
void start_note_captured(const struct ga_session *s, const struct ga_report *r);
/* The recording of a run, NULL: none is wanted. Every so often what there is of it is written, and
 * that it ended early is noted, once. */
struct ga_recorder *start_record(const struct ga_start_env *e, const struct ga_start *st);
void start_record_tick(const struct ga_session *s, struct ga_recorder *r, bool *noted);
void start_record_end(struct ga_start *st, struct ga_recorder *r, bool *noted);

/* watch.c: while a session lasts, and what ends it then. */
struct start_watch {
	const struct ga_start_env *e;
	const struct ga_session *s;
	const struct ga_detach *detach;
	struct ga_recorder *recorder; /* NULL: none */
	const struct ga_relay *relay; /* NULL: none */
	size_t connections;           /* of what it tells are noted */
	bool noted;                   /* that it stopped */
	/* What start made without waiting for the disk goes there after a while: refs that a power
	 * cut left empty would be in git's way. */
	struct ga_strv unsynced;
	struct ga_sync_beside *beside;
	uint64_t written;     /* by the command, kept by ga_run_session() */
	int64_t begun;        /* milliseconds, as the next two */
	int64_t measured, next_measure;
	pid_t measure;        /* the process that measures the layers, 0: none */
	char *why;            /* it is to end, for people; NULL */
	const char *event;    /* what the journal calls that */
};
void start_watch_begin(struct start_watch *w);
bool start_watch_tick(void *payload); /* for ga_run_session() */
/* Release it; note in `s` and in its journal why it ended. Fails if something did not get to the
 * disk. */
int start_watch_end(struct start_watch *w, struct ga_session *s, struct ga_error *err);

/* network.c: what a session can reach. Was its sandbox begun with the right network? */
#define START_NETWORK_NOTE "network" /* in the state directory of a repository */
bool start_has_network(const struct ga_start_env *e, const struct ga_start *st);
const char *start_network_name(const struct ga_start_env *e); /* as a session has it */
/* One that was not: what the next begins with is noted. */
void start_note_guess(const struct ga_start_env *e);
/* Before its trees are mounted: the plan, its files and sockets, into the spec, with what of it is
 * in the environment, and lines for the banner. */
int start_make_network(struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
/* Those lines alone, for a dry run: into st->notes. */
void start_describe_network(const struct ga_start_env *e, struct ga_start *st);
/* Once process 1 is there, and before anything else is inside. */
int start_enter_network(const struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
/* What was new of it since the last time, for the journal; how it went; and the end of it. */
void start_note_network(const struct ga_session *s, const struct ga_relay *r, size_t *noted);
void start_end_network(struct ga_start *st, size_t *noted);

/* ports.c: a range of ports that no other session of the user's has, as long as `*ret_fd` is open:
 * its first, 0 if there is none to be had. */
unsigned start_take_ports(const struct ga_start_env *e, int *ret_fd);

/* beside.c: a command of the user's, by a shell inside. */
struct start_step {
	struct start_watch *watch;
	struct ga_start *st;
	const char *script;  /* what that shell runs, with $0 `heading` and $1 `command`; NULL: the
			      * line, then the command */
	const char *heading, *command;
	int64_t deadline;    /* start_step_deadline() */
	/* asked often: true ends it; NULL */
	bool (*give_up)(struct start_step *s);
	/* how it went */
	int status, signal;
	bool timed_out, ended;
	char tail[1024];     /* the last it wrote */
	size_t tail_n;
	/* its own */
	const struct ga_run_sink *record;
	int64_t next_watch;
};
int64_t start_step_deadline(uint64_t seconds); /* 0: none */
int start_step(struct start_step *s, struct ga_error *err);
/* Why it did not end by itself, for people; NULL: it did. The caller frees it. */
char *start_step_cut(const struct start_step *s, const char *limit, uint64_t seconds);
/* The last line of some output, safe to show; "" if there is none. */
char *start_last_line(const char *p, size_t n);

/* What the user wants run before the agent; a failure is GA_ESTART. */
int start_run_setup(struct start_watch *w, struct ga_start *st, struct ga_error *err);
/* After it, with how each ended in the session's `checks`; `ended`: the agent was ended. */
void start_run_finish(struct start_watch *w, struct ga_start *st, bool ended);
/* services.c: beside it, from now on, all of them ready; until then. */
int start_run_services(struct start_watch *w, struct ga_start *st, struct ga_error *err);
void start_end_services(struct ga_start *st);

/* prepare.c: how the limits of a session are going to be kept, and what of namespaces, and lines
 * for the banner. */
int start_plan_limits(const struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
void start_describe_limits(struct ga_start *st);

/* run.c: ga_start_capture() of a part, whose failures the superproject's session explains. */
int start_capture(struct ga_start_env *e, struct ga_session *s, struct ga_sandbox **ended,
		  struct ga_report *ret, struct ga_error *err);

/* command.c: where a command is on the host, or NULL; of an agent, where its installer puts it as
 * well: then `*ret_place` (NULL: not wanted) is that directory. Caller frees both. */
char *start_find_command(const struct ga_start_env *e, const char *command, char **ret_place);
/* Fail early, and on the host, for a command that is nowhere. Where an agent is found beside $PATH,
 * e->path leads there from now on; one that the user installed in the agents' home is st->own. */
int start_check_command(struct ga_start_env *e, const char *command, struct ga_start *st,
			struct ga_error *err);
/* prepare.c: what a start and a resume have in common.
 * There is no use in beginning what would be ended at once. */
int start_check_room(const struct ga_start_env *e, struct ga_error *err);
/* The sandbox up to home, with what `command` needs there; begun already or not. */
int start_begin(struct ga_start_env *e, const char *command, struct ga_start *st,
		struct ga_error *err);
/* home.c: the home of the session for which the sandbox of `st` is begun: locked, made, with what
 * tells its agent where it is. Once the session is there: its layer over that, if it has one. Once
 * nothing of it runs: what other homes have of it as well. */
int start_open_home(struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
int start_layer_home(struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
void start_close_home(const struct ga_start_env *e, const struct ga_start *st);
/* command.c: the words to run, a preset's with them; `again`: those to go on with. Fills preset and
 * argv. */
void start_make_argv(const struct ga_start_env *e, char *const *argv, size_t argc, bool again,
		     struct ga_start *st);

/* What the user wants run beside the agent, and how it is shown; as lines of a plan (beside.c). */
void start_take_commands(const struct ga_start_opts *o, struct ga_start *st);
void start_describe_commands(struct ga_start *st);

/* A session's directory and layers; its refs. */
int start_make_session(struct ga_start_env *e, const struct ga_start_opts *o,
		       const struct start_base *b, const struct ga_refs *visible,
		       struct ga_start *st, struct ga_error *err);
int start_make_refs(struct ga_start_env *e, const struct ga_session *s,
		    const struct ga_refs *visible, struct ga_error *err);
/* Names that no session may have because of branches. */
int start_taken_names(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err);

/* Fill shared/ of the session, one upper for each shared directory, and make extras/ if it
 * needs one: mount points that the base tree lacks, copies of single ignored files. Adds to
 * s->shared and s->skipped, and to `notes` what is shared and cannot be written. */
int start_make_layers(struct ga_start_env *e, struct ga_session *s, const struct start_base *b,
		      struct ga_strv *notes, struct ga_error *err);

/* Hide the `.git` that shared directory number `i` of a session, open as `fd`, may have. */
int start_mask_git(const struct ga_session *s, size_t i, int fd, struct ga_error *err);

/* seen.c: which directories lie beneath what a session shares: by device and inode, in a file of
 * its own in the session's directory, as the state file is the supervisor's. */
struct start_seen {
	struct start_seen_id {
		uint64_t dev, ino; /* both 0: none does */
	} *v;
	size_t n;
};
void start_seen_release(struct start_seen *seen);
void start_seen_set(struct start_seen *seen, size_t i, const struct ga_shared *sh);
/* Is it the one that lies beneath? */
bool start_seen_has(const struct start_seen *seen, size_t i, const struct stat *st);
int start_seen_read(const struct ga_session *s, struct start_seen *ret, struct ga_error *err);
int start_seen_write(const struct start_seen *seen, const struct ga_session *s,
		     struct ga_error *err);

/* locks.c: remove what a git or a supervisor that was killed left locked of the session's refs. The
 * session is locked, and does not run. */
void start_clear_locks(struct ga_repo *r, const struct ga_session *s);

/* owners.c: mount points below the project; one strictly below `dir`, or NULL. */
void start_find_mounts(const char *project, struct ga_strv *ret);
const char *start_mount_in(const struct ga_strv *mounts, const char *dir);
/* Name what cannot be written inside, of these directories of the open `project`, and how to
 * change that. Bounded; what was clean is remembered in `state_dir` for a while. */
void start_look_at_owners(const char *state_dir, int project, const struct ga_strv *dirs,
			  struct ga_strv *notes);

/* The base tree a session stands on. */
int start_get_base(struct ga_start_env *e, const struct ga_session *s, struct ga_base *ret,
		   struct ga_error *err);
/* The git dir's upper layer, with `visible` for its refs; for a live session, which has no
 * base tree, with an index of its own. */
int start_make_gitdir(struct ga_start_env *e, const struct ga_session *s,
		      const struct start_base *b, const struct ga_base *base,
		      const struct ga_refs *visible, struct ga_error *err);

/* What the sandbox of a session looks like: what depends on its project's path alone; what of
 * the repository and of the home directory it shows; then its layers, `base` NULL for a live
 * session. Fresh work directories are made. `preset` may be NULL. */
int start_make_surroundings(struct ga_start_env *e, const char *project, struct ga_spec *ret,
			    struct ga_error *err);
/* mounts.c: what `tools` shows; all that the settings show besides; is that what the spec has; and
 * lines for the banner. */
int start_add_tools(const struct ga_start_env *e, struct ga_spec *ret, struct ga_error *err);
int start_add_mounts(const struct ga_start_env *e, const char *project, struct ga_spec *ret,
		     struct ga_error *err);
int start_has_mounts(const struct ga_start_env *e, const struct ga_spec *s, bool *ret,
		     struct ga_error *err);
void start_describe_mounts(const struct ga_start_env *e, struct ga_start *st);
int start_find_tools(const struct ga_start_env *e, const char *command, struct ga_spec *ret,
		     struct ga_error *err);
/* The layers of shared directory number `i`, with a new work directory. 1: it is gone. */
int start_make_shared(const struct ga_session *s, size_t i, struct ga_shared *ret,
		      struct ga_error *err);
int start_make_trees(const struct ga_session *s, const struct ga_base *base, struct ga_spec *ret,
		     struct ga_error *err);
void start_add_environment(struct ga_start_env *e, const struct ga_preset *preset,
			   struct ga_spec *spec, const struct ga_session *s);

/* Paths inside the session directory; caller frees. */
/* A new, empty directory; it goes with the session. */
char *start_fresh_dir(const struct ga_session *s, const char *what, struct ga_error *err);
char *start_dir(const struct ga_session *s, const char *what);

#endif
