/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a participant: options, steps, states. The wire brings texts, the occupant
 * says what they mean, and handlers are told; everything that a handler hears of happens
 * inside wire_step() and occupant_tick().
 */
#include "moot.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "client/moot_priv.h"
#include "client/wire.h"
#include "mcp/catalogue.h"

/* The last fence of all: what was sent before it has been judged. */
#define GOODBYE UINT64_MAX

/* --- words --- */

const char *moot_version(void)
{
    return MOOT_VERSION;
}

const char *moot_strerror(enum moot_err err)
{
    switch (err) {
    case MOOT_OK: return "success";
    case MOOT_INVALID: return "invalid argument";
    case MOOT_OFFLINE: return "not connected";
    case MOOT_FORBIDDEN: return "not allowed by our capabilities";
    case MOOT_TOO_LARGE: return "too large";
    case MOOT_FULL: return "too much is waiting";
    case MOOT_UNKNOWN: return "no such thing";
    case MOOT_STATE: return "not open, or not ours to decide";
    case MOOT_ENDED: return "it is over";
    }
    return "unknown error";
}

const char *moot_why(const struct moot *m)
{
    return m ? m->why : "";
}

/* As much as fits, without cutting a character. */
static void set_why(struct moot *m, struct str why)
{
    size_t len = why.len < sizeof(m->why) ? why.len : sizeof(m->why) - 1;

    len = utf8_valid(str_slice(why, 0, len));
    memcpy(m->why, why.ptr, len);
    m->why[len] = '\0';
}

static enum moot_err public_err(const struct moot *m, enum err err)
{
    switch ((int)err) {
    case OK: return MOOT_OK;
    case ERR_AGAIN: return m->state == MOOT_OVER ? MOOT_ENDED : MOOT_OFFLINE;
    case ERR_FORBIDDEN:
    case ERR_CAPABILITY_VIOLATION: return MOOT_FORBIDDEN;
    case ERR_TOO_BIG:
    case ERR_TOO_LARGE: return MOOT_TOO_LARGE;
    case ERR_OVERLOAD: return MOOT_FULL;
    case ERR_NOT_FOUND: return MOOT_UNKNOWN;
    case ERR_PROPOSAL_STATE: return MOOT_STATE;
    default: return MOOT_INVALID;
    }
}

enum moot_err handle_fail(struct moot *m, enum err err, const char *why)
{
    enum moot_err result = public_err(m, err);

    /* Why it is over is worth more than that something was tried afterwards. */
    if (result != MOOT_OK && result != MOOT_ENDED)
        set_why(m, str_of(why ? why : moot_strerror(result)));
    return result;
}

struct moment handle_now(void)
{
    return (struct moment){ clock_mono_ms(), clock_wall_ms() };
}

/* --- states --- */

static void enter(struct moot *m, enum moot_state state, const char *why)
{
    m->state = state;
    if (m->handlers.on_state)
        m->handlers.on_state(m, m->user, state, why);
}

void handle_joined(struct moot *m)
{
    struct str id = occupant_id(m->occupant);

    (void)snprintf(m->id, sizeof(m->id), STR_FMT, STR_ARG(id));
    wire_welcome(m->wire, options_message_bytes(m, occupant_envelope_bytes(m->occupant)));
    if (m->state != MOOT_JOINED)
        enter(m, MOOT_JOINED, "");
}

/* --- the wire --- */

static void on_open(void *user, bool resumes)
{
    struct moot *m = user;

    occupant_begin(m->occupant, resumes);
}

static void on_text(void *user, struct str text)
{
    struct moot *m = user;

    occupant_hear(m->occupant, text, handle_now());
}

static void hang_up(struct moot *m)
{
    m->leaving = LEAVING_CLOSING;
    wire_close(m->wire);
}

static void on_fence(void *user, uint64_t number)
{
    struct moot *m = user;

    occupant_judged(m->occupant, number, handle_now());
    if (number == GOODBYE)
        hang_up(m);
}

static void on_broken(void *user, struct str why, bool is_over)
{
    struct moot *m = user;

    m->state = is_over ? MOOT_OVER : MOOT_WAITING;
    occupant_lost(m->occupant, is_over, handle_now());
    set_why(m, why); /* who was told of lost calls may have tried something */
    arena_reset(&m->desk->given);
    enter(m, m->state, m->why);
}

static struct str on_after(void *user)
{
    struct moot *m = user;
    struct str last = occupant_last(m->occupant);

