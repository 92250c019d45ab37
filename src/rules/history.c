/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "envelope/kind.h"
#include "rules/value.h"

enum { SCRATCH_BYTES = 32 << 20, KEY_BYTES = 4096 };

struct person {
    bool is_person;
    struct str id;
    char text[];
};

struct pending {
    struct link link; /* oldest first */
    uint64_t at_ms;
    struct str key, topic, id, envelope;
    struct str approver; /* a person; "" */
    char *approver_text;
    struct str user; /* who has fulfilled it with a rule; "": nobody */
    char *user_text;
    char text[];
};

struct history {
    struct history_listener listener;
    struct map people, proposals;
    struct link by_age;
    size_t count;
    size_t bytes; /* of keys and envelopes */
    struct arena scratch;
};

struct history *history_new(const struct history_listener *listener)
{
    struct history *h = xcalloc(1, sizeof(*h));

    h->listener = *listener;
    map_init(&h->people);
    map_init(&h->proposals);
    list_init(&h->by_age);
    arena_init(&h->scratch, SCRATCH_BYTES);
    return h;
}

static void drop(struct history *h, struct pending *p)
{
    (void)map_remove(&h->proposals, p->key);
    list_remove(&p->link);
    h->count--;
    h->bytes -= p->key.len + p->envelope.len;
    free(p->approver_text);
    free(p->user_text);
    free(p);
}

void history_free(struct history *h)
{
    struct pending *pending;
    struct person *person;

    if (!h)
        return;
    LIST_FOREACH(pending, &h->by_age, link)
        drop(h, pending);
    MAP_FOREACH(person, &h->people)
        free(person);
    map_done(&h->people);
    map_done(&h->proposals);
    arena_done(&h->scratch);
    free(h);
}

/* --- people --- */

void history_person(struct history *h, struct str id, bool is_person)
{
    struct person *person = map_find(&h->people, id);

    if (person) {
        person->is_person = person->is_person && is_person;
        return;
    }
    if (h->people.count >= HISTORY_PEOPLE || id.len == 0)
        return;
    person = xcalloc(1, sizeof(*person) + id.len);
    memcpy(person->text, id.ptr, id.len);
    person->id = (struct str){ person->text, id.len };
    person->is_person = is_person;
    map_set(&h->people, person->id, person);
}

bool history_is_person(const struct history *h, struct str id)
{
    const struct person *person = map_find(&h->people, id);

    return person && person->is_person;
}

/* --- proposals --- */

static bool put_key(struct buf *out, struct str topic, struct str id)
{
    buf_put(out, topic);
    buf_putc(out, '\n'); /* no topic has one in its name */
    buf_put(out, id);
    return !out->is_full;
}

static struct pending *find(struct history *h, struct str topic, struct str id)
{
    struct pending *p = NULL;
    struct buf key;

    buf_init(&key, KEY_BYTES);
    if (put_key(&key, topic, id))
        p = map_find(&h->proposals, buf_str(&key));
    buf_done(&key);
    return p;
}

/* What it was, and how it ended. What no rule could be for is not told. */
static void tell(struct history *h, const struct pending *p, struct decision *d)
{
    const char *why;

    d->id = p->id;
    if (rule_proposal_read(p->topic, p->envelope, &h->scratch, &d->proposal, &why) == OK)
        h->listener.decided(h->listener.user, d);
}

/* No more is heard of it. What a rule let through, nobody objected to. */
static void tell_rest(struct history *h, const struct pending *p, uint64_t at_ms)
{
    struct decision d = { .verdict = DECISION_NOTHING,
                          .origin = DECIDED_BY_OTHER,
                          .at_ms = at_ms };

    if (p->user.len)
        d = (struct decision){ .verdict = DECISION_APPROVED,
                               .origin = DECIDED_BY_RULE,
                               .by = p->user,
                               .at_ms = p->at_ms };
    arena_reset(&h->scratch);
    tell(h, p, &d);
}

static char *put_text(char *at, struct str text, struct str *ret)
{
    if (text.len)
        memcpy(at, text.ptr, text.len);
    *ret = (struct str){ at, text.len };
    return at + text.len;
}

static void make_room(struct history *h, size_t bytes, uint64_t at_ms)
{
    while (h->count >= HISTORY_PROPOSALS || h->bytes + bytes > HISTORY_BYTES) {
        struct pending *oldest = LIST_FIRST(&h->by_age, struct pending, link);

        if (!oldest)
            return;
        tell_rest(h, oldest, at_ms);
        drop(h, oldest);
    }
}

static void add_proposal(struct history *h, const struct history_heard *heard)
{
    struct pending *p;
    struct buf key;

    if (!heard->text.ptr || heard->text.len > HISTORY_ENVELOPE)
        return;
    buf_init(&key, KEY_BYTES);
    if (put_key(&key, heard->topic, heard->id) &&
        !map_find(&h->proposals, buf_str(&key))) {
        char *at;

        make_room(h, key.len + heard->text.len, heard->at_ms);
        p = xcalloc(1, sizeof(*p) + key.len + heard->text.len);
        at = put_text(p->text, buf_str(&key), &p->key);
        (void)put_text(at, heard->text, &p->envelope);
        p->topic = str_slice(p->key, 0, heard->topic.len);
        p->id = str_slice(p->key, heard->topic.len + 1, p->key.len);
        p->at_ms = heard->at_ms;
        list_append(&h->by_age, &p->link);
        map_set(&h->proposals, p->key, p);
        h->count++;
        h->bytes += p->key.len + p->envelope.len;
    }
    buf_done(&key);
}

