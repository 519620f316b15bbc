/* SPDX-License-Identifier: MIT
 *
 * The user's index: compared by what git says of it, and replaced as git does it, under its lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "note.h"
#include "work.h"

char *land_index_file(const struct land *l)
{
	return ga_path_join(ga_repo_info(l->repo)->gitdir, "index");
}

const char *land_index_entry(const char *s, struct ga_entry *ret)
{
	uint32_t mode = 0;

	for (; *s >= '0' && *s <= '7' && mode < 01000000; s++)
		mode = mode << 3 | (uint32_t)(*s - '0');
	if (*s != ' ' || strnlen(s, 1 + GA_OID_HEXSZ) != 1 + GA_OID_HEXSZ ||
	    !ga_oid_parse(s + 1, GA_OID_HEXSZ, &ret->oid))
		return NULL;
	ret->mode = mode;
	s = strchr(s + 1 + GA_OID_HEXSZ, '\t');
	return s ? s + 1 : NULL;
}

bool land_raw_entry(const char *line, bool old, struct ga_entry *ret)
{
	const char *mode = line + (old ? 1 : 8);

	if (strlen(line) <= 16 + 2 * GA_OID_HEXSZ ||
	    !ga_oid_parse(line + (old ? 15 : 16 + GA_OID_HEXSZ), GA_OID_HEXSZ, &ret->oid))
		return false;
	ret->mode = 0;
	for (; *mode >= '0' && *mode <= '7'; mode++)
		ret->mode = ret->mode << 3 | (uint32_t)(*mode - '0');
	return true;
}

int land_staged(struct land *l, const char *where, const char *tree, struct ga_changes *ret,
		struct ga_error *err)
{
	const char *args[] = { where, "diff-index", "--cached", "--raw", "--no-abbrev", "-z",
			       "--no-renames", "--no-ext-diff", "HEAD", "--", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	const char *line, *path;
	size_t pos = 0;

	g.args = where ? args : args + 1;
	g.work_tree = tree;
	g.out = &out;
	if (ga_git_ok(l->repo, &g, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos)) && (path = ga_buf_next0(&out, &pos))) {
		struct ga_entry old, new;

		if (!land_raw_entry(line, true, &old) || !land_raw_entry(line, false, &new))
			return ga_fail(err, GA_EFATAL, "git diff-index printed no change");
		if (line[strlen(line) - 1] != 'U')
			(void)ga_changes_add(ret, path, &old, &new);
	}
	ga_changes_sort(ret);
	return 0;
}

const char *land_index_marked(const char *s, struct ga_entry *ret)
{
	return s[0] && s[1] == ' ' ? land_index_entry(s + 2, ret) : NULL;
}

bool land_is_skipped(char letter)
{
	return letter == 'S' || letter == 's';
}

bool land_is_assumed(char letter)
{
	return letter >= 'a' && letter <= 'z';
}

int land_index_id(struct land *l, const char *index, struct ga_oid *ret, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-z", "-s", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	return land_ask_git(l, args, index, NULL, &out, err) ||
	       ga_blob_id_of(out.ptr, out.len, ret, err) ? -1 : 0;
}

int land_index_tree(struct land *l, const char *index, struct ga_oid *ret, struct ga_error *err)
{
	static const char *const args[] = { "write-tree", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	if (!index && !ga_repo_index_tree(l->repo, ret, NULL))
		return 0;
	if (land_ask_git(l, args, index, NULL, &out, err))
		return -1;
	ga_buf_chomp(&out);
	return ga_oid_parse(out.ptr, out.len, ret)
		   ? 0
		   : ga_fail(err, GA_EFATAL, "git write-tree printed no object id");
}

/* Note in the landing's note which file the lock is, by its inode. */
static int note_lock(int lock, int note, struct ga_error *err)
{
	cleanup_free char *text = NULL;
	struct stat st;

	if (fstat(lock, &st))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot lock the index");
	text = ga_strf("%llu", (unsigned long long)st.st_ino);
	/* of a landing that was killed; not synced: a power cut loses the lock as well, or else
	 * this note is of no use */
	if (unlinkat(note, LAND_NOTE_LOCK, 0) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot note the lock");
	return ga_write_new(note, LAND_NOTE_LOCK, text, strlen(text), 0600, err);
}

static int fail_locked(const char *lock, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(lock);

	(void)ga_fail(err, GA_EFATAL, "'%s' is there: another git is at work", q);
	return ga_hint(err, "wait for it, or remove the file if it is gone");
}

int land_check_unlocked(struct land *l, struct ga_error *err)
{
	cleanup_free char *index = land_index_file(l), *lock = ga_strf("%s.lock", index);

	return faccessat(AT_FDCWD, lock, F_OK, AT_SYMLINK_NOFOLLOW) ? 0 : fail_locked(lock, err);
}

int land_lock_index(struct land *l, int note, struct ga_error *err)
{
	cleanup_free char *index = land_index_file(l), *lock = ga_strf("%s.lock", index);
	cleanup_close int fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0 && errno == EEXIST)
		return fail_locked(lock, err);
	if (fd < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot lock the index");
	if (!note_lock(fd, note, err))
		return 0;
	/* without the note nobody would know that the lock is ours, and it would stay */
	(void)unlink(lock);
	return -1;
}

/* The lock is gone, and another git's next one may get the same inode number. */
static void forget_lock(int note)
{
	(void)unlinkat(note, LAND_NOTE_LOCK, 0);
}

void land_unlock_index(struct land *l, int note)
{
	cleanup_free char *index = land_index_file(l), *lock = ga_strf("%s.lock", index);
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct stat st;
	uint64_t ino;

	if (!ga_read_file_at(note, LAND_NOTE_LOCK, 32, &b, &ignored) &&
	    ga_parse_u64(b.ptr, UINT64_MAX, &ino) && !lstat(lock, &st) && st.st_ino == ino)
		(void)unlink(lock);
	forget_lock(note);
}

static int copy_index(const char *file, int lock, struct ga_error *err)
{
	cleanup_close int src = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct stat st;

	if (src < 0 || fstat(src, &st))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read the index that was kept");
	if (ga_read_fd(src, (size_t)4 << 30, &b, err))
		return -1;
	if (ga_write_full(lock, b.ptr, b.len) ||
	    futimens(lock, (struct timespec[]){ st.st_atim, st.st_mtim }))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write the index");
	return 0;
}

/* The index keeps the time of the file that it is copied from: with a newer one, git would trust
 * its entries of files that changed within the second in which that file was written. */
int land_install_index(struct land *l, int note, const char *file, struct ga_error *err)
{
	cleanup_free char *index = land_index_file(l), *lock = ga_strf("%s.lock", index);
	cleanup_close int fd = open(lock, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || (!stat(index, &st) && fchmod(fd, st.st_mode & 0777)))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write the index");
	if (copy_index(file, fd, err))
		return -1;
	if (rename(lock, index))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot replace the index");
	forget_lock(note);
	return 0;
}
