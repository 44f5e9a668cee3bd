/* inject.c: a library that is loaded before a program and lets calls on files below a folder fail, as disks and network file
 * systems do, for tests/tests/faults.rs and network_file_systems.rs.
 *
 *   INJECT_BELOW=FOLDER   calls on paths below it count, and on what was opened there
 *   INJECT_CALL=NAME      write fsync rename create open read mmap mkdir link unlink opendir stat close, fsyncdir (of a folder), lock
 *   INJECT_AT=N           the N-th of them fails, from 1
 *   INJECT_WAY=WAY        an error by its number (5 is EIO); `5+`: this and all later ones; `5%`: each N-th; `short`: half of what was asked for;
 *                         `zero`: nothing; `kill`: the process ends there; `waitN+`: this and all later ones take N milliseconds longer, and
 *                         succeed; `done:2%`: the call is made, and its reply is lost (rename, link, mkdir, unlink)
 *   INJECT_DELAY=MS       what another process made is not visible for so long: looking it up says ENOENT, folders do not list it
 *   INJECT_SKEW=SECONDS   this process's clock is so far ahead
 *   INJECT_COUNTS=FILE    at the end, how many calls of each there were: a line `NAME COUNT` each
 *   INJECT_LOG=FILE       a line `fsync PATH`, `fsyncdir PATH`, `rename FROM TO` each, and `mapped-while-written PATH`
 *
 * promises  without INJECT_CALL no call fails
 * limits    what goes to the kernel without the C library is not seen
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum call { WRITE, FSYNC, RENAME, CREATE, OPEN, READ, MMAP, MKDIR, LINK, UNLINK, OPENDIR, STAT, CLOSE, FSYNCDIR, LOCK, CALLS };
static const char *const NAMES[CALLS] = {"write", "fsync", "rename", "create", "open", "read", "mmap", "mkdir", "link", "unlink", "opendir", "stat", "close", "fsyncdir", "lock"};
enum { FILES = 65536 };
static unsigned char ours[FILES], listed[FILES];
static ino_t writing[FILES]; /* inode of what is open for writing, by descriptor */
static unsigned long made[FILES]; /* what this process made, by hash of inode and birth: numbers of inodes are given again */
static long counts[CALLS], at, delay, skew;
static int failing = -1, error_number, is_sticky, is_each, is_short, is_zero, is_kill, is_done, slow, log_fd = -1;
static char below[PATH_MAX];
static size_t below_bytes;

