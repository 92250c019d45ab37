/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/xalloc.h"
#include "harness.h"
#include "mcpdoor/strand.h"
#include "mcpdoor_wire.h"

static const struct strand_terms request = { .number = 3,
                                             .is_resumable = true,
                                             .has_priming = true };
static const struct strand_terms older = { .number = 3, .is_resumable = true };
static const struct strand_terms modern = { .number = 3 };
static const struct strand_terms common = {
    .number = 9, .is_resumable = true, .has_priming = true, .is_standing = true
};

TEST(an_answer_alone_is_json)
{
    static const struct strand_terms *cases[] = { &request, &older, &modern };

    FOR_EACH_CASE(c, cases) {
        struct wire wire;
        struct strand *s;

        wire_init(&wire);
        s = strand_new(*c, &wire.outlet, NOW);
        CHECK(wire.outlet.strand == s && strand_is_attached(s));
        strand_answer(s, 404, S("{}"), NOW);
        SAID(&wire, "404 {}\n");
        CHECK(wire.is_over);
        buf_done(&wire.said);
    }
}

TEST(what_comes_before_the_answer_makes_a_stream_of_it)
{
    static const struct {
        const struct strand_terms *terms;
        const char *said;
    } cases[] = {
        { &request, "[3-0] \n[3-1] {1}\n[3-2] {2}\n[3-3] {3}\nend\n" },
        { &older, "[3-1] {1}\n[3-2] {2}\n[3-3] {3}\nend\n" },
        { &modern, "[] {1}\n[] {2}\n[] {3}\nend\n" },
    };

    FOR_EACH_CASE(c, cases) {
        struct wire wire;
        struct strand *s;

        wire_init(&wire);
        s = strand_new(c->terms, &wire.outlet, NOW);
        strand_send(s, S("{1}"), NOW);
        strand_send(s, S("{2}"), NOW);
        strand_answer(s, 200, S("{3}"), NOW);
        SAID(&wire, c->said);
        CHECK(wire.is_over);
        if (c->terms->is_resumable) {
            CHECK(!strand_is_attached(s) && strand_is_answered(s));
            strand_answer(s, 200, S("{4}"), NOW);
            strand_send(s, S("{5}"), NOW);
            CHECK_INT(strand_bytes(s), 9);
            strand_free(s);
        }
        SAID(&wire, "");
        buf_done(&wire.said);
    }
}

TEST(the_session_is_told_once_with_whatever_comes_first)
{
    struct strand_terms terms = request;
    struct wire wire, back;
    struct strand *s;
    char visit[] = "@id";

    terms.visit = str_of(visit);
    wire_init(&wire);
    s = strand_new(&terms, &wire.outlet, NOW);
    visit[1] = 'x'; /* it was copied */
    strand_answer(s, 200, S("{}"), NOW);
    SAID(&wire, "200 {}@id\n");
    buf_done(&wire.said);
    terms.visit = S("@id");
    wire_init(&wire);
    wire_init(&back);
    s = strand_new(&terms, &wire.outlet, NOW);
    strand_send(s, S("{1}"), NOW);
    SAID(&wire, "[3-0] @id\n[3-1] {1}\n");
    CHECK(strand_resume(s, &back.outlet, 1, NOW));
    SAID(&back, "[3-1] \n");
    strand_free(s);
    buf_done(&wire.said);
    buf_done(&back.said);
}

TEST(who_stands_has_a_stream_at_once)
{
    static const struct strand_terms listen = { .number = 1, .is_standing = true };
    struct wire wire, other;
    struct strand *s;

    wire_init(&wire);
    wire_init(&other);
    s = strand_new(&common, &wire.outlet, NOW);
    SAID(&wire, "[9-0] \n");
    strand_free(s);
    SAID(&wire, "end\n");
    s = strand_new(&listen, &other.outlet, NOW);
    SAID(&other, "[] \n");
    strand_answer(s, 200, S("{}"), NOW);
    SAID(&other, "[] {}\nend\n");
    buf_done(&wire.said);
    buf_done(&other.said);
}

