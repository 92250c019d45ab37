/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of MCP clients: what is to stand there, and how it gets there. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/mcp_clients.h"
#include "cli/mcp_install.h"
#include "harness.h"
#include "json/json.h"

static const struct str words[] = { S("mcp"), S("--topic"), S("a \"b\"") };

static struct mcp_entry entry(void)
{
    return (struct mcp_entry){ .name = S("moot-a"),
                               .command = S("/bin/moot"),
                               .arguments = { words, COUNT(words) } };
}

TEST(each_client_has_its_own_way_to_say_it)
{
    static const struct {
        struct str client, text;
    } cases[] = {
        { S("claude-desktop"),
          S("{\n  \"mcpServers\": {\n    \"moot-a\": {\n"
            "      \"command\": \"/bin/moot\",\n"
            "      \"args\": [\"mcp\", \"--topic\", \"a \\\"b\\\"\"]\n"
            "    }\n  }\n}\n") },
        { S("vscode"), S("{\n  \"servers\": {\n    \"moot-a\": {\n"
                         "      \"type\": \"stdio\",\n"
                         "      \"command\": \"/bin/moot\",\n"
                         "      \"args\": [\"mcp\", \"--topic\", \"a \\\"b\\\"\"]\n"
                         "    }\n  }\n}\n") },
        { S("codex"), S("[mcp_servers.\"moot-a\"]\ncommand = \"/bin/moot\"\n"
                        "args = [\"mcp\", \"--topic\", \"a \\\"b\\\"\"]\n") },
    };

    FOR_EACH_CASE(c, cases) {
        struct mcp_entry e = entry();
        struct buf out;

        buf_init(&out, 4096);
        mcp_client_put_file(&out, mcp_client_find(c->client), &e);
        CHECK_STR(buf_str(&out), c->text);
        buf_done(&out);
    }
    CHECK(!mcp_client_find(S("notepad")));
}

TEST(a_url_names_the_variable_of_its_token_and_never_the_token)
{
    static const struct {
        struct str client, text;
    } cases[] = {
        { S("claude-code"), S("\"type\": \"http\",\n      \"url\": \"https://h/mcp/a\",\n"
                              "      \"headers\": { \"Authorization\": \"Bearer "
                              "${MOOT_TOKEN}\" }\n") },
        { S("windsurf"), S("\"serverUrl\": \"https://h/mcp/a\",\n      \"headers\": { "
                           "\"Authorization\": \"Bearer ${env:MOOT_TOKEN}\" }\n") },
        { S("gemini"), S("\"httpUrl\": \"https://h/mcp/a\",\n      \"headers\": { "
                         "\"Authorization\": \"Bearer $MOOT_TOKEN\" }\n") },
        { S("codex"), S("url = \"https://h/mcp/a\"\nbearer_token_env_var = "
                        "\"MOOT_TOKEN\"\n") },
        { S("vscode"), S("\"inputs\": [{ \"type\": \"promptString\", \"id\": "
                         "\"moot-token\"") },
    };

    FOR_EACH_CASE(c, cases) {
        const struct mcp_client *client = mcp_client_find(c->client);
        struct mcp_entry e = { .name = S("m"),
                               .url = S("https://h/mcp/a"),
                               .has_token = true };
        struct buf out;

        buf_init(&out, 4096);
        CHECK(!mcp_client_fault(client, &e));
        mcp_client_put_file(&out, client, &e);
        CHECK(memmem(out.ptr, out.len, c->text.ptr, c->text.len));
        buf_done(&out);
    }
}

TEST(what_a_client_cannot_have_is_said)
{
    struct mcp_entry e = { .name = S("m"), .url = S("https://h/"), .has_token = true };

    CHECK(mcp_client_fault(mcp_client_find(S("claude-desktop")), &e));
    CHECK(mcp_client_fault(mcp_client_find(S("zed")), &e));
    e.has_token = false;
    CHECK(!mcp_client_fault(mcp_client_find(S("zed")), &e));
}

#define ENTRY(margin)                                                 \
    "\"moot-a\": {\n" margin "  \"command\": \"/bin/moot\",\n" margin \
    "  \"args\": [\"mcp\", \"--topic\", \"a \\\"b\\\"\"]\n" margin "}"

