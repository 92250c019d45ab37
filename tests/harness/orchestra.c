/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestra.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

enum { TEXT = 64 << 20 };

static void act(void *user, const struct act *act)
{
    static const char *const names[] = {
        [ACT_SUGGEST] = "suggest", [ACT_FULFIL] = "fulfil", [ACT_SHADOW] = "shadow",
        [ACT_CHAT] = "chat",       [ACT_BOOK] = "book",     [ACT_TELL] = "tell",
    };
    struct orchestra *s = user;

    if (act->type == ACT_WRITE) {
        buf_put(&s->journal, act->text);
        return;
    }
    if (act->words.len) {
        buf_clear(&s->words);
        buf_put(&s->words, act->words);
    }
    if (act->type == ACT_SUGGEST) {
        buf_clear(&s->payload);
        buf_put(&s->payload, act->text);
    }
    if (act->type == ACT_BOOK && s->book.ptr)
        (void)orchestrator_book(s->orchestrator, s->book, s->now_ms);
    buf_putf(&s->acts, "%s", names[act->type]);
    if (act->rule.len)
        buf_putf(&s->acts, " " STR_FMT, STR_ARG(act->rule));
    if (act->proposal.len)
        buf_putf(&s->acts, " " STR_FMT, STR_ARG(act->proposal));
    buf_putc(&s->acts, '\n');
    if (act->type == ACT_FULFIL && s->on_fulfil)
        s->on_fulfil(s, act->rule, act->proposal);
}

static bool is_here(void *user, struct str participant)
{
    const struct orchestra *s = user;

    return str_eq(participant, S("srv")) && !s->is_away;
}

static void load(void *user, const struct journal_entry *entry)
{
    const struct orchestra *s = user;

    orchestrator_load(s->orchestrator, entry);
}

static void begin(struct orchestra *s)
{
    s->orchestrator = orchestrator_new(
        &(struct orchestrator_options){ .topic = S("room"), .learner = s->learner },
        &(struct orchestrator_ops){ act, is_here, s });
}

static void welcome(struct orchestra *s)
{
    orchestra_gateway(s, "system/welcome",
                      "{\"you\":{\"id\":\"orchestrator\"},\"participants\":["
                      "{\"id\":\"ann\",\"moot\":{\"type\":\"human\"}},"
                      "{\"id\":\"bot\",\"moot\":{\"type\":\"agent\"}},"
                      "{\"id\":\"robot\",\"moot\":{\"type\":\"agent\"}}],"
                      "\"moot\":{\"automation\":\"on\",\"proposals\":[]}}");
}

void orchestra_open(struct orchestra *s)
{
    *s = (struct orchestra){ .now_ms = ORCHESTRA_NOW,
                             .learner = s->learner,
                             .book = S("{\"automation\":\"on\",\"rules\":[]}") };
    if (s->learner.max_groups == 0) {
        s->learner = learner_options_default();
        s->learner.min_days = 1;
    }
    buf_init(&s->acts, TEXT);
    buf_init(&s->given, TEXT);
    buf_init(&s->journal, TEXT);
    buf_init(&s->payload, TEXT);
    buf_init(&s->words, TEXT);
    journal_put(&s->journal, &(struct journal_entry){ .type = JOURNAL_TOPIC,
                                                      .at_ms = s->now_ms,
                                                      .topic = S("room") });
    begin(s);
    welcome(s);
    orchestra_pass(s, 3000);
    (void)orchestra_acts(s);
}

void orchestra_close(struct orchestra *s)
{
    orchestrator_free(s->orchestrator);
    buf_done(&s->acts);
    buf_done(&s->given);
    buf_done(&s->journal);
    buf_done(&s->payload);
    buf_done(&s->words);
}

void orchestra_restart(struct orchestra *s)
{
    size_t line;

    orchestrator_end(s->orchestrator, s->now_ms);
    orchestrator_free(s->orchestrator);
    begin(s);
    (void)journal_replay(
        buf_str(&s->journal),
        &(struct journal_reading){ .topic = S("room"), .on_entry = load, .user = s },
        &line);
    welcome(s);
    orchestra_pass(s, 3000);
}