TEST(a_request_that_is_dropped_is_answered_without_a_word)
{
    struct wire wire;

    wire_init(&wire);
    strand_free(strand_new(&request, &wire.outlet, NOW));
    SAID(&wire, "202 \n");
    strand_free(NULL);
    buf_done(&wire.said);
}

TEST(a_stream_may_end_without_an_answer)
{
    struct wire wire;
    struct strand *s;

    wire_init(&wire);
    s = strand_new(&request, &wire.outlet, NOW);
    strand_send(s, S("{1}"), NOW);
    strand_answer(s, 202, S(""), NOW);
    SAID(&wire, "[3-0] \n[3-1] {1}\nend\n");
    strand_free(s);
    buf_done(&wire.said);
}

/* --- time --- */

TEST(a_legacy_answer_that_is_late_becomes_a_stream)
{
    struct wire wire;
    struct strand *s;

    wire_init(&wire);
    s = strand_new(&request, &wire.outlet, NOW);
    CHECK_INT(strand_due_ms(s), NOW + STRAND_STREAM_MS);
    CHECK(!strand_tick(s, NOW + STRAND_STREAM_MS - 1));
    SAID(&wire, "");
    CHECK(!strand_tick(s, NOW + STRAND_STREAM_MS));
    SAID(&wire, "[3-0] \n");
    strand_answer(s, 404, S("{}"), NOW);
    SAID(&wire, "[3-1] {}\nend\n");
    strand_free(s);
    buf_done(&wire.said);
}

