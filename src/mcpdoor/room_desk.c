/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpdoor/room_desk.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcpdoor/room_desk_priv.h"

enum {
    WHY = 512,
    FAILURE = 4096,         /* bytes of a result that says why; each may be escaped */
    NEWS = 2 * ROOM_ANSWER, /* of what was said, and a result with it: */
    NEWS_RESULT = 16 * ROOM_ANSWER,
    ARGUMENTS = 4 * DESK_SCRATCH,
};

struct room_desk *room_desk_new(const struct showcase *showcase,
                                const struct concierge *concierge)
{
    struct room_desk *desk = xcalloc(1, sizeof(*desk));

    desk->showcase = showcase;
    desk->concierge = concierge;
    desk->news = room_news_new(ROOM_NEWS, ROOM_NEWS_BYTES);
    list_init(&desk->pending);
    return desk;
}

static void pending_free(struct pending *pending)
{
    if (pending->said_id[0])
        occupant_forget(pending->occupant, str_of(pending->said_id));
    list_remove(&pending->link);
    pending->desk->pending_count--;
    free(pending);
}

static void pending_drop(struct pending *pending)
{
    struct room_call call = pending->call;

    pending_free(pending);
    if (call.on_dropped)
        call.on_dropped(call.user);
}

void room_desk_free(struct room_desk *desk)
{
    struct pending *pending;

    if (!desk)
        return;
    // NOLINTNEXTLINE(clang-analyzer-*): what was freed has left the list
    LIST_FOREACH(pending, &desk->pending, link)
        pending_drop(pending);
    room_news_free(desk->news);
    free(desk);
}

void room_desk_use(struct room_desk *desk, const struct occupant *occupant)
{
    desk->occupant = occupant;
}

void room_desk_cancel(struct room_desk *desk, const void *name)
{
    struct pending *pending;

    LIST_FOREACH(pending, &desk->pending, link)
        if (pending->call.name == name)
            pending_drop(pending);
}

void room_desk_leave(struct room_desk *desk, const struct occupant *occupant)
{
    struct pending *pending;

    LIST_FOREACH(pending, &desk->pending, link)
        if (pending->occupant == occupant)
            pending_drop(pending);
}

/* --- results --- */

static void put_text_block(struct json_writer *w, struct str text)
{
    json_key(w, S("content"));
    json_array_open(w);
    json_object_open(w);
    json_put_str(w, S("type"), S("text"));
    json_put_str(w, S("text"), text);
    json_object_close(w);
    json_array_close(w);
}

/* An object, for programs as it is and for models as a text. */
static void put_result(struct buf *out, struct str object)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    put_text_block(&w, object);
    json_key(&w, S("structuredContent"));
    json_raw(&w, object);
    json_object_close(&w);
}

static void put_failure(struct buf *out, struct str why)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    put_text_block(&w, why);
    json_put_bool(&w, S("isError"), true);
    json_object_close(&w);
}

void desk_answer_failure(const struct asking_tool *ask, struct str before, struct str why)
{
    CLEANUP(buf_done) struct buf text, out;

    buf_init(&text, WHY);
    buf_init(&out, FAILURE);
    buf_put(&text, before);
    buf_put(&text, str_slice(why, 0, WHY / 2));
    put_failure(&out, buf_str(&text));
    ask->call->on_answer(ask->call->user, buf_str(&out));
}

void desk_answer_object(const struct asking_tool *ask, struct str object)
{
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, 8 * object.len + WHY);
    put_result(&out, object);
    ask->call->on_answer(ask->call->user, buf_str(&out));
}

bool desk_read_arguments(const struct asking_tool *ask, const struct json_field *fields,
                         size_t count, void *ret)
{
    struct json_problem problem = { .what = "are wrong" };
    CLEANUP(buf_done) struct buf why;

    buf_init(&why, WHY);
    if (!json_read(ask->arguments, fields, count, ask->scratch, ret, &problem))
        return true;
    buf_putf(&why, STR_FMT ": %s", STR_ARG(str_slice(problem.field, 0, WHY / 4)),
             problem.what);
    desk_answer_failure(ask, S("These arguments cannot be used. "), buf_str(&why));
    return false;
}

