/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/orchestrator.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "envelope/kind.h"
#include "envelope/system.h"
#include "orchestrate/orchestrate_priv.h"

enum {
    SCRATCH_BYTES = 256 << 20,
    ID_BYTES = 1024,
    SETTLE_MS = 1000, /* behind a replay, which nobody ends */
    THINK_MS = 1000,  /* behind a decision: others may follow */
    BOOK_MS = 50,     /* behind news of rules, likewise */
    BOOK_AGAIN_MS = 2000,
    BOOK_FAILURES = 5, /* the pauses do not grow after so many */
    WRITE_MS = 60'000, /* how far it has heard is written that often */
    REST_MS = 60'000,  /* a rule that was refused, and twice as long each time */
    REST_DOUBLINGS = 6,
};

/* --- life --- */

static void on_decided(void *user, const struct decision *d);
static void on_unwanted(void *user, const struct rule *rule);

struct orchestrator *orchestrator_new(const struct orchestrator_options *options,
                                      const struct orchestrator_ops *ops)
{
    struct orchestrator *o = xcalloc(1, sizeof(*o));

    o->options = *options;
    o->topic = str_dup(options->topic);
    o->options.topic = str_of(o->topic);
    o->ops = *ops;
    o->history = history_new(&(struct history_listener){ on_decided, o });
    o->learner = learner_new(&options->learner);
    known_init(&o->known, &(struct known_listener){ on_unwanted, o });
    map_init(&o->open);
    map_init(&o->tallies);
    list_init(&o->by_age);
    arena_init(&o->scratch, SCRATCH_BYTES);
    buf_init(&o->me, ID_BYTES);
    buf_init(&o->after, ID_BYTES);
    return o;
}

static void drop_tallies(struct orchestrator *o)
{
    struct tally *tally;

    MAP_FOREACH(tally, &o->tallies) {
        free(tally->words);
        free(tally);
    }
    map_done(&o->tallies);
}

void orchestrator_free(struct orchestrator *o)
{
    struct open_one *one;

    if (!o)
        return;
    LIST_FOREACH(one, &o->by_age, link)
        open_remove(o, one);
    drop_tallies(o);
    map_done(&o->open);
    known_done(&o->known);
    learner_free(o->learner);
    history_free(o->history);
    arena_done(&o->scratch);
    buf_done(&o->me);
    buf_done(&o->after);
    free(o->topic);
    free(o);
}

/* --- what others here use --- */

void orchestrate_write(struct orchestrator *o, struct journal_entry *entry)
{
    struct buf line;

    buf_init(&line, JOURNAL_LINE);
    entry->at_ms = entry->at_ms ? entry->at_ms : o->now_ms;
    entry->after = buf_str(&o->after);
    journal_put(&line, entry);
    if (line.len)
        o->ops.act(o->ops.user,
                   &(struct act){ .type = ACT_WRITE, .text = buf_str(&line) });
    o->is_after_new = false;
    buf_done(&line);
}

void orchestrate_say(struct orchestrator *o, struct str words)
{
    o->ops.act(o->ops.user, &(struct act){ .type = ACT_CHAT, .words = words });
}

/* There are more than a book has: those that are in none have had their time. */
static void trim_tallies(struct orchestrator *o)
{
    struct tally *tally;
    struct map kept;

    if (o->tallies.count < ORCHESTRATE_TALLIES)
        return;
    map_init(&kept);
    MAP_FOREACH(tally, &o->tallies) {
        if (known_find(&o->known, tally->id)) {
            map_set(&kept, tally->id, tally);
        } else {
            free(tally->words);
            free(tally);
        }
    }
    map_done(&o->tallies);
    o->tallies = kept;
}

struct tally *orchestrate_tally(struct orchestrator *o, struct str id)
{
    struct tally *tally = map_find(&o->tallies, id);

    if (tally || id.len == 0 || id.len > RULE_ID)
        return tally;
    trim_tallies(o);
    tally = xcalloc(1, sizeof(*tally) + id.len);
    memcpy(tally->text, id.ptr, id.len);
    tally->id = (struct str){ tally->text, id.len };
    map_set(&o->tallies, tally->id, tally);
    return tally;
}

bool allowance_take(struct allowance *allowance, uint64_t now_ms)
{
    uint64_t *oldest = &allowance->times[allowance->next];

    if (*oldest && *oldest + ORCHESTRATE_HOUR_MS > now_ms)
        return false;
    *oldest = now_ms;
    allowance->next = (allowance->next + 1) % ORCHESTRATE_SUGGESTIONS;
    return true;
}

