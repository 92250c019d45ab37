/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tools fit some words. For each word a tool has what its best place is worth, more
 * the more often it stands there, but never as much as the next better place; and a word
 * counts the more the fewer tools have it (as in BM25). Only what one may see is counted,
 * so that nothing can be learnt of the rest.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "mcp/message.h"
#include "mcpdoor/showcase_priv.h"

enum {
    WORDS = 16,        /* of a query */
    WORD_BYTES = 64,   /* of each */
    READ_BYTES = 2048, /* of a description */
    SCRATCH = 1 << 20,
    SHORTEST_STEM = 3, /* that also counts as the beginning of a longer word */
};

enum place { IN_NAME, IN_TITLE, IN_DESCRIPTION, PLACES };
static const float worth[PLACES] = { 4, 2, 1 };

struct query {
    struct str words[WORDS];
    size_t count;
    size_t known[WORDS]; /* so many tools have it */
};

struct candidate {
    const struct show_item *item;
    size_t at; /* in lists */
    float times[WORDS][PLACES];
    float score;
};

/* --- words --- */

static bool is_letter(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (unsigned char)c >= 0x80;
}

static bool is_hump(char before, char c)
{
    return before >= 'a' && before <= 'z' && c >= 'A' && c <= 'Z';
}

/* read_file, readFile and "read file" are two words. "" at the end. */
static struct str next_word(struct str *rest)
{
    size_t from = 0, to;

    while (from < rest->len && !is_letter(rest->ptr[from]))
        from++;
    for (to = from; to < rest->len && is_letter(rest->ptr[to]); to++)
        if (to > from && is_hump(rest->ptr[to - 1], rest->ptr[to]))
            break;
    struct str word = str_slice(*rest, from, to);

    *rest = str_slice(*rest, to, rest->len);
    return word;
}

static bool has_word(const struct query *q, struct str word)
{
    for (size_t i = 0; i < q->count; i++)
        if (str_ieq(q->words[i], word))
            return true;
    return false;
}

static void read_query(struct query *q, struct str text)
{
    *q = (struct query){};
    while (q->count < WORDS) {
        struct str word = next_word(&text);

        if (!word.len)
            return;
        if (word.len <= WORD_BYTES && !has_word(q, word))
            q->words[q->count++] = word;
    }
}

/* --- how well a tool fits --- */

static float likeness(struct str wanted, struct str word)
{
    if (word.len < wanted.len)
        return 0;
    if (!str_ieq(str_slice(word, 0, wanted.len), wanted))
        return 0;
    if (word.len == wanted.len)
        return 1;
    return wanted.len >= SHORTEST_STEM ? 0.5F : 0;
}

static void count_words(const struct query *q, struct candidate *c, struct str text,
                        enum place place)
{
    for (struct str word = next_word(&text); word.len; word = next_word(&text))
        for (size_t i = 0; i < q->count; i++)
            c->times[i][place] += likeness(q->words[i], word);
}

static void count_member(const struct query *q, struct candidate *c,
                         const struct str *path, size_t depth, enum place place)
{
    CLEANUP(arena_done) struct arena scratch;
    struct json_span found = mcp_message_find(
        (struct json_span){ .type = JSON_OBJECT, .text = c->item->shown.json }, path,
        depth);
    struct str text;

    arena_init(&scratch, SCRATCH);
    if (!found.text.len || found.type != JSON_STRING ||
        json_unescape(found, &scratch, &text))
        return;
    count_words(q, c, str_slice(text, 0, READ_BYTES), place);
}

static void count_all(struct query *q, struct candidate *c)
{
    count_words(q, c, c->item->shown.name, IN_NAME);
    count_member(q, c, &S("title"), 1, IN_TITLE);
    count_member(q, c, (const struct str[]){ S("annotations"), S("title") }, 2, IN_TITLE);
    count_member(q, c, &S("description"), 1, IN_DESCRIPTION);
    for (size_t i = 0; i < q->count; i++)
        if (c->times[i][IN_NAME] + c->times[i][IN_TITLE] + c->times[i][IN_DESCRIPTION] >
            0)
            q->known[i]++;
}

/* The logarithm to base two of how many have to be looked at to find one that has it,
 * near enough, and one. */
static float rarity(size_t all, size_t known)
{
    size_t ratio = (all + 1) / (known + 1);
    float log = 1;

    for (; ratio >= 2; ratio /= 2)
        log++;
    return log;
}

static void judge(const struct query *q, struct candidate *c, size_t all)
{
    for (size_t i = 0; i < q->count; i++) {
        float best = 0;

        for (size_t p = 0; p < PLACES; p++) {
            float times = c->times[i][p];
            float value = worth[p] * times / (times + 1);

            if (value > best)
                best = value;
        }
        c->score += best * rarity(all, q->known[i]);
    }
}

static int better_first(const void *a, const void *b)
{
    const struct candidate *one = a, *other = b;

    if (one->score != other->score)
        return one->score > other->score ? -1 : 1;
    return one->at < other->at ? -1 : 1;
}

/* --- all of them --- */

static struct candidate *gather(const struct showcase *s,
                                const struct showcase_view *view, struct query *q,
                                size_t *ret_count)
{
    struct candidate *all = NULL;
    const struct show_item *item = NULL;
    size_t count = 0, size = 0;

    while ((item = show_next(s, OFFER_TOOL, item)) != NULL) {
        if (!show_may(view, item))
            continue;
        if (count == size) {
            size = size ? 2 * size : 64;
            all = xrealloc(all, size * sizeof(*all));
        }
        all[count] = (struct candidate){ .item = item, .at = count };
        count_all(q, &all[count++]);
    }
    *ret_count = count;
    return all;
}

void showcase_search(const struct showcase *s, const struct showcase_view *view,
                     struct str words, size_t limit, struct buf *out)
{
    struct query q;
    size_t count = 0;
    CLEANUP(xfreep) struct candidate *all = NULL;

    read_query(&q, words);
    all = gather(s, view, &q, &count);
    for (size_t i = 0; i < count; i++)
        judge(&q, &all[i], count);
    if (count)
        qsort(all, count, sizeof(*all), better_first);
    buf_putc(out, '[');
    for (size_t i = 0; i < count && i < limit && all[i].score > 0; i++) {
        if (i)
            buf_putc(out, ',');
        show_put_item(out, all[i].item);
    }
    buf_putc(out, ']');
}
