// Preloaded into a process under test: writes down, in the order in which they happen, all calls that
// change files below one folder, so that a test can build every state that a power cut might have
// left; and lets calls fail on purpose.
//
//   TRELLIS_IO_ROOT     the folder, as an absolute path without links
//   TRELLIS_IO_LOG      the log; appended to, so that several processes in turn share one
//   TRELLIS_IO_NO_SYNC  1: files are not synchronised, only folders (a canary: this must be found out)
//   TRELLIS_IO_FAIL     N:how[:always]: the N-th call fails; how is EIO, ENOSPC, EINTR or SHORT
//   TRELLIS_IO_FULL     a file; while it is there the disk is full, in the way that it says: ENOSPC or EDQUOT of every
//                       write that makes a file longer; SHORT: half of the first one arrives, then ENOSPC; EIO of every
//                       write; SYNC: EIO of every synchronisation
//
// A record is 48 bytes, little-endian, and then two texts or data:
//   u32 magic, kind, thread, flags; u64 file, at; u32 size1, size2; u64 unused
// `file` is an inode. A write is recorded together with being made; a synchronisation has a record
// when it begins and one when it has ended, because what other threads write meanwhile is not
// promised by it. lock.mdb is left out: after a restart LMDB makes it anew.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
  CREATE = 1,
  WRITE = 2,
  SYNC_BEGIN = 3,
  SYNC_END = 4,
  RENAME = 5,
  RESIZE = 6,
  UNLINK = 7,
  MKDIR = 8,
  FAULT = 9,
  FOREIGN = 10
};

struct record {
  uint32_t magic, kind, thread, flags;
  uint64_t file, at;
  uint32_t size1, size2;
  uint64_t unused;
};

#define FDS 65536
// Inode of each descriptor below the folder, 0 for others, and whether its writes wait for the disk.
static uint64_t inodes[FDS];
static char writes_through[FDS];

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int log_file = -1;
static char root[PATH_MAX];
static size_t root_length;
static dev_t device;
static int no_sync;
static long fail_at, calls;
static int fail_code, fail_short, fail_always;

static const char *full_path;
static int was_short;

// The next function of this name, which does the work.
#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void start(void) {
  const char *folder = getenv("TRELLIS_IO_ROOT"), *log = getenv("TRELLIS_IO_LOG");
  if (!folder || !log) return;
  snprintf(root, sizeof root, "%s", folder);
  const char *sync = getenv("TRELLIS_IO_NO_SYNC");
  no_sync = sync && *sync == '1';
  full_path = getenv("TRELLIS_IO_FULL");
  const char *fault = getenv("TRELLIS_IO_FAIL");
  if (fault && *fault) {
    fail_at = atol(fault);
    fail_code = strstr(fault, "ENOSPC") ? ENOSPC : strstr(fault, "EINTR") ? EINTR : EIO;
    fail_short = strstr(fault, "SHORT") != NULL;
    fail_always = strstr(fault, "always") != NULL;
  }
  int file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  // Out of the way of programs that count on low numbers.
  log_file = fcntl(file, F_DUPFD_CLOEXEC, 900);
  syscall(SYS_close, file);
  struct stat found;
  if (stat(root, &found) != 0) return;
  device = found.st_dev;
  root_length = strlen(root);
}

static void note(enum kind kind, uint32_t flags, uint64_t file, uint64_t at, const void *bytes1,
                 size_t size1, const void *bytes2, size_t size2) {
  struct record record = {0x54524543, kind, (uint32_t)gettid(), flags, file, at,
                          (uint32_t)size1, (uint32_t)size2, 0};
  struct iovec parts[3] = {{&record, sizeof record}, {(void *)bytes1, size1}, {(void *)bytes2, size2}};
  if (syscall(SYS_writev, log_file, parts, 3) < 0) abort();
}