/* --- calls that wait --- */

static size_t count_pending(const struct room_desk *desk, const struct occupant *occupant)
{
    const struct pending *pending;
    size_t count = 0;

    LIST_FOREACH(pending, &desk->pending, link)
        count += pending->occupant == occupant;
    return count;
}

struct pending *desk_pending_new(const struct asking_tool *ask)
{
    struct pending *pending;

    if (count_pending(ask->desk, ask->guest->occupant) >= ROOM_CALLS) {
        desk_answer_failure(ask, S("Too many calls of yours wait already."), S(""));
        return NULL;
    }
    pending = xcalloc(1, sizeof(*pending));
    pending->desk = ask->desk;
    pending->occupant = ask->guest->occupant;
    pending->own = ask->guest->news;
    pending->call = *ask->call;
    pending->due_ms = UINT64_MAX;
    list_append(&ask->desk->pending, &pending->link);
    ask->desk->pending_count++;
    return pending;
}

static void pending_answer(struct pending *pending, struct str result)
{
    struct room_call call = pending->call;

    pending_free(pending);
    call.on_answer(call.user, result);
}

/* It has been taken by the gateway, or refused. */
static void on_said(void *user, const struct outcome *outcome)
{
    struct pending *pending = user;
    CLEANUP(buf_done) struct buf object, out;
    struct json_writer w;

    buf_init(&object, WHY);
    buf_init(&out, FAILURE);
    pending->said_id[0] = 0;
    if (outcome->type == ASK_SENT) {
        json_write_init(&w, &object);
        json_object_open(&w);
        json_put_str(&w, S("id"), outcome->id);
        json_object_close(&w);
        put_result(&out, buf_str(&object));
    } else {
        buf_putf(&object, "The room did not take it: " STR_FMT,
                 STR_ARG(str_slice(outcome->message, 0, WHY / 2)));
        put_failure(&out, buf_str(&object));
    }
    pending_answer(pending, buf_str(&out));
}

void desk_say(const struct asking_tool *ask, struct saying *saying)
{
    struct pending *pending = desk_pending_new(ask);
    const char *why = NULL;
    struct str id;
    enum err err;

    if (!pending)
        return;
    saying->ops.on_done = on_said;
    saying->user = pending;
    err = occupant_say(ask->guest->occupant, saying, ask->now, &id, &why);
    if (err) {
        pending_free(pending);
        desk_answer_failure(ask, S("It could not be said: "),
                            str_of(err == ERR_INVALID && why ? why : err_name(err)));
        return;
    }
    memcpy(pending->said_id, id.ptr, id.len);
    pending->said_id[id.len] = 0;
}

/* --- news --- */

/* False: there is nothing new. */
static bool put_news(const struct pending *pending, struct buf *out)
{
    const struct room_reading reading = {
        .common = pending->desk->news,
        .own = pending->own,
        .after = pending->after,
        .me = occupant_id(pending->occupant),
        .max_bytes = ROOM_ANSWER,
    };
    CLEANUP(buf_done) struct buf object;
    char next[24];
    struct json_writer w;
    uint64_t last;
    size_t count;

    buf_init(&object, NEWS);
    json_write_init(&w, &object);
    json_object_open(&w);
    json_key(&w, S("messages"));
    json_array_open(&w);
    count = room_news_put(&reading, &w, &last);
    json_array_close(&w);
    (void)snprintf(next, sizeof(next), "%llu", (unsigned long long)last);
    json_put_str(&w, S("next"), str_of(next));
    json_object_close(&w);
    put_result(out, buf_str(&object));
    return count > 0;
}

void desk_answer_news(struct pending *pending, uint64_t now_ms)
{
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, NEWS_RESULT);
    if (put_news(pending, &out) || pending->due_ms <= now_ms)
        pending_answer(pending, buf_str(&out));
}

