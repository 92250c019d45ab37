/* SPDX-License-Identifier: Apache-2.0 */
#include "participant_calls.h"

/* --- time --- */

TEST(a_call_times_out_and_the_addressee_is_told)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    (void)fake_sent(&fake);
    CHECK_INT(occupant_due_ms(fake.occupant), 61'000);
    fake_tick(&fake, 59'999);
    CHECK_TOLD("");
    fake_tick(&fake, 1);
    CHECK_TOLD("done me-1 timed out timeout: no answer came in time\n");
    CHECK_STR(
        fake_sent(&fake),
        S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"me-2\",\"ts\":\"2027-01-15T08:01:00."
          "000Z\",\"from\":\"bot\",\"to\":[\"srv\"],\"kind\":\"mcp/request:"
          "notifications/cancelled\",\"correlation_id\":\"me-1\",\"payload\":{"
          "\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
          "\"requestId\":\"me-1\",\"reason\":\"timeout\"}}}\n"));
    CHECK_INT(occupant_due_ms(fake.occupant), UINT64_MAX);
    /* late is no offence, twice is */
    CHECK_STR(answer("srv", "me-1", "\"result\":1"), S(""));
    CHECK_STR(answer("srv", "me-1", "\"result\":1"),
              S("offence 1 srv: second_response, correlation_id\n"));
    done();
}

TEST(who_may_not_notify_times_out_in_silence)
{
    begin_with("[\"mcp/request:tools/*\"]");
    CHECK_INT(ask(ASK_CALL), OK);
    (void)fake_sent(&fake);
    fake_tick(&fake, 60'000);
    CHECK_TOLD("done me-1 timed out timeout: no answer came in time\n");
    CHECK_STR(fake_sent(&fake), S(""));
    done();
}

TEST(a_call_has_the_time_that_it_is_given)
{
    struct asking asking = { .to = S("srv"),
                             .method = S("ping"),
                             .timeout_ms = 5,
                             .ops = fake_ask,
                             .user = &fake };

    begin();
    CHECK_INT(occupant_request(fake.occupant, &asking, fake.now, NULL, NULL), OK);
    asking.timeout_ms = 3;
    CHECK_INT(occupant_request(fake.occupant, &asking, fake.now, NULL, NULL), OK);
    CHECK_INT(occupant_due_ms(fake.occupant), 1003);
    fake_tick(&fake, 4);
    CHECK_TOLD("done me-2 timed out timeout: no answer came in time\n");
    CHECK_INT(occupant_due_ms(fake.occupant), 1005);
    fake_tick(&fake, 1);
    CHECK_TOLD("done me-1 timed out timeout: no answer came in time\n");
    done();
}

TEST(a_call_may_be_given_more_time_and_its_own_again)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    CHECK_INT(occupant_prolong(fake.occupant, S("me-1"), 100'000, fake.now), OK);
    CHECK_INT(occupant_prolong(fake.occupant, S("me-2"), 1, fake.now), ERR_NOT_FOUND);
    fake_tick(&fake, 99'999);
    CHECK_TOLD("");
    CHECK_INT(occupant_prolong(fake.occupant, S("me-1"), 0, fake.now), OK);
    fake_tick(&fake, 59'999);
    CHECK_TOLD("");
    fake_tick(&fake, 1);
    CHECK_TOLD("done me-1 timed out timeout: no answer came in time\n");
    CHECK_INT(occupant_prolong(fake.occupant, S("me-1"), 1, fake.now), ERR_NOT_FOUND);
    done();
}

/* --- leaving and losing --- */

TEST(who_leaves_does_not_answer)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    CHECK_INT(ask(ASK_CALL), OK);
    fake_hear_gateway(&fake, "system/presence",
                      "\"event\":\"leave\",\"participant\":{\"id\":\"ann\"}");
    CHECK_TOLD("heard system/presence\nleaves ann\n");
    fake_hear_gateway(&fake, "system/presence",
                      "\"event\":\"leave\",\"participant\":{\"id\":\"srv\"}");
    CHECK_TOLD("heard system/presence\nleaves srv\n"
               "done me-1 gone by srv gone: who was asked has left before answering\n"
               "done me-2 gone by srv gone: who was asked has left before answering\n");
    done();
}

static void reconnect(bool resumes)
{
    occupant_lost(fake.occupant, false, fake.now);
    occupant_begin(fake.occupant, resumes);
    fake_hear_gateway(&fake, "system/welcome",
                      "\"you\":{\"id\":\"bot\",\"capabilities\":" CAPS
                      "},\"participants\":[" PEOPLE "]");
}

#define LOST "lost lost: the connection broke; what became of it is not known\n"

TEST(a_call_outlives_its_connection_where_nothing_was_missed)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    reconnect(true);
    CHECK_TOLD("heard system/welcome to me\nwelcome resumed\n");
    CHECK_INT(ask(ASK_CALL), OK);
    fake_hear_gateway(&fake, "system/gap", "\"missed\":3");
    CHECK_TOLD("heard system/gap to me\ngap 3\ndone me-1 " LOST);
    fake_judge(&fake);
    CHECK_STR(answer("srv", "me-2", "\"result\":1"), S("done me-2 result by srv = 1\n"));
    done();
}

TEST(where_nothing_is_resumed_calls_are_lost)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    CHECK_INT(ask(ASK_PROPOSE), OK);
    fake_tick(&fake, 0);
    (void)fake_told(&fake);
    reconnect(false);
    CHECK_TOLD("heard system/welcome to me\nwelcome\ngap 0\ndone me-1 " LOST
               "done me-2 " LOST);
    done();
}

TEST(when_it_is_over_everything_ends)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    CHECK_INT(ask(ASK_PROPOSE), OK);
    CHECK_INT(occupant_say(fake.occupant,
                           &(struct saying){ .kind = S("chat"),
                                             .payload = S("{\"text\":\"hi\"}"),
                                             .ops = fake_ask,
                                             .user = &fake },
                           fake.now, NULL, NULL),
              OK);
    fake.is_away = true;
    occupant_lost(fake.occupant, true, fake.now);
    CHECK_TOLD("done me-3 " LOST "done me-2 " LOST "done me-1 " LOST);
    CHECK_INT(ask(ASK_CALL), ERR_AGAIN);
    CHECK_TOLD("");
    done();
}

