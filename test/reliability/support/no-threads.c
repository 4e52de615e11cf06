// A preload library that takes threads and child processes away: while the file named by NO_THREADS_FILE is there,
// none begins, as where a cgroup allows no more of them (EAGAIN).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static int none(void) {
  static const char *path;
  if (!path && !(path = getenv("NO_THREADS_FILE"))) return 0;
  return access(path, F_OK) == 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!real) real = dlsym(RTLD_NEXT, "pthread_create");
  return none() ? EAGAIN : real(thread, attributes, start, argument);
}

pid_t fork(void) {
  static pid_t (*real)(void);
  if (!real) real = dlsym(RTLD_NEXT, "fork");
  if (!none()) return real();
  errno = EAGAIN;
  return -1;
}