    arena_reset(&m->desk->given);
    enter(m, MOOT_CONNECTING, "");
    return last.len ? last : str_of(m->after);
}

static const struct wire_ops wire_ops = {
    .on_open = on_open,
    .on_text = on_text,
    .on_fence = on_fence,
    .on_broken = on_broken,
    .on_after = on_after,
};

static enum err seat_send(struct seat *seat, struct str text)
{
    struct moot *m = CONTAINER_OF(seat, struct moot, seat);
    size_t most = occupant_envelope_bytes(m->occupant);
    enum err err;

    if (!m->wire || m->leaving)
        return ERR_AGAIN;
    if ((most && text.len > most) || text.len > m->limits.outbox_bytes)
        return ERR_TOO_BIG;
    err = wire_send(m->wire, text);
    return err == ERR_TOO_BIG ? ERR_OVERLOAD : err;
}

static void seat_fence(struct seat *seat, uint64_t number)
{
    struct moot *m = CONTAINER_OF(seat, struct moot, seat);

    if (m->wire && !m->leaving)
        wire_fence(m->wire, number);
}

/* --- beginning --- */

static struct desk *desk_new(const struct moot_limits *limits)
{
    struct desk *desk = xcalloc(1, sizeof(*desk));

    /* The most values that JSON of that size can have. */
    arena_init(&desk->given, limits->envelope_bytes * HANDLE_TREE_FACTOR + (1 << 20));
    arena_init(&desk->scratch, limits->envelope_bytes * HANDLE_TREE_FACTOR + (1 << 20));
    return desk;
}

static enum moot_err begin(struct moot *m, const struct moot_options *options)
{
    struct wire_settings settings = options_wire(m, options);
    CLEANUP(xfreep) char *why = NULL;
    const char *fault = options_fault(options);
    enum err err;

    if (fault) {
        m->state = MOOT_OVER;
        set_why(m, str_of(fault));
        return MOOT_INVALID;
    }
    err = wire_new(&settings, &wire_ops, m, &m->wire, &why);
    if (!err)
        return MOOT_OK;
    m->state = MOOT_OVER;
    set_why(m, str_of(why ? why : err_name(err)));
    return MOOT_INVALID;
}

enum moot_err moot_new(const struct moot_options *options, struct moot **ret)
{
    static const struct moot_options none;
    struct moot *m;

    if (!ret)
        return MOOT_INVALID;
    if (!options)
        options = &none;
    m = xcalloc(1, sizeof(*m));
    m->seat = (struct seat){ .send = seat_send, .fence = seat_fence };
    m->handlers = options->handlers;
    m->user = options->user;
    m->limits = options_limits(&options->limits);
    m->after = xstrdup(options->after ? options->after : "");
    m->wake_fd = -1;
    list_init(&m->tickets);
    list_init(&m->calls);
    m->desk = desk_new(&m->limits);
    m->occupant = options_occupant(m, options);
    m->catalogue = offers_new(options);
    *ret = m;
    return begin(m, options);
}

void moot_free(struct moot *m)
{
    if (!m)
        return;
    serve_free(m);
    tickets_free(m);
    wire_free(m->wire);
    occupant_free(m->occupant);
    catalogue_free(m->catalogue);
    arena_done(&m->desk->given);
    arena_done(&m->desk->scratch);
    free(m->desk);
    if (m->wake_fd >= 0)
        (void)close(m->wake_fd);
    free(m->after);
    free(m);
}

/* --- steps --- */

static bool is_over(const struct moot *m)
{
    return m->state == MOOT_OVER;
}

int moot_fd(const struct moot *m)
{
    return is_over(m) ? -1 : wire_fd(m->wire);
}