static int is_inside(const char *path, char *full) {
  if (root_length == 0 || path == NULL) return 0;
  if (path[0] == '/') {
    snprintf(full, PATH_MAX, "%s", path);
  } else {
    char cwd[PATH_MAX];
    if (!getcwd(cwd, sizeof cwd)) return 0;
    if (snprintf(full, PATH_MAX, "%s/%s", cwd, path) >= PATH_MAX) return 0;
  }
  if (strncmp(full, root, root_length) != 0) return 0;
  if (full[root_length] != '/') return full[root_length] == 0;
  const char *name = strrchr(full, '/');
  return strcmp(name, "/lock.mdb") != 0;
}

// Descriptors are also closed by bare system calls, and then given to sockets.
static uint64_t inode_of(int fd) {
  struct stat found;
  if (fd < 0 || fd >= FDS || inodes[fd] == 0) return 0;
  if (fstat(fd, &found) != 0 || found.st_ino != inodes[fd] || found.st_dev != device) inodes[fd] = 0;
  return inodes[fd];
}

// Whether this call is to fail; counts it. Called with the lock held.
static int is_to_fail(enum kind kind, uint64_t file) {
  if (fail_at == 0) return 0;
  calls++;
  if (calls != fail_at && !(fail_always && calls > fail_at)) return 0;
  note(FAULT, (uint32_t)kind, file, (uint64_t)calls, NULL, 0, NULL, 0);
  return 1;
}

// How full the disk is just now: an empty text when it is not.
static void read_full(char how[8]) {
  memset(how, 0, 8);
  if (full_path == NULL || *full_path == 0) return;
  int file = syscall(SYS_openat, AT_FDCWD, full_path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    if (syscall(SYS_read, file, how, 7) < 0) how[0] = 0;
    syscall(SYS_close, file);
  }
  if (how[0] == 0) was_short = 0;
}

// What a full disk makes of a write: 0 nothing, -1 half of it arrives, else the error.
static int full_code(int fd, off_t place, size_t total) {
  char how[8];
  struct stat found;
  read_full(how);
  if (strcmp(how, "EIO") == 0) return EIO;
  if (how[0] == 0 || strcmp(how, "SYNC") == 0 || fstat(fd, &found) != 0) return 0;
  // What lies in blocks that the file has already needs none.
  if (place + (off_t)total <= ((found.st_size + 4095) & ~(off_t)4095)) return 0;
  if (strcmp(how, "EDQUOT") == 0) return EDQUOT;
  if (strcmp(how, "SHORT") != 0 || was_short || total < 2) return ENOSPC;
  was_short = 1;
  return -1;
}

// The same for calls of which there is no short form.
static int refuse(enum kind kind, uint64_t file) {
  if (!is_to_fail(kind, file)) return 0;
  errno = fail_short ? EIO : fail_code;
  return 1;
}

static int finish_open(int fd, const char *full, int flags, int existed) {
  struct stat found;
  if (fd < 0 || fd >= FDS || fstat(fd, &found) != 0) return fd;
  inodes[fd] = found.st_ino;
  writes_through[fd] = (flags & (O_DSYNC | O_SYNC)) != 0;
  if ((flags & O_CREAT) && !existed)
    note(CREATE, 0, found.st_ino, 0, full, strlen(full), NULL, 0);
  else if (flags & O_TRUNC)
    note(RESIZE, 0, found.st_ino, 0, NULL, 0, NULL, 0);
  return fd;
}

static int open_with(const char *path, int flags, mode_t mode) {
  char full[PATH_MAX];
  __typeof__(&open) next = REAL(open64);
  if (!is_inside(path, full)) {
    int fd = next(path, flags, mode);
    if (fd >= 0 && fd < FDS) inodes[fd] = 0;
    return fd;
  }
  pthread_mutex_lock(&lock);
  int fd = -1;
  // LMDB's own opening of its file is let through: where it fails, lmdb-js dies or waits for ever.
  const char *name = strrchr(full, '/');
  int is_spared = name != NULL && strcmp(name, "/data.mdb") == 0;
  if (is_spared || !((flags & (O_WRONLY | O_RDWR)) && refuse(CREATE, 0))) {
    struct stat found;
    int existed = lstat(full, &found) == 0;
    fd = finish_open(next(path, flags, mode), full, flags, existed);
  }
  pthread_mutex_unlock(&lock);
  return fd;
}

