/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer: the broadcaster of the other servers on libwebsockets, as its own examples are
 * written. A message is kept once and counted; a connection has a queue of messages and
 * writes one of them each time the library says that it is writable. Rooms are ?topic=.
 *
 * It uses nothing of this project, and is built only where the library is installed.
 */
#include <libwebsockets.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { RX_SIZE = 128 * 1024, NAME_SIZE = 64, FILES_MAX = 65536 };

struct message {
    size_t references;
    size_t len;
    unsigned char bytes[]; /* LWS_PRE free bytes, then the text */
};

struct waiting {
    struct message *message;
    struct waiting *next;
};

struct room;

struct member {
    struct lws *wsi;
    struct room *room;
    struct member *next;
    struct member **link; /* what points to it */
    struct waiting *first;
    struct waiting **last;
    struct message *partial; /* of a message that comes in pieces */
};

struct room {
    char name[NAME_SIZE];
    struct member *members;
    struct room *next;
};

static struct room *rooms;
static volatile sig_atomic_t has_stopped;

static void on_signal(int number)
{
    (void)number;
    has_stopped = 1;
}

static void *allocate(size_t size)
{
    void *got = calloc(1, size);

    if (!got)
        abort();
    return got;
}

static void message_unref(struct message *message)
{
    if (message && --message->references == 0)
        free(message);
}

static struct message *message_append(struct message *message, const void *bytes,
                                      size_t len)
{
    size_t old = message ? message->len : 0;

    message = realloc(message, sizeof(*message) + LWS_PRE + old + len);
    if (!message)
        abort();
    memcpy(message->bytes + LWS_PRE + old, bytes, len);
    message->len = old + len;
    message->references = 1;
    return message;
}

static struct room *room_of(const char *name)
{
    for (struct room *room = rooms; room; room = room->next)
        if (strcmp(room->name, name) == 0)
            return room;
    struct room *room = allocate(sizeof(*room));

    (void)snprintf(room->name, sizeof(room->name), "%s", name);
    room->next = rooms;
    rooms = room;
    return room;
}

static void member_enter(struct member *member, struct lws *wsi)
{
    char name[NAME_SIZE];
    const char *topic = lws_get_urlarg_by_name(wsi, "topic=", name, sizeof(name));

    member->wsi = wsi;
    member->room = room_of(topic ? topic : "");
    member->last = &member->first;
    member->next = member->room->members;
    member->link = &member->room->members;
    if (member->next)
        member->next->link = &member->next;
    member->room->members = member;
}

static void member_take(struct member *member)
{
    struct waiting *waiting = member->first;

    member->first = waiting->next;
    if (!member->first)
        member->last = &member->first;
    message_unref(waiting->message);
    free(waiting);
}

static void member_leave(struct member *member)
{
    if (!member->room)
        return;
    while (member->first)
        member_take(member);
    message_unref(member->partial);
    *member->link = member->next;
    if (member->next)
        member->next->link = member->link;
    member->room = NULL;
}

static void broadcast(struct room *room, struct message *message)
{
    for (struct member *member = room->members; member; member = member->next) {
        struct waiting *waiting = allocate(sizeof(*waiting));

        waiting->message = message;
        message->references++;
        *member->last = waiting;
        member->last = &waiting->next;
        (void)lws_callback_on_writable(member->wsi);
    }
    message_unref(message);
}

static void on_receive(struct member *member, const void *bytes, size_t len)
{
    struct message *message;

    member->partial = message_append(member->partial, bytes, len);
    if (!lws_is_final_fragment(member->wsi) ||
        lws_remaining_packet_payload(member->wsi) != 0)
        return;
    message = member->partial;
    member->partial = NULL;
    broadcast(member->room, message);
}

/* Not 0 ends the connection. */
static int on_writable(struct member *member)
{
    struct message *message;

    if (!member->first)
        return 0;
    message = member->first->message;
    if (lws_write(member->wsi, message->bytes + LWS_PRE, message->len, LWS_WRITE_TEXT) <
        (int)message->len)
        return -1;
    member_take(member);
    if (member->first)
        (void)lws_callback_on_writable(member->wsi);
    return 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user,
                    void *in, size_t len)
{
    switch ((int)reason) {
    case LWS_CALLBACK_ESTABLISHED: member_enter(user, wsi); break;
    case LWS_CALLBACK_RECEIVE: on_receive(user, in, len); break;
    case LWS_CALLBACK_SERVER_WRITEABLE: return on_writable(user);
    case LWS_CALLBACK_CLOSED: member_leave(user); break;
    default: break;
    }
    return 0;
}

static unsigned raise_file_limit(void)
{
    struct rlimit limit;

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < FILES_MAX ? limit.rlim_max : FILES_MAX;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    return (unsigned)limit.rlim_cur;
}

int main(int argc, char **argv)
{
    static const struct lws_protocols protocols[] = {
        { "broadcast", on_event, sizeof(struct member), RX_SIZE, 0, NULL, 0 },
        { 0 },
    };
    struct lws_context_creation_info settings = {
        .port = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0,
        .iface = "127.0.0.1",
        .protocols = protocols,
        .fd_limit_per_thread = raise_file_limit(),
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
    };
    struct sigaction stop = { .sa_handler = on_signal };
    struct lws_context *context;

    (void)sigaction(SIGTERM, &stop, NULL);
    (void)sigaction(SIGINT, &stop, NULL);
    lws_set_log_level(LLL_ERR, NULL);
    context = lws_create_context(&settings);
    if (!context)
        return 1;
    while (!has_stopped && lws_service(context, 0) >= 0)
        ;
    lws_context_destroy(context);
    while (rooms) {
        struct room *room = rooms;

        rooms = room->next;
        free(room);
    }
    return 0;
}
