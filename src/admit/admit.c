/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/admit.h"

#include <string.h>

#include "admit/command.h"
#include "admit/govern.h"
#include "admit/use.h"
#include "approval/petitions.h"
#include "envelope/strict.h"
#include "envelope/system.h"
#include "envelope/translate.h"
#include "policy/holding.h"

/* Where in the text a part of it stands; what had to be unescaped stands nowhere. */
static size_t offset_of(const struct admission *a, struct str part)
{
    if (part.ptr < a->text.ptr || part.ptr >= a->text.ptr + a->text.len)
        return 0;
    return (size_t)(part.ptr - a->text.ptr);
}

/* What is malformed, and where it stands. */
static enum err refuse_at(const struct admission *a, struct refusal *r, struct str part,
                          struct str field, const char *what)
{
    (void)refusal_set(r, ERR_MALFORMED_ENVELOPE, field, what);
    r->at = offset_of(a, part);
    return ERR_MALFORMED_ENVELOPE;
}

static enum err check_scan(struct admission *a, struct refusal *r)
{
    struct envelope_problem problem = {};
    enum err err = OK;

    arena_reset(a->scratch);
    if (a->scanned)
        a->env = *a->scanned;
    else
        err = envelope_scan(a->text, a->limits->depth, a->dialect, a->scratch, &a->env,
                            &problem);
    if (err) {
        (void)refusal_set(r, err, problem.field, problem.what);
        r->at = problem.at;
        return err;
    }
    a->id_hash = ring_hash(&a->room->topic.ring, a->env.id);
    return OK;
}

static bool is_struck_out(struct conduct *conduct, const struct admit_limits *limits,
                          uint64_t now_ms)
{
    if (now_ms - conduct->strikes_since_ms > STRIKE_WINDOW_MS) {
        conduct->strikes_since_ms = now_ms;
        conduct->strikes = 0;
    }
    return ++conduct->strikes > limits->rate_strikes;
}

bool admit_rate(struct conduct *conduct, const struct admit_limits *limits, size_t bytes,
                uint64_t now_ms, struct rate_refusal *ret)
{
    if (!rate_fits(&conduct->messages, &limits->messages, 1, now_ms,
                   &ret->retry_after_ms) ||
        !rate_fits(&conduct->bytes, &limits->bytes, bytes, now_ms,
                   &ret->retry_after_ms)) {
        ret->is_abuse = is_struck_out(conduct, limits, now_ms);
        return false;
    }
    rate_take(&conduct->messages, &limits->messages, 1);
    rate_take(&conduct->bytes, &limits->bytes, bytes);
    return true;
}

/* Every text counts, well-formed or not; what is refused for its rate costs nothing. */
static enum err check_rate(struct admission *a, struct refusal *r)
{
    struct rate_refusal refusal = {};

    if (admit_rate(participant_conduct(a->sender), a->limits, a->text.len, a->now_ms,
                   &refusal))
        return OK;
    (void)refusal_set(r, ERR_RATE_LIMITED, S(""), "you send faster than you may");
    r->retry_after_ms = refusal.retry_after_ms;
    r->is_abuse = refusal.is_abuse;
    return ERR_RATE_LIMITED;
}

/* Nothing is judged that could not be recorded; nor while the room waits for the disk and
 * too much does already. */
static enum err check_record(struct admission *a, struct refusal *r)
{
    if (!a->room->must_be_durable && !topic_is_holding(&a->room->topic))
        return OK;
    return a->room->ops ? a->room->ops->judge_record(a, r) : OK;
}

static bool is_question(const struct admission *a)
{
    return a->env.kind.type == KIND_REQUEST && a->env.to_count == 1 &&
           str_eq(a->env.to[0], S(SYSTEM_SENDER)) && a->room->ops;
}

static enum err check_kind(struct admission *a, struct refusal *r)
{
    enum err err = envelope_read_kind(&a->env, a->dialect, a->scratch);

    a->is_question = !err && is_question(a);

    if (err == ERR_RESERVED_NAMESPACE)
        return refusal_set(r, err, S("kind"),
                           "only the gateway sends system and presence kinds");
    if (err)
        return refusal_set(r, err, S("kind"), "not a kind of this protocol");
    return OK;
}

static enum err check_from(struct admission *a, struct refusal *r)
{
    if (!str_eq(a->env.from, a->sender->id))
        return refusal_set(r, ERR_FROM_MISMATCH, S("from"),
                           "must be your own participant id");
    return OK;
}