/* --- decisions --- */

static bool are_equal(const struct rule_proposal *a, const struct rule_proposal *b,
                      struct arena *scratch)
{
    static const struct json none = { .type = JSON_OBJECT };
    struct str x, y;

    if (!str_eq(a->tool, b->tool) ||
        value_text(a->arguments ? a->arguments : &none, scratch, &x) ||
        value_text(b->arguments ? b->arguments : &none, scratch, &y))
        return false;
    return str_eq(x, y);
}

/* Who is answerable for a fulfilment. */
static void judge(const struct history *h, const struct pending *p,
                  const struct history_heard *heard, const struct json *envelope,
                  struct decision *d)
{
    d->by = heard->from;
    d->origin = DECIDED_BY_OTHER;
    if (json_find(envelope, S("rule"))) {
        d->origin = DECIDED_BY_RULE;
    } else if (json_find(envelope, S("self_approved")) ||
               str_eq(heard->from, d->proposal.proposer)) {
        d->origin = DECIDED_BY_SELF;
    } else if (history_is_person(h, heard->from)) {
        d->origin = DECIDED_BY_PERSON;
    } else if (p->approver.len && d->verdict == DECISION_APPROVED) {
        d->origin = DECIDED_BY_PERSON;
        d->by = p->approver;
    }
}

/* The same method and, where they are named, the same tool and owner; else it only
 * speaks of the proposal. */
static bool fulfils(const struct rule_proposal *request, const struct pending *p,
                    const struct rule_proposal *proposal)
{
    return str_eq(request->method, proposal->method) &&
           (proposal->to.len == 0 || str_eq(request->to, proposal->to)) && p->id.len;
}

static void hear_request(struct history *h, const struct history_heard *heard)
{
    struct pending *p = find(h, heard->topic, heard->correlation);
    struct decision d = { .at_ms = heard->at_ms };
    struct rule_proposal request;
    const struct json *envelope;
    const char *why;

    if (!p || p->user.len)
        return;
    arena_reset(&h->scratch);
    if (rule_proposal_read(p->topic, p->envelope, &h->scratch, &d.proposal, &why) ||
        rule_proposal_read(p->topic, heard->text, &h->scratch, &request, &why) ||
        json_parse(heard->text, &h->scratch, &envelope, NULL)) {
        drop(h, p); /* it has ended, and nobody can say how */
        return;
    }
    if (!fulfils(&request, p, &d.proposal))
        return;
    d.id = p->id;
    d.verdict = are_equal(&request, &d.proposal, &h->scratch) ? DECISION_APPROVED
                                                              : DECISION_CORRECTED;
    judge(h, p, heard, envelope, &d);
    if (d.origin == DECIDED_BY_RULE && d.verdict == DECISION_APPROVED) {
        p->user_text = str_dup(heard->from);
        p->user = str_of(p->user_text);
        p->at_ms = heard->at_ms;
        return; /* somebody may object */
    }
    h->listener.decided(h->listener.user, &d);
    drop(h, p);
}

static void hear_approval(struct history *h, const struct history_heard *heard)
{
    struct pending *p = find(h, heard->topic, heard->correlation);
    struct rule_proposal proposal;
    const char *why;

    if (!p || p->user.len || p->approver.len || !history_is_person(h, heard->from))
        return;
    arena_reset(&h->scratch);
    if (rule_proposal_read(p->topic, p->envelope, &h->scratch, &proposal, &why) ||
        str_eq(proposal.proposer, heard->from))
        return;
    p->approver_text = str_dup(heard->from);
    p->approver = str_of(p->approver_text);
}

static void hear_end(struct history *h, const struct history_heard *heard,
                     enum decision_verdict verdict)
{
    struct pending *p = find(h, heard->topic, heard->correlation);
    struct decision d = { .verdict = verdict,
                          .origin = history_is_person(h, heard->from) ? DECIDED_BY_PERSON
                                                                      : DECIDED_BY_OTHER,
                          .by = heard->from,
                          .at_ms = heard->at_ms };

    if (!p ||
        (p->user.len && (verdict != DECISION_REJECTED || d.origin != DECIDED_BY_PERSON)))
        return;
    arena_reset(&h->scratch);
    tell(h, p, &d);
    drop(h, p);
}

void history_hear(struct history *h, const struct history_heard *heard)
{
    struct kind kind;

    if (kind_parse(heard->kind, &kind))
        return;
    switch (kind.type) {
    case KIND_PROPOSAL: add_proposal(h, heard); break;
    case KIND_REQUEST: hear_request(h, heard); break;
    case KIND_APPROVE: hear_approval(h, heard); break;
    case KIND_REJECT: hear_end(h, heard, DECISION_REJECTED); break;
    case KIND_WITHDRAW: hear_end(h, heard, DECISION_NOTHING); break;
    case KIND_RESPONSE:
    case KIND_CHAT:
    case KIND_OTHER:
    case KIND_ROUTING:
    case KIND_COMMAND: break;
    }
}

void history_forget(struct history *h, struct str topic, struct str id)
{
    struct pending *p = find(h, topic, id);

    if (p)
        drop(h, p);
}

bool history_end(struct history *h, size_t most)
{
    struct pending *p;

    while (most-- && (p = LIST_FIRST(&h->by_age, struct pending, link))) {
        tell_rest(h, p, p->at_ms);
        drop(h, p);
    }
    return list_is_empty(&h->by_age);
}
