/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/match.h"

#include "base/cleanup.h"
#include "crypto/crypto.h"

static const unsigned weights[] = {
#define X(name, weight, letter) [DIRECTORY_##name] = weight,
    DIRECTORY_CLASSES(X)
#undef X
};

static const char letters[] = {
#define X(name, weight, letter) [DIRECTORY_##name] = letter,
    DIRECTORY_CLASSES(X)
#undef X
};

unsigned directory_weight(enum directory_class place)
{
    return weights[place];
}

char directory_letter(enum directory_class place)
{
    return letters[place];
}

/* --- going through the words of a resource --- */

struct seen {
    struct str word, stem;
    enum directory_class place;
    size_t skill; /* in which, for DIRECTORY_SKILL */
};

struct walk {
    void (*on_word)(struct walk *self, const struct seen *seen);
    size_t skill;
};

static void walk_text(struct walk *walk, enum directory_class place, struct str text)
{
    char space[DIRECTORY_WORD], stem[DIRECTORY_WORD];
    struct seen seen = { .place = place, .skill = walk->skill };
    size_t at = 0;

    while (directory_next_word(text, &at, space, &seen.word)) {
        if (place == DIRECTORY_PROFILE && directory_is_filler(seen.word))
            continue;
        seen.stem = directory_stem(seen.word, stem);
        walk->on_word(walk, &seen);
    }
}

static void walk_resource(struct walk *walk, const struct resource *resource)
{
    for (size_t i = 0; i < resource->skills.count; i++) {
        walk->skill = i;
        walk_text(walk, DIRECTORY_SKILL, resource->skills.items[i]);
    }
    walk_text(walk, DIRECTORY_ROLE, resource->role);
    walk_text(walk, DIRECTORY_NAME, resource->name);
    walk_text(walk, DIRECTORY_PLACE, resource->location);
    for (size_t i = 0; i < resource->languages.count; i++)
        walk_text(walk, DIRECTORY_PLACE, resource->languages.items[i]);
    walk_text(walk, DIRECTORY_PLACE, resource->availability);
    walk_text(walk, DIRECTORY_PLACE, resource->time_zone);
    walk_text(walk, DIRECTORY_PROFILE, resource_kind_name(resource->kind));
    walk_text(walk, DIRECTORY_PROFILE, resource->profile);
}

/* --- marks of words --- */

/* Running text is found by stems alone, so that the index stays small. */
static bool has_whole_words(enum directory_class place)
{
    return place > DIRECTORY_PROFILE;
}

struct marking {
    struct walk walk;
    struct buf *out;
};

static void put_marks(struct buf *out, enum directory_class place, struct str word)
{
    for (size_t i = 0; i <= (size_t)place; i++) {
        buf_putc(out, letters[i]);
        buf_put(out, word);
        buf_putc(out, ' ');
    }
}

static void mark_word(struct walk *self, const struct seen *seen)
{
    struct marking *marking = CONTAINER_OF(self, struct marking, walk);

    put_marks(marking->out, seen->place, seen->stem);
    if (has_whole_words(seen->place) && !str_eq(seen->word, seen->stem))
        put_marks(marking->out, seen->place, seen->word);
}

/* --- marks of filters --- */

static char small(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c | 0x20);
    return c;
}

/* A text of any characters: two that differ by the case of ASCII only have the same. */
static void put_hash(struct buf *out, char letter, struct str text)
{
    char folded[RESOURCE_WORD];
    uint8_t hash[SHA256_BYTES];
    size_t len = text.len < sizeof(folded) ? text.len : sizeof(folded);

    for (size_t i = 0; i < len; i++)
        folded[i] = small(text.ptr[i]);
    crypto_sha256((struct str){ folded, len }, hash);
    buf_putc(out, letter);
    hex_write(out, (struct str){ (const char *)hash, 8 });
}

static void put_words(struct buf *out, struct str text, const char *behind)
{
    char space[DIRECTORY_WORD];
    struct str word;
    size_t at = 0;

    while (directory_next_word(text, &at, space, &word)) {
        buf_putc(out, 'l');
        buf_put(out, word);
        buf_put(out, str_of(behind));
    }
}

/* It is three letters. */
static void put_currency(struct buf *out, struct str currency)
{
    char folded[3];

    if (currency.len != sizeof(folded))
        return;
    for (size_t i = 0; i < sizeof(folded); i++)
        folded[i] = small(currency.ptr[i]);
    put_hash(out, 'x', (struct str){ folded, sizeof(folded) });
    buf_putc(out, ' ');
}

void directory_marks(const struct resource *resource, struct buf *out)
{
    struct marking marking = { .walk.on_word = mark_word, .out = out };

    walk_resource(&marking.walk, resource);
    put_words(out, resource->location, " ");
    for (size_t i = 0; i < resource->skills.count; i++) {
        put_hash(out, 'f', resource->skills.items[i]);
        buf_putc(out, ' ');
    }
    if (resource->rate.amount.len)
        put_currency(out, resource->rate.currency);
    if (resource_availability_rank(resource->availability) == RESOURCE_OTHERWISE) {
        put_hash(out, 'v', resource->availability);
        buf_putc(out, ' ');
    }
    buf_putc(out, 'k');
    buf_put(out, resource_kind_name(resource->kind));
}