static void set_due(uint64_t *due_ms, uint64_t at_ms)
{
    if (*due_ms == 0 || at_ms < *due_ms)
        *due_ms = at_ms;
}

/* --- what is decided --- */

static void on_unwanted(void *user, const struct rule *rule)
{
    struct orchestrator *o = user;
    struct json_writer w;
    struct buf text;

    buf_init(&text, JOURNAL_LINE);
    json_write_init(&w, &text);
    rule_write(&w, rule);
    if (!text.is_full)
        orchestrate_write(o, &(struct journal_entry){ .type = JOURNAL_UNWANTED,
                                                      .text = buf_str(&text) });
    buf_done(&text);
}

/* Where several must agree no rule can stand in for them. */
static bool teaches(const struct open_one *one, const struct decision *d)
{
    return d->origin == DECIDED_BY_PERSON && d->verdict != DECISION_NOTHING &&
           !(one && one->needed > 1 && d->verdict == DECISION_APPROVED);
}

static void on_decided(void *user, const struct decision *d)
{
    struct orchestrator *o = user;
    struct open_one *one = open_find(o, d->id);

    if (!teaches(one, d) || learner_note(o->learner, d) == ERR_INVALID)
        return;
    orchestrate_write(o, &(struct journal_entry){ .type = JOURNAL_DECIDED,
                                                  .at_ms = d->at_ms,
                                                  .decision = *d });
    if (one) {
        one->is_taught = true;
        open_compare(o, one, d->verdict == DECISION_APPROVED);
    }
    set_due(&o->suggest_ms, o->now_ms + THINK_MS);
}

/* --- what the gateway says --- */

static void hear_person(struct orchestrator *o, const struct json *who)
{
    struct str id = json_text(json_find(who, S("id")));
    struct str type = json_text(json_find(json_find(who, S("moot")), S("type")));

    if (id.len && type.len)
        history_person(o->history, id, str_eq(type, S("human")));
}

static void hear_presence(struct orchestrator *o, const struct json *payload)
{
    const struct json *list = json_find(payload, S("participants"));
    struct open_one *one;

    hear_person(o, json_find(payload, S("participant")));
    if (list && list->type == JSON_ARRAY)
        JSON_FOREACH(who, list)
            hear_person(o, who);
    LIST_FOREACH(one, &o->by_age, link)
        if (one->waits)
            set_due(&o->sweep_ms, o->now_ms + BOOK_MS);
}

static void hear_automation(struct orchestrator *o, const struct json *said)
{
    struct str word = json_text(json_find(said, S("automation")));

    if (str_eq(word, S("off")))
        o->known.has_automation = false;
    if (!str_eq(word, S("on")))
        return;
    o->known.has_automation = true;
    set_due(&o->sweep_ms, o->now_ms + BOOK_MS);
}

static void propose(struct orchestrator *o, const struct history_heard *heard)
{
    struct rule_proposal p;
    const char *why;

    history_hear(o->history, heard);
    if (open_find(o, heard->id) ||
        rule_proposal_read(o->options.topic, heard->text, &o->scratch, &p, &why) ||
        !open_add(o, heard->id, heard->text))
        return;
    orchestrate_write(o, &(struct journal_entry){ .type = JOURNAL_PROPOSED,
                                                  .at_ms = heard->at_ms,
                                                  .proposal = heard->id,
                                                  .envelope = heard->text });
}

static void read_needed(struct orchestrator *o, struct str id,
                        const struct json *approvals)
{
    const struct json *needed = json_find(approvals, S("needed"));
    struct open_one *one = open_find(o, id);
    uint64_t count;

    if (one && needed && needed->type == JSON_NUMBER &&
        str_to_u64(needed->text, UINT32_MAX, &count) == OK)
        one->needed = (uint32_t)count;
}

/* An open one that was proposed before we came. */
static void hear_open(struct orchestrator *o, const struct json *listed)
{
    const struct json *envelope = json_find(listed, S("envelope"));
    struct history_heard heard = {
        .at_ms = o->now_ms,
        .topic = o->options.topic,
        .from = json_text(json_find(envelope, S("from"))),
        .kind = json_text(json_find(envelope, S("kind"))),
        .id = json_text(json_find(listed, S("id"))),
    };

    if (!envelope || envelope->type != JSON_OBJECT ||
        !str_eq(heard.id, json_text(json_find(envelope, S("id")))))
        return;
    heard.text = envelope->raw;
    propose(o, &heard);
    read_needed(o, heard.id, json_find(listed, S("approvals")));
}

