/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/people.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "tui/pretty.h"

enum { ARENA_BYTES = 16 << 20, WORDS_BYTES = 256, TEXT_BYTES = 1 << 20 };

/* What a word stands for: a pattern that is one of `whole` allows all of it, another one
 * with this prefix some. Without a prefix there is nothing between all and none. */
struct word {
    const char *word;
    const char *prefix;
    const char *whole[3];
};

/* clang-format off */
static const struct word words[] = {
    { "everything", NULL,            { "*" } },
    { "talks",      "chat",          { "chat" } },
    { "all of mcp", NULL,            { "mcp/*" } },
    { "calls",      "mcp/request:",  { "mcp/request:*", "mcp/request:tools/*", "mcp/request:tools/call" } },
    { "proposes",   "mcp/proposal:", { "mcp/proposal:*", "mcp/proposal:tools/*", "mcp/proposal:tools/call" } },
    { "answers",    "mcp/response:", { "mcp/response:*", "mcp/response:tools/*", "mcp/response:tools/call" } },
    { "rejects",    "mcp/reject",    { "mcp/reject" } },
    { "grants",     "capability/",   { "capability/grant", "capability/*" } },
    { "moderates",  NULL,            { "participant/*", "participant/pause", "participant/kick" } },
    { "invites",    "topic/",        { "topic/invite", "topic/*" } },
};
/* clang-format on */

void people_clear(struct people *people)
{
    for (size_t i = 0; i < people->count; i++) {
        free(people->list[i].id);
        free(people->list[i].type);
        free(people->list[i].rights);
    }
    people->count = 0;
    people->total = 0;
}

void people_done(struct people *people)
{
    people_clear(people);
    free(people->list);
    free(people->chosen);
    *people = (struct people){};
}

void people_add(struct people *people, struct str id, struct str type,
                struct str capabilities)
{
    struct buf rights;

    people->total++;
    if (people->count == PEOPLE_MAX)
        return;
    if (!people->list)
        people->list = xcalloc(PEOPLE_MAX, sizeof(*people->list));
    buf_init(&rights, WORDS_BYTES);
    people_put_rights(&rights, capabilities);
    people->list[people->count++] = (struct person){
        .id = str_dup(id),
        .type = str_dup(type),
        .rights = str_dup(buf_str(&rights)),
    };
    buf_done(&rights);
}

/* --- order --- */

static int rank(const struct person *person)
{
    static const char *const types[] = { "human", "agent", "service" };

    if (person->is_me)
        return -1;
    for (size_t i = 0; i < COUNT(types); i++)
        if (strcmp(person->type, types[i]) == 0)
            return (int)i;
    return COUNT(types);
}

static int compare(const void *a, const void *b)
{
    const struct person *x = a;
    const struct person *y = b;
    int difference = rank(x) - rank(y);

    return difference ? difference : strcmp(x->id, y->id);
}

void people_sort(struct people *people, struct str me)
{
    for (size_t i = 0; i < people->count; i++)
        people->list[i].is_me = str_eq(str_of(people->list[i].id), me);
    if (people->count)
        qsort(people->list, people->count, sizeof(*people->list), compare);
}

size_t people_chosen(const struct people *people)
{
    for (size_t i = 0; people->chosen && i < people->count; i++)
        if (strcmp(people->list[i].id, people->chosen) == 0)
            return i;
    return 0;
}

static void choose(struct people *people, size_t at)
{
    free(people->chosen);
    people->chosen = xstrdup(people->list[at].id);
    people->scroll = 0;
}

void people_move(struct people *people, int by)
{
    size_t at = people_chosen(people);

    if (people->count == 0)
        return;
    if (by < 0)
        at -= (size_t)-by < at ? (size_t)-by : at;
    else
        at += (size_t)by;
    choose(people, at < people->count ? at : people->count - 1);
}

bool people_choose(struct people *people, struct str id)
{
    for (size_t i = 0; i < people->count; i++)
        if (str_eq(str_of(people->list[i].id), id)) {
            choose(people, i);
            return true;
        }
    return false;
}

/* --- what they may do --- */

enum extent { NONE, SOME, ALL };

/* An object has conditions, so it never allows all. */
static enum extent extent_of(const struct word *word, const struct json *capability)
{
    const struct json *kind = json_find(capability, S("kind"));
    struct str pattern = kind ? kind->text : capability->text;

    if ((kind ? kind : capability)->type != JSON_STRING ||
        str_starts(pattern, S("mcp/request:notifications/"))) /* they call nothing */
        return NONE;
    for (size_t i = 0; i < COUNT(word->whole) && word->whole[i]; i++)
        if (str_eq(pattern, str_of(word->whole[i])))
            return kind ? SOME : ALL;
    return word->prefix && str_starts(pattern, str_of(word->prefix)) ? SOME : NONE;
}

/* Words behind one that says all of it say nothing more. */
static bool is_said(const struct buf *out, const struct word *word)
{
    struct str said = buf_str(out);

    return str_eq(said, S("everything")) || (str_ends(said, S("all of mcp")) &&
                                             str_starts(str_of(word->prefix), S("mcp/")));
}

static void put_word(struct buf *out, const struct word *word, const struct json *list)
{
    enum extent most = NONE;

    JSON_FOREACH(capability, list) {
        enum extent extent = extent_of(word, capability);

        most = extent > most ? extent : most;
    }
    if (most == NONE || is_said(out, word))
        return;
    if (out->len)
        buf_put(out, S(", "));
    buf_put(out, str_of(word->word));
    if (most == SOME)
        buf_put(out, S(" some"));
}

void people_put_rights(struct buf *out, struct str capabilities)
{
    const struct json *list;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (json_parse(capabilities, &arena, &list, NULL) == OK && list->type == JSON_ARRAY)
        for (size_t i = 0; i < COUNT(words); i++)
            put_word(out, &words[i], list);
    arena_done(&arena);
}

static void put_capability(struct buf *out, const struct json *capability)
{
    struct buf text;

    buf_init(&text, TEXT_BYTES);
    if (capability->type == JSON_STRING)
        plain_put(&text, capability->text, PLAIN_LINE);
    else
        (void)pretty_put(&text, capability->raw, PRETTY_LINES); /* it was parsed */
    buf_put(out, buf_str(&text));
    buf_putc(out, '\n');
    buf_done(&text);
}

void people_put_capabilities(struct buf *out, struct str capabilities)
{
    const struct json *list;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (json_parse(capabilities, &arena, &list, NULL) == OK && list->type == JSON_ARRAY)
        JSON_FOREACH(capability, list)
            put_capability(out, capability);
    arena_done(&arena);
}