/* --- the gateway's word --- */

static enum err chat(void)
{
    return occupant_say(fake.occupant,
                        &(struct saying){ .kind = S("chat"),
                                          .payload = S("{\"text\":\"hi\"}"),
                                          .ops = fake_ask,
                                          .user = &fake },
                        fake.now, NULL, NULL);
}

TEST(whatever_was_said_is_taken_when_the_last_fence_of_all_comes_back)
{
    begin();
    CHECK_INT(chat(), OK);
    CHECK_INT(chat(), OK); /* while the fence of the first is under way */
    occupant_judged(fake.occupant, UINT64_MAX, fake.now);
    CHECK_TOLD("done me-1 sent\ndone me-2 sent\n");
    done();
}

TEST(what_is_said_is_taken_when_its_fence_comes_back)
{
    begin();
    CHECK_INT(chat(), OK);
    CHECK_INT(fake.fence, 1);
    CHECK_INT(chat(), OK);
    CHECK_INT(chat(), OK);
    CHECK_INT(fake.fence, 1); /* one is under way at a time */
    occupant_judged(fake.occupant, 0, fake.now);
    CHECK_TOLD("");
    fake_judge(&fake);
    CHECK_TOLD("done me-1 sent\n");
    CHECK_INT(fake.fence, 2);
    REFUSE("me-2", "paused");
    CHECK_TOLD(HEARD_ERROR "done me-2 " REFUSED("paused"));
    fake_judge(&fake);
    CHECK_TOLD("done me-3 sent\n");
    CHECK_INT(fake.fence, 2); /* nobody waits */
    CHECK_INT(chat(), OK);
    CHECK_INT(fake.fence, 3);
    done();
}