static void hear_welcome(struct orchestrator *o, const struct json *payload)
{
    const struct json *moot = json_find(payload, S("moot"));
    const struct json *list = json_find(moot, S("proposals"));

    buf_clear(&o->me);
    buf_put(&o->me, json_text(json_find(json_find(payload, S("you")), S("id"))));
    hear_presence(o, payload);
    hear_automation(o, moot);
    if (list && list->type == JSON_ARRAY)
        JSON_FOREACH(listed, list)
            hear_open(o, listed);
    set_due(&o->book_ms, o->now_ms);
    o->sweep_ms = o->now_ms + SETTLE_MS;
}

/* Words that were kept until it is in the book. */
static void say_suggested(struct orchestrator *o, struct str id)
{
    struct tally *tally = map_find(&o->tallies, id);

    if (!tally || !tally->words)
        return;
    orchestrate_say(o, str_of(tally->words));
    free(tally->words);
    tally->words = NULL;
}

static void hear_rule(struct orchestrator *o, const struct json *payload)
{
    struct known_news news = {
        .id = json_text(json_find(payload, S("rule"))),
        .state = json_text(json_find(payload, S("state"))),
        .reason = json_text(json_find(payload, S("reason"))),
        .at_ms = o->now_ms,
    };

    if (str_eq(news.state, S("suggested")))
        say_suggested(o, news.id);
    if (known_hear(&o->known, &news))
        return;
    set_due(&o->book_ms, o->now_ms + BOOK_MS);
}

static void count_use(struct orchestrator *o, struct str rule, struct str proposal)
{
    struct known_rule *known = known_find(&o->known, rule);
    struct tally *tally = orchestrate_tally(o, rule);

    if (!tally)
        return;
    tally->used++;
    tally->refusals = 0;
    if (known) {
        known->uses++;
        known->used_this_hour++;
    }
    orchestrate_write(o, &(struct journal_entry){
                             .type = JOURNAL_USED, .rule = rule, .proposal = proposal });
}

/* It says what really became of one. */
static void hear_tidings(struct orchestrator *o, const struct json *payload)
{
    struct str id = json_text(json_find(payload, S("proposal")));
    struct str state = json_text(json_find(payload, S("state")));
    struct str rule = json_text(json_find(payload, S("rule")));
    struct open_one *one = open_find(o, id);

    if (str_eq(state, S("open"))) {
        read_needed(o, id, json_find(payload, S("approvals")));
        return;
    }
    if (state.len == 0 || !one)
        return;
    if (rule.len && str_eq(state, S("fulfilled")))
        count_use(o, rule, id);
    else if (!one->is_taught)
        history_forget(o->history, o->options.topic, id);
    if (!one->is_taught)
        orchestrate_write(
            o, &(struct journal_entry){ .type = JOURNAL_ENDED, .proposal = id });
    open_remove(o, one);
}

static void hear_gateway(struct orchestrator *o, struct str kind,
                         const struct json *envelope)
{
    static const struct {
        struct str kind;
        void (*hear)(struct orchestrator *o, const struct json *payload);
    } news[] = {
        { S("system/welcome"), hear_welcome },  { S("system/presence"), hear_presence },
        { S("system/topic"), hear_automation }, { S("system/rule"), hear_rule },
        { S("system/proposal"), hear_tidings },
    };
    const struct json *payload = json_find(envelope, S("payload"));

    for (size_t i = 0; i < COUNT(news); i++)
        if (payload && str_eq(news[i].kind, kind))
            news[i].hear(o, payload);
}

/* --- hearing --- */

/* When it was said, if it is told later: what its sender says, as far as the gateway's
 * own times bear it out. */
static uint64_t time_of(const struct orchestrator *o, const struct json *envelope,
                        const struct orchestrator_heard *heard)
{
    uint64_t said_ms;

    if (!heard->is_replay)
        return heard->now_ms;
    if (clock_parse(json_text(json_find(envelope, S("ts"))), &said_ms) ||
        said_ms < o->gateway_ms)
        said_ms = o->gateway_ms;
    return said_ms == 0 || said_ms > heard->now_ms ? heard->now_ms : said_ms;
}

static bool is_proposal(struct str kind)
{
    struct kind parsed;

    return kind_parse(kind, &parsed) == OK && parsed.type == KIND_PROPOSAL;
}