__attribute__((constructor)) static void begin(void) {
  const char *folder = getenv("INJECT_BELOW"), *call = getenv("INJECT_CALL"), *way = getenv("INJECT_WAY"), *number = getenv("INJECT_AT");
  if (!folder) return;
  snprintf(below, sizeof below, "%s", folder);
  below_bytes = strlen(below);
  for (int i = 0; call && i < CALLS; i++)
    if (!strcmp(call, NAMES[i])) failing = i;
  at = number ? atol(number) : 0;
  const char *late = getenv("INJECT_DELAY"), *ahead = getenv("INJECT_SKEW"), *log = getenv("INJECT_LOG");
  delay = late ? atol(late) : 0, skew = ahead ? atol(ahead) : 0;
  if (log) log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (!way) return;
  if (!strncmp(way, "done:", 5)) is_done = 1, way += 5;
  is_short = !strcmp(way, "short"), is_zero = !strcmp(way, "zero"), is_kill = !strcmp(way, "kill");
  slow = strncmp(way, "wait", 4) ? 0 : atoi(way + 4);
  const char last = way[0] ? way[strlen(way) - 1] : 0;
  error_number = atoi(way), is_sticky = last == '+', is_each = last == '%';
}
__attribute__((destructor)) static void end(void) {
  const char *name = getenv("INJECT_COUNTS");
  FILE *file = name ? fopen(name, "w") : NULL;
  if (!file) return;
  for (int i = 0; i < CALLS; i++) fprintf(file, "%s %ld\n", NAMES[i], counts[i]);
  fclose(file);
}
static int is_below(const char *path) { return below_bytes && path && !strncmp(path, below, below_bytes); }
static int is_ours(int fd) { return fd >= 0 && fd < FILES && ours[fd]; }
/* Whether this call is the one. Short and empty ones return as far as they got; with `kill` nothing returns. */
static int fails(enum call call) {
  const long number = __sync_add_and_fetch(&counts[call], 1);
  if ((int)call != failing || !(is_each ? at > 0 && number % at == 0 : number == at || (is_sticky && number > at))) return 0;
  if (is_kill) kill(getpid(), SIGKILL), pause();
  if (slow) return usleep((useconds_t)slow * 1000), 0;
  errno = error_number;
  return 1;
}
/* The call was made if its reply is what is lost. */
static int lost(int done) {
  (void)done;
  errno = error_number;
  return -1;
}
static int look(int folder, const char *path, struct stat *facts) { return (int)syscall(SYS_newfstatat, folder, path, facts, AT_SYMLINK_NOFOLLOW); }
static int look_closely(int folder, const char *path, int flags, struct statx *facts) {
  return (int)syscall(SYS_statx, folder, path, AT_SYMLINK_NOFOLLOW | flags, STATX_BASIC_STATS | STATX_BTIME, facts);
}
static unsigned long identity(const struct statx *facts) {
  return (facts->stx_ino * 0x9e3779b97f4a7c15ul) ^ ((unsigned long)facts->stx_btime.tv_sec << 30) ^ facts->stx_btime.tv_nsec;
}
static int is_made(const struct statx *facts) {
  const unsigned long it = identity(facts);
  for (size_t i = it % FILES, steps = 0; steps < 64; i = (i + 1) % FILES, steps++)
    if (made[i] == it) return 1;
  return 0;
}
static void note_made(int folder, const char *path, int flags) {
  struct statx facts;
  if (!delay || look_closely(folder, path, flags, &facts) || is_made(&facts)) return;
  const unsigned long it = identity(&facts);
  for (size_t i = it % FILES, steps = 0; steps < 64; i = (i + 1) % FILES, steps++)
    if (__sync_bool_compare_and_swap(&made[i], 0, it)) return;
}
/* A folder gets its name by a rename, which changes its ctime; that of a file also changes when it gets another name. */
static int is_young(int folder, const char *path) {
  struct statx facts;
  struct timespec now;
  if (look_closely(folder, path, 0, &facts) || is_made(&facts)) return 0;
  if (!S_ISDIR(facts.stx_mode) && !(facts.stx_mask & STATX_BTIME)) return 0;
  const struct statx_timestamp since = S_ISDIR(facts.stx_mode) ? facts.stx_ctime : facts.stx_btime;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return (now.tv_sec - since.tv_sec) * 1000 + (now.tv_nsec - (long)since.tv_nsec) / 1000000 < delay;
}
/* Whether a path, or a folder above it, was made by another process a moment ago. Folders of kinds change all the time: they are visible. */
static int is_hidden(const char *path) {
  char part[PATH_MAX];
  if (!delay || !is_below(path) || strlen(path) >= sizeof part) return 0;
  strcpy(part, path);
  int depth = 0;
  for (char *end = part + below_bytes; *end; ) {
    char *next = strchr(end + 1, '/');
    if (next) *next = 0;
    if (++depth >= 2 && is_young(AT_FDCWD, part)) return errno = ENOENT, 1;
    if (!next) break;
    *next = '/', end = next;
  }
  return 0;
}
static void note(const char *what, const char *one, const char *other) {
  char line[3 * PATH_MAX];
  if (log_fd < 0) return;
  const int bytes = snprintf(line, sizeof line, "%s %s%s%s\n", what, one, other ? " " : "", other ? other : "");
  if (bytes > 0) syscall(SYS_write, log_fd, line, (size_t)bytes);
}
static void note_fd(const char *what, int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t bytes = readlink(link, path, sizeof path - 1);
  if (log_fd < 0 || bytes < 0) return;
  path[bytes] = 0;
  note(what, path, NULL);
}
#define NEXT(type, name, ...) \
  static type (*next)(__VA_ARGS__); \
  if (!next) next = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static int is_making(int flags);
static int opened(int fd, const char *path, int flags, int was_there) {
  if (fd < 0 || fd >= FILES) return fd;
  ours[fd] = (unsigned char)is_below(path), listed[fd] = 0, writing[fd] = 0;
  struct stat facts;
  if (!ours[fd] || !is_making(flags) || (int)syscall(SYS_fstat, fd, &facts)) return fd;
  writing[fd] = facts.st_ino;
  if (!was_there) note_made(fd, "", AT_EMPTY_PATH);
  return fd;
}
static int is_there(const char *path) {
  struct stat facts;
  return !look(AT_FDCWD, path, &facts);
}
static int is_making(int flags) { return (flags & O_CREAT) || (flags & O_ACCMODE) != O_RDONLY; }
#define OPENS(name) \
  int name(const char *path, int flags, ...) { \
    NEXT(int, #name, const char *, int, ...); \
    va_list rest; va_start(rest, flags); const mode_t mode = va_arg(rest, mode_t); va_end(rest); \
    if (is_below(path) && fails(is_making(flags) ? CREATE : OPEN)) return -1; \
    if (!(flags & O_CREAT) && is_hidden(path)) return -1; \
    const int was_there = delay && is_below(path) && is_there(path); \
    return opened(next(path, flags, mode), path, flags, was_there); \
  }
OPENS(open)
OPENS(open64)
#define OPENS_AT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    NEXT(int, #name, int, const char *, int, ...); \
    va_list rest; va_start(rest, flags); const mode_t mode = va_arg(rest, mode_t); va_end(rest); \
    if (is_below(path) && fails(is_making(flags) ? CREATE : OPEN)) return -1; \
    if (!(flags & O_CREAT) && is_hidden(path)) return -1; \
    const int was_there = delay && is_below(path) && is_there(path); \
    return opened(next(folder, path, flags, mode), path, flags, was_there); \
  }
