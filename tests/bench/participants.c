/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many participants of libmoot in one process, on one epoll loop, and what a message that
 * they receive costs. With --raw all but the publishers are bare sockets instead, which
 * count frames and look at nothing: the difference is the price of the library.
 *
 *     participants [--raw] HOST PORT TOKEN-PREFIX PARTICIPANTS TOPICS SECONDS
 *
 * Participant i uses the token PREFIX-i and is in the topic p-(i mod TOPICS). The first
 * one of each topic publishes, with WINDOW messages under way: the next one follows when
 * its own comes back. At the end everybody must have heard everything. Nothing but moot.h
 * is used, as by any other program.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <moot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 512, WINDOW = 8, TEXT = 120, SETTLE_MS = 1000, JOIN_MS = 60000 };

struct bench;

/* One of the library, or with `m` NULL a bare socket. */
struct seat {
    struct bench *bench;
    struct moot *m;
    int fd; /* as epoll knows it; -1: not */
    short events;
    uint64_t due_ms; /* of moot_timeout() */
    bool publishes, has_joined;
    uint64_t count;        /* of messages: sent by who publishes, else heard */
    bool is_upgraded;      /* bare: the head of the answer has passed */
    size_t skip, head_len; /* bare: bytes of a frame to come; of its head so far */
    unsigned char head[10];
    char last[4]; /* bare: the last bytes of the answer's head */
};

struct bench {
    const char *host, *prefix;
    char url[128];
    uint16_t port;
    bool is_raw;
    size_t count, topics;
    uint64_t run_ms;
    int epoll;
    struct seat *seats;
    size_t joined;
    uint64_t messages; /* received by all who do not publish */
    uint64_t offences;
    bool is_publishing;
    char text[TEXT + 1];
};

_Noreturn static void fail(const char *what)
{
    (void)fprintf(stderr, "participants: %s\n", what);
    exit(1);
}

static uint64_t now_ms(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static uint64_t cpu_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static size_t resident_bytes(void)
{
    unsigned long size, resident;
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%lu %lu", &size, &resident) != 2)
        fail("/proc/self/statm cannot be read");
    (void)fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void heard(struct seat *seat)
{
    seat->count++;
    seat->bench->messages++;
}

/* --- participants of the library ---------------------------------------------------- */

static void publish(struct seat *seat)
{
    if (!seat->bench->is_publishing)
        return;
    if (moot_chat(seat->m, seat->bench->text))
        fail(moot_why(seat->m));
    seat->count++;
}

static void on_state(struct moot *m, void *user, enum moot_state state, const char *why)
{
    struct seat *seat = user;

    (void)m;
    seat->fd =
        -1; /* whatever the descriptor was, this may be another one of that number */
    if (state == MOOT_OVER || (state == MOOT_WAITING && seat->has_joined))
        fail(why);
}

static void on_welcome(struct moot *m, void *user, bool resumed)
{
    struct seat *seat = user;

    (void)m;
    (void)resumed;
    if (!seat->has_joined)
        seat->bench->joined++;
    seat->has_joined = true;
}

static void on_chat(struct moot *m, void *user, const struct moot_message *message,
                    const char *text)
{
    struct seat *seat = user;

    (void)m;
    (void)text;
    if (!seat->publishes)
        heard(seat);
    else if (message->is_mine)
        publish(seat);
}

static void on_offence(struct moot *m, void *user, const struct moot_offence *offence)
{
    struct seat *seat = user;

    (void)m;
    (void)offence;
    seat->bench->offences++;
}

static void seat_begin(struct seat *seat, size_t number)
{
    struct bench *b = seat->bench;
    char topic[32], token[128];
    struct moot_options options = { .url = b->url,
                                    .topic = topic,
                                    .token = token,
                                    .name = "bench",
                                    .hears_itself = seat->publishes,
                                    .handlers = { .on_state = on_state,
                                                  .on_welcome = on_welcome,
                                                  .on_chat = on_chat,
                                                  .on_offence = on_offence },
                                    .user = seat };

    (void)snprintf(topic, sizeof(topic), "p-%zu", number % b->topics);
    (void)snprintf(token, sizeof(token), "%s-%zu", b->prefix, number);
    if (moot_new(&options, &seat->m))
        fail(moot_why(seat->m));
}

/* Tells epoll what has changed. */
static void seat_watch(struct seat *seat)
{
    int fd = moot_fd(seat->m);
    short events = moot_events(seat->m);
    int timeout = moot_timeout(seat->m);
    struct epoll_event event = { .events = (uint32_t)events, .data.ptr = seat };

    seat->due_ms = timeout < 0 ? UINT64_MAX : now_ms() + (uint64_t)timeout;
    if (fd < 0 || (fd == seat->fd && events == seat->events))
        return;
    if (epoll_ctl(seat->bench->epoll, EPOLL_CTL_MOD, fd, &event) &&
        (errno != ENOENT || epoll_ctl(seat->bench->epoll, EPOLL_CTL_ADD, fd, &event)))
        fail("epoll_ctl");
    seat->fd = fd;
    seat->events = events;
}

static void seat_step(struct seat *seat)
{
    if (moot_step(seat->m))
        fail(moot_why(seat->m));
    seat_watch(seat);
}

/* --- bare sockets --------------------------------------------------------------------
 */

static void raw_begin(struct seat *seat, size_t number)
{
    struct bench *b = seat->bench;
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(b->port) };
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = seat };
    char request[512];
    int len;

    seat->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (seat->fd < 0 || inet_pton(AF_INET, b->host, &address.sin_addr) != 1 ||
        connect(seat->fd, (struct sockaddr *)&address, sizeof(address)))
        fail("connect");
    len = snprintf(request, sizeof(request),
                   "GET /ws?topic=p-%zu&presence=off HTTP/1.1\r\nHost: %s:%u\r\n"
                   "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                   "Sec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                   "Authorization: Bearer %s-%zu\r\n\r\n",
                   number % b->topics, b->host, b->port, b->prefix, number);
    if (send(seat->fd, request, (size_t)len, MSG_NOSIGNAL) != len)
        fail("send");
    if (epoll_ctl(b->epoll, EPOLL_CTL_ADD, seat->fd, &event))
        fail("epoll_ctl");
}