#define MODE_OF(flags)                     \
  mode_t mode = 0;                         \
  if ((flags) & (O_CREAT | __O_TMPFILE)) { \
    va_list list;                          \
    va_start(list, flags);                 \
    mode = va_arg(list, mode_t);           \
    va_end(list);                          \
  }

int open64(const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_with(path, flags, mode);
}
int open(const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_with(path, flags, mode);
}

int close(int fd) {
  if (fd >= 0 && fd < FDS) inodes[fd] = 0;
  return REAL(close)(fd);
}

/**
 * Makes one write of several parts at a place, -1: where the descriptor stands, and records what was
 * written of it.
 */
static ssize_t write_parts(int fd, const struct iovec *given, int count, off_t at) {
  struct iovec parts[IOV_MAX];
  size_t total = 0;
  for (int i = 0; i < count; i++) {
    parts[i] = given[i];
    total += given[i].iov_len;
  }
  pthread_mutex_lock(&lock);
  uint64_t file = inodes[fd];
  off_t place = at >= 0 ? at : fcntl(fd, F_GETFL) & O_APPEND ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR);
  int full = full_code(fd, place, total);
  if (full != 0 || is_to_fail(WRITE, file)) {
    if (full > 0 || (full == 0 && (!fail_short || total < 2))) {
      errno = full > 0 ? full : fail_short ? EIO : fail_code;
      pthread_mutex_unlock(&lock);
      return -1;
    }
    // Half of it arrives.
    size_t left = total / 2;
    for (int i = 0; i < count; i++) {
      if (parts[i].iov_len > left) parts[i].iov_len = left;
      left -= parts[i].iov_len;
    }
  }
  ssize_t done = at >= 0 ? syscall(SYS_pwritev, fd, parts, count, at, 0)
                         : syscall(SYS_writev, fd, parts, count);
  int code = errno;
  if (done > 0) {
    char *bytes = malloc((size_t)done);
    size_t filled = 0;
    for (int i = 0; i < count && filled < (size_t)done; i++) {
      size_t size = parts[i].iov_len;
      if (size > (size_t)done - filled) size = (size_t)done - filled;
      memcpy(bytes + filled, parts[i].iov_base, size);
      filled += size;
    }
    int through = writes_through[fd] && !no_sync;
    note(WRITE, through, file, (uint64_t)place, bytes, filled, NULL, 0);
    free(bytes);
  }
  pthread_mutex_unlock(&lock);
  errno = code;
  return done;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  if (!inode_of(fd)) return syscall(SYS_write, fd, bytes, size);
  struct iovec part = {(void *)bytes, size};
  return write_parts(fd, &part, 1, -1);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
  if (!inode_of(fd)) return syscall(SYS_pwrite64, fd, bytes, size, at);
  struct iovec part = {(void *)bytes, size};
  return write_parts(fd, &part, 1, at);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
  return pwrite64(fd, bytes, size, at);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (!inode_of(fd)) return syscall(SYS_writev, fd, parts, count);
  return write_parts(fd, parts, count, -1);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
  if (!inode_of(fd)) return syscall(SYS_pwritev, fd, parts, count, at, 0);
  return write_parts(fd, parts, count, at);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  return pwritev64(fd, parts, count, at);
}

