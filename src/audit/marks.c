/* SPDX-License-Identifier: Apache-2.0 */
/* Marks: a letter for what is meant, and a hash of its text. */
#include "audit/marks.h"

#include "base/cleanup.h"
#include "base/hash.h"

enum mark {
    MARK_TOPIC = 't',
    MARK_PARTICIPANT = 'p',
    MARK_EVENT = 'e',
    MARK_VERDICT = 'v',
    MARK_KIND = 'k',
    MARK_KINDS = 'q', /* all that begin so */
    MARK_LINK = 'i',
};

/* Not secret: whoever finds two texts of one mark makes us check a candidate more. An
 * index of another key would have to be built anew. */
static const struct hash_key mark_key = { 0x6d6f6f7420617564, 0x6974206d61726b73 };

static struct str write_mark(enum mark mark, struct str text, char out[static AUDIT_MARK])
{
    static const char digits[] = "0123456789abcdef";
    uint64_t hash = hash_of(&mark_key, text);

    out[0] = ':';
    out[1] = (char)mark;
    for (size_t i = 2; i < AUDIT_MARK; i++, hash <<= 4)
        out[i] = digits[hash >> 60];
    return (struct str){ out, AUDIT_MARK };
}

static void put_mark(struct buf *out, enum mark mark, struct str text)
{
    char space[AUDIT_MARK];

    buf_put(out, write_mark(mark, text, space));
    buf_putc(out, ' ');
}

static bool ends_part(char c)
{
    return c == '/' || c == ':';
}

static void put_beginnings(struct buf *out, struct str kind)
{
    for (size_t i = 0; i < kind.len; i++)
        if (ends_part(kind.ptr[i]))
            put_mark(out, MARK_KINDS, str_slice(kind, 0, i + 1));
}

void audit_marks(const struct audit_record *record, struct buf *out)
{
    put_mark(out, MARK_EVENT, audit_event_name(record->event));
    put_mark(out, MARK_TOPIC, record->topic);
    put_mark(out, MARK_PARTICIPANT, record->participant);
    put_mark(out, MARK_VERDICT, record->verdict);
    put_mark(out, MARK_KIND, record->kind);
    put_beginnings(out, record->kind);
    if (record->id.len)
        put_mark(out, MARK_LINK, record->id);
    if (record->correlation.len && !str_eq(record->id, record->correlation))
        put_mark(out, MARK_LINK, record->correlation);
}

/* A beginning that ends elsewhere is looked for by the longest that has a mark. */
static void put_kind(struct buf *out, struct str kind)
{
    if (!str_ends(kind, S("*"))) {
        put_mark(out, MARK_KIND, kind);
        return;
    }
    kind.len--;
    while (kind.len && !ends_part(kind.ptr[kind.len - 1]))
        kind.len--;
    if (kind.len)
        put_mark(out, MARK_KINDS, kind);
}

void audit_query_marks(const struct audit_query *query, struct buf *out)
{
    const struct {
        enum mark mark;
        struct str text;
    } exact[] = {
        { MARK_EVENT, query->event },
        { MARK_TOPIC, query->topic },
        { MARK_PARTICIPANT, query->participant },
        { MARK_VERDICT, query->verdict },
    };

    for (size_t i = 0; i < COUNT(exact); i++)
        if (exact[i].text.ptr)
            put_mark(out, exact[i].mark, exact[i].text);
    if (query->kind.ptr)
        put_kind(out, query->kind);
}

struct str audit_link_mark(struct str id, char out[static AUDIT_MARK])
{
    return write_mark(MARK_LINK, id, out);
}
