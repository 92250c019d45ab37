/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of proposals: hears what goes on in topics, in its order, from the record
 * or live, and tells of each proposal how it ended and by whom. Pure; the types of
 * participants are told to it, and whoever is not known as a person is none.
 *
 *     proposal ─► fulfilled by a person, or approved by one and fulfilled   APPROVED
 *                 fulfilled by a person with other arguments                CORRECTED
 *                 rejected                                                  REJECTED
 *                 fulfilled with a rule                                     APPROVED
 *                 … and a person objects to that                            REJECTED
 *                 withdrawn, pushed out, still open at the end              NOTHING
 *
 * Since somebody may object, what was fulfilled with a rule is told when it is pushed
 * out, or at the end.
 */
#pragma once

#include "rules/learner.h"

/* Of those that are open: at most so many, and so much of them; then the oldest are
 * pushed out. Longer envelopes are not looked at. */
enum {
    HISTORY_PROPOSALS = 4096,
    HISTORY_BYTES = 64 << 20,
    HISTORY_ENVELOPE = 64 << 10,
};

/* An envelope that was admitted; the text in slash spelling. */
struct history_heard {
    uint64_t at_ms;
    struct str topic, from, kind, id, correlation, text;
};

struct history_listener {
    void (*decided)(void *user, const struct decision *decision);
    void *user;
};

struct history;

struct history *history_new(const struct history_listener *listener);
void history_free(struct history *history);

/* A participant is a person, or is not. Who was ever seen as something else is no person
 * any more. At most HISTORY_PEOPLE are remembered, in the order they come. */
enum { HISTORY_PEOPLE = 100'000 };
void history_person(struct history *history, struct str id, bool is_person);
bool history_is_person(const struct history *history, struct str id);

void history_hear(struct history *history, const struct history_heard *heard);

/* It is over, and nothing is told of it. */
void history_forget(struct history *history, struct str topic, struct str id);

/* No more comes: tells of those that are open, the oldest first and at most so many, for
 * each is read. False: there are more. */
bool history_end(struct history *history, size_t most);
