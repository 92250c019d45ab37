/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "harness.h"
#include "mcpdoor/sealed.h"

enum { ROOM = 1000 };

static const struct sealer sealer = { { 1, 2, 3 }, S("room") };
static const struct sealed full = {
    .number = 0x0102030405060708,
    .boot = UINT64_MAX,
    .created_ms = 1'790'000'000'000,
    .can = 0x80000001,
    .version = 4,
    .level = -1,
    .digest = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
};

static bool is_same(const struct sealed *a, const struct sealed *b)
{
    return a->number == b->number && a->boot == b->boot &&
           a->created_ms == b->created_ms && a->can == b->can &&
           a->version == b->version && a->level == b->level &&
           memcmp(a->digest, b->digest, sizeof(a->digest)) == 0;
}

static void seal(struct buf *out)
{
    buf_init(out, ROOM);
    sealed_put(&sealer, SEALED_VISIT, S("ann"), &full, out);
}

TEST(what_a_client_carries_comes_back_whole)
{
    struct sealed back = {};
    struct buf text;

    seal(&text);
    CHECK(!text.is_full);
    CHECK_INT(text.len, 118);
    CHECK_INT(sealed_read(&sealer, SEALED_VISIT, S("ann"), buf_str(&text), &back), OK);
    CHECK(is_same(&back, &full));
    buf_done(&text);
}

/* HTTP-26: only 0x21 to 0x7E; and nobody can tell what is the same inside. */
TEST(it_is_visible_ascii_and_never_the_same_twice)
{
    struct buf one, other;

    seal(&one);
    seal(&other);
    for (size_t i = 0; i < one.len; i++)
        CHECK(one.ptr[i] > ' ' && one.ptr[i] <= '~');
    CHECK(!str_eq(buf_str(&one), buf_str(&other)));
    CHECK(one.len <= SEALED_MAX);
    buf_done(&one);
    buf_done(&other);
}

TEST(it_opens_for_whom_it_was_made_and_for_nothing_else)
{
    static const struct {
        uint8_t key;
        struct str topic;
        enum sealed_use use;
        struct str participant;
        enum err want;
    } cases[] = {
        { 1, S("room"), SEALED_VISIT, S("ann"), OK },
        { 9, S("room"), SEALED_VISIT, S("ann"), ERR_INVALID },
        { 1, S("other"), SEALED_VISIT, S("ann"), ERR_INVALID },
        { 1, S(""), SEALED_VISIT, S("ann"), ERR_INVALID },
        { 1, S("room"), SEALED_STATE, S("ann"), ERR_INVALID },
        { 1, S("room"), SEALED_TASK, S("ann"), ERR_INVALID },
        { 1, S("room"), SEALED_VISIT, S("bob"), ERR_INVALID },
        { 1, S("room"), SEALED_VISIT, S(""), ERR_INVALID },
        /* what stands before and behind the border between the names is not the same */
        { 1, S("roo"), SEALED_VISIT, S("mann"), ERR_INVALID },
        { 1, S("rooma"), SEALED_VISIT, S("nn"), ERR_INVALID },
    };
    struct buf text;

    seal(&text);
    FOR_EACH_CASE(c, cases) {
        struct sealer by = { { c->key, 2, 3 }, c->topic };
        struct sealed back = { .number = 7 };

        CHECK_INT(sealed_read(&by, c->use, c->participant, buf_str(&text), &back),
                  c->want);
        CHECK_INT(back.number, c->want ? 7 : full.number);
    }
    buf_done(&text);
}

TEST(every_other_text_is_refused)
{
    static const char alphabet[] = "Aw9-_=+ ";
    struct sealed back;
    struct buf text;

    seal(&text);
    for (size_t at = 0; at < text.len; at++) {
        char kept = text.ptr[at];

        for (size_t i = 0; i + 1 < sizeof(alphabet); i++) {
            text.ptr[at] = alphabet[i];
            CHECK_INT(
                sealed_read(&sealer, SEALED_VISIT, S("ann"), buf_str(&text), &back) == OK,
                alphabet[i] == kept);
        }
        text.ptr[at] = kept;
        CHECK_INT(sealed_read(&sealer, SEALED_VISIT, S("ann"),
                              str_slice(buf_str(&text), 0, at), &back),
                  ERR_INVALID);
    }
    buf_put(&text, S("A"));
    CHECK_INT(sealed_read(&sealer, SEALED_VISIT, S("ann"), buf_str(&text), &back),
              ERR_INVALID);
    buf_done(&text);
}

/* A box of another size or of another format, made with the right key. */
TEST(what_is_not_of_this_format_is_refused)
{
    static const struct {
        size_t size;
        char last;
        enum err want;
    } cases[] = {
        { 48, 0, OK },          { 48, 1, ERR_INVALID }, { 47, 0, ERR_INVALID },
        { 49, 0, ERR_INVALID }, { 0, 0, ERR_INVALID },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf box, text;
        struct sealed back;
        char bytes[64] = {};

        bytes[47] = c->last;
        buf_init(&box, ROOM);
        buf_init(&text, ROOM);
        crypto_seal(sealer.key, S("0:4:roomann"), (struct str){ bytes, c->size }, &box);
        base64url_write(&text, buf_str(&box));
        CHECK_INT(sealed_read(&sealer, SEALED_VISIT, S("ann"), buf_str(&text), &back),
                  c->want);
        buf_done(&box);
        buf_done(&text);
    }
}

TEST(endless_texts_and_names_are_refused)
{
    struct sealed back;
    struct buf text, box;

    buf_init(&text, 100'000);
    for (int i = 0; i < 50'000; i++)
        buf_putc(&text, 'A');
    CHECK_INT(sealed_read(&sealer, SEALED_VISIT, S("ann"), buf_str(&text), &back),
              ERR_INVALID);
    CHECK_INT(sealed_read(&sealer, SEALED_VISIT, buf_str(&text), S("A"), &back),
              ERR_INVALID);
    /* a name that has no room is not the same as none */
    buf_init(&box, ROOM);
    sealed_put(&sealer, SEALED_VISIT, S(""), &full, &box);
    CHECK_INT(sealed_read(&sealer, SEALED_VISIT, S(""), buf_str(&box), &back), OK);
    CHECK_INT(sealed_read(&sealer, SEALED_VISIT, buf_str(&text), buf_str(&box), &back),
              ERR_INVALID);
    sealed_put(&sealer, SEALED_VISIT, buf_str(&text), &full, &box);
    CHECK(box.is_full);
    buf_done(&box);
    buf_done(&text);
}
