/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "harness.h"
#include "policy/capset.h"
#include "policy/profile.h"

TEST(the_built_in_profiles_hold_valid_capabilities)
{
    size_t count = 0;

    for (const struct profile *p = profile_next(NULL); p; p = profile_next(p), count++) {
        CHECK(profile_find(p->name) == p);
        CHECK(p->capabilities.count > 0);
        CHECK_INT(capset_check(p->capabilities, NULL, NULL), OK);
    }
    CHECK_INT(count, 10);
    CHECK(profile_find(S("")) == NULL);
    CHECK(profile_find(S("Full")) == NULL);
    CHECK(profile_find(S("nobody")) == NULL);
}

TEST(seed_4_1_the_profiles_are_the_example_sets)
{
    /* clang-format off */
    static const struct { struct str name, json; enum participant_type type; bool is_admin; } cases[] = {
        { S("full"),      S("[\"mcp/*\",\"chat\"]"), TYPE_AGENT, false },
        { S("proposer"),  S("[\"mcp/proposal:*\",\"mcp/response:*\",\"chat\"]"), TYPE_AGENT, false },
        { S("responder"), S("[\"mcp/response:*\",\"chat\"]"), TYPE_AGENT, false },
        { S("reader"),    S("[\"mcp/request:resources/read\",\"mcp/request:*/list\",\"mcp/response:*\",\"chat\"]"), TYPE_AGENT, false },
        { S("tools"),     S("[\"mcp/request:tools/*\",\"mcp/response:tools/*\",\"chat\"]"), TYPE_AGENT, false },
        { S("human"),     S("[\"mcp/*\",\"chat\",\"participant/status\",\"rule/accept\",\"rule/add\",\"rule/decline\",\"rule/disable\",\"rule/enable\"]"), TYPE_HUMAN, false },
        { S("admin"),     S("[\"mcp/*\",\"chat\",\"participant/status\",\"capability/*\",\"participant/*\",\"topic/*\",\"rule/*\"]"), TYPE_HUMAN, true },
        { S("bridge"),    S("[\"mcp/response:*\",\"mcp/request:notifications/*\",\"mcp/request:sampling/createMessage\",\"mcp/request:elicitation/create\",\"mcp/request:roots/list\",\"participant/status\"]"), TYPE_SERVICE, false },
        { S("orchestrator"), S("[\"chat\",\"rule/suggest\",\"rule/use\",\"rule/shadow\",\"mcp/response:*\",\"participant/status\"]"), TYPE_SERVICE, false },
        { S("directory"), S("[\"directory/query\",\"team/create\",\"mcp/proposal:*\",\"mcp/response:*\",\"chat\"]"), TYPE_AGENT, false },
    };
    /* clang-format on */
    struct capsets *capsets = capsets_new();

    FOR_EACH_CASE(c, cases) {
        const struct profile *profile = profile_find(c->name);
        struct capset *set = NULL;

        CHECK_INT(capset_intern(capsets, profile->capabilities, &set, NULL), OK);
        CHECK_STR(capset_json(set, DIALECT_SLASH), c->json);
        CHECK_INT(profile->type, c->type);
        CHECK_INT(profile->is_admin, c->is_admin);
        capset_unref(set);
    }
    capsets_free(capsets);
}

TEST(seed_4_1_each_profile_may_what_the_seed_says_and_no_more)
{
    /* clang-format off */
    static const struct { struct str profile, kind; bool may; } cases[] = {
        { S("full"),      S("mcp/request:tools/call:rm"),            true  },
        { S("full"),      S("mcp/approve"),                          true  },
        { S("full"),      S("capability/grant"),                     false },
        { S("proposer"),  S("mcp/proposal:tools/call"),              true  },
        { S("proposer"),  S("mcp/request:tools/call"),               false },
        { S("proposer"),  S("mcp/withdraw"),                         false },
        { S("responder"), S("mcp/response:resources/read"),          true  },
        { S("responder"), S("mcp/proposal:tools/call"),              false },
        { S("reader"),    S("mcp/request:resources/read"),           true  },
        { S("reader"),    S("mcp/request:resources/read:file:///a"), true  },
        { S("reader"),    S("mcp/request:tools/list"),               true  },
        { S("reader"),    S("mcp/request:resources/templates/list"), true  },
        { S("reader"),    S("mcp/request:resources/subscribe"),      false },
        { S("reader"),    S("mcp/request:tools/call"),               false },
        { S("reader"),    S("mcp/request:tools/call:x/list"),        false },
        { S("tools"),     S("mcp/request:tools/call:x"),             true  },
        { S("tools"),     S("mcp/response:tools/list"),              true  },
        { S("tools"),     S("mcp/request:resources/read"),           false },
        { S("human"),     S("participant/status"),                   true  },
        { S("human"),     S("participant/kick"),                     false },
        { S("admin"),     S("participant/kick"),                     true  },
        { S("admin"),     S("capability/grant"),                     true  },
        { S("admin"),     S("topic/invite"),                         true  },
        { S("bridge"),    S("mcp/request:notifications/progress"),   true  },
        { S("bridge"),    S("mcp/request:tools/call"),               false },
        { S("bridge"),    S("chat"),                                 false },
        { S("human"),     S("rule/accept"),                          true  },
        { S("human"),     S("rule/remove"),                          false },
        { S("human"),     S("rule/use"),                             false },
        { S("admin"),     S("rule/remove"),                          true  },
        { S("full"),      S("rule/suggest"),                         false },
        { S("orchestrator"), S("rule/suggest"),                      true  },
        { S("orchestrator"), S("rule/accept"),                       false },
        { S("orchestrator"), S("rule/enable"),                       false },
        { S("orchestrator"), S("mcp/request:tools/call:x"),          false },
        { S("orchestrator"), S("mcp/approve"),                       false },
    };
    /* clang-format on */
    struct capsets *capsets = capsets_new();

    FOR_EACH_CASE(c, cases) {
        struct capset *set = NULL;

        CHECK_INT(
            capset_intern(capsets, profile_find(c->profile)->capabilities, &set, NULL),
            OK);
        CHECK_INT(capset_may(set, c->kind) == VERDICT_ALLOW, c->may);
        capset_unref(set);
    }
    capsets_free(capsets);
}

TEST(the_types_of_participants_have_names)
{
    static const struct str names[] = { S("agent"), S("human"), S("service") };
    enum participant_type type = TYPE_SERVICE;

    for (size_t i = 0; i < COUNT(names); i++) {
        CHECK(participant_type_parse(names[i], &type));
        CHECK_INT(type, i);
        CHECK_STR(participant_type_name(type), names[i]);
    }
    CHECK(!participant_type_parse(S("Human"), &type));
    CHECK(!participant_type_parse(S(""), &type));
    CHECK_INT(type, TYPE_SERVICE);
}
