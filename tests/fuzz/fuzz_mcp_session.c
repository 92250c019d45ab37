/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server says what it wants to a session. The first byte is the era, then each line is:
 *
 *     c  a call          C  one that is passed on     x  the first one is cancelled
 *     q  the first question is answered               Q  with an error
 *     t  a second passes       T  a minute passes
 *     m  a mishap befalls the request whose number follows, 'f' before it: forgotten
 *     w  a resource is watched                        n  no more can be sent, and again
 *     anything else: the server says it
 *
 * Every call ends once, every question is answered or goes, and what is sent are lines
 * of JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "mcp/session.h"

enum { MAX = 1 << 16, QUESTIONS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct stage {
    struct carrier carrier;
    struct mcp_session *session;
    struct mcp_question *questions[QUESTIONS];
    size_t question_count;
    size_t calls, done;
    uint64_t now_ms, last;
    bool is_stuck, is_over;
};

static void check(bool is_fine)
{
    if (!is_fine)
        abort();
}

static enum err on_send(struct carrier *carrier, const struct parcel *parcel)
{
    struct stage *stage = (struct stage *)carrier;
    struct mcp_message message;
    const char *what;

    if (stage->is_stuck)
        return ERR_OVERLOAD;
    check(mcp_message_read(parcel->text, JSON_MAX_DEPTH, &message, &what) == OK);
    check(!memchr(parcel->text.ptr, '\n', parcel->text.len));
    check(parcel->call == 0 || parcel->call > stage->last);
    if (parcel->call)
        stage->last = parcel->call;
    return OK;
}

static void on_drop(struct carrier *carrier, uint64_t call)
{
    check(call <= ((struct stage *)carrier)->last);
}

static void on_settled(struct carrier *carrier, struct str version, bool is_modern)
{
    (void)carrier;
    check(version.len == 10 && is_modern == (version.ptr[3] == '6'));
}

static void on_renew(struct carrier *carrier)
{
    (void)carrier;
}

static const struct carrier_ops carrier_ops = { on_send, on_drop, on_settled, on_renew };

static void on_ready(void *user, const struct mcp_session_facts *facts)
{
    (void)user;
    check(facts->era != ERA_UNKNOWN && facts->capable.type == JSON_OBJECT);
}

static void on_end(void *user, enum mcp_end end, const char *why)
{
    struct stage *stage = user;

    (void)end;
    check(why && !stage->is_over && stage->done == stage->calls);
    check(stage->question_count == 0);
    stage->is_over = true;
}

static void on_notification(void *user, const struct mcp_message *message, uint64_t call)
{
    struct stage *stage = user;

    check(message->type == MESSAGE_NOTIFICATION && call <= stage->last);
}

static void on_question(void *user, struct mcp_question *question)
{
    struct stage *stage = user;

    check(stage->question_count < QUESTIONS);
    stage->questions[stage->question_count++] = question;
}

static void forget(struct stage *stage, const struct mcp_question *question)
{
    for (size_t i = 0; i < stage->question_count; i++)
        if (stage->questions[i] == question) {
            memmove(stage->questions + i, stage->questions + i + 1,
                    (--stage->question_count - i) * sizeof(struct mcp_question *));
            return;
        }
    abort();
}

static void on_question_gone(void *user, struct mcp_question *question)
{
    forget(user, question);
}

static void on_due(void *user)
{
    (void)user;
}

static const struct mcp_session_ops session_ops = {
    on_ready, on_end, on_notification, on_question, on_question_gone, on_due, NULL
};

static void on_progress(void *user, struct json_span params)
{
    (void)user;
    check(params.type == JSON_OBJECT);
}

static void on_done(void *user, const struct mcp_reply *reply)
{
    struct stage *stage = user;

    check(reply->json.type == JSON_OBJECT && reply->json.text.len >= 2);
    check(++stage->done <= stage->calls);
}

static void call(struct stage *stage, enum mcp_call_task task)
{
    struct mcp_call order = {
        .method = S("tools/call"),
        .params = S("{\"name\":\"a\",\"arguments\":{\"r\":\"x\"}}"),
        .tool = S("{\"name\":\"a\",\"execution\":{\"taskSupport\":\"required\"},"
                  "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"r\":{\"type\":"
                  "\"string\",\"x-mcp-header\":\"R\"}}}}"),
        .task = task,
        .ops = { on_progress, on_done },
        .user = stage,
    };
    uint64_t id;

    if (!mcp_session_call(stage->session, &order, stage->now_ms, &id))
        stage->calls++;
}

static void answer(struct stage *stage, struct str member, struct str json)
{
    struct mcp_question *question = stage->questions[0];

    if (!stage->question_count)
        return;
    forget(stage, question);
    mcp_question_answer(stage->session, question, member, json, stage->now_ms);
}

static void pass(struct stage *stage, uint64_t ms)
{
    stage->now_ms += ms;
    mcp_session_tick(stage->session, stage->now_ms);
    check(mcp_session_due_ms(stage->session) > stage->now_ms);
}

static void befall(struct stage *stage, struct str what)
{
    bool is_forgotten = str_starts(what, S("f"));
    struct mishap mishap = { .type = is_forgotten ? MISHAP_FORGOTTEN : MISHAP_STATUS,
                             .status = is_forgotten ? 404 : 400,
                             .why = "fuzz" };
    struct str number = str_slice(what, is_forgotten, what.len);
    uint64_t id;

    mishap.body = str_slice(number, 1, number.len);
    if (!str_to_u64(str_slice(number, 0, 1), 9, &id))
        mcp_session_mishap(stage->session, id, &mishap, stage->now_ms);
}

static void act(struct stage *stage, struct str line)
{
    static const struct str uri[] = { S("x:\"a") };

    switch (line.len ? line.ptr[0] : 0) {
    case 'c': call(stage, TASK_AS_NEEDED); break;
    case 'C': call(stage, TASK_PASSED_ON); break;
    case 'x': mcp_session_cancel(stage->session, 2, S("\"x"), stage->now_ms); break;
    case 'q': answer(stage, S("result"), S("{\"action\":\"accept\"}")); break;
    case 'Q': answer(stage, S("error"), S("{\"code\":-32601,\"message\":\"no\"}")); break;
    case 't': pass(stage, 1000); break;
    case 'T': pass(stage, 60000); break;
    case 'm': befall(stage, str_slice(line, 1, line.len)); break;
    case 'w': mcp_session_watch(stage->session, uri, 1, stage->now_ms); break;
    case 'n': stage->is_stuck = !stage->is_stuck; break;
    default: (void)mcp_session_hear(stage->session, line, 0, stage->now_ms); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    struct stage stage = { .carrier.ops = &carrier_ops, .now_ms = 1 };
    struct mcp_session_settings settings = { .name = S("f"),
                                             .version = S("1"),
                                             .has_sampling = true,
                                             .has_elicitation = true,
                                             .has_tasks = true,
                                             .probe_ms = 2000,
                                             .open_ms = 10000,
                                             .call_ms = 30000,
                                             .call_max_ms = 90000,
                                             .ping_ms = 20000,
                                             .max_calls = 3,
                                             .max_questions = QUESTIONS,
                                             .max_depth = 32,
                                             .max_rounds = 3,
                                             .max_message = MAX };

    if (size < 2 || size > MAX)
        return 0;
    settings.era = bytes[0] == 'l'   ? ERA_LEGACY
                   : bytes[0] == 'm' ? ERA_MODERN
                                     : ERA_UNKNOWN;
    stage.session = mcp_session_new(&settings, &stage.carrier, &session_ops, &stage, 1);
    text = str_slice(text, 1, size);
    while (text.ptr)
        act(&stage, str_cut(&text, '\n'));
    mcp_session_ended(stage.session, "the end", stage.now_ms);
    check(stage.is_over && mcp_session_underway(stage.session) == 0);
    mcp_session_free(stage.session);
    return 0;
}
