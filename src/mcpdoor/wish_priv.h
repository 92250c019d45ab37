/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wishes from inside:
 *
 *     wish_aim.c    whose, and under which name: what a request is about
 *     wish.c        the life of a wish, and who waits for it
 *     wish_tell.c   what they hear before the answer
 *     wish_ask.c    what the owner asks of a legacy client, and its answers
 *     wish_park.c   the same of a modern client; requestState, and who comes back
 *     wish_approve.c  the client's own user decides, where he may
 *     wish_task.c   proposals that were handed out as tasks
 *     outcome.c     what became of it, in words
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"
#include "mcpdoor/hall_priv.h"
#include "mcpdoor/sealed.h"
#include "mcpdoor/wish.h"
#include "participant/keep.h"

/* --- wish_aim.c --- */

/* Of whom is it wanted? */
struct aim {
    struct str owner;
    struct str key;                /* what the owner calls it, or "" */
    struct str name;               /* what the client does; "": it names nothing */
    const struct exhibit *exhibit; /* NULL: none that is known */
    enum right right;
    struct arena scratch; /* of the texts above */
    struct buf uri;
};

/* False: nobody's, or nothing that the client may do, and it was told so. */
bool aim_take(struct aim *aim, const struct asked_for *ask);
void aim_done(struct aim *aim);

/* As if there were no such thing. */
void aim_refuse(const struct aim *aim, const struct asked_for *ask);

/* The params as the owner is to have them. ERR_TOO_BIG. */
enum err aim_put_params(const struct aim *aim, const struct asked_for *ask,
                        struct buf *out);

/* Of what is asked for, whatever else stands in the request. False: too deep or big. */
bool aim_digest(const struct aim *aim, const struct asked_for *ask,
                uint8_t ret[static WISH_DIGEST]);
bool wish_digest(struct str owner, struct str method, struct str params, bool is_modern,
                 uint8_t ret[static WISH_DIGEST]);
/* Of who is asked and for what, without the params. */
void wish_state_digest(struct str owner, struct str method, struct str key,
                       uint8_t ret[static WISH_DIGEST]);

/* --- wish.c --- */

struct wish *wish_of_call(const struct attendee *a, struct str call_id);
struct wish *wish_of_number(const struct attendee *a, uint64_t number);
struct wisher *wisher_new(struct wish *wish, const struct asked_for *ask);
struct wisher *wish_latest(const struct wish *wish); /* or NULL */
/* The answer, and the end of the wisher. `json`: a result, or an error. */
void wisher_answer(struct wisher *wisher, bool is_error, struct str json);
/* All that wait are answered with what is kept. Then it is freed, unless it is a task. */
void wish_give(struct wish *wish);
/* It is over for the owner, too. */
void wish_stop(struct wish *wish, struct str reason);
void wish_due(struct wish *wish, uint64_t in_ms);
struct moment wish_now(const struct wish *wish);
size_t wish_room(const struct wish *wish); /* bytes of a message */
/* A failure in words: a tool's result, or an error. */
void wish_put_failure(struct buf *out, struct str method, bool is_modern, struct str text,
                      bool *ret_is_error);
void wish_fail(const struct asked_for *ask, struct str text);

/* --- wish_tell.c --- */

void wish_tell_waiting(struct wish *wish); /* for a decision */
/* "waiting for a decision: 1 of 2 approvals" */
void wish_put_waiting(struct buf *out, const struct wish *wish);

/* --- wish_ask.c --- */

void wish_question_free(struct wish_question *q);
void wish_questions_free(struct wish *wish); /* legacy clients that have them are told */
void question_answer(struct wish_question *q, struct str member, struct str json);
void question_refuse(struct wish_question *q, int64_t code, struct str message);

void wish_ask_approval(struct wish *wish); /* of the client's own user */

/* --- wish_approve.c --- */

bool wish_may_approve(const struct wish *wish);
void wish_put_approval(struct buf *out, const struct wish *wish); /* the question */
/* Its answer. Who waits is told with the next tick. */
void wish_decide(struct wish *wish, struct str member, struct str json);

/* --- wish_park.c --- */

/* Its questions go to who waits; or it is given up, where he can answer none. */
void wish_park(struct wish *wish);
/* input_required without a question: come back later. */
void wisher_hold(struct wisher *wisher);
/* True: it has a requestState of ours, and was dealt with. */
bool wish_return(const struct asked_for *ask, const struct aim *aim);

/* What clients carry: PREFIX, then what is sealed. False: it is not ours at all. */
bool wish_read_sealed(const struct attendee *a, enum sealed_use use, struct str text,
                      struct sealed *ret, enum err *ret_err);
void wish_put_sealed(struct wish *wish, enum sealed_use use, struct buf *out);

/* --- wish_task.c --- */

void wisher_hand_out(struct wisher *wisher); /* resultType task */
