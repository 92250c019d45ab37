/* SPDX-License-Identifier: Apache-2.0 */
/* Open proposals, and what rules do about them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "orchestrate/orchestrate_priv.h"

enum { USED_UP_MS = 60'000 /* then the book says whether it still is */ };

struct open_one *open_find(const struct orchestrator *o, struct str id)
{
    return map_find(&o->open, id);
}

void open_remove(struct orchestrator *o, struct open_one *one)
{
    (void)map_remove(&o->open, one->id);
    list_remove(&one->link);
    o->open_count--;
    o->open_bytes -= one->id.len + one->envelope.len;
    free(one);
}

/* The oldest go. */
static void make_room(struct orchestrator *o, size_t bytes)
{
    struct open_one *oldest;

    LIST_FOREACH(oldest, &o->by_age, link) {
        if (o->open_count < ORCHESTRATE_OPEN &&
            o->open_bytes + bytes <= ORCHESTRATE_OPEN_BYTES)
            return;
        open_remove(o, oldest);
    }
}

struct open_one *open_add(struct orchestrator *o, struct str id, struct str envelope)
{
    size_t bytes = id.len + envelope.len;
    struct open_one *one = open_find(o, id);

    if (one || id.len == 0 || envelope.len > JOURNAL_ENVELOPE)
        return one;
    make_room(o, bytes);
    one = xcalloc(1, sizeof(*one) + bytes);
    memcpy(one->text, id.ptr, id.len);
    memcpy(one->text + id.len, envelope.ptr, envelope.len);
    one->id = (struct str){ one->text, id.len };
    one->envelope = (struct str){ one->text + id.len, envelope.len };
    map_set(&o->open, one->id, one);
    list_append(&o->by_age, &one->link);
    o->open_count++;
    o->open_bytes += bytes;
    return one;
}

/* --- in shadow --- */

static bool is_marked(const struct open_one *one, struct str rule)
{
    for (size_t i = 0; i < one->mark_count; i++)
        if (str_eq(str_of(one->marks[i]), rule))
            return true;
    return false;
}

static bool mark(struct open_one *one, struct str rule)
{
    if (one->mark_count == ORCHESTRATE_MARKS || rule.len >= RULE_ID ||
        is_marked(one, rule))
        return false;
    (void)snprintf(one->marks[one->mark_count++], RULE_ID, STR_FMT, STR_ARG(rule));
    return true;
}

void open_load_mark(struct orchestrator *o, struct str id, struct str rule)
{
    struct open_one *one = open_find(o, id);

    if (one)
        (void)mark(one, rule);
}

static void note(struct orchestrator *o, struct open_one *one, struct str rule)
{
    struct tally *tally = orchestrate_tally(o, rule);
    struct json_writer w;
    struct buf text;

    if (!mark(one, rule))
        return;
    if (tally)
        tally->would++;
    buf_init(&text, ORCHESTRATE_WORDS);
    json_write_init(&w, &text);
    json_object_open(&w);
    json_put_str(&w, S("rule"), rule);
    json_put_str(&w, S("proposal"), one->id);
    json_put_str(&w, S("would"), S("fulfil"));
    json_object_close(&w);
    orchestrate_write(o, &(struct journal_entry){
                             .type = JOURNAL_WOULD, .rule = rule, .proposal = one->id });
    if (!text.is_full)
        o->ops.act(o->ops.user, &(struct act){ .type = ACT_SHADOW,
                                               .rule = rule,
                                               .proposal = one->id,
                                               .text = buf_str(&text) });
    buf_done(&text);
}

void open_compare(struct orchestrator *o, struct open_one *one, bool is_approved)
{
    for (size_t i = 0; i < one->mark_count; i++) {
        struct str rule = str_of(one->marks[i]);
        struct tally *tally = orchestrate_tally(o, rule);

        if (tally)
            *(is_approved ? &tally->agreed : &tally->disagreed) += 1;
        orchestrate_write(o, &(struct journal_entry){ .type = JOURNAL_SHADOW,
                                                      .rule = rule,
                                                      .proposal = one->id,
                                                      .is_approved = is_approved });
    }
    one->mark_count = 0;
}

/* --- in earnest --- */

/* It is people's then, which is said once; the book tells when the hour is over. */
static bool is_used_up(struct orchestrator *o, struct known_rule *rule)
{
    struct tally *tally = orchestrate_tally(o, rule->rule.id);
    struct buf words;

    if (rule->used_this_hour < rule->rule.budget)
        return false;
    if (tally &&
        (tally->told_ms == 0 || tally->told_ms + ORCHESTRATE_HOUR_MS <= o->now_ms)) {
        tally->told_ms = o->now_ms;
        buf_init(&words, ORCHESTRATE_WORDS);
        buf_putf(&words,
                 "Rule " STR_FMT " has been used %llu times within the hour, which is "
                 "its budget. What comes now waits for a person.",
                 STR_ARG(rule->rule.id), (unsigned long long)rule->rule.budget);
        orchestrate_say(o, buf_str(&words));
        buf_done(&words);
    }
    return true;
}

/* A call to somebody who is not here would use the proposal up. */
static bool can_fulfil(struct orchestrator *o, struct open_one *one,
                       struct known_rule *rule, const struct rule_proposal *p)
{
    if (!o->known.has_automation || one->is_tried || one->needed > 1 || p->to.len == 0)
        return false;
    if (!o->ops.is_here(o->ops.user, p->to)) {
        one->waits = true;
        return false;
    }
    if (!is_used_up(o, rule))
        return true;
    one->is_tried = true;
    if (o->book_ms == 0)
        o->book_ms = o->now_ms + USED_UP_MS;
    return false;
}

static void fulfil(struct orchestrator *o, struct open_one *one, struct known_rule *rule)
{
    one->is_tried = true;
    o->ops.act(
        o->ops.user,
        &(struct act){ .type = ACT_FULFIL, .rule = rule->rule.id, .proposal = one->id });
}

static void consider(struct orchestrator *o, struct open_one *one)
{
    struct rule_proposal p;
    const char *why;

    one->waits = false;
    one->is_fresh = false;
    arena_reset(&o->scratch);
    if (rule_proposal_read(o->options.topic, one->envelope, &o->scratch, &p, &why) ||
        str_eq(p.proposer, buf_str(&o->me)))
        return;
    for (size_t i = 0; i < o->known.count; i++) {
        struct known_rule *rule = &o->known.items[i];

        if (!known_is_awake(rule, o->now_ms) || !rule_covers(&rule->rule, &p, NULL))
            continue;
        if (rule->rule.state == RULE_SHADOW)
            note(o, one, rule->rule.id);
        else if (can_fulfil(o, one, rule, &p))
            fulfil(o, one, rule);
    }
}

static bool is_anything_awake(const struct orchestrator *o)
{
    for (size_t i = 0; i < o->known.count; i++)
        if (known_is_awake(&o->known.items[i], o->now_ms))
            return true;
    return false;
}

void open_sweep(struct orchestrator *o)
{
    struct open_one *one;

    if (!is_anything_awake(o))
        return;
    LIST_FOREACH(one, &o->by_age, link)
        consider(o, one);
}

void open_sweep_fresh(struct orchestrator *o)
{
    struct link *at = o->by_age.prev;

    while (at != &o->by_age && CONTAINER_OF(at, struct open_one, link)->is_fresh)
        at = at->prev;
    while (at->next != &o->by_age) {
        at = at->next;
        consider(o, CONTAINER_OF(at, struct open_one, link));
    }
}
