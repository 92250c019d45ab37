/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/check.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "envelope/strict.h"
#include "envelope/system.h"
#include "participant/pick.h"

/* What is being checked, and where it fails. */
struct check {
    struct heard *heard;
    struct arena *scratch;
    struct str field;
};

static enum err fail(struct check *check, enum err err, struct str field)
{
    check->field = field;
    return err;
}

static enum err mismatch(struct check *check, struct str field)
{
    return fail(check, ERR_KIND_PAYLOAD_MISMATCH, field);
}

/* --- who may send which kind --- */

static bool is_system_name(struct str from)
{
    return str_eq(from, S("system")) || str_starts(from, S("system:"));
}

/* What the gateway says in kinds that others may send as well. */
static const struct str gateway_kinds[] = {
    S("capability/grant-ack"),
    S("topic/invite"),
};

static bool is_gateway_kind(struct str kind)
{
    for (size_t i = 0; i < COUNT(gateway_kinds); i++)
        if (str_eq(kind, gateway_kinds[i]))
            return true;
    return str_starts(kind, S("system/"));
}

static enum err check_gateway(struct check *check)
{
    struct envelope *env = &check->heard->env;

    if (!is_gateway_kind(env->kind_text))
        return fail(check, ERR_RESERVED_NAMESPACE, S("from"));
    if (envelope_has_control(env->kind_text))
        return fail(check, ERR_MALFORMED_KIND, S("kind"));
    check->heard->is_system = true;
    env->kind = (struct kind){ .type = KIND_OTHER, .text = env->kind_text };
    return OK;
}

static enum err check_kind(struct check *check)
{
    struct envelope *env = &check->heard->env;
    enum err err;

    /* Its answers to what it was asked are answers like any other. */
    if (str_eq(env->from, S(SYSTEM_SENDER)) &&
        !str_starts(env->kind_text, S("mcp/response:")))
        return check_gateway(check);
    if (is_system_name(env->from) && !str_eq(env->from, S(SYSTEM_SENDER)))
        return fail(check, ERR_RESERVED_NAMESPACE, S("from"));
    err = envelope_read_kind(env, DIALECT_SLASH, check->scratch);
    return err ? fail(check, err, S("kind")) : OK;
}

/* --- fields of the envelope --- */

static enum err check_texts(struct check *check)
{
    const struct envelope *env = &check->heard->env;

    if (envelope_has_control(env->correlation_id))
        return fail(check, ERR_MALFORMED_ENVELOPE, S("correlation_id"));
    for (size_t i = 0; i < env->to_count; i++)
        if (envelope_has_control(env->to[i]))
            return fail(check, ERR_MALFORMED_ENVELOPE, S("to"));
    return OK;
}

static bool is_time(struct json_span span, struct arena *scratch)
{
    struct str text;
    uint64_t wall_ms;

    return span.type == JSON_STRING && json_unescape(span, scratch, &text) == OK &&
           clock_parse(text, &wall_ms) == OK;
}

static enum err check_correlation(struct check *check)
{
    const struct envelope *env = &check->heard->env;
    bool has_one = env->correlation_id.ptr;

    switch (env->kind.type) {
    case KIND_RESPONSE:
    case KIND_APPROVE:
    case KIND_WITHDRAW:
    case KIND_REJECT:
        return has_one ? OK : fail(check, ERR_MISSING_CORRELATION, S("correlation_id"));
    case KIND_PROPOSAL:
        if (has_one)
            return fail(check, ERR_MALFORMED_ENVELOPE, S("correlation_id"));
        if (env->expires_at.text.ptr && !is_time(env->expires_at, check->scratch))
            return fail(check, ERR_MALFORMED_ENVELOPE, S("expires_at"));
        return OK;
    case KIND_REQUEST:
    case KIND_CHAT:
    case KIND_OTHER:
    case KIND_ROUTING:
    case KIND_COMMAND: break;
    }
    return OK;
}

/* --- payloads --- */

