/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_carrier.h"

#include "base/cleanup.h"
#include "json/json.h"

enum { ROOM = 1 << 24 };

static struct fake_carrier *fake_of(struct carrier *carrier)
{
    return CONTAINER_OF(carrier, struct fake_carrier, carrier);
}

/* --- what a session sends --- */

static void put_brief(struct buf *out, struct str text)
{
    static const struct str meta[] = { S("_meta") };
    struct mcp_message message;
    const char *what;
    struct json_writer w;

    if (mcp_message_read(text, JSON_MAX_DEPTH, &message, &what) ||
        !message.params.text.ptr)
        return;
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_members(&w, message.params.text, (struct str_list){ meta, 1 });
    json_object_close(&w);
}

static enum err on_send(struct carrier *carrier, const struct parcel *parcel)
{
    struct fake_carrier *fake = fake_of(carrier);
    struct buf *out = &fake->sent;

    if (fake->refusal)
        return fake->refusal;
    if (parcel->call)
        buf_putu(out, parcel->call);
    else
        buf_putc(out, '-');
    buf_putc(out, ' ');
    buf_put(out, parcel->method.len ? parcel->method : S("answer"));
    if (!fake->is_terse) {
        buf_putc(out, ' ');
        if (fake->is_brief && parcel->method.len)
            put_brief(out, parcel->text);
        else
            buf_put(out, parcel->text);
    }
    buf_putc(out, '\n');
    if (parcel->name.len)
        buf_putf(out, "  " STR_FMT "\n", STR_ARG(parcel->name));
    for (size_t i = 0; i < parcel->field_count; i++)
        buf_putf(out, "  " STR_FMT "\n", STR_ARG(parcel->fields[i]));
    return OK;
}

static void on_drop(struct carrier *carrier, uint64_t call)
{
    buf_putf(&fake_of(carrier)->sent, "drop %llu\n", (unsigned long long)call);
}

static void on_settled(struct carrier *carrier, struct str version, bool is_modern)
{
    buf_putf(&fake_of(carrier)->sent, "settled " STR_FMT "%s\n", STR_ARG(version),
             is_modern ? " modern" : "");
}

static void on_renew(struct carrier *carrier)
{
    buf_put(&fake_of(carrier)->sent, S("renew\n"));
}

static const struct carrier_ops carrier_ops = {
    .send = on_send, .drop = on_drop, .settled = on_settled, .renew = on_renew
};

/* --- what it tells --- */

static void on_ready(void *user, const struct mcp_session_facts *facts)
{
    struct fake_carrier *fake = user;

    buf_putf(&fake->told, "ready %s " STR_FMT "\n",
             facts->era == ERA_MODERN ? "modern" : "legacy", STR_ARG(facts->version));
}

static void on_end(void *user, enum mcp_end end, const char *why)
{
    static const char *const names[] = { [SESSION_ENDED] = "ended",
                                         [SESSION_REFUSED] = "refused",
                                         [SESSION_SILENT] = "silent",
                                         [SESSION_NO_PROBE] = "no_probe",
                                         [SESSION_FORBIDDEN] = "forbidden" };
    struct fake_carrier *fake = user;

    buf_putf(&fake->told, "end %s: %s\n", names[end], why);
}

static void on_notification(void *user, const struct mcp_message *message, uint64_t call)
{
    struct fake_carrier *fake = user;

    buf_putf(&fake->told, "notification %llu " STR_FMT " " STR_FMT "\n",
             (unsigned long long)call, STR_ARG(message->method),
             STR_ARG(message->params.text));
}

static void on_question(void *user, struct mcp_question *question)
{
    struct fake_carrier *fake = user;

    buf_putf(&fake->told, "question %llu " STR_FMT " " STR_FMT "\n",
             (unsigned long long)question->call, STR_ARG(question->method),
             STR_ARG(question->params));
    if (fake->question_count < FAKE_QUESTIONS)
        fake->questions[fake->question_count++] = question;
}

static void forget(struct fake_carrier *fake, size_t at)
{
    fake->question_count--;
    for (size_t i = at; i < fake->question_count; i++)
        fake->questions[i] = fake->questions[i + 1];
}

static void on_question_gone(void *user, struct mcp_question *question)
{
    struct fake_carrier *fake = user;

    buf_putf(&fake->told, "gone " STR_FMT "\n", STR_ARG(question->method));
    for (size_t i = 0; i < fake->question_count; i++)
        if (fake->questions[i] == question) {
            forget(fake, i);
            return;
        }
}

static void on_oddity(void *user, const char *what)
{
    struct fake_carrier *fake = user;

    buf_putf(&fake->told, "odd: %s\n", what);
}

static void on_due(void *user)
{
    (void)user;
}

static const struct mcp_session_ops session_ops = {
    .on_ready = on_ready,
    .on_end = on_end,
    .on_notification = on_notification,
    .on_question = on_question,
    .on_question_gone = on_question_gone,
    .on_oddity = on_oddity,
    .on_due = on_due,
};

static void on_progress(void *user, struct json_span params)
{
    struct fake_carrier *fake = user;

    buf_putf(&fake->told, "progress " STR_FMT "\n", STR_ARG(params.text));
}

