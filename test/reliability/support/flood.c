// A client of many connections that costs little, so that what a server does under load is the
// server's own: flood PORT CONNECTIONS RATE MS FIRST, requests on standard input with `;;;;` behind
// each. Calls go out at RATE a second while connections are free (0: as fast as answers come), call
// number i is request i modulo their count, and `########` in it becomes FIRST + i in eight digits.
// It prints one line a figure, and last how each call ended: 2 = 200, r = 503 with Retry-After, or the
// first digit of another status.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { requests_max = 64, request_max = 4096, reply_max = 8192 };

struct Connection {
  int socket;
  long call;
  double sent;
  int got;
  char reply[reply_max];
};

static char requests[requests_max][request_max];
static int lengths[requests_max], counters[requests_max], request_count;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static void read_requests(void) {
  static char all[requests_max * request_max];
  size_t size = fread(all, 1, sizeof all - 1, stdin);
  all[size] = 0;
  for (char *at = all, *end; (end = strstr(at, ";;;;")); at = end + 4) {
    int length = end - at;
    if (request_count == requests_max || length >= request_max) die("requests");
    memcpy(requests[request_count], at, length);
    char *counter = strstr(requests[request_count], "########");
    counters[request_count] = counter ? counter - requests[request_count] : -1;
    lengths[request_count++] = length;
  }
  if (request_count == 0) die("no requests");
}

static int open_connection(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int one = 1, made = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(made, (struct sockaddr *)&address, sizeof address) < 0) die("connect");
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return made;
}

static void ask(struct Connection *connection, long call, long first) {
  int which = call % request_count;
  char *request = requests[which];
  if (counters[which] >= 0) {
    char digits[16];
    snprintf(digits, sizeof digits, "%08ld", first + call);
    memcpy(request + counters[which], digits, 8);
  }
  connection->call = call;
  connection->got = 0;
  connection->sent = now();
  if (send(connection->socket, request, lengths[which], MSG_NOSIGNAL) != lengths[which]) die("send");
}

/** How the call ended once its answer is whole, else 0. */
static char hear(struct Connection *connection) {
  int room = reply_max - 1 - connection->got;
  int got = recv(connection->socket, connection->reply + connection->got, room, 0);
  if (got <= 0) die(got == 0 ? "the server closed a connection" : "recv");
  connection->got += got;
  char *reply = connection->reply;
  reply[connection->got] = 0;
  char *body = strstr(reply, "\r\n\r\n");
  if (!body) return 0;
  char *length = strcasestr(reply, "\r\nContent-Length: ");
  if (!length) die("an answer without a length");
  if (connection->got < body + 4 - reply + atol(length + 18)) return 0;
  char *retry = strcasestr(reply, "\r\nRetry-After: ");
  if (strncmp(reply + 9, "503", 3) == 0 && retry && retry < body) return 'r';
  return reply[9];
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int count, char **words) {
  if (count != 6) die("flood PORT CONNECTIONS RATE MS FIRST");
  int connections = atoi(words[2]);
  double rate = atof(words[3]), ms = atof(words[4]);
  long first = atol(words[5]), offered = 0, open = 0, calls_max = 1 << 16, heard = 0;
  read_requests();
  struct Connection *all = calloc(connections, sizeof *all);
  int *idle = malloc(connections * sizeof *idle), idle_count = 0;
  char *ends = malloc(calls_max);
  double *times = malloc(calls_max * sizeof *times);
  int poll = epoll_create1(0);
  for (int i = 0; i < connections; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    all[i].socket = open_connection(atoi(words[1]));
    epoll_ctl(poll, EPOLL_CTL_ADD, all[i].socket, &event);
    idle[idle_count++] = i;
  }
  double began = now();
  for (;;) {
    double passed = now() - began;
    for (; passed < ms && idle_count > 0; offered++, open++) {
      if (rate > 0 && offered >= passed * rate / 1e3) break;
      if (offered == calls_max) {
        calls_max *= 2;
        ends = realloc(ends, calls_max);
        times = realloc(times, calls_max * sizeof *times);
      }
      ask(&all[idle[--idle_count]], offered, first);
    }
    if (passed >= ms && open == 0) break;
    struct epoll_event events[64];
    int ready = epoll_wait(poll, events, 64, 1);
    if (ready < 0 && errno != EINTR) die("epoll_wait");
    for (int i = 0; i < ready; i++) {
      struct Connection *connection = &all[events[i].data.u32];
      char end = hear(connection);
      if (!end) continue;
      ends[connection->call] = end;
      if (end == '2') times[heard++] = now() - connection->sent;
      idle[idle_count++] = events[i].data.u32;
      open--;
    }
  }
  double took = now() - began;
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  qsort(times, heard, sizeof *times, by_value);
  printf("ms %.1f\n", took);
  printf("cpu_ms %.1f\n", used.ru_utime.tv_sec * 1e3 + used.ru_utime.tv_usec / 1e3 +
                              used.ru_stime.tv_sec * 1e3 + used.ru_stime.tv_usec / 1e3);
  printf("p50 %.3f\np99 %.3f\n", heard ? times[heard / 2] : 0, heard ? times[heard * 99 / 100] : 0);
  printf("ends %.*s\n", (int)offered, ends);
  return 0;
}