/* The length of the payload that a whole head announces; SIZE_MAX: it is not whole. */
static size_t length_of(const unsigned char *head, size_t len)
{
    size_t need = len < 2 ? 2 : head[1] < 126 ? 2 : head[1] == 126 ? 4 : 10;
    size_t length = 0;

    if (len < need)
        return SIZE_MAX;
    if (need == 2)
        return head[1];
    for (size_t i = 2; i < need; i++)
        length = length << 8 | head[i];
    return length;
}

/* Counts whole text frames. The first one is the welcome. */
static void raw_frames(struct seat *seat, const unsigned char *bytes, size_t len)
{
    while (len) {
        size_t n = seat->skip < len ? seat->skip : len;

        seat->skip -= n;
        bytes += n;
        len -= n;
        if (!len)
            return;
        seat->head[seat->head_len++] = *bytes++;
        len--;
        seat->skip = length_of(seat->head, seat->head_len);
        if (seat->skip == SIZE_MAX) {
            seat->skip = 0;
            continue;
        }
        seat->head_len = 0;
        if ((seat->head[0] & 15) != 1)
            continue;
        if (seat->has_joined)
            heard(seat);
        else
            seat->bench->joined++;
        seat->has_joined = true;
    }
}

static void raw_read(struct seat *seat)
{
    static unsigned char bytes[65536];
    ssize_t len = recv(seat->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    size_t at = 0;

    if (len < 0 && errno == EAGAIN)
        return;
    if (len <= 0)
        fail("a bare socket was closed");
    for (; at < (size_t)len && !seat->is_upgraded; at++) {
        memmove(seat->last, seat->last + 1, 3);
        seat->last[3] = (char)bytes[at];
        seat->is_upgraded = !memcmp(seat->last, "\r\n\r\n", 4);
    }
    raw_frames(seat, bytes + at, (size_t)len - at);
}

/* --- the loop ------------------------------------------------------------------------
 */

static void turn(struct bench *b)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(b->epoll, events, EVENTS, 100);

    for (int i = 0; i < count; i++) {
        struct seat *seat = events[i].data.ptr;

        if (seat->m)
            seat_step(seat);
        else
            raw_read(seat);
    }
}

static void tick(struct bench *b)
{
    uint64_t now = now_ms();

    for (size_t i = 0; i < b->count; i++)
        if (b->seats[i].m && b->seats[i].due_ms <= now)
            seat_step(&b->seats[i]);
}

