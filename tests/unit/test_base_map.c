/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/map.h"
#include "harness.h"

enum { KEYS = 5000 };

static char names[KEYS][8];

static struct str name_of(size_t i)
{
    return str_of(names[i]);
}

TEST(a_map_finds_what_was_set_and_not_removed)
{
    struct map map;
    size_t seen = 0;
    const void *value;

    map_init(&map);
    CHECK(map_find(&map, S("none")) == NULL);
    CHECK(map_remove(&map, S("none")) == NULL);
    for (size_t i = 0; i < KEYS; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "k%zu", i);
        map_set(&map, name_of(i), names[i]);
    }
    for (size_t i = 0; i < KEYS; i += 3)
        CHECK(map_remove(&map, name_of(i)) == names[i]);
    for (size_t i = 0; i < KEYS; i++)
        CHECK(map_find(&map, name_of(i)) == (i % 3 ? names[i] : NULL));
    MAP_FOREACH(value, &map)
        seen++;
    CHECK_INT(seen, map.count);
    CHECK_INT(seen, KEYS - (KEYS + 2) / 3);
    map_done(&map);
}

TEST(setting_a_key_again_replaces_its_value)
{
    struct map map;
    int a, b;

    map_init(&map);
    map_set(&map, S("key"), &a);
    map_set(&map, S("key"), &b);
    CHECK_INT(map.count, 1);
    CHECK(map_find(&map, S("key")) == &b);
    map_set(&map, (struct str){}, &a);
    CHECK(map_find(&map, S("")) == &a);
    map_done(&map);
}

TEST(the_hash_depends_on_every_byte_the_length_and_the_key)
{
    static const struct hash_key key = { 1, 2 };
    static const struct hash_key other = { 1, 3 };

    CHECK(hash_of(&key, S("12345678")) == hash_of(&key, S("12345678")));
    CHECK(hash_of(&key, S("12345678")) != hash_of(&other, S("12345678")));
    CHECK(hash_of(&key, S("12345678")) != hash_of(&key, S("12345679")));
    CHECK(hash_of(&key, S("123456789")) != hash_of(&key, S("12345678")));
    CHECK(hash_of(&key, S("")) != hash_of(&key, S("\0")));
}

/* SipHash-1-3 of the bytes 0, 1, 2, … with the key of the paper's test vectors. */
TEST(the_hash_is_siphash_1_3_at_every_length_of_the_last_word)
{
    static const struct hash_key key = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
    static const struct {
        size_t len;
        uint64_t hash;
    } cases[] = {
        { 0, 0xabac0158050fc4dc },  { 1, 0xc9f49bf37d57ca93 },
        { 3, 0x8bf80ab8e7ddf7fb },  { 7, 0xd3927d989bb11140 },
        { 8, 0x369095118d299a8e },  { 9, 0x25a48eb36c063de4 },
        { 15, 0xd320d86d2a519956 }, { 16, 0xcc4fdd1a7d908b66 },
        { 23, 0x525a0e7fdae6c123 }, { 24, 0xf464aeb267349c8c },
        { 31, 0x2370dd1f8c21d1bc },
    };
    char bytes[32];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    FOR_EACH_CASE(c, cases)
        CHECK(hash_of(&key, (struct str){ bytes, c->len }) == c->hash);
}

/* Up to eight slots are looked through, more are hashed: both sides of the step. */
TEST(a_map_keeps_everything_while_it_grows_and_shrinks_around_its_first_size)
{
    enum { MOST = 20 };
    struct map map;
    size_t seen;
    const void *value;

    map_init(&map);
    for (size_t count = 1; count <= MOST; count++) {
        (void)snprintf(names[count], sizeof(names[count]), "n%zu", count);
        map_set(&map, name_of(count), names[count]);
        CHECK(map_remove(&map, name_of(count / 2)) ==
              (count > 1 ? names[count / 2] : NULL));
        CHECK(map_find(&map, name_of(count / 2)) == NULL);
        if (count > 1)
            map_set(&map, name_of(count / 2), names[count / 2]);
        seen = 0;
        for (size_t i = 1; i <= count; i++)
            CHECK(map_find(&map, name_of(i)) == names[i]);
        MAP_FOREACH(value, &map)
            seen++;
        CHECK_INT(seen, count);
        CHECK_INT(map.count, count);
    }
    CHECK(map_find(&map, S("n0")) == NULL);
    map_done(&map);
}