static enum err check_paused(struct admission *a, struct refusal *r)
{
    if (a->sender->is_kicked)
        return refusal_set(r, ERR_FORBIDDEN, S(""), "you are being removed");
    if (a->sender->is_paused && !kind_passes_pause(&a->env.kind))
        return refusal_set(r, ERR_PAUSED, S(""), "you are paused");
    return OK;
}

struct capset *admission_capabilities(const struct admission *a)
{
    return a->member ? a->member->capabilities : a->sender->capabilities;
}

/* D15: no pattern covers the kind, but capabilities that look into the payload may. What
 * they compare must be what is carried out, so the strict check is in force. */
static bool is_inspected(struct admission *a)
{
    a->needs_strict = true;
    a->by = capset_inspect(admission_capabilities(a), a->env.kind.text, a->env.payload,
                           a->scratch);
    return a->by != NULL;
}

/* The last resort: a grant that may be used only so often. */
static bool has_grant(struct admission *a)
{
    struct rights_key who = { a->room->topic.name, a->sender->id };
    struct rights_use use = { a->env.kind.text, a->env.payload, a->scratch, NULL };

    if (!a->room->rights)
        return false;
    a->grant = rights_limited(a->room->rights, who, &use, a->wall_ms);
    if (a->grant)
        a->needs_strict = capability_is_object(use.by);
    return a->grant != NULL;
}

/* Nobody else sees it, so no capability is asked for; and it is no word in a matter of
 * the room. */
[[gnu::cold]] static enum err judge_question(struct admission *a, struct refusal *r)
{
    if (!a->member)
        return refusal_set(r, ERR_MALFORMED_ENVELOPE, S("to"),
                           "the gateway answers on a connection, and this was posted");
    if (a->env.correlation_id.ptr && !kind_is_notification(&a->env.kind))
        return refuse_at(a, r, a->env.correlation_id, S("correlation_id"),
                         "what the gateway is asked fulfils no proposal");
    if (a->env.rule.ptr)
        return refuse_at(a, r, a->env.rule, S("rule"),
                         "what the gateway is asked fulfils no proposal");
    a->is_executed = true;
    return OK;
}

static enum err check_capability(struct admission *a, struct refusal *r)
{
    enum verdict verdict;

    if (a->is_question)
        return judge_question(a, r);
    if (a->env.rule.ptr)
        return use_check_sender(a, r);
    if (!kind_needs_capability(&a->env.kind))
        return OK;
    verdict = capset_may(admission_capabilities(a), a->env.kind.text);
    if (verdict == VERDICT_ALLOW)
        return OK;
    if (verdict == VERDICT_INSPECT && is_inspected(a))
        return OK;
    if (has_grant(a))
        return OK;
    if (a->room->is_governed && govern_may_propose(a))
        return OK;
    if (verdict == VERDICT_INSPECT)
        return refusal_set(r, ERR_CAPABILITY_VIOLATION, S("payload"),
                           "you lack the capability for this payload");
    return refusal_set(r, ERR_CAPABILITY_VIOLATION, S("kind"), "you lack the capability");
}

bool room_is_strict(const struct room *room)
{
    return room->rules->is_strict || room->topic.dotted_count;
}

static bool must_be_strict(const struct admission *a)
{
    return a->dialect == DIALECT_DOTTED || a->needs_strict || a->is_question ||
           room_is_strict(a->room);
}

/* D21: what the kind was allowed for must be what the payload asks for. */
[[gnu::noinline]] enum err admission_compare_payload(struct admission *a,
                                                     struct refusal *r)
{
    struct strict_problem problem = {};
    enum err err;

    err = strict_check(&a->env.kind, a->env.payload, a->scratch, &problem);
    a->was_checked = !err;
    if (!err)
        return OK;
    (void)refusal_set(r, err, problem.field,
                      problem.what ? problem.what : "too many escapes to resolve");
    r->expected = problem.expected;
    return err;
}

static enum err check_payload(struct admission *a, struct refusal *r)
{
    return must_be_strict(a) ? admission_compare_payload(a, r) : OK;
}

static bool is_held_by_guard(const struct admission *a)
{
    return a->sender->type == TYPE_AGENT && a->env.kind.type == KIND_REQUEST &&
           !a->is_question && !kind_is_notification(&a->env.kind);
}

/* A tool that is used is no partner to talk to: no loop of agents goes through it. Who is
 * not known may be anybody. */
static bool is_for_services(const struct admission *a)
{
    for (size_t i = 0; i < a->env.to_count; i++) {
        const struct participant *to = participant_find(&a->room->topic, a->env.to[i]);

        if (!to || to->type != TYPE_SERVICE)
            return false;
    }
    return a->env.to_count != 0;
}