TEST(what_is_said_is_lost_with_the_connection)
{
    begin();
    CHECK_INT(chat(), OK);
    CHECK_INT(chat(), OK);
    reconnect(true);
    CHECK_TOLD("done me-1 " LOST "done me-2 " LOST
               "heard system/welcome to me\nwelcome resumed\n");
    CHECK_INT(chat(), OK);
    CHECK_INT(fake.fence, 3); /* the second was the replay's */
    fake_judge(&fake);
    CHECK_TOLD("done me-3 sent\n");
    done();
}

/* --- callbacks that act --- */

static void ask_again(void *user, const struct outcome *outcome)
{
    static bool is_first = true;

    fake_ask.on_done(user, outcome);
    if (is_first) {
        CHECK_INT(occupant_cancel(fake.occupant, outcome->id, S(""), fake.now),
                  ERR_NOT_FOUND);
        occupant_forget(fake.occupant, S("me-2"));
        CHECK_INT(ask(ASK_CALL), OK);
    }
    is_first = false;
}

TEST(who_is_told_may_ask_again_and_forget_others)
{
    begin();
    for (int i = 0; i < 3; i++)
        CHECK_INT(occupant_request(fake.occupant,
                                   &(struct asking){ .to = S("srv"),
                                                     .method = S("ping"),
                                                     .ops = { .on_done = ask_again },
                                                     .user = &fake },
                                   fake.now, NULL, NULL),
                  OK);
    fake_tick(&fake, 60'000);
    CHECK_TOLD("done me-1 timed out timeout: no answer came in time\n"
               "done me-3 timed out timeout: no answer came in time\n");
    fake_tick(&fake, 60'000);
    CHECK_TOLD("done me-7 timed out timeout: no answer came in time\n");
    done();
}

static void cancel_all(void *user, const struct progress *progress)
{
    fake_ask.on_progress(user, progress);
    CHECK_INT(occupant_cancel(fake.occupant, S("me-1"), S("so"), fake.now), OK);
    CHECK_INT(occupant_cancel(fake.occupant, S("me-2"), S("so"), fake.now), OK);
}

TEST(who_is_told_may_cancel_what_is_told_next)
{
    begin();
    for (int i = 0; i < 2; i++)
        CHECK_INT(
            occupant_request(fake.occupant,
                             &(struct asking){ .to = S("srv"),
                                               .method = S("ping"),
                                               .how = ASK_PROPOSE,
                                               .ops = { .on_progress = cancel_all,
                                                        .on_done = fake_ask.on_done },
                                               .user = &fake },
                             fake.now, NULL, NULL),
            OK);
    fake_tick(&fake, 0);
    CHECK_TOLD("progress me-1 proposed\ndone me-1 cancelled withdrawn: so\n"
               "done me-2 cancelled withdrawn: so\n"
               "proposal me-1 withdrawn\nproposal me-2 withdrawn\n");
    done();
}

static void propose_another(void *user, const struct progress *progress)
{
    fake_ask.on_progress(user, progress);
    CHECK_INT(ask(ASK_PROPOSE), OK);
}

TEST(what_is_proposed_meanwhile_expires_too)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    fake.now.mono_ms += 60'000;
    CHECK_INT(
        occupant_request(fake.occupant,
                         &(struct asking){ .method = S("ping"),
                                           .how = ASK_PROPOSE,
                                           .timeout_ms = 1'000'000,
                                           .ops = { .on_progress = propose_another },
                                           .user = &fake },
                         fake.now, NULL, NULL),
        OK);
    fake_tick(&fake, 0);
    CHECK_TOLD("progress me-2 proposed\n"
               "done me-1 timed out timeout: no answer came in time\n"
               "proposal me-2 open\nproposal me-3 open\n");
    fake_tick(&fake, 0);
    CHECK_TOLD("progress me-3 proposed\n");
    CHECK_INT(occupant_due_ms(fake.occupant), fake.now.mono_ms + 300'000);
    fake_tick(&fake, 300'000);
    CHECK_TOLD("done me-3 declined expired: nobody decided on the proposal in time\n"
               "proposal me-3 expired\n");
    done();
}