void directory_filter_marks(const struct directory_ask *ask, struct buf *out)
{
    const struct directory_query *query = ask->query;

    for (size_t i = 0; i < query->skills.count; i++) {
        put_hash(out, 'f', query->skills.items[i]);
        buf_putc(out, ' ');
    }
    if (query->availability.len &&
        resource_availability_rank(query->availability) == RESOURCE_OTHERWISE) {
        put_hash(out, 'v', query->availability);
        buf_putc(out, ' ');
    }
    if (query->kind.len)
        buf_put(out, str_ieq(query->kind, S("agent")) ? S("kagent ") : S("khuman "));
    put_words(out, query->location, "* ");
    put_currency(out, query->currency);
}

/* --- filters --- */

static bool has_skill(const struct resource *resource, struct str skill)
{
    for (size_t i = 0; i < resource->skills.count; i++)
        if (str_ieq(resource->skills.items[i], skill))
            return true;
    return false;
}

static bool begins_a_word(struct str text, struct str beginning)
{
    char space[DIRECTORY_WORD];
    struct str word;
    size_t at = 0;

    while (directory_next_word(text, &at, space, &word))
        if (str_starts(word, beginning))
            return true;
    return false;
}

static bool is_located(const struct resource *resource, struct str location)
{
    char space[DIRECTORY_WORD];
    struct str word;
    size_t at = 0;

    while (directory_next_word(location, &at, space, &word))
        if (!begins_a_word(resource->location, word))
            return false;
    return true;
}

static bool is_affordable(const struct directory_ask *ask,
                          const struct resource_rate *rate)
{
    uint64_t hourly;

    if (ask->query->currency.len &&
        (!rate->amount.len || !str_ieq(rate->currency, ask->query->currency)))
        return false;
    if (!ask->has_max_rate)
        return true;
    return resource_hourly(rate, &hourly) && hourly <= ask->max_hourly;
}

bool directory_passes(const struct directory_ask *ask, const struct resource *resource)
{
    const struct directory_query *query = ask->query;

    for (size_t i = 0; i < query->skills.count; i++)
        if (!has_skill(resource, query->skills.items[i]))
            return false;
    if (query->availability.len && !str_ieq(query->availability, resource->availability))
        return false;
    if (query->kind.len && !str_ieq(query->kind, resource_kind_name(resource->kind)))
        return false;
    return is_located(resource, query->location) && is_affordable(ask, &resource->rate);
}

/* --- scores --- */

struct scoring {
    struct walk walk;
    const struct directory_ask *ask;
    struct directory_match *match;
    unsigned best[DIRECTORY_TERMS];
};

/* As the marks have it. */
static unsigned weigh(const struct directory_term *term, const struct seen *seen)
{
    struct str word = { term->word, term->word_len };
    struct str stem = { term->stem, term->stem_len };
    bool is_whole = has_whole_words(seen->place);

    if (str_eq(stem, seen->stem) || (is_whole && str_eq(stem, seen->word)))
        return weights[seen->place];
    if (term->may_begin &&
        (str_starts(seen->stem, word) || (is_whole && str_starts(seen->word, word))))
        return weights[seen->place] / 2;
    return 0;
}

static void score_word(struct walk *self, const struct seen *seen)
{
    struct scoring *scoring = CONTAINER_OF(self, struct scoring, walk);

    for (size_t i = 0; i < scoring->ask->term_count; i++) {
        unsigned weight = weigh(&scoring->ask->terms[i], seen);

        if (weight == 0)
            continue;
        scoring->match->terms |= 1u << i;
        if (seen->place == DIRECTORY_SKILL)
            scoring->match->skills |= UINT64_C(1) << seen->skill;
        if (weight > scoring->best[i])
            scoring->best[i] = weight;
    }
}

_Static_assert(RESOURCE_SKILLS <= 64 && DIRECTORY_TERMS <= 32);

void directory_match(const struct directory_ask *ask, const struct resource *resource,
                     struct directory_match *ret)
{
    struct scoring scoring = { .walk.on_word = score_word, .ask = ask, .match = ret };

    *ret = (struct directory_match){};
    if (ask->term_count)
        walk_resource(&scoring.walk, resource);
    for (size_t i = 0; i < ask->term_count; i++)
        ret->score += scoring.best[i];
    for (size_t i = 0; i < resource->skills.count; i++)
        for (size_t j = 0; j < ask->query->skills.count; j++)
            if (str_ieq(resource->skills.items[i], ask->query->skills.items[j]))
                ret->skills |= UINT64_C(1) << i;
}

void directory_reason_write(struct json_writer *w, const struct directory_ask *ask,
                            const struct resource *resource,
                            const struct directory_match *match)
{
    json_object_open(w);
    json_key(w, S("words"));
    json_array_open(w);
    for (size_t i = 0; i < ask->term_count; i++)
        if (match->terms & 1u << i)
            json_str(w, (struct str){ ask->terms[i].word, ask->terms[i].word_len });
    json_array_close(w);
    json_key(w, S("skills"));
    json_array_open(w);
    for (size_t i = 0; i < resource->skills.count; i++)
        if (match->skills & UINT64_C(1) << i)
            json_str(w, resource->skills.items[i]);
    json_array_close(w);
    json_object_close(w);
}