void room_desk_close(struct room_desk *desk)
{
    CLEANUP(buf_done) struct buf out = {};
    struct pending *pending;

    if (!desk)
        return;
    buf_init(&out, FAILURE);
    put_failure(&out, S("The tools of the room are no longer offered."));
    while ((pending = LIST_FIRST(&desk->pending, struct pending, link)) != NULL)
        // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
        pending_answer(pending, buf_str(&out));
    room_desk_free(desk);
}

/* --- calls --- */

static bool is_ours(const struct room_desk *desk, const struct room_guest *guest,
                    const struct room_tool *tool)
{
    const struct exhibit *other = showcase_find(desk->showcase, OFFER_TOOL, tool->name);

    return !(other && str_eq(other->name, tool->name)) && tool->may(desk, guest);
}

void room_desk_put_tools(const struct room_desk *desk, const struct room_guest *guest,
                         struct buf *out)
{
    const char *before = "";

    for (size_t i = 0; i < ROOM_TOOLS; i++) {
        if (!is_ours(desk, guest, &room_tools[i]))
            continue;
        buf_put(out, str_of(before));
        buf_put(out, room_tools[i].json);
        before = ",";
    }
}

static const struct room_tool *find_tool(struct str name)
{
    for (size_t i = 0; i < ROOM_TOOLS; i++)
        if (str_eq(room_tools[i].name, name))
            return &room_tools[i];
    return NULL;
}

bool room_desk_call(struct room_desk *desk, const struct room_guest *guest,
                    const struct room_call *call, struct moment now)
{
    CLEANUP(arena_done) struct arena scratch;
    const struct room_tool *tool = find_tool(call->tool);
    struct asking_tool ask = {
        .desk = desk,
        .guest = guest,
        .call = call,
        .scratch = &scratch,
        .now = now,
    };

    arena_init(&scratch, ARGUMENTS);
    if (!tool || !is_ours(desk, guest, tool))
        return false;
    if (json_parse(call->arguments.text.ptr ? call->arguments.text : S("{}"), &scratch,
                   &ask.arguments, NULL))
        desk_answer_failure(&ask, S("The arguments cannot be read."), S(""));
    else if (ask.arguments->type != JSON_OBJECT)
        desk_answer_failure(&ask, S("The arguments are no object."), S(""));
    else
        tool->call(&ask);
    return true;
}

/* --- what happens meanwhile --- */

/* An answer may begin and end other calls: so each is taken from the front and put at the
 * end before it is looked at. */
static void tell_waiting(struct room_desk *desk, const struct room_news *own,
                         uint64_t now_ms)
{
    for (size_t left = desk->pending_count; left; left--) {
        struct pending *pending = LIST_FIRST(&desk->pending, struct pending, link);

        if (!pending)
            return;
        // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
        bool waits = !pending->said_id[0] && (!own || pending->own == own);

        list_remove(&pending->link);
        list_append(&desk->pending, &pending->link);
        if (waits)
            desk_answer_news(pending, now_ms);
    }
}

void room_desk_drain(struct room_desk *desk)
{
    struct pending *pending;

    if (!desk)
        return;
    LIST_FOREACH(pending, &desk->pending, link)
        pending->due_ms = pending->said_id[0] ? pending->due_ms : 0;
    tell_waiting(desk, NULL, 0);
}

void room_desk_hear(struct room_desk *desk, struct room_news *own,
                    const struct heard *heard)
{
    bool is_for_all = heard->env.to_count == 0;

    if (is_for_all != !own || !room_news_wants(heard))
        return;
    room_news_add(own ? own : desk->news, ++desk->number, heard);
    tell_waiting(desk, own, 0);
}

void room_desk_tick(struct room_desk *desk, uint64_t now_ms)
{
    if (room_desk_due_ms(desk) <= now_ms)
        tell_waiting(desk, NULL, now_ms);
}

uint64_t room_desk_due_ms(const struct room_desk *desk)
{
    const struct pending *pending;
    uint64_t due = UINT64_MAX;

    LIST_FOREACH(pending, &desk->pending, link)
        if (pending->due_ms < due)
            due = pending->due_ms;
    return due;
}
