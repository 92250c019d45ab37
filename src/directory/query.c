/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/query.h"

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/utf8.h"
#include "crypto/crypto.h"

enum { CURSOR_BYTES = 13, CURSOR_VERSION = 1 };

#define MAX_HOURLY 1e15

static enum err refuse(struct resource_problem *problem, const char *field,
                       const char *what)
{
    if (problem)
        *problem = (struct resource_problem){ .field = str_of(field), .what = what };
    return ERR_INVALID;
}

/* --- numbers --- */

static bool hourly(struct str amount, double hours, uint64_t *ret)
{
    double value;

    if (decimal_parse(amount, &value) || value < 0)
        return false;
    value = value * 1e6 / hours;
    *ret = value < MAX_HOURLY ? (uint64_t)(value + 0.5) : (uint64_t)MAX_HOURLY;
    return true;
}

bool resource_hourly(const struct resource_rate *rate, uint64_t *ret)
{
    static const double hours[] = {
        [RESOURCE_HOUR] = 1,
        [RESOURCE_DAY] = 8,
        [RESOURCE_MONTH] = 160,
    };

    return rate->amount.len && hourly(rate->amount, hours[rate->per], ret);
}

static uint64_t read_number(const char *bytes, size_t count)
{
    uint64_t number = 0;

    for (size_t i = 0; i < count; i++)
        number = number << 8 | (uint8_t)bytes[i];
    return number;
}

uint64_t resource_rank(const struct resource *resource)
{
    uint8_t hash[SHA256_BYTES];
    uint64_t available = resource_availability_rank(resource->availability);

    crypto_sha256(resource->id, hash);
    return available << RESOURCE_RANK_BITS |
           read_number((const char *)hash, 8) >> (64 - RESOURCE_RANK_BITS);
}

void directory_ranks(const struct directory_ask *ask, uint64_t *ret_first,
                     uint64_t *ret_end)
{
    uint64_t available = resource_availability_rank(ask->query->availability);

    *ret_first = 0;
    *ret_end = INT64_MAX;
    if (!ask->query->availability.len)
        return;
    *ret_first = available << RESOURCE_RANK_BITS;
    *ret_end = (available + 1) << RESOURCE_RANK_BITS;
}

/* --- cursors: a version, the score, the rank --- */

static void put_number(char *out, uint64_t number, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (char)(number >> (8 * (count - 1 - i)));
}

void directory_cursor_write(struct buf *out, const struct directory_place *place)
{
    char bytes[CURSOR_BYTES] = { CURSOR_VERSION };

    put_number(bytes + 1, place->score, 4);
    put_number(bytes + 5, place->rank, 8);
    base64url_write(out, (struct str){ bytes, sizeof(bytes) });
}

enum err directory_cursor_parse(struct str text, struct directory_place *ret)
{
    struct buf bytes;
    enum err err = ERR_INVALID;

    buf_init(&bytes, CURSOR_BYTES);
    if (text.len <= DIRECTORY_CURSOR && base64url_parse(text, &bytes) == OK &&
        bytes.len == CURSOR_BYTES && bytes.ptr[0] == CURSOR_VERSION &&
        read_number(bytes.ptr + 5, 8) <= INT64_MAX) {
        ret->score = (uint32_t)read_number(bytes.ptr + 1, 4);
        ret->rank = read_number(bytes.ptr + 5, 8);
        err = OK;
    }
    buf_done(&bytes);
    return err;
}

/* --- words --- */

enum fillers { WITHOUT_FILLERS, WITH_FILLERS };

static bool has_term(const struct directory_ask *ask, struct str stem)
{
    for (size_t i = 0; i < ask->term_count; i++)
        if (str_eq(stem, (struct str){ ask->terms[i].stem, ask->terms[i].stem_len }))
            return true;
    return false;
}

static void add_term(struct directory_ask *ask, struct str word)
{
    struct directory_term *term = &ask->terms[ask->term_count];
    struct str stem = directory_stem(word, term->stem);

    if (has_term(ask, stem))
        return;
    memcpy(term->word, word.ptr, word.len);
    term->word_len = word.len;
    term->stem_len = stem.len;
    term->may_begin = false;
    ask->term_count++;
}

