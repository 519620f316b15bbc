/* SPDX-License-Identifier: MIT
 *
 * What is looked at every second while a session runs: whether it has used up its time, written too
 * much, or filled the disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/session/journal.h"
#include "ga/sys/fd.h"
#include "ga/sys/ns.h"
#include "start-internal.h"
#include "watch.h"

/* After measuring the layers, wait this many times as long: a tenth of the time at most is spent.
 */
#define MEASURE_SHARE 10
#define DEEP 400 /* levels, each of which holds a descriptor */

enum measured { FITS, OVER, TOO_DEEP, UNKNOWN };

struct sum {
	uint64_t bytes, most;
};

static enum measured measure_in(struct sum *sum, int fd, unsigned depth);

static enum measured measure_entry(struct sum *sum, int dir, const char *name, unsigned depth)
{
	cleanup_close int fd = -1;
	struct stat st;

	/* the agent is at work: it may be gone by now */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? FITS : UNKNOWN;
	/* a file with several names is counted once, a share of it for each name */
	sum->bytes += (uint64_t)st.st_blocks * 512 / (S_ISDIR(st.st_mode) ? 1 : st.st_nlink);
	if (sum->bytes > sum->most)
		return OVER;
	if (!S_ISDIR(st.st_mode))
		return FITS;
	if (!depth)
		return TOO_DEEP;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? FITS : UNKNOWN;
	return measure_in(sum, fd, depth - 1);
}

static enum measured measure_in(struct sum *sum, int fd, unsigned depth)
{
	cleanup_dir DIR *d = ga_dir_of(fcntl(fd, F_DUPFD_CLOEXEC, 3));
	enum measured m = d ? FITS : UNKNOWN;
	struct dirent *e;

	while (m == FITS && (e = ga_dir_next(d)))
		m = measure_entry(sum, fd, e->d_name, depth);
	return m;
}

/* Measure all that a session writes to: the layers of the project, of shared directories and of the
 * git dir. In a child of the supervisor. */
static enum measured measure(const struct ga_session *s, uint64_t most, pid_t parent)
{
	static const char *const names[] = { "upper", "shared", "git" };
	cleanup_close int dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sum sum = { .most = most };
	enum measured m = FITS;
	struct rlimit files;

	/* in a user namespace of our own we can read directories that the agent closed */
	if (dir < 0 || ga_ns_enter_user(GA_IGNORED) || getrlimit(RLIMIT_NOFILE, &files))
		return UNKNOWN;
	/* Never outlive the supervisor: we hold the socket by which process 1 notices its end, and
	 * its lock. Set after entering the user namespace, which clears it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		return UNKNOWN;
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files))
		return UNKNOWN;
	for (size_t i = 0; m == FITS && i < GA_NELEMS(names); i++)
		m = measure_entry(&sum, dir, names[i], DEEP);
	return m;
}

/* The session is to end. */
static void found(struct start_watch *w, const char *event, char *why)
{
	w->event = event;
	w->why = why;
}

static void on_measured(struct start_watch *w, enum measured m)
{
	cleanup_free char *most = ga_size_text(w->e->use.upper);

	w->measure = 0;
	w->next_measure = ga_now_ms() + MEASURE_SHARE * (ga_now_ms() - w->measured);
	if (m == OVER)
		found(w, "limit", ga_strf("it was ended when its layers took more than %s "
					  "(limits.upper)", most));
	else if (m == TOO_DEEP)
		found(w, "limit", ga_strf("it was ended when its layers were more than %d "
					  "directories deep (limits.upper)", DEEP));
	else if (m == UNKNOWN)
		found(w, "limit", ga_strdup("it was ended when its layers could not be measured "
					    "(limits.upper)"));
}

/* In a child process, as it may take longer than the supervisor may keep the agent waiting. */
static void watch_layers(struct start_watch *w)
{
	pid_t self = getpid();
	int st;

	if (w->measure) {
		if (waitpid(w->measure, &st, WNOHANG) == w->measure)
			on_measured(w, WIFEXITED(st) ? (enum measured)WEXITSTATUS(st) : UNKNOWN);
		return;
	}
	if (ga_now_ms() < w->next_measure)
		return;
	w->measured = ga_now_ms();
	w->measure = fork();
	if (!w->measure) {
		(void)setpriority(PRIO_PROCESS, 0, 10);
		_exit((int)measure(w->s, w->e->use.upper, self));
	}
	if (w->measure < 0)
		on_measured(w, UNKNOWN);
}

static void watch_disk(struct start_watch *w)
{
	const char *full = start_full_place(w->e, w->s->dir);
	cleanup_free char *least = NULL, *q = NULL;

	if (!full)
		return;
	least = ga_size_text(w->e->conf.disk_free);
	q = ga_quote(full);
	found(w, "disk", ga_strf("it was ended when less than %s were free for %s (disk_free)",
				 least, q));
}

void start_watch_begin(struct start_watch *w)
{
	w->begun = ga_now_ms();
}

bool start_watch_tick(void *payload)
{
	struct start_watch *w = payload;
	const struct ga_use_limits *l = &w->e->use;

	if (w->unsynced.n && !w->beside)
		w->beside = ga_sync_beside(&w->unsynced, 1);
	start_record_tick(w->s, w->recorder, &w->noted);
	start_note_network(w->s, w->relay, &w->connections);
	if (!w->why)
		watch_disk(w);
	if (!w->why && l->time && (uint64_t)(ga_now_ms() - w->begun) >= l->time * 1000) {
		cleanup_free char *t = ga_seconds_text(l->time);

		found(w, "limit", ga_strf("it was ended after %s (limits.time)", t));
	}
	if (!w->why && l->output && w->written > l->output) {
		cleanup_free char *most = ga_size_text(l->output);

		found(w, "limit", ga_strf("it was ended when it had written more than %s "
					  "(limits.output)", most));
	}
	if (!w->why && l->upper)
		watch_layers(w);
	return w->why != NULL;
}

/* Note that the session is incomplete: what the command was about to write may be missing. */
static void note(const struct start_watch *w, struct ga_session *s)
{
	free(s->view.incomplete);
	s->view.incomplete = ga_strdup(w->why);
	(void)ga_journal(s->dir, w->event, json_pack("{s:s}", "incomplete", s->view.incomplete));
	(void)ga_session_save(s, GA_IGNORED);
}

int start_watch_end(struct start_watch *w, struct ga_session *s, struct ga_error *err)
{
	int rc;

	if (w->measure > 0) {
		(void)kill(w->measure, SIGKILL);
		(void)TEMP_FAILURE_RETRY(waitpid(w->measure, NULL, 0));
	}
	/* a failure is reported after the capture, which syncs the same refs once more */
	rc = ga_sync_beside_end(w->beside, err);
	ga_strv_release(&w->unsynced);
	if (w->why)
		note(w, s);
	free(w->why);
	return rc;
}