/* Answers and talk go on: what has begun can end. */
static enum err check_loop_guard(struct admission *a, struct refusal *r)
{
    struct loop_guard *guard = &a->room->guard;
    uint64_t limit = a->room->rules->loop_guard;

    if (!limit || guard->count < limit || !is_held_by_guard(a) || is_for_services(a))
        return OK;
    (void)refusal_set(
        r, ERR_LOOP_GUARD, S(""),
        "agents have talked among themselves for too long; a human must speak");
    r->count = guard->count;
    r->limit = limit;
    r->is_trip = guard->told_limit != limit;
    guard->told_limit = limit;
    return ERR_LOOP_GUARD;
}

/* A person's program answers by itself whoever asks it what there is: nobody spoke. */
static void note_speaker(const struct admission *a)
{
    struct loop_guard *guard = &a->room->guard;

    switch ((enum participant_type)a->sender->type) {
    case TYPE_AGENT: guard->count += is_for_services(a) ? 0 : 1; break;
    case TYPE_HUMAN:
        if (a->env.kind.type != KIND_RESPONSE)
            *guard = (struct loop_guard){};
        break;
    case TYPE_SERVICE: break;
    }
}

/* D11: what MCPx demands of the envelope itself. */
static enum err check_correlation(struct admission *a, struct refusal *r)
{
    bool has_one = a->env.correlation_id.ptr != NULL;

    switch (a->env.kind.type) {
    case KIND_RESPONSE:
        if (!has_one)
            return refusal_set(r, ERR_MISSING_CORRELATION, S("correlation_id"),
                               "a response must name its request");
        return OK;
    case KIND_APPROVE:
    case KIND_WITHDRAW:
    case KIND_REJECT:
        if (!has_one)
            return refusal_set(r, ERR_MISSING_CORRELATION, S("correlation_id"),
                               "a decision must name its proposal");
        return OK;
    case KIND_PROPOSAL:
        if (has_one)
            return refuse_at(a, r, a->env.correlation_id, S("correlation_id"),
                             "a proposal begins something new and must not have one");
        return OK;
    case KIND_REQUEST:
    case KIND_CHAT:
    case KIND_OTHER:
    case KIND_ROUTING:
    case KIND_COMMAND: return OK;
    }
    return OK;
}

/* A word about a proposal that is over must not become one about another. */
static bool was_proposed(const struct admission *a)
{
    return a->env.kind.type == KIND_PROPOSAL &&
           ledger_find(&a->room->ledger, a->env.id, a->wall_ms);
}

/* D7a */
static enum err check_duplicate(struct admission *a, struct refusal *r)
{
    uint64_t ticket;

    if (ring_find(&a->room->topic.ring, a->id_hash) ||
        topic_find_held(&a->room->topic, a->id_hash, &ticket).ptr ||
        ledger_knows(&a->room->ledger, a->env.id, a->wall_ms) || was_proposed(a))
        return refusal_set(r, ERR_DUPLICATE_ID, S("id"),
                           "this id is already in use here");
    return OK;
}

static struct str profile_of(const struct admission *a)
{
    const struct room_ops *ops = a->room->ops;

    return ops && ops->profile_of ? ops->profile_of(a) : S("");
}

static struct str problem_part(const struct admission *a,
                               const struct ledger_problem *problem)
{
    return str_eq(problem->field, S("edited")) ? a->env.edited.text
                                               : a->env.expires_at.text;
}

[[gnu::cold]] static enum err refuse_problem(struct admission *a, struct refusal *r,
                                             enum err err,
                                             const struct ledger_problem *problem)
{
    (void)refusal_set(r, err, problem->field, problem->what);
    r->at = offset_of(a, problem_part(a, problem));
    r->rule = a->env.rule;
    r->state = problem->state;
    r->path = problem->path;
    r->needed = problem->needed;
    r->given = problem->given;
    return err;
}

/* What is said of a proposal, or is one: not many envelopes are. */
[[gnu::cold]] [[gnu::noinline]] static enum err decide(struct admission *a,
                                                       struct refusal *r)
{
    struct ledger *ledger = &a->room->ledger;
    struct decider who = { .profile = profile_of(a),
                           .is_human = a->sender->type == TYPE_HUMAN,
                           .may_approve = capset_may(admission_capabilities(a),
                                                     S("mcp/approve")) == VERDICT_ALLOW };
    struct ledger_problem problem = {};
    enum err err = OK;

