/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/query.h"

#include "base/cleanup.h"
#include "base/clock.h"

enum err audit_terms_parse(struct str text, struct audit_terms *ret)
{
    char space[AUDIT_WORD_BYTES];
    struct str word;
    bool is_prefix;
    size_t at = 0;

    ret->count = 0;
    while (audit_next_word(text, &at, space, &word, &is_prefix)) {
        struct audit_term *term = &ret->items[ret->count];

        if (ret->count == AUDIT_MAX_WORDS)
            return ERR_TOO_BIG;
        memcpy(term->space, word.ptr, word.len);
        term->len = word.len;
        term->is_prefix = is_prefix;
        ret->count++;
    }
    return ret->count ? OK : ERR_INVALID;
}

/* "15m": how long ago. */
static enum err read_ago(struct str text, uint64_t now_ms, uint64_t *ret)
{
    static const struct {
        char unit;
        uint64_t ms;
    } units[] = {
        { 's', 1000 },     { 'm', 60000 },     { 'h', 3600000 },
        { 'd', 86400000 }, { 'w', 604800000 },
    };
    struct str digits = str_slice(text, 0, text.len ? text.len - 1 : 0);
    uint64_t count;

    if (str_to_u64(digits, 1000000, &count))
        return ERR_INVALID;
    for (size_t i = 0; i < COUNT(units); i++) {
        uint64_t ago = count * units[i].ms;

        if (text.ptr[digits.len] != units[i].unit)
            continue;
        *ret = now_ms > ago ? now_ms - ago : 1;
        return OK;
    }
    return ERR_INVALID;
}

enum err audit_time_parse(struct str text, uint64_t now_ms, uint64_t *ret)
{
    if (read_ago(text, now_ms, ret) == OK)
        return OK;
    if (clock_parse(text, ret))
        return ERR_INVALID;
    if (*ret == 0)
        *ret = 1; /* 0 is no bound */
    return OK;
}

static bool term_fits(const struct audit_term *term, struct str word)
{
    struct str wanted = { term->space, term->len };

    return term->is_prefix ? str_starts(word, wanted) : str_eq(word, wanted);
}

static bool text_fits(struct str text, struct str body)
{
    struct audit_word_scan scan = { .body = body };
    struct audit_terms terms;
    uint64_t open; /* a bit for each word that was not found yet */
    char space[AUDIT_WORD_BYTES];
    struct str word;

    _Static_assert(AUDIT_MAX_WORDS < 64, "a bit for each word");
    if (audit_terms_parse(text, &terms))
        return false;
    open = (UINT64_C(1) << terms.count) - 1;
    while (open && audit_next_body_word(&scan, space, &word))
        for (size_t i = 0; i < terms.count; i++)
            if (term_fits(&terms.items[i], word))
                open &= ~(UINT64_C(1) << i);
    return !open;
}

static bool is_or_any(struct str wanted, struct str value)
{
    return !wanted.ptr || str_eq(wanted, value);
}

static bool kind_fits(struct str wanted, struct str kind)
{
    if (str_ends(wanted, S("*")))
        return str_starts(kind, str_slice(wanted, 0, wanted.len - 1));
    return is_or_any(wanted, kind);
}

bool audit_query_fits(const struct audit_query *query, const struct audit_record *record)
{
    return record->at_ms >= query->since_ms &&
           (!query->until_ms || record->at_ms < query->until_ms) &&
           is_or_any(query->event, audit_event_name(record->event)) &&
           is_or_any(query->topic, record->topic) &&
           is_or_any(query->participant, record->participant) &&
           is_or_any(query->verdict, record->verdict) &&
           kind_fits(query->kind, record->kind) &&
           (!query->text.ptr || text_fits(query->text, record->body));
}