static void hear_other(struct orchestrator *o, const struct orchestrator_heard *heard,
                       uint64_t at_ms)
{
    struct history_heard told = { .at_ms = at_ms,
                                  .topic = o->options.topic,
                                  .from = heard->from,
                                  .kind = heard->kind,
                                  .id = heard->id,
                                  .correlation = heard->correlation,
                                  .text = heard->text };
    struct open_one *one;

    if (!is_proposal(heard->kind)) {
        history_hear(o->history, &told);
        return;
    }
    propose(o, &told);
    one = open_find(o, heard->id);
    if (!one || heard->is_replay)
        return;
    one->is_fresh = true; /* who carries it out has not heard of it yet */
    set_due(&o->fresh_ms, o->now_ms);
}

void orchestrator_hear(struct orchestrator *o, const struct orchestrator_heard *heard)
{
    bool is_gateway = str_eq(heard->from, S(SYSTEM_SENDER));
    const struct json *envelope = NULL;
    uint64_t at_ms;

    o->now_ms = heard->now_ms;
    arena_reset(&o->scratch);
    if (json_parse(heard->text, &o->scratch, &envelope, NULL))
        envelope = NULL; /* history knows what to make of it */
    at_ms = time_of(o, envelope, heard);
    if (is_gateway && at_ms > o->gateway_ms)
        o->gateway_ms = at_ms;
    if (heard->is_entry && heard->id.len <= ID_BYTES) {
        buf_clear(&o->after);
        buf_put(&o->after, heard->id);
        o->is_after_new = true;
        set_due(&o->write_ms, o->now_ms + WRITE_MS);
    }
    if (heard->is_replay)
        o->sweep_ms = o->now_ms + SETTLE_MS;
    if (is_gateway && envelope)
        hear_gateway(o, heard->kind, envelope);
    else if (!is_gateway)
        hear_other(o, heard, at_ms);
}

/* --- the book --- */

enum err orchestrator_book(struct orchestrator *o, struct str text, uint64_t now_ms)
{
    enum err err;

    o->now_ms = now_ms;
    err = known_read(&o->known, text, now_ms);
    if (err) {
        orchestrator_no_book(o, now_ms);
        return err;
    }
    o->book_failures = 0;
    set_due(&o->sweep_ms, now_ms + BOOK_MS);
    set_due(&o->suggest_ms, now_ms + THINK_MS);
    return OK;
}

void orchestrator_no_book(struct orchestrator *o, uint64_t now_ms)
{
    o->book_ms = now_ms + ((uint64_t)BOOK_AGAIN_MS << o->book_failures);
    if (o->book_failures < BOOK_FAILURES)
        o->book_failures++;
}

/* --- what became of it --- */

/* It is not tried again and again: people are there. */
static void rest(struct orchestrator *o, struct str id)
{
    struct known_rule *rule = known_find(&o->known, id);
    struct tally *tally = orchestrate_tally(o, id);

    if (!rule || !tally)
        return;
    rule->rest_ms = o->now_ms + ((uint64_t)REST_MS << tally->refusals);
    if (tally->refusals < REST_DOUBLINGS)
        tally->refusals++;
    set_due(&o->book_ms, o->now_ms + BOOK_MS);
}

void orchestrator_done(struct orchestrator *o, const struct deed *deed, uint64_t now_ms)
{
    struct open_one *one = open_find(o, deed->proposal);

    o->now_ms = now_ms;
    switch (deed->end) {
    case DEED_UNSENT:
        if (one)
            one->is_tried = false;
        break;
    case DEED_REFUSED:
        if (str_eq(deed->state, S("off")))
            o->known.has_automation = false;
        else if (str_eq(deed->error, S("rule_state")) ||
                 str_eq(deed->error, S("not_found")))
            rest(o, deed->rule);
        break;
    case DEED_OVER: break;
    }
}

/* --- time --- */

static bool is_due(uint64_t *due_ms, uint64_t now_ms)
{
    if (*due_ms == 0 || *due_ms > now_ms)
        return false;
    *due_ms = 0;
    return true;
}

static void write_heard(struct orchestrator *o)
{
    if (o->is_after_new)
        orchestrate_write(o, &(struct journal_entry){ .type = JOURNAL_HEARD });
}