static bool is_absent_or(struct json_span span, enum json_type type)
{
    return !pick_is_there(span) || span.type == type;
}

/* Without fraction and exponent, and short enough for 64 bits. */
static bool is_integer(struct json_span span)
{
    struct str digits = span.text;

    if (!pick_is(span, JSON_NUMBER))
        return false;
    if (digits.ptr[0] == '-')
        digits = str_slice(digits, 1, digits.len);
    for (size_t i = 0; i < digits.len; i++)
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return false;
    return digits.len <= 18;
}

static enum err check_chat(struct check *check)
{
    struct json_span text = {};
    struct json_span format = {};

    if (!PICK(check->heard->env.payload, { S("text"), &text }, { S("format"), &format }))
        return mismatch(check, S("payload"));
    if (!pick_is(text, JSON_STRING))
        return mismatch(check, S("payload.text"));
    return is_absent_or(format, JSON_STRING) ? OK : mismatch(check, S("payload.format"));
}

static enum err check_call(struct check *check)
{
    const struct kind *kind = &check->heard->env.kind;
    struct json_span params = {};
    struct json_span id = {};

    if (!PICK(check->heard->env.payload, { S("params"), &params }, { S("id"), &id }))
        return mismatch(check, S("payload"));
    if (!is_absent_or(params, JSON_OBJECT))
        return mismatch(check, S("payload.params"));
    if (kind->type == KIND_PROPOSAL || !id.text.ptr)
        return OK;
    if (kind_is_notification(kind) || (id.type != JSON_STRING && id.type != JSON_NUMBER))
        return mismatch(check, S("payload.id"));
    return OK;
}

static enum err check_answer(struct check *check)
{
    struct json_span error = {};
    struct json_span id = {};
    struct json_span code = {};
    struct json_span message = {};

    if (!PICK(check->heard->env.payload, { S("error"), &error }, { S("id"), &id }))
        return mismatch(check, S("payload"));
    if (!error.text.ptr)
        return OK;
    if (!PICK(error, { S("code"), &code }, { S("message"), &message }))
        return mismatch(check, S("payload.error"));
    if (!is_integer(code))
        return mismatch(check, S("payload.error.code"));
    return pick_is(message, JSON_STRING) ? OK
                                         : mismatch(check, S("payload.error.message"));
}

static enum err check_strict(struct check *check)
{
    const struct envelope *env = &check->heard->env;
    struct strict_problem problem = {};
    enum err err = strict_check(&env->kind, env->payload, check->scratch, &problem);

    return err ? fail(check, err, problem.field) : OK;
}

static enum err check_payload(struct check *check)
{
    enum err err = check_strict(check);

    if (err)
        return err;
    switch (check->heard->env.kind.type) {
    case KIND_CHAT: return check_chat(check);
    case KIND_REQUEST:
    case KIND_PROPOSAL: return check_call(check);
    case KIND_RESPONSE: return check_answer(check);
    case KIND_APPROVE:
    case KIND_WITHDRAW:
    case KIND_REJECT:
    case KIND_OTHER:
    case KIND_ROUTING:
    case KIND_COMMAND: break;
    }
    return OK;
}

/* --- the whole --- */

static enum err check_envelope(struct check *check)
{
    enum err err = check_texts(check);

    if (!err)
        err = check_kind(check);
    if (!err)
        err = check_correlation(check);
    return err ? err : check_payload(check);
}

enum err check_text(struct str text, size_t max_depth, struct arena *scratch,
                    struct heard *ret, struct str *ret_field)
{
    struct envelope_problem problem = {};
    struct check check = { ret, scratch, S("") };
    enum err err;

    *ret = (struct heard){};
    err = envelope_scan(text, max_depth, DIALECT_SLASH, scratch, &ret->env, &problem);
    if (err) {
        *ret_field = problem.field;
        return err;
    }
    err = check_envelope(&check);
    if (err)
        *ret_field = check.field;
    return err;
}
