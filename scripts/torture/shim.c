/* Counts what a process does to its files and, at a chosen count, kills it or lets the disk be full from there on.
 *
 *   TORTURE_COUNT=FILE   write the number of operations to FILE at the end
 *   TORTURE_KILL=N       SIGKILL before operation N
 *   TORTURE_FULL=N       operation N and all later writes fail with ENOSPC
 *   TORTURE_FAILED=FILE  made where a write has failed so
 *
 * Loaded by LD_PRELOAD. Operations are write, pwrite, writev, ftruncate, truncate, fsync, rename, unlink, remove and
 * opening a file to write, on files alone: what goes to a terminal or a pipe is not counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long operations, kill_at, full_at;

__attribute__((constructor)) static void begin(void) {
  const char *at = getenv("TORTURE_KILL");
  const char *full = getenv("TORTURE_FULL");
  kill_at = at ? atol(at) : 0;
  full_at = full ? atol(full) : 0;
}

__attribute__((destructor)) static void end(void) {
  const char *file = getenv("TORTURE_COUNT");
  if (file) {
    FILE *out = fopen(file, "w");
    if (out) {
      fprintf(out, "%ld\n", operations);
      fclose(out);
    }
  }
}

/* Whether the operation is to fail for lack of space. */
static int operate(void) {
  long now = __sync_add_and_fetch(&operations, 1);
  if (kill_at > 0 && now >= kill_at) {
    kill(getpid(), SIGKILL);
  }
  return full_at > 0 && now >= full_at;
}

/* What a write on a full disk comes to. */
static int fail(void) {
  const char *file = getenv("TORTURE_FAILED");
  if (file) {
    syscall(SYS_close, syscall(SYS_creat, file, 0666));
  }
  errno = ENOSPC;
  return -1;
}

static int is_file(int descriptor) {
  struct stat status;
  return descriptor > 2 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/* Declares `real`, the function of that name that this one stands in front of. */
#define REAL(name)                                                                                                     \
  static __typeof__(name) *real;                                                                                       \
  if (!real) {                                                                                                         \
    real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);                                                                \
  }                                                                                                                    \
  (void)0

ssize_t write(int descriptor, const void *bytes, size_t count) {
  REAL(write);
  if (is_file(descriptor) && operate()) {
    return fail();
  }
  return real(descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  REAL(pwrite);
  if (is_file(descriptor) && operate()) {
    return fail();
  }
  return real(descriptor, bytes, count, offset);
}

ssize_t writev(int descriptor, const struct iovec *pieces, int count) {
  REAL(writev);
  if (is_file(descriptor) && operate()) {
    return fail();
  }
  return real(descriptor, pieces, count);
}

int ftruncate(int descriptor, off_t length) {
  REAL(ftruncate);
  operate();
  return real(descriptor, length);
}

int truncate(const char *file, off_t length) {
  REAL(truncate);
  operate();
  return real(file, length);
}

int fsync(int descriptor) {
  REAL(fsync);
  operate();
  return real(descriptor);
}

int rename(const char *from, const char *to) {
  REAL(rename);
  operate();
  return real(from, to);
}

int unlink(const char *file) {
  REAL(unlink);
  operate();
  return real(file);
}

int remove(const char *file) { /* which has its own way to unlink */
  REAL(remove);
  operate();
  return real(file);
}

static int open_counted(__typeof__(open) *real, const char *file, int flags, mode_t mode) {
  if ((flags & O_ACCMODE) != O_RDONLY && operate() && (flags & O_CREAT)) {
    return fail();
  }
  return real(file, flags, mode);
}

int open(const char *file, int flags, ...) {
  REAL(open);
  va_list more;
  va_start(more, flags);
  mode_t mode = (mode_t)va_arg(more, int);
  va_end(more);
  return open_counted(real, file, flags, mode);
}

int open64(const char *file, int flags, ...) {
  REAL(open64);
  va_list more;
  va_start(more, flags);
  mode_t mode = (mode_t)va_arg(more, int);
  va_end(more);
  return open_counted(real, file, flags, mode);
}