void orchestra_hear(struct orchestra *s, const char *from, const char *kind,
                    const char *id, const char *correlation, const char *rest)
{
    struct buf text;

    buf_init(&text, TEXT);
    buf_putf(&text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"%s\","
             "\"kind\":\"%s\",",
             id, from, kind);
    if (*correlation)
        buf_putf(&text, "\"correlation_id\":\"%s\",", correlation);
    buf_putf(&text, "%s}", rest);
    orchestrator_hear(
        s->orchestrator,
        &(struct orchestrator_heard){ .now_ms = s->now_ms,
                                      .is_replay = s->is_replay,
                                      .is_entry = strcmp(kind, "system/welcome") != 0,
                                      .id = str_of(id),
                                      .from = str_of(from),
                                      .kind = str_of(kind),
                                      .correlation = str_of(correlation),
                                      .text = buf_str(&text) });
    buf_done(&text);
}

void orchestra_gateway(struct orchestra *s, const char *kind, const char *payload)
{
    struct buf rest;
    char id[32];

    (void)snprintf(id, sizeof(id), "sys-%u", ++s->count);
    buf_init(&rest, TEXT);
    buf_putf(&rest, "\"payload\":%s", payload);
    orchestra_hear(s, "system:gateway", kind, id, "", buf_cstr(&rest));
    buf_done(&rest);
}

static void put_call(struct buf *out, const char *arguments)
{
    buf_putf(out,
             "\"to\":[\"srv\"],\"payload\":{\"method\":\"tools/call\",\"params\":"
             "{\"name\":\"t\",\"arguments\":%s}}",
             arguments);
}

void orchestra_propose(struct orchestra *s, const char *id, const char *arguments)
{
    struct buf rest;

    buf_init(&rest, TEXT);
    put_call(&rest, arguments);
    orchestra_hear(s, "bot", "mcp/proposal:tools/call:t", id, "", buf_cstr(&rest));
    buf_done(&rest);
}

void orchestra_closed(struct orchestra *s, const char *id, const char *state,
                      const char *more)
{
    struct buf payload;

    buf_init(&payload, TEXT);
    buf_putf(&payload, "{\"proposal\":\"%s\",\"state\":\"%s\"%s}", id, state, more);
    orchestra_gateway(s, "system/proposal", buf_cstr(&payload));
    buf_done(&payload);
}

void orchestra_fulfil(struct orchestra *s, const char *who, const char *id,
                      const char *arguments)
{
    struct buf rest;
    char own[32];

    (void)snprintf(own, sizeof(own), "q-%u", ++s->count);
    buf_init(&rest, TEXT);
    put_call(&rest, arguments);
    orchestra_hear(s, who, "mcp/request:tools/call:t", own, id, buf_cstr(&rest));
    orchestra_closed(s, id, "fulfilled", "");
    buf_done(&rest);
}

void orchestra_reject(struct orchestra *s, const char *who, const char *id)
{
    char own[32];

    (void)snprintf(own, sizeof(own), "x-%u", ++s->count);
    orchestra_hear(s, who, "mcp/reject", own, id, "\"payload\":{}");
    orchestra_closed(s, id, "rejected", "");
}

void orchestra_pass(struct orchestra *s, uint64_t ms)
{
    uint64_t end_ms = s->now_ms + ms;

    while (orchestrator_due_ms(s->orchestrator) <= end_ms) {
        if (orchestrator_due_ms(s->orchestrator) > s->now_ms)
            s->now_ms = orchestrator_due_ms(s->orchestrator);
        orchestrator_tick(s->orchestrator, s->now_ms);
    }
    s->now_ms = end_ms;
}

struct str orchestra_acts(struct orchestra *s)
{
    buf_clear(&s->given);
    buf_put(&s->given, buf_str(&s->acts));
    buf_clear(&s->acts);
    (void)buf_cstr(&s->given);
    return buf_str(&s->given);
}