/* The end of a text may be the beginning of what somebody is still typing. */
static void mark_last(struct directory_ask *ask, struct str last)
{
    for (size_t i = 0; i < ask->term_count; i++) {
        struct directory_term *term = &ask->terms[i];

        if (str_eq(last, (struct str){ term->word, term->word_len }))
            term->may_begin = utf8_count(last) >= DIRECTORY_PREFIX;
    }
}

static void read_terms(struct directory_ask *ask, enum fillers fillers)
{
    char space[DIRECTORY_WORD];
    struct str word = {};
    size_t at = 0;

    ask->term_count = 0;
    while (ask->term_count < DIRECTORY_TERMS &&
           directory_next_word(ask->query->text, &at, space, &word))
        if (fillers == WITH_FILLERS || !directory_is_filler(word))
            add_term(ask, word);
    if (word.ptr)
        mark_last(ask, word);
}

static size_t count_words(struct str text)
{
    char space[DIRECTORY_WORD];
    struct str word;
    size_t at = 0, count = 0;

    while (directory_next_word(text, &at, space, &word))
        count++;
    return count;
}

/* --- all of it --- */

static enum err check_skills(const struct str_list *skills,
                             struct resource_problem *problem)
{
    if (skills->count > DIRECTORY_SKILLS)
        return refuse(problem, "skills", "has more than 16 items");
    for (size_t i = 0; i < skills->count; i++)
        if (!skills->items[i].len || skills->items[i].len > RESOURCE_WORD)
            return refuse(problem, "skills", "has an item that is not 1 to 64 bytes");
    return OK;
}

static enum err check_filters(const struct directory_query *query,
                              struct resource_problem *problem)
{
    if (query->text.len > DIRECTORY_TEXT)
        return refuse(problem, "query", "is longer than 4096 bytes");
    if (!utf8_is_valid(query->text))
        return refuse(problem, "query", "is not UTF-8");
    if (query->availability.len > RESOURCE_WORD)
        return refuse(problem, "availability", "is longer than 64 bytes");
    if (query->kind.len && !str_ieq(query->kind, S("human")) &&
        !str_ieq(query->kind, S("agent")))
        return refuse(problem, "kind", "is neither \"human\" nor \"agent\"");
    if (query->location.len > RESOURCE_NAME)
        return refuse(problem, "location", "is longer than 256 bytes");
    if (count_words(query->location) > DIRECTORY_PLACES)
        return refuse(problem, "location", "has more than 8 words");
    if (query->currency.len && query->currency.len != 3)
        return refuse(problem, "currency", "is not three letters");
    if (query->members.count > DIRECTORY_MEMBERS)
        return refuse(problem, "team", "has too many members");
    if (query->limit > DIRECTORY_PAGE)
        return refuse(problem, "limit", "is not 1 to 100");
    return check_skills(&query->skills, problem);
}

enum err directory_ask_read(const struct directory_query *query,
                            struct directory_ask *ret, struct resource_problem *problem)
{
    enum err err = check_filters(query, problem);

    if (err)
        return err;
    *ret = (struct directory_ask){
        .query = query,
        .limit = query->limit ? query->limit : DIRECTORY_PRESET_PAGE,
        .has_text = str_trim(query->text).len > 0,
        .has_max_rate = query->max_rate.len > 0,
        .has_cursor = query->cursor.len > 0,
    };
    if (ret->has_max_rate && !hourly(query->max_rate, 1, &ret->max_hourly))
        return refuse(problem, "max_rate", "is no number, or below 0");
    if (ret->has_cursor && directory_cursor_parse(query->cursor, &ret->after))
        return refuse(problem, "cursor", "is not one that an answer had");
    read_terms(ret, WITHOUT_FILLERS);
    if (!ret->term_count)
        read_terms(ret, WITH_FILLERS);
    return OK;
}
