/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way into a topic, whatever the door: a list of checks, made once. What
 * passes is counted, entered into the ledger and appended to the log; what does not
 * reaches nobody, and the refusal says why.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "admit/rate.h"
#include "approval/ledger.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "envelope/envelope.h"
#include "topic/topic.h"

/* What a topic demands of envelopes besides capabilities. */
struct admit_rules {
    bool is_strict;    /* payloads must say what their kinds say, D21 */
    size_t loop_guard; /* envelopes among agents in a row; 0: as many as they like */
};

/* Agents that talk among themselves are held up until a human speaks. */
struct loop_guard {
    uint64_t count;      /* envelopes of agents since then, but for those to services */
    uint64_t told_limit; /* of which the room has heard that it is reached; 0: none */
};

struct admission;
struct command;
struct grant;
struct identity;
struct refusal;
struct rights;
struct rule_effect;
struct rulebook;
struct rulebook_problem;
struct rulings;

/* What whoever owns a room decides, and keeps. */
struct room_ops {
    /* May the command be carried out? The last check of all. */
    enum err (*judge_command)(struct admission *admission, struct refusal *refusal);
    /* Can it be made durable? Asked where it must be: room, `changes_state`. */
    enum err (*judge_record)(struct admission *admission, struct refusal *refusal);
    /* It has passed, and this text (in slash spelling) is about to enter the log: it is
     * recorded, with the change of state that it brings about, before either happens.
     * Returns the ticket for which the entry waits; 0: nothing. */
    uint64_t (*on_admitted)(struct admission *admission, struct str text);
    /* The profile of who speaks, "": none. NULL: nobody has one. */
    struct str (*profile_of)(const struct admission *admission);
};

/* A topic together with what admission keeps about it. */
struct room {
    struct topic topic;
    const struct admit_rules *rules;
    struct loop_guard guard;
    struct ledger ledger;
    struct petitions *petitions;   /* NULL: nobody asks for it */
    struct rights *rights;         /* of this worker; NULL: there are none */
    const struct room_ops *ops;    /* NULL: commands are passed on, and no more */
    bool is_recorded;              /* whatever is admitted: ops->on_admitted() */
    bool must_be_durable;          /* before it is delivered: ops->judge_record() */
    bool is_governed;              /* there are rulings, or the brake is on: govern.h */
    bool has_brake;                /* what agents call needs a proposal */
    const struct rulings *rulings; /* that reach this topic; NULL: none do */
    struct rulebook *rulebook;     /* NULL: there are none */
    bool has_automation;           /* rules are in force */
};

struct admit_limits {
    size_t depth;
    struct rate messages;
    struct rate bytes;
    size_t
        rate_strikes; /* refusals within STRIKE_WINDOW_MS before the connection closes */
};