static void on_done(void *user, const struct mcp_reply *reply)
{
    static const char *const names[] = { [REPLY_RESULT] = "result",
                                         [REPLY_ERROR] = "error",
                                         [REPLY_FAILED] = "failed",
                                         [REPLY_CANCELLED] = "cancelled" };
    struct fake_carrier *fake = user;

    buf_putf(&fake->told, "%s%s " STR_FMT "\n", names[reply->type],
             reply->was_sent ? "" : " unsent", STR_ARG(reply->json.text));
}

const struct mcp_call_ops fake_carrier_call_ops = { .on_progress = on_progress,
                                                    .on_done = on_done };

/* --- life --- */

void fake_carrier_begin(struct fake_carrier *fake)
{
    struct buf *bufs[] = { &fake->sent, &fake->told, &fake->last_sent, &fake->last_told };

    *fake = (struct fake_carrier){ .carrier.ops = &carrier_ops, .now_ms = 1000 };
    for (size_t i = 0; i < COUNT(bufs); i++)
        buf_init(bufs[i], ROOM);
}

static void set_default(uint64_t *value, uint64_t number)
{
    if (!*value)
        *value = number;
}

void fake_carrier_init(struct fake_carrier *fake,
                       const struct mcp_session_settings *settings)
{
    struct mcp_session_settings s = *settings;
    uint64_t *sizes[] = { &s.max_calls, &s.max_questions, &s.max_rounds };

    fake_carrier_begin(fake);
    if (!s.name.len) {
        s.name = S("moot");
        s.version = S("1");
    }
    set_default(&s.probe_ms, 2000);
    set_default(&s.open_ms, 10000);
    set_default(&s.call_ms, 30000);
    set_default(&s.call_max_ms, 300000);
    set_default(&s.max_depth, 64);
    set_default(&s.max_message, 1 << 20);
    for (size_t i = 0; i < COUNT(sizes); i++)
        set_default(sizes[i], 10);
    fake->session = mcp_session_new(&s, &fake->carrier, &session_ops, fake, fake->now_ms);
}

void fake_carrier_done(struct fake_carrier *fake)
{
    struct buf *bufs[] = { &fake->sent, &fake->told, &fake->last_sent, &fake->last_told };

    mcp_session_free(fake->session);
    for (size_t i = 0; i < COUNT(bufs); i++)
        buf_done(bufs[i]);
}

void fake_carrier_ready(struct fake_carrier *fake,
                        const struct mcp_session_settings *settings, const char *capable)
{
    struct buf result;

    fake_carrier_init(fake, settings);
    buf_init(&result, ROOM);
    if (settings->era == ERA_MODERN)
        buf_putf(&result,
                 "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
                 "\"capabilities\":%s,\"ttlMs\":0,\"cacheScope\":\"private\"}",
                 capable);
    else
        buf_putf(&result,
                 "{\"protocolVersion\":\"" STR_FMT "\",\"capabilities\":%s,"
                 "\"serverInfo\":{\"name\":\"fake\",\"version\":\"1\"}}",
                 STR_ARG(settings->newest.len ? settings->newest : S("2025-11-25")),
                 capable);
    fake_carrier_answers(fake, 1, buf_cstr(&result));
    buf_done(&result);
    (void)fake_carrier_told(fake);
    (void)fake_carrier_sent(fake);
}

/* --- the server --- */

bool fake_carrier_says_via(struct fake_carrier *fake, uint64_t via, const char *text)
{
    return mcp_session_hear(fake->session, str_of(text), via, fake->now_ms);
}

bool fake_carrier_says(struct fake_carrier *fake, const char *text)
{
    return fake_carrier_says_via(fake, 0, text);
}

void fake_carrier_answers(struct fake_carrier *fake, uint64_t id, const char *result)
{
    struct buf text;

    buf_init(&text, ROOM);
    buf_putf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":%s}",
             (unsigned long long)id, result);
    (void)fake_carrier_says(fake, buf_cstr(&text));
    buf_done(&text);
}

void fake_carrier_mishap(struct fake_carrier *fake, uint64_t id, struct mishap mishap)
{
    if (!mishap.why)
        mishap.why = "a mishap";
    mcp_session_mishap(fake->session, id, &mishap, fake->now_ms);
}

void fake_carrier_tick(struct fake_carrier *fake, uint64_t ms)
{
    fake->now_ms += ms;
    mcp_session_tick(fake->session, fake->now_ms);
}

/* --- the owner --- */

uint64_t fake_carrier_call(struct fake_carrier *fake, const char *method,
                           const char *params)
{
    uint64_t id = 0;
    enum err err = mcp_session_call(fake->session,
                                    &(struct mcp_call){ .method = str_of(method),
                                                        .params = str_of(params),
                                                        .ops = fake_carrier_call_ops,
                                                        .user = fake },
                                    fake->now_ms, &id);

    if (err)
        buf_putf(&fake->told, "refused %s\n", err_name(err));
    return id;
}

void fake_carrier_reply(struct fake_carrier *fake, const char *result)
{
    struct mcp_question *question = fake->questions[0];

    forget(fake, 0);
    mcp_question_answer(fake->session, question, S("result"), str_of(result),
                        fake->now_ms);
}

static struct str give_out(struct buf *from, struct buf *to)
{
    buf_clear(to);
    buf_put(to, buf_str(from));
    buf_clear(from);
    return (struct str){ buf_cstr(to), to->len };
}

struct str fake_carrier_sent(struct fake_carrier *fake)
{
    return give_out(&fake->sent, &fake->last_sent);
}

struct str fake_carrier_told(struct fake_carrier *fake)
{
    return give_out(&fake->told, &fake->last_told);
}
