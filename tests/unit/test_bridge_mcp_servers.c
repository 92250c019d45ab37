/* SPDX-License-Identifier: Apache-2.0 */
/* Servers as other programs write them down. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "bridge/spec.h"
#include "harness.h"

static void on_spec(void *user, struct server_spec *spec)
{
    server_spec_write(spec, user);
    buf_putc(user, '\n');
}

/* All that is said of a spec by default, behind what the file says. */
static void check_starts(struct str got, struct str want)
{
    CHECK_STR(str_slice(got, 0, want.len), want);
}

TEST(what_other_programs_write_is_read_as_it_stands)
{
    /* clang-format off */
    static const struct { struct str json, spec; } cases[] = {
        { S("{\"mcpServers\":{\"fs\":{\"command\":\"npx\",\"args\":[\"-y\",\"x\"],"
            "\"env\":{\"A\":\"b\",\"K\":\"${KEY}\",\"L\":\"${env:LOCK}\"}}}}"),
          S("{\"name\":\"fs\",\"topic\":\"room\",\"id\":\"fs\",\"command\":[\"npx\",\"-y\",\"x\"],"
            "\"env\":{\"A\":\"b\",\"K\":{\"env\":\"KEY\"},\"L\":{\"env\":\"LOCK\"}},\"sandbox\":\"strict\",") },
        { S("{\"servers\":{\"r\":{\"type\":\"http\",\"url\":\"https://h/mcp\","
            "\"headers\":{\"X-A\":\"b\",\"Authorization\":\"Bearer ${TOKEN}\"}}},\"inputs\":[]}"),
          S("{\"name\":\"r\",\"topic\":\"room\",\"id\":\"r\",\"url\":\"https://h/mcp\","
            "\"headers\":{\"X-A\":\"b\",\"Authorization\":{\"env\":\"TOKEN\",\"before\":\"Bearer \"}},") },
        { S("{\"mcp\":{\"servers\":{\"a\":{\"command\":\"a\",\"disabled\":true},"
            "\"b\":{\"command\":\"b\",\"cwd\":\"/w\",\"autoApprove\":[\"x\"],\"disabled\":false}}}}"),
          S("{\"name\":\"b\",\"topic\":\"room\",\"id\":\"b\",\"command\":[\"b\"],\"folder\":\"/w\",") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf out;
        char *why = NULL;

        buf_init(&out, 1 << 16);
        CHECK_INT(server_specs_read(c->json, S("room"), on_spec, &out, &why), OK);
        check_starts(buf_str(&out), c->spec);
        free(why);
    }
}

TEST(what_is_not_understood_is_refused_and_nothing_is_told)
{
    /* clang-format off */
    static const struct { struct str json; const char *why; } cases[] = {
        { S("{"), "it is no JSON, or has a name twice" },
        { S("{\"mcpServers\":{\"a\":{\"command\":\"b\"},\"a\":{\"command\":\"c\"}}}"), "it is no JSON, or has a name twice" },
        { S("[]"), "it has no object \"mcpServers\" of at most 256 servers" },
        { S("{\"mcpServers\":[]}"), "it has no object \"mcpServers\" of at most 256 servers" },
        { S("{\"mcpServers\":{\"ok\":{\"command\":\"b\"},\"a\":7}}"), "server \"a\": \"a\" must be an object" },
        { S("{\"mcpServers\":{\"a\":{}}}"), "server \"a\": \"a\" a server has either a command or a url" },
        { S("{\"mcpServers\":{\"a/b\":{\"command\":\"b\"}}}"), "server \"a/b\": \"a/b\" the name of a server has 1 to 64 letters, digits, _ . -" },
        { S("{\"mcpServers\":{\"a\":{\"command\":\"b\",\"envFile\":\"x\"}}}"), "server \"a\": \"envFile\" is not understood" },
        { S("{\"mcpServers\":{\"a\":{\"command\":\"b\",\"args\":\"x\"}}}"), "server \"a\": \"args\" must be a list of texts" },
        { S("{\"mcpServers\":{\"a\":{\"command\":\"b\",\"args\":[1]}}}"), "server \"a\": \"args\" must be texts without ${…}" },
        { S("{\"mcpServers\":{\"a\":{\"command\":\"b\",\"args\":[\"${workspaceFolder}\"]}}}"), "server \"a\": \"args\" must be texts without ${…}" },
        { S("{\"mcpServers\":{\"a\":{\"command\":\"b\",\"env\":{\"K\":\"${input:key}\"}}}}"), "server \"a\": \"K\" refers to what only the other program knows" },
        { S("{\"mcpServers\":{\"a\":{\"command\":\"b\",\"env\":{\"K\":\"${B}c\"}}}}"), "server \"a\": \"K\" refers to what only the other program knows" },
        { S("{\"mcpServers\":{\"a\":{\"command\":\"b\",\"env\":{\"K\":1}}}}"), "server \"a\": \"K\" must be a text" },
        { S("{\"mcpServers\":{\"a\":{\"command\":\"b\",\"env\":{\"K=L\":\"1\"}}}}"), "server \"a\": \"a\" \"K=L\" is no name of a variable" },
        { S("{\"mcpServers\":{\"a\":{\"type\":\"ws\",\"url\":\"http://x\"}}}"), "server \"a\": \"type\" is none of stdio, http, sse" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf out;
        char *why = NULL;

        buf_init(&out, 1 << 16);
        CHECK_INT(server_specs_read(c->json, S("room"), on_spec, &out, &why),
                  ERR_INVALID);
        CHECK_STR(str_of(why), str_of(c->why));
        CHECK_STR(buf_str(&out), S(""));
        free(why);
    }
}
