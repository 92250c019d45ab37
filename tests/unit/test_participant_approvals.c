/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/proposals.h"
#include "participant_ledger.h"

static struct str counted(const char *id, const char *rest)
{
    return hear("system:gateway", id, "system/proposal", rest);
}

TEST(the_gateway_counts_who_approves)
{
    begin();
    propose();
    CHECK_INT(find("p")->needed, 0);
    CHECK_INT(find("p")->given, 0);
    CHECK_STR(counted("c1", "\"payload\":{\"proposal\":\"p\",\"state\":\"open\","
                            "\"approvals\":{\"needed\":2,\"given\":1,\"by\":[\"ann\"]}}"),
              S("proposal p open\n"));
    CHECK_INT(find("p")->needed, 2);
    CHECK_INT(find("p")->given, 1);
    CHECK_INT(find("p")->approver_count, 1);
    CHECK_STR(find("p")->approvers[0], S("ann"));
    CHECK_STR(counted("c2", "\"payload\":{\"proposal\":\"p\",\"state\":\"open\","
                            "\"approvals\":{\"needed\":2,\"given\":2,"
                            "\"by\":[\"ann\",\"b\\u006fb\"]}}"),
              S("proposal p open\n"));
    CHECK_INT(find("p")->given, 2);
    CHECK_STR(find("p")->approvers[1], S("bob"));
    done();
}

TEST(nobody_but_the_gateway_counts)
{
    begin();
    propose();
    (void)hear(
        "eve", "c", "system/proposal",
        "\"payload\":{\"proposal\":\"p\",\"approvals\":{\"needed\":1,\"given\":1}}");
    CHECK_INT(find("p")->given, 0);
    done();
}

TEST(the_welcome_says_how_many_have_approved)
{
    begin();
    fake_hear_from(&fake, "system:gateway", "w", "system/welcome",
                   "\"to\":[\"bot\"],\"payload\":{\"you\":{\"id\":\"bot\","
                   "\"capabilities\":[\"mcp/*\"]},\"participants\":[],\"moot\":{"
                   "\"proposals\":[{\"id\":\"p\",\"proposer\":\"agent\",\"kind\":"
                   "\"" PROPOSAL "\",\"approvals\":{\"needed\":3,\"given\":1,\"by\":["
                   "\"ann\",7,\"\"]}}]}}");
    CHECK_INT(find("p")->needed, 3);
    CHECK_INT(find("p")->given, 1);
    CHECK_INT(find("p")->approver_count, 1);
    done();
}