/* Until everybody is here, or so much time has passed. */
static bool turn_until(struct bench *b, size_t joined, uint64_t until_ms)
{
    uint64_t ticked = 0;

    while (now_ms() < until_ms) {
        turn(b);
        if (now_ms() >= ticked + 50) {
            tick(b);
            ticked = now_ms();
        }
        if (b->joined >= joined)
            return true;
    }
    return false;
}

static void begin_all(struct bench *b)
{
    for (size_t i = 0; i < b->count; i++) {
        struct seat *seat = &b->seats[i];

        *seat = (struct seat){ .bench = b, .fd = -1, .publishes = i < b->topics };
        if (b->is_raw && !seat->publishes) {
            raw_begin(seat, i);
        } else {
            seat_begin(seat, i);
            seat_step(seat);
        }
    }
}

/* What has not arrived of all that was published. */
static uint64_t missing(const struct bench *b)
{
    uint64_t count = 0;

    for (size_t i = b->topics; i < b->count; i++)
        count += b->seats[i % b->topics].count - b->seats[i].count;
    return count;
}

static uint64_t stop_publishing(struct bench *b)
{
    uint64_t until_ms = now_ms() + JOIN_MS;

    b->is_publishing = false;
    while (missing(b) && now_ms() < until_ms)
        turn(b);
    return missing(b);
}

struct figures {
    uint64_t messages, cpu_ns, ms, lost;
    size_t bytes;
};

static void report(const struct bench *b, const struct figures *f)
{
    double messages = (double)f->messages;

    printf("{\"participants\":%zu,\"topics\":%zu,\"raw\":%s,\"messages\":%.0f,"
           "\"messages_per_s\":%.0f,\"cpu_ns_per_message\":%.1f,\"cpu_share\":%.3f,"
           "\"rss_per_participant\":%.0f,\"lost\":%.0f,\"errors\":%.0f}\n",
           b->count, b->topics, b->is_raw ? "true" : "false", messages,
           messages * 1000 / (double)f->ms, (double)f->cpu_ns / messages,
           (double)f->cpu_ns / 1e6 / (double)f->ms, (double)f->bytes / (double)b->count,
           (double)f->lost, (double)b->offences);
}

static void measure(struct bench *b)
{
    struct figures f = { .bytes = resident_bytes() };

    begin_all(b);
    if (!turn_until(b, b->count, now_ms() + JOIN_MS))
        fail("not everybody was welcomed");
    (void)turn_until(b, SIZE_MAX, now_ms() + SETTLE_MS);
    f.bytes = resident_bytes() - f.bytes;
    b->is_publishing = true;
    for (size_t i = 0; i < b->topics * WINDOW; i++)
        publish(&b->seats[i % b->topics]);
    for (size_t i = 0; i < b->topics; i++)
        seat_step(&b->seats[i]);
    (void)turn_until(b, SIZE_MAX, now_ms() + SETTLE_MS);
    f.messages = b->messages;
    f.ms = now_ms();
    f.cpu_ns = cpu_ns();
    (void)turn_until(b, SIZE_MAX, now_ms() + b->run_ms);
    f.messages = b->messages - f.messages;
    f.ms = now_ms() - f.ms;
    f.cpu_ns = cpu_ns() - f.cpu_ns;
    f.lost = stop_publishing(b);
    report(b, &f);
}

static size_t number(const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*end || !value || value > 1000000)
        fail("a number is wanted");
    return value;
}

int main(int argc, char **argv)
{
    bool is_raw = argc > 1 && !strcmp(argv[1], "--raw");
    char **arg = argv + is_raw;
    struct rlimit files = { 0 };
    struct bench b = { .is_raw = is_raw };

    if (argc != 7 + is_raw)
        fail(
            "usage: participants [--raw] HOST PORT TOKEN-PREFIX PARTICIPANTS TOPICS SECONDS");
    b.host = arg[1];
    b.port = (uint16_t)number(arg[2]);
    b.prefix = arg[3];
    b.count = number(arg[4]);
    b.topics = number(arg[5]);
    b.run_ms = number(arg[6]) * 1000;
    (void)snprintf(b.url, sizeof(b.url), "ws://%s:%u", b.host, b.port);
    memset(b.text, 'x', TEXT);
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    b.epoll = epoll_create1(EPOLL_CLOEXEC);
    b.seats = calloc(b.count, sizeof(*b.seats));
    if (b.epoll < 0 || !b.seats || b.topics > b.count)
        fail("cannot begin");
    measure(&b);
    for (size_t i = 0; i < b.count; i++)
        moot_free(b.seats[i].m);
    free(b.seats);
    return 0;
}