/* Nobody suggests what may be in a book that he has not read. */
void orchestrator_tick(struct orchestrator *o, uint64_t now_ms)
{
    o->now_ms = now_ms;
    if (is_due(&o->book_ms, now_ms))
        o->ops.act(o->ops.user, &(struct act){ .type = ACT_BOOK });
    if (o->known.is_read && is_due(&o->fresh_ms, now_ms))
        open_sweep_fresh(o);
    if (o->known.is_read && is_due(&o->sweep_ms, now_ms))
        open_sweep(o);
    if (o->known.is_read && !o->book_ms && !o->sweep_ms && is_due(&o->suggest_ms, now_ms))
        suggest_rules(o);
    if (is_due(&o->write_ms, now_ms))
        write_heard(o);
}

uint64_t orchestrator_due_ms(const struct orchestrator *o)
{
    bool can_suggest = o->known.is_read && !o->book_ms && !o->sweep_ms;
    const uint64_t times[] = {
        o->book_ms,
        o->write_ms,
        o->known.is_read ? o->fresh_ms : 0,
        o->known.is_read ? o->sweep_ms : 0,
        can_suggest ? o->suggest_ms : 0,
    };
    uint64_t due_ms = UINT64_MAX;

    for (size_t i = 0; i < COUNT(times); i++)
        if (times[i] && times[i] < due_ms)
            due_ms = times[i];
    return due_ms;
}

void orchestrator_end(struct orchestrator *o, uint64_t now_ms)
{
    o->now_ms = now_ms;
    write_heard(o);
}

/* --- what was written down --- */

static void load_proposal(struct orchestrator *o, const struct journal_entry *e)
{
    const struct json *root;

    arena_reset(&o->scratch);
    if (json_parse(e->envelope, &o->scratch, &root, NULL) ||
        !open_add(o, e->proposal, e->envelope))
        return;
    history_hear(o->history,
                 &(struct history_heard){ .at_ms = e->at_ms,
                                          .topic = o->options.topic,
                                          .from = json_text(json_find(root, S("from"))),
                                          .kind = json_text(json_find(root, S("kind"))),
                                          .id = e->proposal,
                                          .text = e->envelope });
}

static void load_end(struct orchestrator *o, struct str id)
{
    struct open_one *one = open_find(o, id);

    history_forget(o->history, o->options.topic, id);
    if (one)
        open_remove(o, one);
}

static void load_unwanted(struct orchestrator *o, const struct journal_entry *e)
{
    const struct json *root;
    struct rule rule;

    arena_reset(&o->scratch);
    if (json_parse(e->text, &o->scratch, &root, NULL) == OK &&
        rule_read(root, e->text, &o->scratch, &rule, NULL) == OK)
        known_add_unwanted(&o->known, &rule, e->at_ms);
}

static void load_count(struct orchestrator *o, const struct journal_entry *e)
{
    struct tally *tally = orchestrate_tally(o, e->rule);

    if (!tally)
        return;
    switch (e->type) {
    case JOURNAL_SUGGESTED: tally->suggested_ms = e->at_ms; break;
    case JOURNAL_USED: tally->used++; break;
    case JOURNAL_WOULD:
        tally->would++;
        open_load_mark(o, e->proposal, e->rule);
        break;
    case JOURNAL_SHADOW:
        *(e->is_approved ? &tally->agreed : &tally->disagreed) += 1;
        break;
    case JOURNAL_TOPIC:
    case JOURNAL_PROPOSED:
    case JOURNAL_ENDED:
    case JOURNAL_DECIDED:
    case JOURNAL_UNWANTED:
    case JOURNAL_HEARD:
    case JOURNAL_TYPE_COUNT: break;
    }
}

void orchestrator_load(struct orchestrator *o, const struct journal_entry *e)
{
    if (e->after.len && e->after.len <= ID_BYTES) {
        buf_clear(&o->after);
        buf_put(&o->after, e->after);
    }
    if (e->at_ms > o->gateway_ms)
        o->gateway_ms = e->at_ms;
    switch (e->type) {
    case JOURNAL_PROPOSED: load_proposal(o, e); break;
    case JOURNAL_ENDED: load_end(o, e->proposal); break;
    case JOURNAL_DECIDED:
        (void)learner_note(o->learner, &e->decision);
        load_end(o, e->decision.id);
        break;
    case JOURNAL_UNWANTED: load_unwanted(o, e); break;
    case JOURNAL_SUGGESTED:
    case JOURNAL_WOULD:
    case JOURNAL_SHADOW:
    case JOURNAL_USED: load_count(o, e); break;
    case JOURNAL_TOPIC:
    case JOURNAL_HEARD:
    case JOURNAL_TYPE_COUNT: break;
    }
}

struct str orchestrator_after(const struct orchestrator *o)
{
    return buf_str(&o->after);
}
