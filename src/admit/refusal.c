/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals in words: what went wrong, where, and what would have been right. */
#include "admit/admit.h"
#include "policy/capability.h"
#include "rules/rulebook.h"

/* What is quoted in an answer stays short, whatever was sent. */
enum { QUOTED_FIELD = 256, QUOTED_CAPABILITIES = 64 * 1024 };

enum err refusal_set(struct refusal *r, enum err err, struct str field, const char *what)
{
    *r = (struct refusal){ .err = err, .field = field, .what = what };
    return err;
}

enum err refusal_of_rule(struct refusal *r, const struct admission *a, enum err err,
                         struct str rule, const struct rulebook_problem *problem)
{
    struct str miss = arena_str(a->scratch, str_of(problem->miss.path));

    (void)refusal_set(r, err, problem->field,
                      problem->what ? problem->what : "not with this rule");
    r->rule = rule;
    r->state = problem->state;
    r->path = miss.ptr ? miss : S("");
    if (err == ERR_MALFORMED_ENVELOPE)
        r->at = (size_t)(a->env.payload.text.ptr - a->text.ptr);
    return err;
}

bool refusal_is_violation(const struct refusal *r)
{
    return err_is_violation(r->err) && r->propose_instead.len == 0;
}

static struct str quoted_field(const struct refusal *r)
{
    return str_slice(r->field, 0, QUOTED_FIELD);
}

static void put_field(const struct refusal *r, struct buf *out)
{
    if (r->field.len == 0)
        return;
    buf_putc(out, '`');
    buf_put(out, quoted_field(r));
    buf_put(out, S("`: "));
}

/* A kind of the other spelling, or of other documents: what it is called here. */
static void put_meant(const struct refusal *r, const struct admission *a, struct buf *out)
{
    char space[KIND_MAX_BYTES];
    struct str meant = {};

    if (r->err == ERR_MALFORMED_KIND)
        meant = kind_meant(a->env.kind_text, a->dialect, space);
    if (meant.len == 0)
        return;
    buf_put(out, S("; here it is written '"));
    buf_put(out, meant);
    buf_putc(out, '\'');
}

/* What a proposal lacks, or where its fulfilment differs. */
static void put_approvals(const struct refusal *r, struct buf *out)
{
    if (r->needed) {
        buf_put(out, S(": "));
        buf_putu(out, r->given);
        buf_put(out, S(" of "));
        buf_putu(out, r->needed);
    }
    if (r->path.len) {
        buf_put(out, S(": see "));
        buf_put(out, r->path);
    }
}

void refusal_message(const struct refusal *r, const struct admission *a, struct buf *out)
{
    struct str kind = a->env.kind_text;

    if (r->message.len) {
        buf_put(out, r->message);
        return;
    }
    switch (r->err) {
    case ERR_CAPABILITY_VIOLATION:
        if (r->capability.len || r->policy)
            break;
        buf_put(out, S("You lack capability for '"));
        buf_put(out, kind);
        buf_putc(out, '\'');
        if (str_eq(r->field, S("payload")))
            buf_put(out, S(" with this payload"));
        return;
    case ERR_FROM_MISMATCH:
        buf_put(out, S("`from` must be your own participant id, '"));
        buf_put(out, a->sender->id);
        buf_putc(out, '\'');
        return;
    case ERR_RATE_LIMITED:
        buf_put(out, S("You send faster than you may; try again in "));
        buf_putu(out, r->retry_after_ms);
        buf_put(out, S(" ms"));
        return;
    default: break;
    }
    put_field(r, out);
    buf_put(out, str_of(r->what));
    put_approvals(r, out);
    put_meant(r, a, out);
}

void refusal_write(const struct refusal *r, const struct admission *a,
                   struct json_writer *w)
{
    struct buf message;

    buf_init(&message, 8192);
    refusal_message(r, a, &message);
    json_put_str(w, S("error"), str_of(err_name(r->err)));
    json_put_str(w, S("message"), buf_str(&message));
    buf_done(&message);
    refusal_write_details(r, a, w);
}

/* Those that look into the payload stand apart, where they are in all messages. */
static void write_capabilities(struct system_capabilities shown, struct json_writer *w)
{
    if (shown.patterns.len <= QUOTED_CAPABILITIES) {
        json_key(w, S("your_capabilities"));
        json_raw(w, shown.patterns);
    }
    if (shown.objects.len <= QUOTED_CAPABILITIES)
        capability_put_moot(w, shown.objects);
}

/* The rule or the proposal with which something is wrong. */
static void write_concerned(const struct refusal *r, struct json_writer *w)
{
    json_put_given(w, S("rule"), r->rule);
    if (r->state)
        json_put_str(w, S("state"), str_of(r->state));
    if (r->needed) {
        json_put_uint(w, S("needed"), r->needed);
        json_put_uint(w, S("given"), r->given);
    }
    json_put_given(w, S("path"), r->path);
}

void refusal_write_details(const struct refusal *r, const struct admission *a,
                           struct json_writer *w)
{
    if (r->field.len)
        json_put_str(w, S("field"), quoted_field(r));
    if (r->expected.len)
        json_put_str(w, S("expected"), r->expected);
    if (r->err == ERR_MALFORMED_ENVELOPE)
        json_put_uint(w, S("offset"), r->at);
    if (r->err == ERR_UNSUPPORTED_PROTOCOL)
        json_put_strs(
            w, S("supported"),
            (struct str_list){ (const struct str[]){ dialect_protocol(a->dialect) }, 1 });
    if (r->err == ERR_CAPABILITY_VIOLATION || r->err == ERR_RESERVED_NAMESPACE ||
        r->err == ERR_MALFORMED_KIND)
        json_put_str(w, S("attempted_kind"), a->env.kind_text);
    if (r->err == ERR_CAPABILITY_VIOLATION)
        write_capabilities(capset_shown(admission_capabilities(a), a->dialect), w);
    if (r->policy)
        json_put_str(w, S("policy"), str_of(r->policy));
    if (r->propose_instead.len)
        json_put_str(w, S("propose_instead"), r->propose_instead);
    if (r->err == ERR_RATE_LIMITED || r->retry_after_ms)
        json_put_uint(w, S("retry_after_ms"), r->retry_after_ms);
    if (r->err == ERR_LOOP_GUARD) {
        json_put_uint(w, S("count"), r->count);
        json_put_uint(w, S("limit"), r->limit);
    }
    write_concerned(r, w);
    if (r->capability.len) {
        json_key(w, S("capability"));
        capability_text_write(r->capability, w);
    }
}
