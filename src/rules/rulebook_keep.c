/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of a book as they are kept, one by one, and as they come back. */
#include "base/clock.h"
#include "rules/rulebook_priv.h"

enum {
    TREE_BYTES = 16 << 20,
    /* What was judged fits in here with all that was said about it since. */
    KEPT_BYTES = RULEBOOK_BYTES + RULEBOOK_RULES * PAGE_MARGIN,
};

void held_rule_write(const struct held_rule *held, struct json_writer *w)
{
    json_object_open(w);
    json_key(w, S("rule"));
    rule_write(w, &held->rule);
    json_put_given(w, S("changed_by"), held->changed_by);
    json_put_given_time(w, S("changed_at"), held->changed_ms);
    json_put_given(w, S("reason"), held->reason);
    json_put_uint(w, S("uses"), held->uses);
    json_put_given_time(w, S("last_use"), held->last_use_ms);
    rule_hour_write(&held->hour, w);
    json_object_close(w);
}

/* --- back --- */

struct said {
    const struct json *rule, *by_minute;
    struct str changed_by, reason, changed_at, last_use, minute;
    uint64_t uses;
};

#define F(member, need) JSON_FIELD(struct said, member, need)
static const struct json_field said_fields[] = {
    F(rule, JSON_REQUIRED),   F(changed_by, JSON_OPTIONAL), F(changed_at, JSON_OPTIONAL),
    F(reason, JSON_OPTIONAL), F(uses, JSON_OPTIONAL),       F(last_use, JSON_OPTIONAL),
    F(minute, JSON_OPTIONAL), F(by_minute, JSON_OPTIONAL),
};
#undef F

static enum err read_time(struct str text, uint64_t *ret)
{
    return text.ptr ? clock_parse(text, ret) : OK;
}

static enum err read_hour(const struct said *said, struct rule_hour *ret)
{
    uint64_t newest_ms;

    if (!said->by_minute && !said->minute.ptr)
        return OK;
    if (!said->by_minute || !said->minute.ptr || clock_parse(said->minute, &newest_ms))
        return ERR_INVALID;
    return rule_hour_read(newest_ms, said->by_minute, ret);
}

/* It borrows from the tree and the arena. */
static enum err read_held(const struct json *root, struct str text, struct arena *arena,
                          struct held_rule *ret)
{
    struct said said = {};
    enum err err;

    if (root->type != JSON_OBJECT)
        return ERR_INVALID;
    err = json_read(root, said_fields, COUNT(said_fields), arena, &said, NULL);
    if (!err)
        err = rule_read(said.rule, text, arena, &ret->rule, NULL);
    if (!err)
        err = read_time(said.changed_at, &ret->changed_ms);
    if (!err)
        err = read_time(said.last_use, &ret->last_use_ms);
    if (!err)
        err = read_hour(&said, &ret->hour);
    if (!err && (said.changed_by.len > RULE_NAME || said.reason.len > RULE_NOTE))
        err = ERR_INVALID;
    ret->changed_by = said.changed_by;
    ret->reason = said.reason;
    ret->uses = said.uses;
    return err;
}

/* What was declined makes room, as it would have made before. */
static bool has_room(struct rulebook *book, const struct page *fresh)
{
    while (book->count >= RULEBOOK_RULES ||
           rulebook_bytes(book) + page_cost(fresh) > KEPT_BYTES) {
        struct page *oldest = NULL;
        struct page *page;

        LIST_FOREACH(page, &book->pages, link)
            if (page->held.rule.state == RULE_DECLINED &&
                (!oldest || page->held.changed_ms < oldest->held.changed_ms))
                oldest = page;
        if (!oldest)
            return false;
        page_free(oldest);
        book->count--;
    }
    return true;
}

enum err rulebook_restore(struct rulebook *book, struct str text)
{
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(page_freep) struct page *page = NULL;
    struct held_rule held = {};
    const struct json *root;
    enum err err;

    arena_init(&arena, TREE_BYTES);
    if (text.len > RULEBOOK_TEXT)
        return ERR_TOO_BIG;
    err = json_parse(text, &arena, &root, NULL);
    if (!err)
        err = read_held(root, text, &arena, &held);
    if (!err && (!str_eq(held.rule.topic, book->topic) || book_find(book, held.rule.id)))
        err = ERR_INVALID;
    if (!err)
        err = page_new(&held, &page);
    if (!err && !has_room(book, page))
        err = ERR_OVERLOAD;
    if (!err)
        book_insert(book, TAKE(page));
    return err;
}
