/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a journal that has become too long. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "orchestrate/journal.h"
#include "rules/rulebook.h"

static const uint64_t day_ms = 86'400'000;
enum {
    IDS_BYTES = JOURNAL_BYTES,
    OPEN_DAYS = 2, /* by then a proposal is over, whether its end was heard or not */
};

/* What makes room first, if there must be some: what anybody can have written without end
 * goes before what people said, and a no of theirs never goes. */
enum worth {
    WORTH_COUNT,    /* what rules did, or would have done */
    WORTH_OPEN,     /* proposals */
    WORTH_APPROVAL, /* what was learned */
    WORTH_RULE,     /* suggested, or not wanted */
    WORTH_ALL,
};

/* A line that may stay. */
struct kept {
    struct str line; /* with its newline */
    enum worth worth;
    bool is_gone;
};

struct compacting {
    const struct journal_terms *terms;
    struct kept *lines;
    size_t count, room;
    struct map open;   /* proposals: where their line is, as a struct kept index + 1 */
    struct arena ids;  /* their keys */
    struct arena tree; /* of a line */
    size_t bytes;      /* of the lines that stay */
    struct buf heard;  /* the last `after` */
    uint64_t heard_ms;
};

static bool is_younger(const struct compacting *c, uint64_t at_ms, uint64_t than_ms)
{
    return at_ms + than_ms > c->terms->now_ms;
}

/* Beside what is over: how long it is of use. */
static bool is_worth(const struct compacting *c, const struct journal_entry *e)
{
    switch (e->type) {
    case JOURNAL_TOPIC: return true;
    case JOURNAL_PROPOSED: return is_younger(c, e->at_ms, OPEN_DAYS * day_ms);
    case JOURNAL_DECIDED:
        return is_younger(c, e->at_ms,
                          e->decision.verdict == DECISION_APPROVED
                              ? c->terms->window_ms
                              : c->terms->rejections_ms);
    case JOURNAL_SUGGESTED:
    case JOURNAL_UNWANTED:
        return is_younger(c, e->at_ms, RULEBOOK_DECLINED_DAYS * day_ms);
    case JOURNAL_WOULD:
    case JOURNAL_SHADOW:
    case JOURNAL_USED: return is_younger(c, e->at_ms, c->terms->window_ms);
    case JOURNAL_ENDED:
    case JOURNAL_HEARD:
    case JOURNAL_TYPE_COUNT: break;
    }
    return false;
}

static enum worth worth_of(const struct journal_entry *e)
{
    switch (e->type) {
    case JOURNAL_WOULD:
    case JOURNAL_SHADOW:
    case JOURNAL_USED: return WORTH_COUNT;
    case JOURNAL_PROPOSED: return WORTH_OPEN;
    case JOURNAL_DECIDED:
        return e->decision.verdict == DECISION_APPROVED ? WORTH_APPROVAL : WORTH_ALL;
    case JOURNAL_SUGGESTED:
    case JOURNAL_UNWANTED: return WORTH_RULE;
    case JOURNAL_TOPIC:
    case JOURNAL_ENDED:
    case JOURNAL_HEARD:
    case JOURNAL_TYPE_COUNT: break;
    }
    return WORTH_ALL;
}

static void strike(struct compacting *c, struct kept *line)
{
    if (!line->is_gone)
        c->bytes -= line->line.len;
    line->is_gone = true;
}

static void end_proposal(struct compacting *c, struct str id)
{
    void *at = map_remove(&c->open, id);

    if (at)
        strike(c, &c->lines[(uintptr_t)at - 1]);
}

static void keep(struct compacting *c, struct str line, const struct journal_entry *e)
{
    if (c->count == c->room) {
        c->room = c->room ? 2 * c->room : 1024;
        c->lines = xrealloc(c->lines, c->room * sizeof(*c->lines));
    }
    c->lines[c->count++] = (struct kept){ .line = line, .worth = worth_of(e) };
    c->bytes += line.len;
}

static void weigh(struct compacting *c, struct str line, const struct journal_entry *e)
{
    struct str id;

    if (e->after.len) {
        buf_clear(&c->heard);
        buf_put(&c->heard, e->after);
    }
    c->heard_ms = e->at_ms;
    if (e->type == JOURNAL_ENDED || e->type == JOURNAL_DECIDED)
        end_proposal(c, e->type == JOURNAL_ENDED ? e->proposal : e->decision.id);
    if (!is_worth(c, e))
        return;
    keep(c, line, e);
    if (e->type != JOURNAL_PROPOSED)
        return;
    end_proposal(c, e->proposal); /* told twice */
    id = arena_str(&c->ids, e->proposal);
    if (id.ptr)
        map_set(&c->open, id, (void *)(uintptr_t)c->count);
}

static enum err read_all(struct compacting *c, struct str text)
{
    struct str rest = journal_whole(text);

    while (rest.len) {
        const char *begin = rest.ptr;
        struct str line = str_cut(&rest, '\n');
        struct journal_entry entry;

        arena_reset(&c->tree);
        if (journal_read(line, c->terms->topic, &c->tree, &entry))
            return ERR_INVALID;
        weigh(c, (struct str){ begin, line.len + 1 }, &entry);
    }
    return OK;
}

/* The oldest of those that are worth least. */
static enum err make_room(struct compacting *c, size_t reserved)
{
    for (enum worth worth = WORTH_COUNT; worth < WORTH_ALL; worth++)
        for (size_t i = 0; i < c->count && c->bytes + reserved > c->terms->max; i++)
            if (c->lines[i].worth == worth)
                strike(c, &c->lines[i]);
    return c->bytes + reserved > c->terms->max ? ERR_OVERLOAD : OK;
}

static enum err write_all(struct compacting *c, struct buf *out)
{
    CLEANUP(buf_done) struct buf last;
    enum err err;

    buf_init(&last, JOURNAL_LINE);
    if (c->heard.len)
        journal_put(&last, &(struct journal_entry){ .type = JOURNAL_HEARD,
                                                    .at_ms = c->heard_ms,
                                                    .after = buf_str(&c->heard) });
    err = make_room(c, last.len);
    if (err)
        return err;
    for (size_t i = 0; i < c->count; i++)
        if (!c->lines[i].is_gone)
            buf_put(out, c->lines[i].line);
    buf_put(out, buf_str(&last));
    return out->is_full ? ERR_OVERLOAD : OK;
}

enum err journal_compact(struct str text, const struct journal_terms *terms,
                         struct buf *out)
{
    struct compacting c = { .terms = terms };
    enum err err;

    map_init(&c.open);
    arena_init(&c.ids, IDS_BYTES);
    arena_init(&c.tree, JOURNAL_TREE);
    buf_init(&c.heard, JOURNAL_LINE);
    err = read_all(&c, text);
    if (!err)
        err = write_all(&c, out);
    buf_done(&c.heard);
    arena_done(&c.tree);
    arena_done(&c.ids);
    map_done(&c.open);
    free(c.lines);
    return err;
}