    if (ledger_looks_inside(ledger) && !a->was_checked)
        err = admission_compare_payload(a, r);
    if (err)
        return err;
    err = ledger_decide(ledger, &a->env, &who, a->scratch, &a->effect, &problem);
    return err ? refuse_problem(a, r, err, &problem) : use_judge(a, r);
}

static enum err check_ledger(struct admission *a, struct refusal *r)
{
    struct ledger_problem problem;
    enum err err;

    if (a->is_question)
        return OK;
    err = ledger_judge(&a->room->ledger, &a->env, a->wall_ms, &a->effect, &problem);
    if (err)
        return refuse_problem(a, r, err, &problem);
    if (ledger_must_decide(&a->effect))
        return decide(a, r);
    return a->env.rule.ptr ? use_refuse_loose(a, r) : OK;
}

/* Behind the ledger, which knows whether it fulfils a proposal. */
static enum err check_policy(struct admission *a, struct refusal *r)
{
    return a->room->is_governed && !a->is_question ? govern(a, r) : OK;
}

static bool changes_state(const struct admission *a)
{
    switch (a->effect.type) {
    case EFFECT_PROPOSE:
    case EFFECT_FULFIL:
    case EFFECT_REJECT:
    case EFFECT_WITHDRAW:
    case EFFECT_APPROVE:
    case EFFECT_OBJECT: return true;
    case EFFECT_NONE:
    case EFFECT_REQUEST:
    case EFFECT_ANSWER: break;
    }
    return a->grant || a->env.kind.type == KIND_COMMAND;
}

static enum err check_change(struct admission *a, struct refusal *r)
{
    if (!a->room->ops || !changes_state(a))
        return OK;
    a->changes_state = true;
    a->has_sequel = ledger_must_decide(&a->effect);
    return a->room->ops->judge_record(a, r);
}

/* participant/routing {"mode":"all"|"directed"} is carried out here and goes no further.
 */
static enum err set_routing(struct admission *a, struct refusal *r)
{
    struct json_scan scan;
    struct json_member m;
    enum err err;
    int routing = -1;

    if (!a->member)
        return refusal_set(r, ERR_MALFORMED_ENVELOPE, S("kind"),
                           "routing belongs to a connection, and this was posted");
    json_scan_init(&scan, a->env.payload.text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err)) {
        if (!json_string_is(m.key, S("mode")) || m.value.type != JSON_STRING)
            continue;
        if (json_string_is(m.value, S("all")))
            routing = ROUTE_ALL;
        if (json_string_is(m.value, S("directed")))
            routing = ROUTE_DIRECTED;
    }
    if (routing < 0)
        return refuse_at(a, r, a->env.payload.text, S("payload"),
                         "mode must be \"all\" or \"directed\"");
    member_set_routing(a->member, (enum routing)routing);
    a->is_executed = true;
    return OK;
}

/* What is to be done, and whether it may be; it is carried out when it is in the log. */
static enum err judge_command(struct admission *a, struct refusal *r)
{
    struct command *command = arena_alloc(a->scratch, sizeof(*command));
    struct command_problem problem = { S("payload"), "too much to look through", 0 };
    enum err err = ERR_TOO_LARGE;

    if (!a->room->ops)
        return OK;
    if (command)
        err = command_read(&a->env, a->room->topic.name, a->wall_ms, a->scratch, command,
                           &problem);
    if (err == ERR_MALFORMED_ENVELOPE)
        return refuse_at(
            a, r, str_slice(a->env.payload.text, problem.at, a->env.payload.text.len),
            problem.field, problem.what);
    if (err)
        return refusal_set(r, err, problem.field, problem.what);
    a->command = command;
    a->has_sequel = true;
    return a->room->ops->judge_command(a, r);
}

[[gnu::cold]] static enum err judge_own(struct admission *a, struct refusal *r)
{
    return a->env.kind.type == KIND_ROUTING ? set_routing(a, r) : judge_command(a, r);
}

static enum err check_command(struct admission *a, struct refusal *r)
{
    return a->env.kind.type >= KIND_ROUTING ? judge_own(a, r) : OK;
}

/* The order matters: a text that cannot be read is not judged further, and nothing is
 * counted or entered before the last check has passed. A list and no table of pointers,
 * so that compilers make one function of them all. */
/* clang-format off */
#define CHECKS(X) \
    X(record)     \
    X(kind)       \
    X(from)       \
    X(paused)     \
    X(capability) \
    X(payload)    \
    X(loop_guard) \
    X(correlation) \
    X(duplicate)  \
    X(ledger)     \
    X(policy)     \
    X(change)     \
    X(command)
