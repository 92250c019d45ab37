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
