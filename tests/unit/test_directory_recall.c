/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "directory/recall.h"
#include "harness.h"

#define UUID  S("6b1f7a52-0c1e-4c8e-9f3e-2f0d5a7c9b10")
#define UPPER S("6B1F7A52-0C1E-4C8E-9F3E-2F0D5A7C9B10")

static const struct recall_limits limits = {
    .each = { [RECALL_QUESTION] = 2, [RECALL_ACT] = 4 },
    .bytes = 10'000,
    .age_ms = 1000,
};

static struct str uuid(unsigned number, char out[static AGENT_UUID + 1])
{
    (void)snprintf(out, AGENT_UUID + 1, "00000000-0000-4000-8000-%012x", number);
    return str_of(out);
}

static void answer(struct recall *recall, struct str sender, unsigned number,
                   enum recall_kind kind, struct str text, uint64_t now_ms)
{
    char id[AGENT_UUID + 1];

    recall_answer(recall, recall_begin(recall, sender, uuid(number, id), kind), text,
                  now_ms);
}

static bool knows(const struct recall *recall, struct str sender, unsigned number)
{
    char id[AGENT_UUID + 1];

    return recall_find(recall, sender, uuid(number, id)) != NULL;
}

TEST(an_answer_is_remembered_for_who_asked)
{
    struct recall_entry *entry;
    struct recall recall;

    recall_init(&recall, &limits);
    CHECK(!recall_find(&recall, S("ann"), UUID));
    entry = recall_begin(&recall, S("ann"), UUID, RECALL_ACT);
    CHECK(recall_find(&recall, S("ann"), UPPER) == entry);
    CHECK(!entry->answer.ptr);
    CHECK(!recall_find(&recall, S("bob"), UUID));
    recall_answer(&recall, entry, S("yes"), 0);
    CHECK_STR(recall_find(&recall, S("ann"), UUID)->answer, S("yes"));
    recall_forget(&recall, entry);
    CHECK(!recall_find(&recall, S("ann"), UUID));
    CHECK_INT(recall.senders.count, 0);
    recall_done(&recall);
}

TEST(each_has_room_for_so_many_and_the_oldest_go)
{
    struct recall recall;

    recall_init(&recall, &limits);
    answer(&recall, S("bob"), 1, RECALL_QUESTION, S("x"), 0);
    for (unsigned i = 1; i <= 3; i++)
        answer(&recall, S("ann"), i, RECALL_QUESTION, S("x"), 0);
    answer(&recall, S("ann"), 4, RECALL_ACT, S("x"), 0);
    CHECK(!knows(&recall, S("ann"), 1));
    CHECK(knows(&recall, S("ann"), 2));
    CHECK(knows(&recall, S("ann"), 3));
    CHECK(knows(&recall, S("ann"), 4));
    CHECK(knows(&recall, S("bob"), 1));
    recall_done(&recall);
}

TEST(of_all_bytes_questions_go_first)
{
    char large[6000];
    struct str text = { large, sizeof(large) };
    struct recall recall;

    memset(large, 'x', sizeof(large));
    recall_init(&recall, &limits);
    answer(&recall, S("ann"), 1, RECALL_ACT, S("made"), 0);
    answer(&recall, S("ann"), 2, RECALL_QUESTION, text, 0);
    answer(&recall, S("bob"), 3, RECALL_QUESTION, text, 0);
    CHECK(knows(&recall, S("ann"), 1));
    CHECK(!knows(&recall, S("ann"), 2));
    CHECK(knows(&recall, S("bob"), 3));
    CHECK(recall.bytes > 6004 && recall.bytes < 10'000);
    recall_done(&recall);
    CHECK_INT(recall.bytes, 0);
}

TEST(small_answers_of_many_senders_are_bounded_as_well)
{
    struct recall recall;
    char name[16];

    recall_init(&recall, &limits);
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "agent-%u", i);
        answer(&recall, str_of(name), i, RECALL_ACT, S("x"), 0);
    }
    CHECK(recall.by_key.count > 10);
    CHECK(recall.by_key.count * sizeof(struct recall_entry) < limits.bytes);
    CHECK(knows(&recall, S("agent-999"), 999));
    recall_done(&recall);
}

TEST(what_is_old_goes_and_what_is_under_way_stays)
{
    struct recall recall;

    recall_init(&recall, &limits);
    (void)recall_begin(&recall, S("ann"), UUID, RECALL_ACT);
    answer(&recall, S("ann"), 1, RECALL_ACT, S("x"), 100);
    answer(&recall, S("ann"), 2, RECALL_QUESTION, S("x"), 200);
    recall_sweep(&recall, 1099);
    CHECK(knows(&recall, S("ann"), 1));
    recall_sweep(&recall, 1100);
    CHECK(!knows(&recall, S("ann"), 1));
    CHECK(knows(&recall, S("ann"), 2));
    recall_sweep(&recall, 1'000'000);
    CHECK(!knows(&recall, S("ann"), 2));
    CHECK(recall_find(&recall, S("ann"), UUID) != NULL);
    recall_done(&recall);
}
