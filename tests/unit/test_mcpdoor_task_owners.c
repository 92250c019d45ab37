/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a task is, where several could have made it. */
#include <stdio.h>

#include "mcpdoor/task_owners.h"
#include "mcpdoor_hall.h"

static bool is_here(void *, struct str owner)
{
    return !str_eq(owner, S("gone"));
}

static bool note(struct task_owners *owners, const char *who, const char *owner,
                 const char *result)
{
    return task_owners_note(
        owners, str_of(who), str_of(owner),
        (struct json_span){ .type = JSON_OBJECT, .text = str_of(result) });
}

#define FIND(who, task) task_owners_find(&owners, S(who), S(task))

TEST(tasks_of_both_eras_are_noted_and_nothing_else)
{
    struct task_owners owners;

    task_owners_init(&owners, is_here, NULL);
    CHECK(note(&owners, "ann", "a", "{\"task\":{\"taskId\":\"1\"}}"));
    CHECK(note(&owners, "ann", "b", "{\"resultType\":\"task\",\"taskId\":\"2\"}"));
    CHECK(note(&owners, "ann", "c", "{\"resultType\":\"complete\",\"taskId\":\"3\"}"));
    CHECK(note(&owners, "ann", "c", "{\"task\":{\"taskId\":4}}"));
    CHECK(note(&owners, "ann", "c", "{\"task\":{\"taskId\":\"\"}}"));
    CHECK_STR(FIND("ann", "1"), S("a"));
    CHECK_STR(FIND("ann", "2"), S("b"));
    CHECK_STR(FIND("ann", "3"), S(""));
    CHECK_STR(FIND("ann", "4"), S(""));
    CHECK_STR(FIND("ann", ""), S(""));
    CHECK_STR(FIND("bob", "1"), S(""));
    CHECK(note(&owners, "ann", "a", "{\"task\":{\"taskId\":\"1\"}}"));
    CHECK(!note(&owners, "ann", "b", "{\"task\":{\"taskId\":\"1\"}}"));
    CHECK_STR(FIND("ann", "1"), S("a"));
    CHECK(note(&owners, "ann", "gone", "{\"task\":{\"taskId\":\"5\"}}"));
    CHECK(note(&owners, "ann", "b", "{\"task\":{\"taskId\":\"5\"}}"));
    CHECK_STR(FIND("ann", "5"), S("b"));
    task_owners_done(&owners);
}

TEST(everybody_has_room_for_some_and_the_oldest_go)
{
    struct task_owners owners;
    char text[64], who[16];

    task_owners_init(&owners, is_here, NULL);
    CHECK(note(&owners, "bob", "a", "{\"task\":{\"taskId\":\"0\"}}"));
    for (int i = 0; i <= TASK_OWNERS_EACH; i++) {
        (void)snprintf(text, sizeof(text), "{\"task\":{\"taskId\":\"%d\"}}", i);
        CHECK(note(&owners, "ann", "a", text));
    }
    CHECK_STR(FIND("ann", "0"), S(""));
    CHECK_STR(FIND("ann", "1"), S("a"));
    CHECK_STR(FIND("bob", "0"), S("a"));
    CHECK_INT(owners.notes.count, TASK_OWNERS_EACH + 1);
    for (int i = 0; i < TASK_OWNERS; i++) {
        (void)snprintf(who, sizeof(who), "p%d", i);
        CHECK(note(&owners, who, "a", "{\"task\":{\"taskId\":\"t\"}}"));
    }
    CHECK_INT(owners.notes.count, TASK_OWNERS);
    CHECK_STR(FIND("bob", "0"), S(""));
    CHECK_STR(FIND("p0", "t"), S("a"));
    task_owners_done(&owners);
}

/* --- in a hall --- */

#define CAN                                                                   \
    ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"extensions\":{"        \
    "\"io.modelcontextprotocol/tasks\":{}}}}"
#define CALL_OF(owner)                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":" \
    "\"" owner ".read\",\"arguments\":{}" CAN "}}"
#define LOOK(method, id)                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"" method "\",\"params\":{" \
    "\"taskId\":\"" id "\"" CAN "}}"

static void make_task(struct stage *stage, const char *owner, const char *call,
                      const char *result)
{
    size_t out = stage_post(stage, "ann", "", call);

    stage_answer(stage, owner, result);
    HAS(stage_said(stage, out), "\"taskId\":\"t\"");
}

#define TASK \
    "\"result\":{\"resultType\":\"task\",\"taskId\":\"t\",\"status\":\"working\"}"

TEST(who_looks_after_a_task_reaches_the_one_that_has_it)
{
    struct stage stage;
    size_t out;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "a", "{\"tools\":[" READ "]}");
    stage_owner(&stage, "b", "{\"tools\":[" READ "]}");
    make_task(&stage, "b", CALL_OF("b"), TASK);
    stage_pass(&stage, 120'000); /* it has left the room meanwhile */
    out = stage_post(&stage, "ann", "", LOOK("tasks/get", "t"));
    HAS(stage_asked(&stage, "b"), "\"method\":\"tasks/get\"");
    CHECK(!has(stage_asked(&stage, "a"), "tasks/get"));
    stage_answer(&stage, "b",
                 "\"result\":{\"resultType\":\"complete\",\"taskId\":\"t\"}");
    HAS(stage_said(&stage, out), "200 ");
    out = stage_post(&stage, "bob", "", LOOK("tasks/get", "t"));
    HAS(stage_said(&stage, out), "\"code\":-32602,\"message\":\"Unknown task\"");
    stage_done(&stage);
}

TEST(nobody_takes_over_the_task_of_another)
{
    struct stage stage;
    size_t out;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "a", "{\"tools\":[" READ "]}");
    stage_owner(&stage, "b", "{\"tools\":[" READ "]}");
    stage_owner(&stage, "c", "{\"tools\":[" READ "]}");
    make_task(&stage, "b", CALL_OF("b"), TASK);
    out = stage_post(&stage, "ann", "", CALL_OF("a"));
    stage_answer(&stage, "a", TASK);
    HAS(stage_said(&stage, out), "its task has the id of a task of another server");
    (void)stage_post(&stage, "ann", "", LOOK("tasks/cancel", "t"));
    HAS(stage_asked(&stage, "b"), "\"method\":\"tasks/cancel\"");
    CHECK(!has(stage_asked(&stage, "a"), "tasks/cancel"));
    stage_owner_leaves(&stage, "b");
    make_task(&stage, "a", CALL_OF("a"), TASK);
    (void)stage_post(&stage, "ann", "", LOOK("tasks/get", "t"));
    HAS(stage_asked(&stage, "a"), "\"method\":\"tasks/get\"");
    stage_done(&stage);
}

TEST(several_owners_have_no_list_of_tasks)
{
    struct stage stage;
    size_t out;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "a",
                "{\"tools\":[" READ
                "],\"capabilities\":{\"tools\":{},\"tasks\":{\"list\":{}}}}");
    stage_owner(&stage, "b", "{\"tools\":[" READ "]}");
    out = stage_post(&stage, "ann", "", INITIALIZE("2025-11-25"));
    CHECK(!has(stage_said(&stage, out), "\"list\":{}"));
    out = stage_post(&stage, "ann", open_visit(&stage, "ann"), LEGACY("tasks/list"));
    HAS(stage_said(&stage, out), "\"code\":-32601");
    stage_done(&stage);
}
