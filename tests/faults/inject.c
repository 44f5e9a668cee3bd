/* inject.c: a library that is loaded before a program and lets one call on files below a folder fail, for tests/tests/faults.rs.
 *
 *   INJECT_BELOW=FOLDER   calls on paths below it count, and on what was opened there
 *   INJECT_CALL=NAME      write fsync rename create open read mmap mkdir link unlink opendir stat close
 *   INJECT_AT=N           the N-th of them fails, from 1
 *   INJECT_WAY=WAY        an error by its number (5 is EIO); `5+`: this and all later ones; `short`: half of what was asked for; `zero`: nothing;
 *                         `kill`: the process ends there; `waitN+`: this and all later ones take N milliseconds longer, and succeed
 *   INJECT_COUNTS=FILE    at the end, how many calls of each there were: a line `NAME COUNT` each
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
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum call { WRITE, FSYNC, RENAME, CREATE, OPEN, READ, MMAP, MKDIR, LINK, UNLINK, OPENDIR, STAT, CLOSE, CALLS };
static const char *const NAMES[CALLS] = {"write", "fsync", "rename", "create", "open", "read", "mmap", "mkdir", "link", "unlink", "opendir", "stat", "close"};
enum { FILES = 65536 };
static unsigned char ours[FILES];
static long counts[CALLS], at;
static int failing = -1, error_number, is_sticky, is_short, is_zero, is_kill, slow;
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
  if (!way) return;
  is_short = !strcmp(way, "short"), is_zero = !strcmp(way, "zero"), is_kill = !strcmp(way, "kill");
  slow = strncmp(way, "wait", 4) ? 0 : atoi(way + 4);
  error_number = atoi(way), is_sticky = way[0] && way[strlen(way) - 1] == '+';
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
  if ((int)call != failing || !(number == at || (is_sticky && number > at))) return 0;
  if (is_kill) kill(getpid(), SIGKILL), pause();
  if (slow) return usleep((useconds_t)slow * 1000), 0;
  errno = error_number;
  return 1;
}
#define NEXT(type, name, ...) \
  static type (*next)(__VA_ARGS__); \
  if (!next) next = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static int opened(int fd, const char *path) {
  if (fd >= 0 && fd < FILES) ours[fd] = (unsigned char)is_below(path);
  return fd;
}
static int is_making(int flags) { return (flags & O_CREAT) || (flags & O_ACCMODE) != O_RDONLY; }
#define OPENS(name) \
  int name(const char *path, int flags, ...) { \
    NEXT(int, #name, const char *, int, ...); \
    va_list rest; va_start(rest, flags); const mode_t mode = va_arg(rest, mode_t); va_end(rest); \
    if (is_below(path) && fails(is_making(flags) ? CREATE : OPEN)) return -1; \
    return opened(next(path, flags, mode), path); \
  }
OPENS(open)
OPENS(open64)
#define OPENS_AT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    NEXT(int, #name, int, const char *, int, ...); \
    va_list rest; va_start(rest, flags); const mode_t mode = va_arg(rest, mode_t); va_end(rest); \
    if (is_below(path) && fails(is_making(flags) ? CREATE : OPEN)) return -1; \
    return opened(next(folder, path, flags, mode), path); \
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
#define OF_FILE(name, call) \
  int name(int fd) { \
    NEXT(int, #name, int); \
    if (is_ours(fd) && fails(call)) return -1; \
    return next(fd); \
  }
OF_FILE(fsync, FSYNC)
OF_FILE(fdatasync, FSYNC)
int close(int fd) {
  NEXT(int, "close", int);
  const int was_ours = is_ours(fd);
  if (was_ours) ours[fd] = 0;
  const int done = next(fd);
  return was_ours && fails(CLOSE) ? -1 : done;
}
int rename(const char *from, const char *to) {
  NEXT(int, "rename", const char *, const char *);
  if (is_below(to) && fails(RENAME)) return -1;
  return next(from, to);
}
int mkdir(const char *path, mode_t mode) {
  NEXT(int, "mkdir", const char *, mode_t);
  if (is_below(path) && fails(MKDIR)) return -1;
  return next(path, mode);
}
int link(const char *from, const char *to) {
  NEXT(int, "link", const char *, const char *);
  if (is_below(to) && fails(LINK)) return -1;
  return next(from, to);
}
int linkat(int one, const char *from, int other, const char *to, int flags) {
  NEXT(int, "linkat", int, const char *, int, const char *, int);
  if (is_below(to) && fails(LINK)) return -1;
  return next(one, from, other, to, flags);
}
#define OF_PATH(type, name, call, failed) \
  type name(const char *path) { \
    NEXT(type, #name, const char *); \
    if (is_below(path) && fails(call)) return failed; \
    return next(path); \
  }
OF_PATH(int, unlink, UNLINK, -1)
OF_PATH(int, rmdir, UNLINK, -1)
OF_PATH(DIR *, opendir, OPENDIR, NULL)
int unlinkat(int folder, const char *path, int flags) {
  NEXT(int, "unlinkat", int, const char *, int);
  if ((is_below(path) || is_ours(folder)) && fails(UNLINK)) return -1;
  return next(folder, path, flags);
}
int statx(int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict facts) {
  NEXT(int, "statx", int, const char *, int, unsigned, struct statx *);
  if ((is_below(path) || (is_ours(folder) && !*path)) && fails(STAT)) return -1;
  return next(folder, path, flags, mask, facts);
}
#define STATS(name, first, below_it, type) \
  int name(first of, type *facts) { \
    NEXT(int, #name, first, type *); \
    if (below_it(of) && fails(STAT)) return -1; \
    return next(of, facts); \
  }
STATS(stat, const char *, is_below, struct stat)
STATS(stat64, const char *, is_below, struct stat64)
STATS(lstat, const char *, is_below, struct stat)
STATS(lstat64, const char *, is_below, struct stat64)
STATS(fstat, int, is_ours, struct stat)
STATS(fstat64, int, is_ours, struct stat64)
#define MAPS(name, offset_type) \
  void *name(void *place, size_t bytes, int protection, int flags, int fd, offset_type offset) { \
    NEXT(void *, #name, void *, size_t, int, int, int, offset_type); \
    if (is_ours(fd) && fails(MMAP)) return MAP_FAILED; \
    return next(place, bytes, protection, flags, fd, offset); \
  }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)