TEST(a_modern_answer_may_take_its_time)
{
    struct wire wire;
    struct strand *s;

    wire_init(&wire);
    s = strand_new(&modern, &wire.outlet, NOW);
    CHECK(strand_due_ms(s) == UINT64_MAX);
    CHECK(!strand_tick(s, NOW + 3600'000));
    SAID(&wire, "");
    strand_answer(s, 200, S("{}"), NOW);
    SAID(&wire, "200 {}\n");
    buf_done(&wire.said);
}

TEST(a_silent_stream_murmurs)
{
    struct wire wire;
    struct strand *s;

    wire_init(&wire);
    s = strand_new(&modern, &wire.outlet, NOW);
    strand_send(s, S("{1}"), NOW);
    SAID(&wire, "[] {1}\n");
    CHECK_INT(strand_due_ms(s), NOW + STRAND_MURMUR_MS);
    CHECK(!strand_tick(s, NOW + STRAND_MURMUR_MS - 1));
    SAID(&wire, "");
    CHECK(!strand_tick(s, NOW + STRAND_MURMUR_MS));
    SAID(&wire, "~\n");
    CHECK_INT(strand_due_ms(s), NOW + 2 * STRAND_MURMUR_MS);
    /* whatever is said counts */
    strand_send(s, S("{2}"), NOW + STRAND_MURMUR_MS + 5000);
    CHECK_INT(strand_due_ms(s), NOW + 2 * STRAND_MURMUR_MS + 5000);
    strand_free(s);
    SAID(&wire, "[] {2}\nend\n");
    buf_done(&wire.said);
}

TEST(what_is_over_is_kept_for_a_while)
{
    struct wire wire;
    struct strand *s;

    wire_init(&wire);
    s = strand_new(&request, &wire.outlet, NOW);
    strand_send(s, S("{1}"), NOW);
    strand_answer(s, 200, S("{2}"), NOW + 50);
    strand_answer(s, 200, S("{3}"), NOW + 60);
    CHECK_INT(strand_due_ms(s), NOW + 50 + STRAND_KEPT_MS);
    CHECK(!strand_tick(s, NOW + 50 + STRAND_KEPT_MS - 1));
    CHECK(strand_tick(s, NOW + 50 + STRAND_KEPT_MS));
    strand_free(s);
    buf_done(&wire.said);
}

/* --- the client goes, and comes back --- */

static void count_lost(void *user)
{
    ++*(int *)user;
}

TEST(a_modern_client_that_goes_stops_it_all)
{
    struct strand_terms terms = modern;
    int lost = 0;

    terms.on_lost = count_lost;
    terms.on_freed = count_lost;
    terms.user = &lost;
    for (int is_stream = 0; is_stream < 2; is_stream++) {
        struct wire wire;
        struct strand *s;

        wire_init(&wire);
        s = strand_new(&terms, &wire.outlet, NOW);
        if (is_stream)
            strand_send(s, S("{1}"), NOW);
        buf_clear(&wire.said);
        strand_lost(&wire.outlet, NOW);
        CHECK(!wire.outlet.strand);
        CHECK_INT(lost, 2 + 2 * is_stream);
        strand_lost(&wire.outlet, NOW); /* nobody's: nothing happens */
        SAID(&wire, "");
        buf_done(&wire.said);
    }
}

static void answer_and_free(void *user)
{
    struct strand *s = *(struct strand **)user;

    strand_send(s, S("{8}"), NOW);
    strand_answer(s, 200, S("{9}"), NOW);
    strand_free(s);
}

TEST(who_is_told_of_it_may_answer_and_free_in_vain)
{
    struct strand_terms terms = modern;
    struct wire wire;
    struct strand *s;

    terms.on_lost = answer_and_free;
    terms.user = &s;
    wire_init(&wire);
    s = strand_new(&terms, &wire.outlet, NOW);
    strand_lost(&wire.outlet, NOW);
    SAID(&wire, "");
    buf_done(&wire.said);
}

/* HTTP-15: a legacy one does not cancel by going; what it never knew an id of is lost. */
TEST(a_legacy_request_goes_on_without_its_client)
{
    struct strand_terms terms = request;
    int lost = 0, freed = 0;
    struct wire wire, back;
    struct strand *s;

    terms.on_lost = count_lost;
    terms.user = &lost;
    wire_init(&wire);
    wire_init(&back);
    s = strand_new(&terms, &wire.outlet, NOW);
    strand_lost(&wire.outlet, NOW);
    CHECK_INT(lost, 0);
    CHECK(strand_due_ms(s) == UINT64_MAX && !strand_tick(s, NOW + STRAND_KEPT_MS * 2));
    CHECK(!strand_resume(s, &back.outlet, 0, NOW));
    CHECK(!back.outlet.strand);
    strand_send(s, S("{1}"), NOW);
    CHECK_INT(strand_bytes(s), 0);
    strand_answer(s, 200, S("{2}"), NOW); /* frees it */
    terms.on_freed = count_lost;
    terms.user = &freed;
    s = strand_new(&terms, &back.outlet, NOW);
    strand_lost(&back.outlet, NOW);
    strand_answer(s, 200, S("{}"), NOW);
    CHECK_INT(freed, 1);
    SAID(&wire, "");
    SAID(&back, "");
    buf_done(&wire.said);
    buf_done(&back.said);
}

TEST(who_comes_back_gets_what_he_has_missed)
{
    static const struct {
        uint64_t after;
        const char *said;
    } cases[] = {
        { 0, "[3-0] \n[3-1] {1}\n[3-2] {2}\n[3-3] {3}\n[3-4] {4}\nend\n" },
        { 1, "[3-1] \n[3-2] {2}\n[3-3] {3}\n[3-4] {4}\nend\n" },
        { 3, "[3-3] \n[3-4] {4}\nend\n" },
        { 4, "[3-4] \nend\n" },
        { 99, "[3-4] \nend\n" }, /* made up */
    };

    FOR_EACH_CASE(c, cases) {
        struct wire wire, back, again;
        struct strand *s;

        wire_init(&wire);
        wire_init(&back);
        wire_init(&again);
        s = strand_new(&request, &wire.outlet, NOW);
        strand_send(s, S("{1}"), NOW);
        strand_lost(&wire.outlet, NOW);
        strand_send(s, S("{2}"), NOW);
        strand_send(s, S("{3}"), NOW);
        CHECK(strand_resume(s, &back.outlet, 2, NOW));
        SAID(&back, "[3-2] \n[3-3] {3}\n");
        strand_answer(s, 200, S("{4}"), NOW);
        SAID(&back, "[3-4] {4}\nend\n");
        /* it is kept: he may not have got it */
        CHECK(strand_resume(s, &again.outlet, c->after, NOW));
        SAID(&again, c->said);
        CHECK(again.is_over && !strand_is_attached(s));
        strand_free(s);
        buf_done(&wire.said);
        buf_done(&back.said);
        buf_done(&again.said);
    }
}

TEST(an_older_client_resumes_without_a_priming_event)
{
    struct wire wire, back;
    struct strand *s;

    wire_init(&wire);
    wire_init(&back);
    s = strand_new(&older, &wire.outlet, NOW);
    strand_send(s, S("{1}"), NOW);
    strand_lost(&wire.outlet, NOW);
    strand_send(s, S("{2}"), NOW);
    CHECK(strand_resume(s, &back.outlet, 1, NOW));
    SAID(&back, "[] \n[3-2] {2}\n");
    strand_free(s);
    SAID(&back, "end\n");
    buf_done(&wire.said);
    buf_done(&back.said);
}

/* HTTP-21: a message goes on one stream. */
TEST(who_comes_back_takes_the_place_of_who_was_there)
{
    struct wire wire, back;
    struct strand *s;

    wire_init(&wire);
    wire_init(&back);
    s = strand_new(&request, &wire.outlet, NOW);
    strand_send(s, S("{1}"), NOW);
    buf_clear(&wire.said);
    CHECK(strand_resume(s, &back.outlet, 1, NOW));
    SAID(&wire, "end\n");
    strand_lost(&wire.outlet, NOW);
    strand_answer(s, 200, S("{2}"), NOW);
    SAID(&back, "[3-1] \n[3-2] {2}\nend\n");
    strand_free(s);
    buf_done(&wire.said);
    buf_done(&back.said);
}

TEST(modern_strands_are_not_resumed)
{
    struct wire wire, back;
    struct strand *s;

    wire_init(&wire);
    wire_init(&back);
    s = strand_new(&modern, &wire.outlet, NOW);
    strand_send(s, S("{1}"), NOW);
    CHECK_INT(strand_bytes(s), 0);
    CHECK(!strand_resume(s, &back.outlet, 0, NOW));
    SAID(&back, "");
    strand_free(s);
    buf_done(&wire.said);
    buf_done(&back.said);
}

TEST(a_common_stream_waits_for_its_client_and_then_goes)
{
    struct wire wire, back;
    struct strand *s;

    wire_init(&wire);
    wire_init(&back);
    s = strand_new(&common, &wire.outlet, NOW);
    strand_send(s, S("{1}"), NOW);
    strand_lost(&wire.outlet, NOW);
    CHECK(!strand_is_attached(s));
    strand_send(s, S("{2}"), NOW);
    CHECK_INT(strand_due_ms(s), NOW + STRAND_KEPT_MS);
    CHECK(!strand_tick(s, NOW + STRAND_KEPT_MS - 1));
    CHECK(strand_resume(s, &back.outlet, 1, NOW + 5));
    SAID(&back, "[9-1] \n[9-2] {2}\n");
    CHECK(!strand_tick(s, NOW + STRAND_KEPT_MS));
    strand_lost(&back.outlet, NOW + STRAND_KEPT_MS);
    CHECK(strand_tick(s, NOW + 2 * STRAND_KEPT_MS));
    strand_free(s);
    buf_done(&wire.said);
    buf_done(&back.said);
}

TEST(an_outlet_that_takes_no_more_is_left_alone)
{
    static const struct strand_terms *cases[] = { &request, &modern };

    FOR_EACH_CASE(c, cases) {
        struct wire wire, back;
        struct strand *s;

        wire_init(&wire);
        wire_init(&back);
        wire.room = (*c)->has_priming ? 2 : 1; /* on_event fails at the next one */
        s = strand_new(*c, &wire.outlet, NOW);
        strand_send(s, S("{1}"), NOW);
        buf_clear(&wire.said);
        strand_send(s, S("{2}"), NOW);
        CHECK(strand_due_ms(s) == UINT64_MAX);
        CHECK(!strand_tick(s, NOW + 3600'000));
        if ((*c)->is_resumable)
            CHECK(strand_resume(s, &back.outlet, 1, NOW));
        strand_answer(s, 200, S("{3}"), NOW);
        if ((*c)->is_resumable) {
            SAID(&back, "[3-1] \n[3-2] {2}\n[3-3] {3}\nend\n");
            strand_free(s);
        }
        SAID(&wire, "");
        CHECK(!wire.outlet.strand);
        strand_lost(&wire.outlet, NOW);
        buf_done(&wire.said);
        buf_done(&back.said);
    }
}

/* --- polling (HTTP-10, HTTP-11) --- */

TEST(a_polling_client_is_sent_away_ever_longer)
{
    struct strand_terms terms = request;
    struct wire wires[4];
    struct strand *s;
    uint64_t at = NOW;

    terms.poll_ms = 3000;
    wire_init(&wires[0]);
    s = strand_new(&terms, &wires[0].outlet, at);
    CHECK(!strand_tick(s, at + STRAND_STREAM_MS));
    SAID(&wires[0], "[3-0] \n");
    for (unsigned i = 0; i < 3; i++) {
        CHECK_INT(strand_due_ms(s), at + (3000u << i));
        CHECK(!strand_tick(s, at + (3000u << i) - 1));
        SAID(&wires[i], "");
        CHECK(!strand_tick(s, at + (3000u << i)));
        SAID(&wires[i], "retry 1000\nend\n");
        CHECK(strand_due_ms(s) == UINT64_MAX);
        at += 20'000;
        wire_init(&wires[i + 1]);
        CHECK(strand_resume(s, &wires[i + 1].outlet, 0, at));
        SAID(&wires[i + 1], "[3-0] \n");
    }
    strand_answer(s, 200, S("{}"), at);
    SAID(&wires[3], "[3-1] {}\nend\n");
    strand_free(s);
    for (size_t i = 0; i < 4; i++)
        buf_done(&wires[i].said);
}

TEST(polling_may_be_quicker_than_a_late_stream)
{
    struct strand_terms terms = request;
    struct wire wire;
    struct strand *s;

    terms.poll_ms = 200;
    wire_init(&wire);
    s = strand_new(&terms, &wire.outlet, NOW);
    CHECK_INT(strand_due_ms(s), NOW + 200);
    CHECK(!strand_tick(s, NOW + 200));
    SAID(&wire, "[3-0] \nretry 1000\nend\n");
    strand_free(s);
    buf_done(&wire.said);
}

TEST(who_knows_no_polling_is_not_sent_away)
{
    static const struct strand_terms *cases[] = { &older, &modern, &common };

    FOR_EACH_CASE(c, cases) {
        struct strand_terms terms = **c;
        struct wire wire;
        struct strand *s;

        terms.poll_ms = 100;
        wire_init(&wire);
        s = strand_new(&terms, &wire.outlet, NOW);
        strand_send(s, S("{1}"), NOW);
        CHECK(!strand_tick(s, NOW + 10'000));
        CHECK(strand_is_attached(s) && !wire.is_over);
        strand_free(s);
        buf_done(&wire.said);
    }
}

/* --- ids --- */

TEST(ids_of_events_are_read_back)
{
    static const struct {
        struct str id;
        bool is_ours;
        uint64_t number, sequence;
    } cases[] = {
        { S("3-0"), true, 3, 0 },
        { S("18446744073709551615-18446744073709551615"), true, UINT64_MAX, UINT64_MAX },
        { S("18446744073709551616-1"), false, 0, 0 },
        { S(""), false, 0, 0 },
        { S("3"), false, 0, 0 },
        { S("3-"), false, 0, 0 },
        { S("-3"), false, 0, 0 },
        { S("3-1-2"), false, 0, 0 },
        { S("3--1"), false, 0, 0 },
        { S(" 3-1"), false, 0, 0 },
        { S("3-1\n"), false, 0, 0 },
        { S("+3-1"), false, 0, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        uint64_t number = 0, sequence = 0;

        CHECK_INT(strand_read_id(c->id, &number, &sequence), c->is_ours);
        CHECK(number == c->number && sequence == c->sequence);
    }
    CHECK(!strand_read_id((struct str){}, &(uint64_t){ 0 }, &(uint64_t){ 0 }));
}

/* --- bounds --- */

TEST(the_oldest_events_roll_out_by_number)
{
    struct wire wire, back;
    struct strand *s;

    wire_init(&wire);
    wire_init(&back);
    s = strand_new(&request, &wire.outlet, NOW);
    for (int i = 0; i < STRAND_EVENTS + 10; i++)
        strand_send(s, S("{}"), NOW);
    CHECK_INT(strand_bytes(s), 2 * STRAND_EVENTS);
    strand_lost(&wire.outlet, NOW);
    CHECK(strand_resume(s, &back.outlet, 0, NOW));
    CHECK(str_starts(buf_str(&back.said), S("[3-0] \n[3-11] {}\n")));
    CHECK(str_ends(buf_str(&back.said), S("\n[3-266] {}\n")));
    strand_free(s);
    buf_done(&wire.said);
    buf_done(&back.said);
}

static struct str large(char *text, size_t size)
{
    memset(text, 'x', size);
    return (struct str){ text, size };
}

TEST(the_oldest_events_roll_out_by_size)
{
    char *text = xmalloc(STRAND_BYTES * 2);
    struct wire wire;
    struct strand *s;

    wire_init(&wire);
    s = strand_new(&request, &wire.outlet, NOW);
    for (int i = 0; i < 5; i++)
        strand_send(s, large(text, STRAND_BYTES / 4), NOW);
    CHECK_INT(strand_bytes(s), STRAND_BYTES);
    strand_send(s, S("x"), NOW);
    CHECK_INT(strand_bytes(s), STRAND_BYTES / 4 * 3 + 1);
    /* what is larger than all the room is kept alone: it may be the answer */
    strand_answer(s, 200, large(text, STRAND_BYTES * 2), NOW);
    CHECK_INT(strand_bytes(s), STRAND_BYTES * 2);
    strand_free(s);
    free(text);
    buf_done(&wire.said);
}

TEST(all_strands_of_a_session_are_trimmed_together)
{
    struct link list;
    struct wire wires[3], back;
    struct strand *s[3];
    size_t all = 0;

    list_init(&list);
    wire_init(&back);
    for (unsigned i = 0; i < 3; i++) {
        struct strand_terms terms = request;

        terms.number = i;
        wire_init(&wires[i]);
        s[i] = strand_new(&terms, &wires[i].outlet, NOW);
        list_append(&list, strand_link(s[i]));
        CHECK(strand_of(strand_link(s[i])) == s[i]);
        CHECK_INT(strand_number(s[i]), i);
    }
    strand_send(s[1], S("[1]"), NOW + 1);
    strand_send(s[0], S("[2]"), NOW + 2);
    strand_send(s[1], S("[3]"), NOW + 3);
    strand_send(s[2], S("[4]"), NOW + 4);
    strands_trim(&list, 12);
    for (size_t i = 0; i < 3; i++)
        all += strand_bytes(s[i]);
    CHECK_INT(all, 12);
    strands_trim(&list, 8);
    CHECK_INT(strand_bytes(s[0]), 0);
    CHECK_INT(strand_bytes(s[1]), 3);
    CHECK_INT(strand_bytes(s[2]), 3);
    CHECK(strand_resume(s[1], &back.outlet, 0, NOW));
    SAID(&back, "[1-0] \n[1-2] [3]\n");
    strands_trim(&list, 0);
    CHECK_INT(strand_bytes(s[1]) + strand_bytes(s[2]), 0);
    for (size_t i = 0; i < 3; i++) {
        strand_free(s[i]); /* takes itself out */
        buf_done(&wires[i].said);
    }
    CHECK(list_is_empty(&list));
    buf_done(&back.said);
}
