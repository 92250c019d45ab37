/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "directory/idset.h"
#include "harness.h"

enum { MANY = 200'000 };

static struct str id_of(unsigned number, char text[static 16])
{
    return (struct str){ text, (size_t)snprintf(text, 16, "p%u", number) };
}

TEST(an_id_is_new_once)
{
    struct hash_key key;
    struct idset set;
    unsigned fresh = 0, again = 0;
    char text[16];

    hash_key_random(&key);
    idset_init(&set, &key);
    for (unsigned i = 0; i < MANY; i++)
        fresh += idset_add(&set, id_of(i, text));
    for (unsigned i = 0; i < MANY; i++)
        again += idset_add(&set, id_of(i, text));
    CHECK_INT(fresh, MANY);
    CHECK_INT(again, 0);
    CHECK_INT(set.count, MANY);
    CHECK(set.size * sizeof(*set.slots) <= 16 * MANY * 8 / 7);
    idset_done(&set);
}
