/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "mcpdoor/bundle.h"
#include "mcpdoor_wire.h"

static const struct strand_terms whole = { .number = 3, .is_resumable = true };
static const struct strand_terms item = { .number = 4 };

struct batch {
    struct wire wire;
    struct bundle *bundle;
    struct strand *items[3];
    uint64_t now_ms;
};

static void batch_init(struct batch *batch, size_t max_bytes)
{
    wire_init(&batch->wire);
    batch->now_ms = NOW;
    batch->bundle = bundle_new(&whole, &batch->wire.outlet, 3, max_bytes, &batch->now_ms);
    for (size_t i = 0; i < 3; i++)
        batch->items[i] = strand_new(&item, bundle_outlet(batch->bundle, i), NOW);
}

TEST(the_answers_to_a_batch_are_one_array)
{
    struct batch batch;

    batch_init(&batch, ROOM);
    strand_answer(batch.items[2], 200, S("{2}"), NOW);
    strand_answer(batch.items[0], 200, S("{0}"), NOW);
    SAID(&batch.wire, "");
    strand_answer(batch.items[1], 404, S("{1}"), NOW);
    SAID(&batch.wire, "200 [{2},{0},{1}]\n");
    buf_done(&batch.wire.said);
}

#define NOTICE "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}"
#define RESULT "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"

TEST(what_comes_before_the_answers_goes_out_at_once)
{
    struct batch batch;
    struct strand *strand;
    struct wire back;

    wire_init(&back);
    batch_init(&batch, ROOM);
    strand = bundle_strand(batch.bundle);
    strand_answer(batch.items[0], 200, S("{0}"), NOW);
    strand_send(batch.items[1], S(NOTICE), NOW);
    SAID(&batch.wire, "[3-1] " NOTICE "\n");
    strand_lost(&batch.wire.outlet, NOW);
    strand_answer(batch.items[1], 200, S(RESULT), NOW);
    strand_free(batch.items[2]); /* cancelled: no answer */
    CHECK(strand_resume(strand, &back.outlet, 1, NOW));
    SAID(&back, "[] \n[3-2] [{0}," RESULT "]\nend\n");
    strand_free(strand);
    buf_done(&batch.wire.said);
    buf_done(&back.said);
}

TEST(a_batch_that_is_cancelled_says_nothing)
{
    struct batch batch;

    batch_init(&batch, ROOM);
    for (size_t i = 0; i < 3; i++)
        strand_free(batch.items[i]);
    SAID(&batch.wire, "202 \n");
    buf_done(&batch.wire.said);
}

TEST(a_batch_may_end_before_its_answers)
{
    struct batch batch;

    batch_init(&batch, ROOM);
    strand_answer(batch.items[0], 200, S("{0}"), NOW);
    strand_free(bundle_strand(batch.bundle));
    SAID(&batch.wire, "202 \n");
    strand_send(batch.items[1], S(NOTICE), NOW);
    strand_answer(batch.items[1], 200, S("{1}"), NOW);
    strand_answer(batch.items[2], 200, S("{2}"), NOW);
    SAID(&batch.wire, "");
    buf_done(&batch.wire.said);
}

TEST(answers_to_a_batch_are_bounded)
{
    struct batch batch;

    batch_init(&batch, 8);
    for (size_t i = 0; i < 3; i++)
        strand_answer(batch.items[i], 200, S("{123}"), NOW);
    SAID(&batch.wire, "500 \n");
    buf_done(&batch.wire.said);
}
