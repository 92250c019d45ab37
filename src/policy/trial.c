/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks leave steps behind, one each up to the first that refuses; the one of the
 * capabilities also leaves a note for each of them. Both ways of writing read the same
 * steps and notes.
 */
#include "policy/trial.h"

#include <string.h>

#include "base/cleanup.h"
#include "envelope/envelope.h"
#include "envelope/strict.h"
#include "policy/capability.h"
#include "policy/explain.h"
#include "policy/regime.h"

enum { QUOTED_BYTES = 64, REASON_BYTES = 16 * 1024, MAX_STEPS = 9, NAME_COLUMNS = 12 };

struct step {
    const char *name;
    struct str reason;
    bool passed;
};

/* What one condition of a capability found, or its pattern. */
struct remark {
    struct str path, wanted; /* "" for the pattern */
    struct str reason;
    bool fits;
};

struct note {
    struct str capability;
    const struct remark *remarks;
    size_t count;
    bool allows;
    bool is_limited; /* it may be used only so often */
};

struct trial {
    const struct trial_sender *sender;
    struct arena *arena;
    struct buf reason;    /* of the step that is being made */
    enum dialect dialect; /* in which it is written */
    struct envelope env;
    struct step steps[MAX_STEPS];
    size_t step_count;
    struct note *notes;
    size_t note_count;
    bool needs_strict;
    enum err err;
};

/* What was written into `reason`, kept; and the next one begins. */
static struct str take_reason(struct trial *t)
{
    struct str kept = arena_str(t->arena, buf_str(&t->reason));

    buf_clear(&t->reason);
    return kept.ptr ? kept : S("");
}

static void end_step(struct trial *t, const char *name, enum err err)
{
    t->steps[t->step_count++] = (struct step){ name, take_reason(t), !err };
    t->err = err;
}