TEST(everything_else_stays_byte_for_byte)
{
    static const struct {
        struct str before, after;
    } cases[] = {
        { S("{}"), S("{\n  \"mcpServers\": {\n    " ENTRY("    ") "\n  }\n}") },
        { S("\n{ \"n\": 1.50,\n\t\"x\" :[ ] }\n"),
          S("\n{ \"n\": 1.50,\n\t\"x\" :[ ],\n  \"mcpServers\": {\n    " ENTRY(
              "    ") "\n  } }\n") },
        { S("{\"mcpServers\":{}}"), S("{\"mcpServers\":{\n  " ENTRY("  ") "\n}}") },
        { S("{\n    \"mcpServers\": {\n        \"other\": {\"command\": \"\\u0061\"}\n"
            "    },\n    \"z\": 1e2\n}\n"),
          S("{\n    \"mcpServers\": {\n        \"other\": {\"command\": \"\\u0061\"},\n"
            "        " ENTRY("        ") "\n    },\n    \"z\": 1e2\n}\n") },
        /* one of this name is replaced */
        { S("{\n  \"mcpServers\": {\n    \"moot-a\": {\"command\": \"old\"},\n"
            "    \"other\": {}\n  }\n}\n"),
          S("{\n  \"mcpServers\": {\n    " ENTRY("    ") ",\n"
                                                         "    \"other\": {}\n  }\n}\n") },
    };

    FOR_EACH_CASE(c, cases) {
        struct mcp_entry e = entry();
        struct arena arena;
        const struct json *root;
        struct buf out, again, why;

        arena_init(&arena, 1 << 20);
        buf_init(&out, 4096);
        buf_init(&again, 4096);
        buf_init(&why, 512);
        CHECK_INT(
            mcp_install_merge(c->before, mcp_client_find(S("cursor")), &e, &out, &why),
            OK);
        CHECK_STR(buf_str(&out), c->after);
        CHECK_INT(json_parse(buf_str(&out), &arena, &root, NULL), OK);
        /* a second time changes nothing */
        CHECK_INT(mcp_install_merge(buf_str(&out), mcp_client_find(S("cursor")), &e,
                                    &again, &why),
                  OK);
        CHECK_STR(buf_str(&again), buf_str(&out));
        buf_done(&why);
        buf_done(&again);
        buf_done(&out);
        arena_done(&arena);
    }
}

TEST(what_is_not_strictly_json_is_left_alone)
{
    static const struct {
        struct str client, text;
    } cases[] = {
        { S("cursor"), S("{ // mine\n}") },
        { S("cursor"), S("{\"a\":1,}") },
        { S("cursor"), S("{\"mcpServers\":{},\"mcpServers\":{}}") },
        { S("cursor"), S("[]") },
        { S("cursor"), S("{\"mcpServers\":[]}") },
        { S("codex"), S("") },
    };

    FOR_EACH_CASE(c, cases) {
        struct mcp_entry e = entry();
        struct buf out, why;

        buf_init(&out, 4096);
        buf_init(&why, 512);
        CHECK_INT(mcp_install_merge(c->text, mcp_client_find(c->client), &e, &out, &why),
                  ERR_INVALID);
        CHECK(why.len > 0);
        buf_done(&why);
        buf_done(&out);
    }
}

TEST(a_diff_shows_what_changes_and_little_else)
{
    static const struct {
        struct str before, after, diff;
    } cases[] = {
        { S("a\nb\nc\nd\ne\nf\n"), S("a\nb\nc\nX\nd\ne\nf\n"),
          S("  b\n  c\n+ X\n  d\n  e\n") },
        { S("a\nb\n"), S("a\nB\n"), S("  a\n- b\n+ B\n") },
        { S(""), S("x\n"), S("+ x\n") },
        { S("a\n"), S("a\n"), S("") },
        { S("a"), S("a\x1b[1m"), S("- a\n+ a\\u001b[1m\n") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        mcp_install_put_diff(&out, c->before, c->after);
        CHECK_STR(buf_str(&out), c->diff);
        buf_done(&out);
    }
}
