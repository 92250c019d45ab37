/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progressive automation: hears what happens in one topic, learns from what people
 * decide, suggests rules, and acts on those that people accepted. It decides nothing by
 * itself: whatever it does is judged by the gateway, and what it is refused it leaves to
 * people.
 *
 *     envelopes ─► orchestrator_hear() ─┬─► history ─► learner ─► ACT_SUGGEST
 *                                       └─► open proposals × rules ─► ACT_FULFIL,
 *                                                                     ACT_SHADOW
 *
 * Pure: `now` is an argument, and whoever made it carries out what it says (struct act),
 * calls orchestrator_tick() when orchestrator_due_ms() has come, and keeps its journal.
 */
#pragma once

#include "orchestrate/journal.h"
#include "orchestrate/known.h"
#include "rules/history.h"

enum act_type {
    ACT_SUGGEST, /* rule/suggest: `text` is its payload, `words` what it is */
    ACT_FULFIL,  /* the proposal with the rule */
    ACT_SHADOW,  /* rule/shadow: `text` is its payload */
    ACT_CHAT,    /* `words`, to the room */
    ACT_WRITE,   /* `text` is a line of the journal */
    ACT_BOOK,    /* GET /topics/T/rules, for orchestrator_book() */
    ACT_TELL,    /* `words`, to whoever runs it */
};

struct act {
    enum act_type type;
    struct str rule, proposal;
    struct str text;
    struct str words;
};

struct orchestrator_ops {
    void (*act)(void *user, const struct act *act);
    bool (*is_here)(void *user, struct str participant);
    void *user;
};

struct orchestrator_options {
    struct str topic;
    struct learner_options learner;
};

struct orchestrator;

struct orchestrator *orchestrator_new(const struct orchestrator_options *options,
                                      const struct orchestrator_ops *ops);
void orchestrator_free(struct orchestrator *o);

/* What was written down before; ahead of everything else. */
void orchestrator_load(struct orchestrator *o, const struct journal_entry *entry);

/* The envelope to resume behind; "": none. */
struct str orchestrator_after(const struct orchestrator *o);

/* An envelope of the topic, in its order; ours as well. Slash spelling. */
struct orchestrator_heard {
    uint64_t now_ms; /* wall clock */
    bool is_replay;
    bool is_entry; /* of the topic's log: one can resume behind it */
    struct str id, from, kind, correlation;
    struct str text; /* the whole */
};
void orchestrator_hear(struct orchestrator *o, const struct orchestrator_heard *heard);

/* What ACT_BOOK asked for; ERR_INVALID: it cannot be read, and is asked for again. */
enum err orchestrator_book(struct orchestrator *o, struct str text, uint64_t now_ms);
void orchestrator_no_book(struct orchestrator *o, uint64_t now_ms);

/* What became of ACT_FULFIL, where it was not taken. */
enum deed_end {
    DEED_REFUSED, /* `error` names it, `state` is what the gateway says of the rule */
    DEED_UNSENT,  /* there was no connection: it is tried again */
    DEED_OVER,    /* it is no longer open, or nobody knows what became of it */
};
struct deed {
    enum deed_end end;
    struct str rule, proposal;
    struct str error, state;
};
void orchestrator_done(struct orchestrator *o, const struct deed *deed, uint64_t now_ms);

void orchestrator_tick(struct orchestrator *o, uint64_t now_ms);
uint64_t orchestrator_due_ms(const struct orchestrator *o); /* UINT64_MAX: never */

/* It ends: the last lines of the journal. */
void orchestrator_end(struct orchestrator *o, uint64_t now_ms);

/* --- its tools (tools.c): JSON for whoever asks in the room --- */

struct tool_answer {
    struct buf *json; /* an object */
    struct buf *why;  /* ERR_…: for people */
};

/* `rule` is JSON as a file would say it. It becomes a suggestion and nothing else. */
enum err orchestrator_add_rule(struct orchestrator *o, struct str rule, struct str asker,
                               uint64_t now_ms, const struct tool_answer *answer);
/* Those of a state; "": all. */
enum err orchestrator_list_rules(const struct orchestrator *o, struct str state,
                                 const struct tool_answer *answer);
void orchestrator_stats(const struct orchestrator *o, uint64_t now_ms, struct buf *json);
/* NULL: there is none of this id. */
const struct known_rule *orchestrator_find_rule(const struct orchestrator *o,
                                                struct str id);
