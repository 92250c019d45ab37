/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict comes from the compiled patterns. The reason for a refusal is found by
 * asking again with one rule relaxed at a time: if the pattern then matches, that rule is
 * the reason; if none helps, it is the place where pattern and kind part.
 */
#include "policy/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "envelope/kind.h"
#include "policy/capability.h"
#include "policy/capset.h"
#include "policy/pattern.h"
#include "policy/regime.h"

enum { REASON_MAX_BYTES = 64 * 1024, ARENA_BYTES = 1 << 20 };

struct relax {
    bool folds_case;
    bool crosses_colon;
    bool allows_empty;
};

/* How far a pattern gets on a kind. */
struct walk {
    bool matches;
    size_t kind_at; /* the furthest place that was reached, */
    size_t text_at; /* and how much of the pattern it took */
};

static char fold(char c, struct relax relax)
{
    return (char)(relax.folds_case && c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool is_continuation(struct str text, size_t at)
{
    return at < text.len && ((unsigned char)text.ptr[at] & 0xc0) == 0x80;
}

static void step_literal(struct str kind, char c, struct relax relax, const bool *before,
                         bool *after)
{
    after[0] = false;
    for (size_t at = 0; at < kind.len; at++)
        after[at + 1] = before[at] && fold(kind.ptr[at], relax) == fold(c, relax);
}

/* Both flags of `relax` that concern stars; the one at the end crosses ':' anyway. */
static void step_star(struct str kind, struct relax relax, const bool *before,
                      bool *after)
{
    after[0] = relax.allows_empty && before[0];
    for (size_t at = 0; at < kind.len; at++) {
        bool goes_on =
            (before[at] || after[at]) && (relax.crosses_colon || kind.ptr[at] != ':');

        after[at + 1] = goes_on || (relax.allows_empty && before[at + 1]);
    }
    /* A star takes whole characters. */
    for (size_t at = 0; at < kind.len; at++)
        after[at] = after[at] && !is_continuation(kind, at);
}

/* The places after one more character of the pattern, from the places before it. */
static void step(struct str text, size_t i, struct str kind, struct relax relax,
                 bool *places[2])
{
    if (text.ptr[i] != '*') {
        step_literal(kind, text.ptr[i], relax, places[i % 2], places[(i + 1) % 2]);
        return;
    }
    relax.crosses_colon = relax.crosses_colon || i + 1 == text.len;
    step_star(kind, relax, places[i % 2], places[(i + 1) % 2]);
}

static struct walk walk(struct str text, struct str kind, struct relax relax)
{
    CLEANUP(xfreep) bool *memory = xcalloc(2, kind.len + 1);
    bool *places[2] = { memory, memory + kind.len + 1 };
    struct walk ret = {};

    places[0][0] = true;
    for (size_t i = 0; i < text.len; i++) {
        const bool *after = places[(i + 1) % 2];

        step(text, i, kind, relax, places);
        for (size_t at = ret.kind_at; at <= kind.len; at++)
            if (after[at])
                ret = (struct walk){ .kind_at = at, .text_at = i + 1 };
    }
    ret.matches = places[text.len % 2][kind.len];
    return ret;
}

static bool matches_if(struct str text, struct str kind, struct relax relax)
{
    return walk(text, kind, relax).matches;
}

static void put_quoted(struct buf *out, struct str text)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_str(&w, text);
}

/* What stands before the CONTEXT, or all. */
static struct str method_part(struct str text)
{
    size_t colon = str_find(text, ':', 0);

    if (pattern_dialect(text) == DIALECT_SLASH)
        colon = str_find(text, ':', colon + 1);
    return str_slice(text, 0, colon);
}

static bool names_context(struct str text, struct str kind)
{
    struct str part = method_part(text);

    return part.len < text.len && matches_if(part, kind, (struct relax){});
}

static void put_parting(struct buf *out, struct str text, struct str kind)
{
    struct walk w = walk(text, kind, (struct relax){});

    /* Two characters may share their first bytes. */
    while (is_continuation(text, w.text_at) && is_continuation(kind, w.kind_at)) {
        w.text_at--;
        w.kind_at--;
    }
    buf_putf(out, "at byte %zu ", w.kind_at + 1);
    if (w.text_at == text.len) {
        buf_put(out, S("the pattern ends, the kind goes on with "));
        put_quoted(out, str_slice(kind, w.kind_at, kind.len));
        return;
    }
    buf_put(out, S("the pattern has "));
    put_quoted(out, str_slice(text, w.text_at, text.len));
    if (w.kind_at == kind.len) {
        buf_put(out, S(", the kind ends"));
        return;
    }
    buf_put(out, S(", the kind "));
    put_quoted(out, str_slice(kind, w.kind_at, kind.len));
}

static void put_refusal(struct buf *out, struct str text, struct str kind)
{
    if (matches_if(text, kind, (struct relax){ .folds_case = true }))
        buf_put(out, S("case counts, and only the case differs"));
    else if (names_context(text, kind))
        buf_put(out, S("it names a CONTEXT and so never covers the bare METHOD"));
    else if (matches_if(text, kind, (struct relax){ .crosses_colon = true }))
        buf_put(out, S("\"*\" inside a pattern cannot cross \":\""));
    else if (matches_if(text, kind, (struct relax){ .allows_empty = true }))
        buf_put(out, S("each \"*\" stands for at least one character"));
    else
        put_parting(out, text, kind);
}

static void put_consent(struct buf *out, struct str text, struct str kind)
{
    size_t star = str_find(text, '*', 0);

    if (!matches_if(text, kind, (struct relax){})) {
        buf_put(out, S("it names the METHOD, and any CONTEXT goes with it"));
    } else if (star == text.len) {
        buf_put(out, S("it is the same"));
    } else if (star + 1 == text.len) {
        buf_put(out, S("\"*\" stands for "));
        put_quoted(out, str_slice(kind, star, kind.len));
    } else {
        buf_put(out, S("each \"*\" finds what it may stand for"));
    }
}

bool policy_explain_pattern(struct str text, struct str kind, struct buf *out)
{
    char space[KIND_MAX_BYTES];
    struct pattern *pattern;
    const char *why;
    bool covers;

    if (pattern_new(text, &pattern, &why)) {
        buf_put(out, str_of(why));
        return false;
    }
    covers = pattern_matches(pattern, kind);
    pattern_free(pattern);
    kind = kind_in(kind, pattern_dialect(text), space);
    if (covers)
        put_consent(out, text, kind);
    else
        put_refusal(out, text, kind);
    return covers;
}

/* Appends the reason. INSPECT: it covers the kind with some payloads. */
static enum verdict judge(struct str text, struct str kind, struct buf *out)
{
    struct capability *cap;
    const char *why = "";
    enum verdict verdict;

    if (capability_new(text, &cap, &why)) {
        buf_put(out, str_of(why));
        return VERDICT_DENY;
    }
    verdict = VERDICT_DENY;
    if (policy_explain_pattern(capability_pattern(cap), kind, out))
        verdict = capability_is_object(cap) ? VERDICT_INSPECT : VERDICT_ALLOW;
    if (verdict == VERDICT_INSPECT)
        buf_put(out, S("; the payload decides"));
    capability_free(cap);
    return verdict;
}

static const char *why_malformed(struct str kind)
{
    if (kind.len == 0)
        return "it is empty";
    if (kind.len > KIND_MAX_BYTES)
        return "it has more than 2048 bytes";
    if (str_starts(kind, S("mcp/")) || str_starts(kind, S("mcp.")))
        return "mcp kinds are mcp/request:, mcp/response: or mcp/proposal: with METHOD or METHOD:CONTEXT, and mcp/approve, mcp/withdraw, mcp/reject";
    if (str_starts(kind, S("mcpx/")) || str_starts(kind, S("chat/")) ||
        str_starts(kind, S("presence/")))
        return "its first word is taken and has no such kind";
    return "it must be words of a-z, 0-9 and -, each beginning with a letter, joined by /";
}

struct verdict_reason {
    bool is_allowed;
    const char *what;
};

/* What is decided whatever the capabilities say; else `what` is NULL. */
static struct verdict_reason decide_by_kind(struct str kind)
{
    struct kind parsed;
    enum err err = kind_parse(kind, &parsed);

    if (err == ERR_RESERVED_NAMESPACE)
        return (struct verdict_reason){
            false, "system, system/... and presence are the gateway's alone"
        };
    if (err)
        return (struct verdict_reason){ false, why_malformed(kind) };
    if (kind_needs_capability(&parsed))
        return (struct verdict_reason){};
    return (struct verdict_reason){
        true, parsed.type == KIND_WITHDRAW
                  ? "taking back one's own proposal needs no capability"
                  : "it concerns only oneself and needs no capability"
    };
}

/* Reasons are worked out only for kinds that can be one. */
static struct str_list to_judge(struct str kind, struct str_list capabilities)
{
    return kind.len <= KIND_MAX_BYTES ? capabilities : (struct str_list){};
}

/* What the capabilities say together, and which of them says it. */
struct tally {
    struct str kind;   /* in slashes */
    struct buf reason; /* of the one that was judged last */
    enum verdict verdict;
    struct str deciding;
    bool is_limited; /* the deciding one may be used only so often */
};

static enum verdict count(struct tally *tally, struct str capability, bool is_limited)
{
    enum verdict verdict;
    bool is_better;

    buf_clear(&tally->reason);
    verdict = judge(capability, tally->kind, &tally->reason);
    is_better = verdict == VERDICT_ALLOW ? tally->verdict != VERDICT_ALLOW
                                         : tally->verdict == VERDICT_DENY;
    if (verdict == VERDICT_DENY)
        return verdict;
    if (is_limited)
        buf_put(&tally->reason, S("; it may be used only so often"));
    if (is_better) {
        tally->verdict = verdict;
        tally->deciding = capability;
        tally->is_limited = is_limited;
    }
    return verdict;
}

static void put_capability(struct buf *out, struct str text)
{
    if (capability_text_is_object(text))
        buf_put(out, text);
    else
        put_quoted(out, text);
}

static void put_verdict(struct buf *out, const struct tally *tally)
{
    struct verdict_reason by_kind = decide_by_kind(tally->kind);

    if (by_kind.what) {
        buf_put(out, by_kind.is_allowed ? S("allowed: ") : S("refused: "));
        buf_put(out, str_of(by_kind.what));
        return;
    }
    switch (tally->verdict) {
    case VERDICT_ALLOW:
        buf_put(out, S("allowed by "));
        put_capability(out, tally->deciding);
        if (tally->is_limited)
            buf_put(out, S(", which may be used only so often"));
        break;
    case VERDICT_INSPECT:
        buf_put(out,
                S("it depends on the payload: --envelope explains a whole envelope"));
        break;
    case VERDICT_DENY: buf_put(out, S("denied: no capability covers it")); break;
    }
}

static bool is_allowed(const struct tally *tally)
{
    struct verdict_reason by_kind = decide_by_kind(tally->kind);

    return by_kind.what ? by_kind.is_allowed : tally->verdict == VERDICT_ALLOW;
}

/* People ask in either spelling; the policy thinks in slashes. */
static struct str in_slashes(struct str kind, char *space)
{
    struct str slash = kind;

    if (pattern_dialect(kind) == DIALECT_DOTTED)
        (void)kind_to_slash(kind, space, &slash);
    return slash;
}

static void put_judged(struct buf *out, struct tally *tally, struct str_list list,
                       bool is_limited)
{
    static const struct str words[] = { [VERDICT_DENY] = S("  no: "),
                                        [VERDICT_ALLOW] = S("  yes: "),
                                        [VERDICT_INSPECT] = S("  perhaps: ") };

    for (size_t i = 0; i < list.count; i++) {
        enum verdict verdict = count(tally, list.items[i], is_limited);

        buf_put(out, S("  "));
        put_capability(out, list.items[i]);
        buf_put(out, words[verdict]);
        buf_put(out, buf_str(&tally->reason));
        buf_putc(out, '\n');
    }
}

/* What comes after the capabilities: policy and brake. */
struct governed {
    bool is_asked; /* there is something to say */
    bool is_let;   /* a proposal that no capability names, and that is asked for */
    bool passes;
    struct buf words; /* to be freed */
};

static void govern(const struct policy_question *q, const struct tally *tally,
                   struct governed *ret)
{
    struct arena arena;
    struct kind kind;
    struct regime_case about = { .kind = &kind, .arena = &arena };

    *ret = (struct governed){ .passes = true };
    buf_init(&ret->words, REASON_MAX_BYTES);
    if (!regime_governs(q->regime) || kind_parse(tally->kind, &kind))
        return;
    arena_init(&arena, ARENA_BYTES);
    if (is_allowed(tally)) {
        ret->is_asked = kind_needs_capability(&kind);
        if (ret->is_asked)
            ret->passes = regime_explain(q->regime, &about, &ret->words);
    } else if (regime_lets_propose(q->regime, &about, q->capabilities) ||
               regime_lets_propose(q->regime, &about, q->limited)) {
        ret->is_asked = ret->is_let = true;
        buf_put(&ret->words, S("the request is allowed and has to be proposed here, so "
                               "this may be sent"));
    }
    arena_done(&arena);
}

static bool may_be_sent(const struct tally *tally, const struct governed *governed)
{
    return governed->is_let || (is_allowed(tally) && governed->passes);
}

bool policy_explain(const struct policy_question *q, struct buf *out)
{
    char space[KIND_MAX_BYTES];
    struct tally tally = { .kind = in_slashes(q->kind, space) };
    struct governed governed;

    buf_init(&tally.reason, REASON_MAX_BYTES);
    put_quoted(out, q->kind);
    buf_putc(out, '\n');
    put_judged(out, &tally, to_judge(q->kind, q->capabilities), false);
    put_judged(out, &tally, to_judge(q->kind, q->limited), true);
    put_verdict(out, &tally);
    buf_putc(out, '\n');
    govern(q, &tally, &governed);
    if (governed.is_asked) {
        buf_put(out, governed.passes ? S("policy: ") : S("refused by policy: "));
        buf_put(out, buf_str(&governed.words));
        buf_putc(out, '\n');
    }
    buf_done(&governed.words);
    buf_done(&tally.reason);
    return may_be_sent(&tally, &governed);
}

static void write_judged(struct json_writer *w, struct tally *tally, struct str_list list,
                         bool is_limited)
{
    for (size_t i = 0; i < list.count; i++) {
        enum verdict verdict = count(tally, list.items[i], is_limited);

        json_object_open(w);
        json_key(w, S("pattern"));
        capability_text_write(list.items[i], w);
        json_put_bool(w, S("covers"), verdict == VERDICT_ALLOW);
        if (verdict == VERDICT_INSPECT)
            json_put_bool(w, S("payload_decides"), true);
        if (is_limited)
            json_put_bool(w, S("limited"), true);
        json_put_str(w, S("reason"), buf_str(&tally->reason));
        json_object_close(w);
    }
}

bool policy_explain_json(const struct policy_question *q, struct buf *out)
{
    char space[KIND_MAX_BYTES];
    struct tally tally = { .kind = in_slashes(q->kind, space) };
    struct governed governed;
    struct json_writer w;

    buf_init(&tally.reason, REASON_MAX_BYTES);
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("kind"), q->kind);
    json_key(&w, S("capabilities"));
    json_array_open(&w);
    write_judged(&w, &tally, to_judge(q->kind, q->capabilities), false);
    write_judged(&w, &tally, to_judge(q->kind, q->limited), true);
    json_array_close(&w);
    buf_clear(&tally.reason);
    put_verdict(&tally.reason, &tally);
    govern(q, &tally, &governed);
    json_put_bool(&w, S("allowed"), may_be_sent(&tally, &governed));
    json_put_str(&w, S("reason"), buf_str(&tally.reason));
    if (governed.is_asked)
        json_put_str(&w, S("policy"), buf_str(&governed.words));
    json_object_close(&w);
    buf_done(&governed.words);
    buf_done(&tally.reason);
    return may_be_sent(&tally, &governed);
}
