/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tools/call costs who makes it: of a participant in a room, or directly on the
 * pipes of a server, which is what the way through a room is measured beside.
 *
 *     calls URL TOKEN TOPIC SERVER SECONDS WINDOW
 *     calls --direct PROGRAM SECONDS WINDOW
 *
 * WINDOW calls of `echo` are under way at a time. Prints one JSON object. Of Moot nothing
 * but moot.h is used, as by any other program.
 */
#include <moot.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "samples.h"

enum { MAX_WINDOW = 1024, BYTES = 1 << 16, FIRST_MS = 500, TRIES = 60 };

#define TEXT "a text of about fifty bytes, as a short answer has"

struct bench;

/* One of the calls under way. */
struct slot {
    struct bench *bench;
    uint64_t began_ns;
};

struct bench {
    const char *server;
    size_t window;
    uint64_t until_ns;
    struct slot slots[MAX_WINDOW];
    struct samples samples;
    size_t underway, tries;
    struct moot *m;
    int to, from; /* direct: the pipes */
};

_Noreturn static void fail(const char *what)
{
    (void)fprintf(stderr, "calls: %s\n", what);
    exit(1);
}

static void begin(struct bench *b, unsigned long seconds)
{
    samples_begin(&b->samples);
    b->until_ns = b->samples.began_ns + seconds * 1000000000;
}

/* --- in a room ---------------------------------------------------------------------- */

static void call_in_room(struct slot *slot);

static void on_done(struct moot *m, void *user, const struct moot_outcome *outcome)
{
    struct slot *slot = user;
    struct bench *b = slot->bench;

    samples_add(&b->samples, slot->began_ns);
    b->underway--;
    if (outcome->type != MOOT_RESULT)
        b->samples.errors++;
    if (samples_now_ns() < b->until_ns)
        call_in_room(slot);
    else if (b->underway == 0)
        moot_stop(m);
}

static void call_in_room(struct slot *slot)
{
    struct bench *b = slot->bench;
    struct moot_request request = { .to = b->server,
                                    .method = "tools/call",
                                    .name = "echo",
                                    .arguments = "{\"text\":\"" TEXT "\"}",
                                    .how = MOOT_CALL,
                                    .timeout_ms = 60000,
                                    .on_done = on_done,
                                    .user = slot };

    slot->began_ns = samples_now_ns();
    if (moot_request(b->m, &request, NULL))
        fail(moot_why(b->m));
    b->underway++;
}

static void call_first(struct bench *b);

/* Whoever is not in the room yet does not answer: it is asked again. */
static void on_first(struct moot *m, void *user, const struct moot_outcome *outcome)
{
    struct bench *b = user;

    if (outcome->type == MOOT_RESULT) {
        moot_stop(m);
        return;
    }
    if (++b->tries == TRIES)
        fail(outcome->message);
    if (outcome->type != MOOT_TIMED_OUT)
        (void)poll(NULL, 0, FIRST_MS);
    call_first(b);
}

/* Starts the server, where it rests, and does not count. */
static void call_first(struct bench *b)
{
    struct moot_request request = { .to = b->server,
                                    .method = "tools/call",
                                    .name = "echo",
                                    .how = MOOT_CALL,
                                    .timeout_ms = FIRST_MS,
                                    .on_done = on_first,
                                    .user = b };

    if (moot_request(b->m, &request, NULL))
        fail(moot_why(b->m));
}

static void on_welcome(struct moot *m, void *user, bool resumed)
{
    (void)m;
    (void)resumed;
    call_first(user);
}

static void run_in_room(struct bench *b, char **words)
{
    struct moot_options options = { .url = words[0],
                                    .token = words[1],
                                    .topic = words[2],
                                    .name = "calls",
                                    .handlers = { .on_welcome = on_welcome },
                                    .user = b };

    b->server = words[3];
    if (moot_new(&options, &b->m) || moot_run(b->m))
        fail(moot_why(b->m));
    begin(b, strtoul(words[4], NULL, 10));
    for (size_t i = 0; i < b->window; i++)
        call_in_room(&b->slots[i]);
    if (moot_run(b->m))
        fail(moot_why(b->m));
    moot_free(b->m);
}