static int sync_with(int fd, int (*next)(int)) {
  uint64_t file = inode_of(fd);
  if (!file) return next(fd);
  struct stat found;
  if (no_sync && fstat(fd, &found) == 0 && S_ISREG(found.st_mode)) return 0;
  pthread_mutex_lock(&lock);
  char how[8];
  read_full(how);
  int refused = strcmp(how, "SYNC") == 0 || refuse(SYNC_BEGIN, file);
  if (strcmp(how, "SYNC") == 0) errno = EIO;
  if (!refused) note(SYNC_BEGIN, 0, file, 0, NULL, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  if (refused) return -1;
  int result = next(fd);
  int code = errno;
  pthread_mutex_lock(&lock);
  if (result == 0) note(SYNC_END, 0, file, 0, NULL, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = code;
  return result;
}
int fsync(int fd) { return sync_with(fd, REAL(fsync)); }
int fdatasync(int fd) { return sync_with(fd, REAL(fdatasync)); }

int ftruncate64(int fd, off64_t size) {
  uint64_t file = inode_of(fd);
  if (!file) return REAL(ftruncate64)(fd, size);
  pthread_mutex_lock(&lock);
  int result = refuse(RESIZE, file) ? -1 : REAL(ftruncate64)(fd, size);
  if (result == 0) note(RESIZE, 0, file, (uint64_t)size, NULL, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int rename(const char *from, const char *to) {
  char full[PATH_MAX], target[PATH_MAX];
  int inside = is_inside(from, full), target_inside = is_inside(to, target);
  if (!inside && !target_inside) return REAL(rename)(from, to);
  pthread_mutex_lock(&lock);
  int result = refuse(RENAME, 0) ? -1 : REAL(rename)(from, to);
  if (result == 0) note(RENAME, 0, 0, 0, full, strlen(full), target, strlen(target));
  pthread_mutex_unlock(&lock);
  return result;
}

static int remove_with(const char *path, int (*next)(const char *)) {
  char full[PATH_MAX];
  if (!is_inside(path, full)) return next(path);
  pthread_mutex_lock(&lock);
  int result = refuse(UNLINK, 0) ? -1 : next(path);
  if (result == 0) note(UNLINK, 0, 0, 0, full, strlen(full), NULL, 0);
  pthread_mutex_unlock(&lock);
  return result;
}
int unlink(const char *path) { return remove_with(path, REAL(unlink)); }
int rmdir(const char *path) { return remove_with(path, REAL(rmdir)); }

int mkdir(const char *path, mode_t mode) {
  char full[PATH_MAX];
  if (!is_inside(path, full)) return REAL(mkdir)(path, mode);
  pthread_mutex_lock(&lock);
  int result = refuse(MKDIR, 0) ? -1 : REAL(mkdir)(path, mode);
  int code = errno;
  struct stat found;
  if (result == 0 && stat(full, &found) == 0)
    note(MKDIR, 0, found.st_ino, 0, full, strlen(full), NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = code;
  return result;
}

// What this file cannot follow is written down, so that the test fails rather than looks away.
static void note_foreign(int fd, const char *name) {
  pthread_mutex_lock(&lock);
  note(FOREIGN, 0, inode_of(fd), 0, name, strlen(name), NULL, 0);
  pthread_mutex_unlock(&lock);
}
void *mmap64(void *at, size_t size, int rights, int flags, int fd, off64_t offset) {
  if (inode_of(fd) && (rights & PROT_WRITE) && (flags & MAP_SHARED)) note_foreign(fd, "mmap");
  return REAL(mmap64)(at, size, rights, flags, fd, offset);
}
// A copy that the kernel would make is refused, upon which libuv makes it by writes.
ssize_t sendfile64(int to, int from, off64_t *at, size_t size) {
  if (!inode_of(to)) return REAL(sendfile64)(to, from, at, size);
  errno = EINVAL;
  return -1;
}
long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long of[6];
  for (int i = 0; i < 6; i++) of[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_copy_file_range && inode_of((int)of[2])) {
    errno = ENOSYS;
    return -1;
  }
  return REAL(syscall)(number, of[0], of[1], of[2], of[3], of[4], of[5]);
}