short moot_events(const struct moot *m)
{
    if (is_over(m))
        return 0;
    return wire_events(m->wire);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* When the next step is wanted; 0: now. */
static uint64_t due_ms(const struct moot *m)
{
    uint64_t due;

    if (is_over(m) || offers_are_changed(m) || m->leaving == LEAVING_WANTED)
        return 0;
    due = earlier(wire_due_ms(m->wire), occupant_due_ms(m->occupant));
    return m->leaving == LEAVING_FENCED ? earlier(due, m->leave_ms) : due;
}

/* From now to then; -1: never. */
static int left_ms(uint64_t due)
{
    uint64_t now = clock_mono_ms();

    if (due == UINT64_MAX)
        return -1;
    if (due <= now)
        return 0;
    return due - now < INT_MAX ? (int)(due - now) : INT_MAX;
}

int moot_timeout(const struct moot *m)
{
    return left_ms(due_ms(m));
}

/* What was sent is judged first, then it closes; whatever happens, within some time. */
static void go_on_leaving(struct moot *m)
{
    uint64_t now = clock_mono_ms();

    if (m->leaving == LEAVING_CLOSING)
        return;
    if (m->state != MOOT_JOINED || (m->leaving == LEAVING_FENCED && now >= m->leave_ms)) {
        hang_up(m);
    } else if (m->leaving == LEAVING_WANTED) {
        m->leaving = LEAVING_FENCED;
        m->leave_ms = now + HANDLE_LEAVE_MS;
        wire_fence(m->wire, GOODBYE);
    }
}

enum moot_err moot_step(struct moot *m)
{
    if (is_over(m))
        return MOOT_ENDED;
    arena_reset(&m->desk->given);
    if (m->leaving)
        go_on_leaving(m);
    wire_step(m->wire, clock_mono_ms());
    if (!is_over(m) && occupant_due_ms(m->occupant) <= clock_mono_ms())
        occupant_tick(m->occupant, handle_now());
    if (!is_over(m) && offers_are_changed(m))
        offers_tell(m);
    return is_over(m) ? MOOT_ENDED : MOOT_OK;
}

/* --- running --- */

/* Made here and not in moot_stop(), which a signal handler may call. */
static bool make_wakeable(struct moot *m)
{
    if (m->wake_fd < 0)
        m->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return m->wake_fd >= 0;
}

static void forget_wakes(const struct moot *m)
{
    uint64_t count;

    (void)!read(m->wake_fd, &count, sizeof(count));
}

static void wait_for_news(const struct moot *m)
{
    struct pollfd fds[] = {
        { .fd = m->wake_fd, .events = POLLIN },
        { .fd = moot_fd(m), .events = moot_events(m) },
    };

    /* Interrupted or not: whatever has happened is looked at. */
    (void)poll(fds, COUNT(fds), moot_timeout(m));
}

enum moot_err moot_run(struct moot *m)
{
    enum moot_err err = is_over(m) ? MOOT_ENDED : MOOT_OK;

    if (!err && !make_wakeable(m)) {
        set_why(m, S("there is no descriptor left"));
        return MOOT_FULL;
    }
    while (!err && !m->is_stopped) {
        err = moot_step(m);
        if (!err && !m->is_stopped)
            wait_for_news(m);
    }
    m->is_stopped = 0;
    if (m->wake_fd >= 0)
        forget_wakes(m);
    return err;
}

void moot_stop(struct moot *m)
{
    int before = errno;
    uint64_t one = 1;

    m->is_stopped = 1;
    if (m->wake_fd >= 0)
        (void)!write(m->wake_fd, &one, sizeof(one));
    errno = before;
}

void moot_leave(struct moot *m)
{
    if (!m->leaving)
        m->leaving = LEAVING_WANTED;
}

/* --- who --- */

enum moot_state moot_state(const struct moot *m)
{
    return m->state;
}

int moot_retry_ms(const struct moot *m)
{
    return m->state == MOOT_WAITING ? left_ms(wire_due_ms(m->wire)) : -1;
}

void *moot_user(const struct moot *m)
{
    return m->user;
}

const char *moot_id(const struct moot *m)
{
    return m->id;
}

const char *moot_last(const struct moot *m)
{
    struct str last = occupant_last(m->occupant);

    if (last.len == 0)
        return m->after;
    (void)snprintf(m->desk->last, sizeof(m->desk->last), STR_FMT, STR_ARG(last));
    return m->desk->last;
}

struct moot_str moot_capabilities(const struct moot *m)
{
    return view_str(occupant_capabilities(m->occupant));
}

bool moot_next_participant(const struct moot *m, size_t *at, struct moot_participant *ret)
{
    const struct roster_entry *entry = occupant_next_participant(m->occupant, at);

    if (entry)
        view_participant(entry, ret);
    return entry;
}

bool moot_find_participant(const struct moot *m, const char *id,
                           struct moot_participant *ret)
{
    const struct roster_entry *entry = occupant_find_participant(m->occupant, str_of(id));

    if (entry)
        view_participant(entry, ret);
    return entry;
}