/* clang-format on */

#define CHECK(name)           \
    err = check_##name(a, r); \
    if (err)                  \
        return err;

static enum err check_all(struct admission *a, struct refusal *r)
{
    enum err err;

    CHECKS(CHECK)
    return OK;
}

[[gnu::cold]] static enum err note_refusal(struct admission *a, const struct refusal *r)
{
    if (refusal_is_violation(r))
        participant_conduct(a->sender)->violations++;
    return r->err;
}

/* The text in slash spelling, written to where it will stay. Not a part of its caller,
 * which would have to make room for this with every envelope. */
[[gnu::noinline]] static struct str put_in_slashes(const struct admission *a)
{
    struct translation t;
    char *place;

    translation_init(&t, &a->env, DIALECT_SLASH);
    place = topic_reserve(&a->room->topic, t.len);
    translation_write(&t, place);
    return (struct str){ place, t.len };
}

static bool must_be_told(const struct admission *a)
{
    return a->room->is_recorded || a->changes_state;
}

static void append(struct admission *a)
{
    struct topic_entry entry = { .text = a->text,
                                 .env = &a->env,
                                 .id_hash = a->id_hash,
                                 .to = a->env.to,
                                 .to_count = a->env.to_count,
                                 .also = a->effect.watcher,
                                 .sender = a->member,
                                 .dialect = a->dialect,
                                 .was_checked = a->was_checked };

    if (a->dialect == DIALECT_DOTTED)
        entry.text = put_in_slashes(a);
    if (must_be_told(a))
        a->ticket = a->room->ops->on_admitted(a, entry.text);
    entry.ticket = a->ticket;
    topic_append(&a->room->topic, &entry);
    /* The watcher's name above may be the request's, which this may forget. */
    ledger_enter(&a->room->ledger, &a->env, entry.text, &a->effect, a->wall_ms);
    if (a->room->petitions && petitions_is_concerned(a->room->petitions, &a->env.kind))
        petitions_hear(a->room->petitions, &a->env, a->wall_ms);
    note_speaker(a);
}

struct str admission_text(const struct admission *a, struct buf *space)
{
    struct translation t;

    if (a->dialect == DIALECT_SLASH)
        return a->text;
    translation_init(&t, &a->env, DIALECT_SLASH);
    buf_clear(space);
    if (buf_reserve(space, t.len) == OK) {
        translation_write(&t, space->ptr);
        space->len = t.len;
    }
    return buf_str(space);
}

/* "grant:" and its id; in the scratch, else the first alone. */
static struct str name_of(const struct admission *a, struct str prefix, struct str id)
{
    char *text = arena_alloc(a->scratch, prefix.len + id.len);

    if (!text)
        return prefix;
    memcpy(text, prefix.ptr, prefix.len);
    memcpy(text + prefix.len, id.ptr, id.len);
    return (struct str){ text, prefix.len + id.len };
}

struct str admission_by(const struct admission *a)
{
    if (a->env.rule.ptr)
        return name_of(a, S("rule:"), a->env.rule);
    if (!kind_needs_capability(&a->env.kind))
        return S("");
    if (a->by)
        return capability_text(a->by);
    if (a->is_asked_for)
        return S("policy:ask");
    if (a->grant)
        return name_of(a, S("grant:"), a->grant->id);
    return capset_by(admission_capabilities(a), a->env.kind.text);
}

struct str admission_kind(const struct admission *a)
{
    return a->env.kind.text.len ? a->env.kind.text : a->env.kind_text;
}

/* It stands in no log, but in the record. */
[[gnu::cold]] static void note_executed(struct admission *a)
{
    struct buf space;

    buf_init(&space, SIZE_MAX / 2);
    a->ticket = a->room->ops->on_admitted(a, admission_text(a, &space));
    buf_done(&space);
}

enum err admit(struct admission *a, struct refusal *r)
{
    enum err rate_err;
    enum err err;

    r->err = OK;
    err = check_scan(a, r);
    if (err == ERR_UTF8)
        return err;
    rate_err = check_rate(a, r); /* before the scan's verdict: bad texts count as well */
    if (rate_err)
        return rate_err;
    if (!err)
        err = check_all(a, r);
    if (err)
        return note_refusal(a, r);
    if (!a->is_executed)
        append(a);
    else if (must_be_told(a))
        note_executed(a);
    if (a->grant) {
        rights_use(a->room->rights, a->grant);
        a->has_sequel = true;
    }
    if (a->rules)
        use_enter(a);
    return OK;
}
