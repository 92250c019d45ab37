/* SPDX-License-Identifier: Apache-2.0 */
#include "client/moot_priv.h"
#include "harness.h"
#include "moot.h"
#include "participant/occupant_priv.h"

/* People give ids to commands: `moot approve TOPIC ID`. */
TEST(no_id_of_ours_looks_like_an_option)
{
    struct moot_options options = { .url = "unix:/nowhere", .topic = "t", .token = "x" };

    for (int i = 0; i < 1000; i++) {
        struct moot *m;

        CHECK_INT(moot_new(&options, &m), MOOT_OK);
        CHECK(m->occupant->prefix[0] != '-');
        moot_free(m);
    }
}