/* In quotes, control characters escaped, and not at any length. */
static void put_quoted(struct buf *out, struct str text)
{
    struct json_writer w;
    size_t len = text.len;

    if (len > QUOTED_BYTES) {
        len = QUOTED_BYTES;
        while (len && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
            len--; /* not inside a character */
    }
    json_write_init(&w, out);
    json_str(&w, str_slice(text, 0, len));
    if (len < text.len)
        buf_put(out, S("..."));
}

/* --- the checks --- */

/* One scan judges the JSON, the protocol and the fields. */
static const char *const scan_steps[] = { "JSON", "protocol", "fields" };

static void put_scan_problem(struct trial *t, const struct envelope_problem *problem)
{
    if (problem->field.len)
        buf_putf(&t->reason, STR_FMT ": ", STR_ARG(problem->field));
    buf_put(&t->reason, str_of(problem->what));
    buf_putf(&t->reason, ", at byte %zu", problem->at + 1);
}

static void put_scanned(struct trial *t, size_t step, struct str text)
{
    switch (step) {
    case 0: buf_putf(&t->reason, "%zu bytes", text.len); break;
    case 1: put_quoted(&t->reason, dialect_protocol(t->dialect)); break;
    default:
        buf_put(&t->reason, S("id "));
        put_quoted(&t->reason, t->env.id);
        if (t->env.to_count == 0)
            buf_put(&t->reason, S(", to all"));
        else
            buf_putf(&t->reason, ", to %zu", t->env.to_count);
        break;
    }
}

static enum err scan(struct trial *t, struct str text, enum dialect dialect,
                     struct envelope_problem *problem)
{
    t->dialect = dialect;
    return envelope_scan(text, ENVELOPE_DEFAULT_DEPTH, dialect, t->arena, &t->env,
                         problem);
}

/* An envelope is taken for one of a connection that speaks its protocol. */
static void check_scan(struct trial *t, struct str text)
{
    struct envelope_problem problem = { .what = "cannot be read" };
    enum err err = scan(t, text, DIALECT_SLASH, &problem);
    size_t failed = COUNT(scan_steps);

    if (err == ERR_UNSUPPORTED_PROTOCOL &&
        scan(t, text, DIALECT_DOTTED, NULL) != ERR_UNSUPPORTED_PROTOCOL)
        err = scan(t, text, DIALECT_DOTTED, &problem);

    if (err == ERR_UNSUPPORTED_PROTOCOL)
        failed = 1;
    else if (err)
        failed = problem.field.len ? 2 : 0;
    for (size_t i = 0; i < COUNT(scan_steps) && i <= failed; i++) {
        if (i == failed)
            put_scan_problem(t, &problem);
        else if (!err || i == 0)
            put_scanned(t, i, text);
        end_step(t, scan_steps[i], i == failed ? err : OK);
    }
}

static void check_kind(struct trial *t)
{
    struct kind *kind = &t->env.kind;
    enum err err = envelope_read_kind(&t->env, t->dialect, t->arena);

    put_quoted(&t->reason, t->env.kind_text);
    if (err == ERR_RESERVED_NAMESPACE)
        buf_put(&t->reason, S(" is the gateway's alone"));
    else if (err)
        buf_put(&t->reason, S(" is not a kind of this protocol"));
    if (!err && kind->method.len) {
        buf_put(&t->reason, S(": METHOD "));
        put_quoted(&t->reason, kind->method);
    }
    if (!err && kind->context.ptr) {
        buf_put(&t->reason, S(", CONTEXT "));
        put_quoted(&t->reason, kind->context);
    }
    end_step(t, "kind", err);
}

static void check_from(struct trial *t)
{
    bool is_known = t->sender->id.len > 0;
    bool is_own = !is_known || str_eq(t->env.from, t->sender->id);

    put_quoted(&t->reason, t->env.from);
    if (!is_known)
        buf_put(&t->reason, S(", compared with nobody"));
    if (!is_own) {
        buf_put(&t->reason, S(" is not "));
        put_quoted(&t->reason, t->sender->id);
    }
    end_step(t, "from", is_own ? OK : ERR_FROM_MISMATCH);
}

static void check_paused(struct trial *t)
{
    bool is_free = kind_passes_pause(&t->env.kind);

    if (t->sender->id.len == 0)
        return;
    if (!t->sender->is_paused)
        buf_put(&t->reason, S("not paused"));
    else
        buf_put(&t->reason, is_free ? S("paused, but this kind goes on") : S("paused"));
    end_step(t, "pause", t->sender->is_paused && !is_free ? ERR_PAUSED : OK);
}

/* --- the capabilities --- */

static const char *const type_names[] = {
    [JSON_NULL] = "null",       [JSON_FALSE] = "false",   [JSON_TRUE] = "true",
    [JSON_NUMBER] = "a number", [JSON_STRING] = "a text", [JSON_ARRAY] = "a list",
    [JSON_OBJECT] = "an object"
};

static void put_value(struct trial *t, struct json_span value)
{
    struct str text = value.text;

    if (value.type == JSON_STRING) {
        (void)json_unescape(value, t->arena, &text);
        put_quoted(&t->reason, text);
    } else if (value.type == JSON_NUMBER) {
        buf_put(&t->reason, str_slice(text, 0, QUOTED_BYTES));
    } else {
        buf_put(&t->reason, str_of(type_names[value.type]));
    }
}

static void put_finding(struct trial *t, struct capability_finding finding,
                        struct str wanted)
{
    switch (finding.state) {
    case FOUND_NOTHING: buf_put(&t->reason, S("is missing")); break;
    case FOUND_TWICE: buf_put(&t->reason, S("is given twice")); break;
    case FOUND_LOOKALIKE:
        buf_put(&t->reason, S("another name there looks the same"));
        break;
    case FOUND_FITTING:
    case FOUND_OTHER:
    case FOUND_OTHER_TYPE:
        put_value(t, finding.value);
        buf_put(&t->reason,
                finding.state == FOUND_FITTING ? S(" fits ") : S(" does not fit "));
        buf_put(&t->reason, wanted);
        return;
    }
    buf_put(&t->reason, S(", wanted is "));
    buf_put(&t->reason, wanted);
}

static struct str wanted_of(struct trial *t, const struct capability *cap, size_t i)
{
    if (!capability_is_leaf(cap, i))
        return S("an object");
    capability_put_wanted(cap, i, &t->reason);
    return take_reason(t);
}

static struct str path_of(struct trial *t, const struct capability *cap, size_t i)
{
    capability_put_path(cap, i, &t->reason);
    return take_reason(t);
}

/* Leaves, and objects that are not there as such; not what stands below those. */
static bool is_worth_saying(const struct capability *cap,
                            const struct capability_finding *findings, size_t i)
{
    if (i > 0 && findings[capability_parent(cap, i)].state != FOUND_FITTING)
        return false;
    return capability_is_leaf(cap, i) || findings[i].state != FOUND_FITTING;
}

static void add_findings(struct trial *t, const struct capability *cap, struct note *note,
                         struct remark *remarks)
{
    const struct capability_finding *findings =
        capability_examine(cap, t->env.payload, t->arena);

    for (size_t i = 0; findings && i < capability_count(cap); i++) {
        struct remark *remark = &remarks[note->count];

        if (!is_worth_saying(cap, findings, i))
            continue;
        remark->path = path_of(t, cap, i);
        remark->wanted = wanted_of(t, cap, i);
        put_finding(t, findings[i], remark->wanted);
        remark->reason = take_reason(t);
        remark->fits = findings[i].state == FOUND_FITTING;
        note->allows = note->allows && remark->fits;
        note->count++;
    }
}

/* What is to be allowed: the kind; of what names a rule, that rules are used. */
static struct str asked_for(const struct trial *t)
{
    return t->env.rule.ptr ? S("rule/use") : t->env.kind.text;
}

static bool allows(const struct trial *t, const struct capability *cap, bool is_limited)
{
    if (t->env.rule.ptr && (is_limited || capability_is_object(cap)))
        return false; /* only a pattern does */
    return capability_allows(cap, asked_for(t), t->env.payload, t->arena);
}

static void add_note(struct trial *t, const struct capability *cap, bool is_limited)
{
    struct note *note = &t->notes[t->note_count++];
    struct remark *remarks =
        arena_alloc(t->arena, (capability_count(cap) + 1) * sizeof(*remarks));

    note->capability = arena_str(t->arena, capability_text(cap));
    note->is_limited = is_limited;
    if (!remarks)
        return;
    note->allows =
        policy_explain_pattern(capability_pattern(cap), asked_for(t), &t->reason);
    remarks[0] = (struct remark){ .reason = take_reason(t), .fits = note->allows };
    note->remarks = remarks;
    note->count = 1;
    if (note->allows)
        add_findings(t, cap, note, remarks);
    /* The verdict is that of the code which admission asks. */
    note->allows = allows(t, cap, is_limited);
}

/* The first that allows it; patterns go before objects, and what may be used only so
 * often comes last. */
static const struct note *find_deciding(const struct trial *t, bool is_limited)
{
    const struct note *found = NULL;

    for (size_t i = 0; t->notes && i < t->note_count; i++) {
        const struct note *note = &t->notes[i];

        if (!note->allows || note->is_limited != is_limited)
            continue;
        if (!capability_text_is_object(note->capability))
            return note;
        if (!found)
            found = note;
    }
    return found || is_limited ? found : find_deciding(t, true);
}

static void put_allowed_by(struct trial *t, const struct note *deciding)
{
    buf_put(&t->reason, S("allowed by "));
    put_quoted(&t->reason, deciding->capability);
}

static void put_weighed(struct trial *t, const struct note *deciding)
{
    if (!deciding && t->note_count == 0)
        buf_put(&t->reason, S("none is held"));
    else if (!deciding)
        buf_put(&t->reason, S("none that is held allows it"));
    else if (capability_text_is_object(deciding->capability))
        buf_putf(&t->reason, "allowed by number %zu, which looks into the payload",
                 (size_t)(deciding - t->notes) + 1);
    else
        put_allowed_by(t, deciding);
    if (deciding && deciding->is_limited)
        buf_put(&t->reason, S("; a grant of so many uses, which counts one then"));
}

static void add_notes(struct trial *t, struct str_list list, bool is_limited)
{
    for (size_t i = 0; t->notes && i < list.count; i++) {
        struct capability *cap = NULL;

        if (capability_new(list.items[i], &cap, NULL))
            continue;
        add_note(t, cap, is_limited);
        capability_free(cap);
    }
}

static struct regime_case case_of(const struct trial *t)
{
    return (struct regime_case){ &t->env.kind, t->env.payload, t->arena };
}

/* No capability allows it; but it is a proposal that policy or the brake ask for. */
static bool is_asked_for(const struct trial *t)
{
    struct regime_case about = case_of(t);
    const struct trial_sender *s = t->sender;

    return regime_lets_propose(s->regime, &about, s->capabilities) ||
           regime_lets_propose(s->regime, &about, s->limited);
}

static void weigh_capabilities(struct trial *t)
{
    const struct trial_sender *sender = t->sender;
    size_t count = sender->capabilities.count + sender->limited.count;
    const struct note *deciding;

    t->notes = arena_alloc(t->arena, (count + 1) * sizeof(*t->notes));
    add_notes(t, sender->capabilities, false);
    add_notes(t, sender->limited, true);
    deciding = find_deciding(t, false);
    t->needs_strict =
        t->env.rule.ptr || (deciding && capability_text_is_object(deciding->capability));
    if (!deciding && is_asked_for(t)) {
        buf_put(&t->reason, S("none names it, but the request is allowed, and has to be "
                              "proposed here"));
        t->needs_strict = true;
        end_step(t, "capability", OK);
        return;
    }
    if (t->env.rule.ptr)
        buf_put(&t->reason, S("rule/use, because it names a rule: "));
    put_weighed(t, deciding);
    end_step(t, "capability", deciding ? OK : ERR_CAPABILITY_VIOLATION);
}

static void check_capability(struct trial *t)
{
    if (t->env.rule.ptr && t->env.kind.type != KIND_REQUEST) {
        buf_put(&t->reason, S("only a request that fulfils a proposal names a rule"));
        end_step(t, "rule", ERR_RULE_STATE);
        return;
    }
    if (kind_needs_capability(&t->env.kind)) {
        weigh_capabilities(t);
        return;
    }
    buf_put(&t->reason, S("this kind needs none"));
    end_step(t, "capability", OK);
}

/* NULL: it is not. */
static const char *why_strict(const struct trial *t)
{
    if (t->sender->is_strict)
        return "strict: ";
    if (t->dialect == DIALECT_DOTTED)
        return "strict, as always in the dotted dialect: ";
    if (regime_governs(t->sender->regime) && t->env.kind.type == KIND_REQUEST)
        return "strict, as always where there is policy or a brake: ";
    if (t->env.rule.ptr)
        return "strict, because it names a rule: ";
    return t->needs_strict ? "strict, because a capability with `payload` decided: "
                           : NULL;
}

static void check_strict(struct trial *t)
{
    const char *why = why_strict(t);
    struct strict_problem problem = {};
    enum err err = OK;

    if (!why) {
        buf_put(&t->reason, S("lazy: the payload is not compared with the kind"));
        end_step(t, "validation", OK);
        return;
    }
    buf_put(&t->reason, str_of(why));
    err = strict_check(&t->env.kind, t->env.payload, t->arena, &problem);
    if (!err)
        buf_put(&t->reason, S("the payload says what the kind says"));
    if (problem.field.len)
        buf_putf(&t->reason, STR_FMT ": ", STR_ARG(problem.field));
    if (problem.what)
        buf_put(&t->reason, str_of(problem.what));
    if (problem.expected.len) {
        buf_put(&t->reason, S(", expected "));
        put_quoted(&t->reason, problem.expected);
    }
    end_step(t, "validation", err);
}

static void check_policy(struct trial *t)
{
    struct regime_case about = case_of(t);

    if (!regime_governs(t->sender->regime) || !kind_needs_capability(&t->env.kind))
        return;
    end_step(t, "policy",
             regime_explain(t->sender->regime, &about, &t->reason)
                 ? OK
                 : ERR_CAPABILITY_VIOLATION);
}

static void run(struct trial *t, struct str text)
{
    static void (*const checks[])(struct trial *) = {
        check_kind,       check_from,   check_paused,
        check_capability, check_strict, check_policy,
    };

    check_scan(t, text);
    for (size_t i = 0; i < COUNT(checks) && !t->err; i++)
        checks[i](t);
}

/* --- what comes of it --- */

static void put_notes(const struct trial *t, struct buf *out)
{
    for (size_t i = 0; i < t->note_count; i++) {
        const struct note *note = &t->notes[i];

        buf_put(out, S("  "));
        buf_put(out, note->capability);
        buf_put(out, note->is_limited ? S(" (only so often)\n") : S("\n"));
        for (size_t k = 0; k < note->count; k++) {
            const struct remark *remark = &note->remarks[k];

            buf_put(out, remark->fits ? S("      yes  ") : S("      no   "));
            buf_put(out, remark->path.len ? remark->path : S("kind"));
            buf_put(out, S(": "));
            buf_put(out, remark->reason);
            buf_putc(out, '\n');
        }
    }
}

static void put_allowed(struct buf *out)
{
    buf_put(out, S("allowed, as far as was judged here. Not judged: "));
    buf_put(out, S(TRIAL_NOT_JUDGED "\n"));
}

static void put_text(const struct trial *t, struct buf *out)
{
    for (size_t i = 0; i < t->step_count; i++) {
        const struct step *step = &t->steps[i];

        buf_putf(out, "%-*s %s   ", NAME_COLUMNS, step->name, step->passed ? "ok" : "NO");
        buf_put(out, step->reason);
        buf_putc(out, '\n');
        if (strcmp(step->name, "capability") == 0)
            put_notes(t, out);
    }
    if (t->err)
        buf_putf(out, "refused: %s\n", err_name(t->err));
    else
        put_allowed(out);
}

static void write_remarks(const struct note *note, struct json_writer *w)
{
    json_key(w, S("conditions"));
    json_array_open(w);
    for (size_t i = 0; i < note->count; i++) {
        const struct remark *remark = &note->remarks[i];

        json_object_open(w);
        json_put_str(w, S("field"), remark->path.len ? remark->path : S("kind"));
        json_put_bool(w, S("fits"), remark->fits);
        json_put_str(w, S("reason"), remark->reason);
        json_object_close(w);
    }
    json_array_close(w);
}

static void write_notes(const struct trial *t, struct json_writer *w)
{
    json_key(w, S("capabilities"));
    json_array_open(w);
    for (size_t i = 0; i < t->note_count; i++) {
        const struct note *note = &t->notes[i];

        json_object_open(w);
        json_key(w, S("capability"));
        capability_text_write(note->capability, w);
        json_put_bool(w, S("allows"), note->allows);
        if (note->is_limited)
            json_put_bool(w, S("limited"), true);
        write_remarks(note, w);
        json_object_close(w);
    }
    json_array_close(w);
}

static void write_json(const struct trial *t, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_bool(&w, S("allowed"), !t->err);
    if (t->err)
        json_put_str(&w, S("error"), str_of(err_name(t->err)));
    json_key(&w, S("checks"));
    json_array_open(&w);
    for (size_t i = 0; i < t->step_count; i++) {
        const struct step *step = &t->steps[i];

        json_object_open(&w);
        json_put_str(&w, S("check"), str_of(step->name));
        json_put_bool(&w, S("passed"), step->passed);
        json_put_str(&w, S("reason"), step->reason);
        if (strcmp(step->name, "capability") == 0)
            write_notes(t, &w);
        json_object_close(&w);
    }
    json_array_close(&w);
    if (!t->err)
        json_put_str(&w, S("not_judged"), S(TRIAL_NOT_JUDGED));
    json_object_close(&w);
}

static enum err explain(struct str text, const struct trial_sender *sender,
                        struct arena *arena,
                        void (*write)(const struct trial *t, struct buf *out),
                        struct buf *out)
{
    struct trial t = { .sender = sender, .arena = arena };

    buf_init(&t.reason, REASON_BYTES);
    run(&t, text);
    write(&t, out);
    buf_done(&t.reason);
    return t.err;
}

enum err trial_explain(struct str text, const struct trial_sender *sender,
                       struct arena *arena, struct buf *out)
{
    return explain(text, sender, arena, put_text, out);
}

enum err trial_explain_json(struct str text, const struct trial_sender *sender,
                            struct arena *arena, struct buf *out)
{
    return explain(text, sender, arena, write_json, out);
}