enum { STRIKE_WINDOW_MS = 10'000 };

/* One more text of so many bytes: may it be, at these rates? What is refused costs
 * nothing, but whoever is refused too often abuses them. */
struct rate_refusal {
    uint64_t retry_after_ms;
    bool is_abuse;
};
bool admit_rate(struct conduct *conduct, const struct admit_limits *limits, size_t bytes,
                uint64_t now_ms, struct rate_refusal *ret);

/* One envelope on its way in. The caller fills the first part. */
struct admission {
    struct room *room;
    struct participant *sender;
    struct member *member; /* the connection it came by; NULL: posted */
    enum dialect dialect;  /* that the sender speaks */
    struct str text;       /* slash: best in topic_reserve()'s place; dotted: anywhere but
                            * there. Pending presence was announced before. */
    const struct envelope *scanned; /* of this very text, with this dialect and depth, by
                                     * code of ours; NULL: it is scanned here */
    const struct admit_limits *limits;
    const struct identity *identity; /* the sender's credential; for judge_command() */
    struct arena *scratch;           /* reset here */
    uint64_t now_ms;
    uint64_t wall_ms;
    /* filled on the way */
    struct envelope env;
    uint64_t id_hash; /* of env.id, in the topic's ring */
    struct ledger_effect effect;
    bool needs_strict; /* only a capability that looks into the payload allows it */
    bool was_checked;  /* strictly, D21 */
    bool is_asked_for; /* a proposal that no capability allows, but for policy or brake */
    bool is_executed;  /* a kind that the gateway carried out itself: nothing was appended
                        */
    bool is_question;  /* a request to the gateway alone, between the two: it is executed,
                        * and what it asks for decides who may */
    bool has_sequel;   /* a command to carry out, a use of a grant, news of a proposal */
    bool changes_state; /* something that must survive a restart: about a proposal, a use
                         * of a grant, a command */
    const struct command *command; /* in scratch; NULL: no such kind */
    struct grant *grant;         /* what alone allows it, and may be used only so often */
    const struct capability *by; /* what allows it with this payload; NULL: whatever the
                                  * payload */
    struct rule_effect *rules;   /* what it does to them, see use.h; NULL: nothing */
    uint64_t ticket; /* that it waits for, see struct topic_entry; 0: nothing */
};

/* Why an envelope was refused; texts are static or borrow from the admission. */
struct refusal {
    enum err err;
    const char *what;
    struct str field;
    struct str expected;        /* in that field; "" where there is nothing to say */
    size_t at;                  /* byte offset, malformed envelopes only */
    uint64_t retry_after_ms;    /* rate_limited; rule_state: used up for now */
    struct str rule;            /* concerned; "": none */
    const char *state;          /* of it, or of the proposal concerned, */
    size_t needed, given;       /* approvals that it lacks; needed 0: it does not, */
    struct str path;            /* and where its arguments differ: a JSON pointer */
    uint64_t count, limit;      /* loop_guard */
    bool is_trip;               /* loop_guard: the first since a human spoke */
    struct str capability;      /* that cannot be given or taken */
    const char *policy;         /* deny, ask or brake: what refuses it; else NULL */
    struct str message;         /* of the row of policy; "": none */
    struct str propose_instead; /* the kind of a proposal that may be sent; "": none */
    bool is_abuse;              /* persistent: close with 4029 */
};

/* Fills a refusal anew and gives the error back; what else is to be said comes after. */
[[gnu::cold]] enum err refusal_set(struct refusal *refusal, enum err err,
                                   struct str field, const char *what);

/* The same, of what the book of rules finds wrong with what is to be done to this one, or
 * with it. */
[[gnu::cold]] enum err refusal_of_rule(struct refusal *refusal,
                                       const struct admission *admission, enum err err,
                                       struct str rule,
                                       const struct rulebook_problem *problem);

/* Does it count among what its sender should not have tried? Who is to propose has done
 * nothing wrong. */
bool refusal_is_violation(const struct refusal *refusal);

/* OK: it is in the log. Otherwise the error, with `refusal` filled. ERR_UTF8 means the
 * text is not UTF-8 at all: the connection must fail (D6). */
enum err admit(struct admission *admission, struct refusal *refusal);

/* Must whatever is said in the room now pass the strict check (D21)? */
bool room_is_strict(const struct room *room);

/* The text as it stands in the log, and the kind as the room may hear of it: in slash
 * spelling, where it could be read. `space` is emptied; the scan must have passed. */
struct str admission_text(const struct admission *admission, struct buf *space);
struct str admission_kind(const struct admission *admission);

/* By what it is allowed: a capability as a text, or grant:ID for one that may be used
 * only so often, or rule:ID, or policy:ask; "": it needs none. Borrowed from the set and
 * the scratch arena. */
struct str admission_by(const struct admission *admission);

/* The rights that decide: those of the connection, or of the poster. */
struct capset *admission_capabilities(const struct admission *admission);

/* The payload members of the system/error that answers a refusal: error, message, field,
 * offset, attempted_kind, your_capabilities, … (docs/PROTOCOL.md: Errors). */
void refusal_write(const struct refusal *refusal, const struct admission *admission,
                   struct json_writer *w);

/* The same without `error` and `message`, which problem details say in their own way. */
void refusal_write_details(const struct refusal *refusal,
                           const struct admission *admission, struct json_writer *w);

/* One sentence for people. */
void refusal_message(const struct refusal *refusal, const struct admission *admission,
                     struct buf *out);