OPENS_AT(openat)
OPENS_AT(openat64)

static ssize_t part(size_t bytes) { return is_zero ? 0 : (ssize_t)(bytes > 1 ? bytes / 2 : bytes); }
ssize_t write(int fd, const void *from, size_t bytes) {
  NEXT(ssize_t, "write", int, const void *, size_t);
  if (is_ours(fd) && fails(WRITE)) return is_zero ? 0 : is_short ? next(fd, from, part(bytes)) : -1;
  return next(fd, from, bytes);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  NEXT(ssize_t, "writev", int, const struct iovec *, int);
  if (is_ours(fd) && fails(WRITE)) return is_zero ? 0 : is_short ? next(fd, parts, 1) : -1;
  return next(fd, parts, count);
}
#define READS_AT(name, offset_type) \
  ssize_t name(int fd, void *to, size_t bytes, offset_type offset) { \
    NEXT(ssize_t, #name, int, void *, size_t, offset_type); \
    if (is_ours(fd) && fails(READ)) return is_zero ? 0 : is_short ? next(fd, to, part(bytes), offset) : -1; \
    return next(fd, to, bytes, offset); \
  }
READS_AT(pread, off_t)
READS_AT(pread64, off64_t)
ssize_t read(int fd, void *to, size_t bytes) {
  NEXT(ssize_t, "read", int, void *, size_t);
  if (is_ours(fd) && fails(READ)) return is_zero ? 0 : is_short ? next(fd, to, part(bytes)) : -1;
  return next(fd, to, bytes);
}
static int is_folder(int fd) {
  struct stat facts;
  return !(int)syscall(SYS_fstat, fd, &facts) && S_ISDIR(facts.st_mode);
}
#define OF_FILE(name, call) \
  int name(int fd) { \
    NEXT(int, #name, int); \
    if (is_ours(fd)) note_fd(is_folder(fd) ? "fsyncdir" : "fsync", fd); \
    if (is_ours(fd) && fails(call)) return -1; \
    if (is_ours(fd) && is_folder(fd) && fails(FSYNCDIR)) return -1; \
    return next(fd); \
  }
OF_FILE(fsync, FSYNC)
OF_FILE(fdatasync, FSYNC)
int close(int fd) {
  NEXT(int, "close", int);
  const int was_ours = is_ours(fd);
  if (was_ours) ours[fd] = 0, writing[fd] = 0;
  const int done = next(fd);
  return was_ours && fails(CLOSE) ? -1 : done;
}
int rename(const char *from, const char *to) {
  NEXT(int, "rename", const char *, const char *);
  if (is_hidden(from)) return -1;
  if (is_below(to)) note("rename", from, to);
  if (is_below(to) && fails(RENAME)) return is_done ? lost(next(from, to)) : -1;
  return next(from, to);
}
int mkdir(const char *path, mode_t mode) {
  NEXT(int, "mkdir", const char *, mode_t);
  if (is_below(path) && fails(MKDIR)) return is_done ? lost(next(path, mode)) : -1;
  const int done = next(path, mode);
  if (!done && is_below(path)) note_made(AT_FDCWD, path, 0);
  return done;
}
int link(const char *from, const char *to) {
  NEXT(int, "link", const char *, const char *);
  if (is_below(to) && fails(LINK)) return is_done ? lost(next(from, to)) : -1;
  return next(from, to);
}
int linkat(int one, const char *from, int other, const char *to, int flags) {
  NEXT(int, "linkat", int, const char *, int, const char *, int);
  if (is_below(to) && fails(LINK)) return is_done ? lost(next(one, from, other, to, flags)) : -1;
  return next(one, from, other, to, flags);
}
#define OF_PATH(type, name, call, failed) \
  type name(const char *path) { \
    NEXT(type, #name, const char *); \
    if (is_below(path) && fails(call)) return failed; \
    return next(path); \
  }
OF_PATH(int, rmdir, UNLINK, -1)
int unlink(const char *path) {
  NEXT(int, "unlink", const char *);
  if (is_hidden(path)) return -1;
  if (is_below(path) && fails(UNLINK)) return is_done ? lost(next(path)) : -1;
  return next(path);
}
DIR *opendir(const char *path) {
  NEXT(DIR *, "opendir", const char *);
  if (is_hidden(path)) return NULL;
  if (is_below(path) && fails(OPENDIR)) return NULL;
  DIR *folder = next(path);
  const int fd = folder ? dirfd(folder) : -1;
  if (fd >= 0 && fd < FILES) listed[fd] = (unsigned char)is_below(path);
  return folder;
}
#define READS_FOLDER(name, type) \
  type *name(DIR *folder) { \
    NEXT(type *, #name, DIR *); \
    const int fd = dirfd(folder), hides = delay && fd >= 0 && fd < FILES && listed[fd]; \
    type *entry = next(folder); \
    while (hides && entry && strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && is_young(fd, entry->d_name)) entry = next(folder); \
    return entry; \
  }
READS_FOLDER(readdir, struct dirent)
READS_FOLDER(readdir64, struct dirent64)
int flock(int fd, int how) {
  NEXT(int, "flock", int, int);
  if (is_ours(fd) && fails(LOCK)) return -1;
  return next(fd, how);
}
int lockf(int fd, int how, off_t bytes) {
  NEXT(int, "lockf", int, int, off_t);
  if (is_ours(fd) && fails(LOCK)) return -1;
  return next(fd, how, bytes);
}
static int is_lock(int what) { return what == F_SETLK || what == F_SETLKW || what == F_OFD_SETLK || what == F_OFD_SETLKW; }
#define CONTROLS(name) \
  int name(int fd, int what, ...) { \
    NEXT(int, #name, int, int, ...); \
    va_list rest; va_start(rest, what); void *value = va_arg(rest, void *); va_end(rest); \
    if (is_ours(fd) && is_lock(what) && fails(LOCK)) return -1; \
    return next(fd, what, value); \
  }
CONTROLS(fcntl)
CONTROLS(fcntl64)
int clock_gettime(clockid_t clock, struct timespec *time) {
  NEXT(int, "clock_gettime", clockid_t, struct timespec *);
  const int done = next(clock, time);
  if (!done && clock == CLOCK_REALTIME) time->tv_sec += skew;
  return done;
}
int unlinkat(int folder, const char *path, int flags) {
  NEXT(int, "unlinkat", int, const char *, int);
  if ((is_below(path) || is_ours(folder)) && fails(UNLINK)) return is_done ? lost(next(folder, path, flags)) : -1;
  return next(folder, path, flags);
}
int statx(int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict facts) {
  NEXT(int, "statx", int, const char *, int, unsigned, struct statx *);
  if ((is_below(path) || (is_ours(folder) && !*path)) && fails(STAT)) return -1;
  if (is_hidden(path)) return -1;
  return next(folder, path, flags, mask, facts);
}
static int is_hidden_fd(int fd) { (void)fd; return 0; }
#define STATS(name, first, below_it, hidden, type) \
  int name(first of, type *facts) { \
    NEXT(int, #name, first, type *); \
    if (below_it(of) && fails(STAT)) return -1; \
    if (hidden(of)) return -1; \
    return next(of, facts); \
  }
STATS(stat, const char *, is_below, is_hidden, struct stat)
STATS(stat64, const char *, is_below, is_hidden, struct stat64)
STATS(lstat, const char *, is_below, is_hidden, struct stat)
STATS(lstat64, const char *, is_below, is_hidden, struct stat64)
STATS(fstat, int, is_ours, is_hidden_fd, struct stat)
STATS(fstat64, int, is_ours, is_hidden_fd, struct stat64)
static void note_mapped(int fd) {
  struct stat facts;
  if ((int)syscall(SYS_fstat, fd, &facts)) return;
  for (int other = 0; other < FILES; other++)
    if (writing[other] == facts.st_ino) note_fd("mapped-while-written", fd);
}
#define MAPS(name, offset_type) \
  void *name(void *place, size_t bytes, int protection, int flags, int fd, offset_type offset) { \
    NEXT(void *, #name, void *, size_t, int, int, int, offset_type); \
    if (is_ours(fd) && fails(MMAP)) return MAP_FAILED; \
    if (log_fd >= 0 && is_ours(fd)) note_mapped(fd); \
    return next(place, bytes, protection, flags, fd, offset); \
  }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)