/* --- directly ----------------------------------------------------------------------- */

static void start_server(struct bench *b, char *program)
{
    int in[2], out[2];

    if (pipe(in) || pipe(out))
        fail("pipe");
    switch (fork()) {
    case -1: fail("fork");
    case 0:
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        (void)close(in[1]);
        (void)close(out[0]);
        (void)execl(program, program, "--legacy", (char *)NULL);
        _exit(127);
    default: break;
    }
    (void)close(in[0]);
    (void)close(out[1]);
    b->to = in[1];
    b->from = out[0];
}

static void say(struct bench *b, const char *line)
{
    size_t len = strlen(line);

    if (write(b->to, line, len) != (ssize_t)len)
        fail("the server does not listen");
}

static void call_directly(struct slot *slot)
{
    char line[512];

    (void)snprintf(
        line, sizeof(line),
        "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"echo\",\"arguments\":{\"text\":\"" TEXT "\"}}}\n",
        (size_t)(slot - slot->bench->slots));
    slot->began_ns = samples_now_ns();
    say(slot->bench, line);
    slot->bench->underway++;
}

static void hear_line(struct bench *b, const char *line)
{
    const char *id = strstr(line, "\"id\":");
    size_t number = id ? strtoul(id + 5, NULL, 10) : MAX_WINDOW;

    if (number >= b->window)
        return; /* the handshake's */
    samples_add(&b->samples, b->slots[number].began_ns);
    b->underway--;
    if (!strstr(line, "\"result\""))
        b->samples.errors++;
    if (samples_now_ns() < b->until_ns)
        call_directly(&b->slots[number]);
}

static void hear(struct bench *b)
{
    static char bytes[BYTES + 1];
    static size_t len;
    ssize_t got = read(b->from, bytes + len, BYTES - len);
    char *line = bytes, *end;

    if (got <= 0)
        fail("the server ended");
    len += (size_t)got;
    bytes[len] = '\0';
    while ((end = strchr(line, '\n'))) {
        *end = '\0';
        hear_line(b, line);
        line = end + 1;
    }
    len -= (size_t)(line - bytes);
    memmove(bytes, line, len);
}

static void run_directly(struct bench *b, char **words)
{
    start_server(b, words[0]);
    say(b, "{\"jsonrpc\":\"2.0\",\"id\":9999,\"method\":\"initialize\",\"params\":{"
           "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
           "\"name\":\"calls\",\"version\":\"1\"}}}\n");
    hear(b);
    begin(b, strtoul(words[1], NULL, 10));
    for (size_t i = 0; i < b->window; i++)
        call_directly(&b->slots[i]);
    while (b->underway)
        hear(b);
    (void)close(b->to);
    (void)wait(NULL);
}

int main(int argc, char **argv)
{
    static struct bench b;
    int is_direct = argc == 5 && strcmp(argv[1], "--direct") == 0;

    if (!is_direct && argc != 7)
        fail("URL TOKEN TOPIC SERVER SECONDS WINDOW, or --direct PROGRAM SECONDS WINDOW");
    (void)signal(SIGPIPE, SIG_IGN);
    b.window = strtoul(argv[argc - 1], NULL, 10);
    if (b.window == 0 || b.window > MAX_WINDOW)
        fail("a window is 1 to 1024");
    for (size_t i = 0; i < b.window; i++)
        b.slots[i].bench = &b;
    if (is_direct)
        run_directly(&b, argv + 2);
    else
        run_in_room(&b, argv + 1);
    samples_print(&b.samples);
    (void)puts("}");
    samples_done(&b.samples);
    return 0;
}
