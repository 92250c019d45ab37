/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about a server: written, read, compared, judged. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "bridge/spec.h"
#include "harness.h"

static struct server_spec *read_spec(struct str json)
{
    struct server_spec *spec = NULL;
    char *why = NULL;

    CHECK_INT(server_spec_read(json, &spec, &why), OK);
    CHECK_STR(str_of(why), S(""));
    free(why);
    return spec;
}

static const struct str full = S(
    "{\"name\":\"files\",\"topic\":\"room\",\"id\":\"tools\",\"command\":[\"npx\",\"x\"],"
    "\"folder\":\"/w\",\"env\":{\"A\":\"b\",\"S\":{\"file\":\"/s\"},\"E\":{\"env\":\"F\"}},"
    "\"sandbox\":\"strict\",\"profile\":\"filesystem\",\"network\":\"hosts\","
    "\"hosts\":[\"h\"],\"read\":[\"/r\"],\"write\":[],\"roots\":[\"file:///r\"],"
    "\"memory\":1,\"processes\":2,\"files\":3,\"file_bytes\":4,\"cpu\":5,\"uid\":6,"
    "\"gid\":7,\"mode\":\"pooled\",\"instances\":2,\"era\":\"modern\",\"pin\":\"warn\","
    "\"authorization\":{\"mode\":\"selective\",\"delegate\":\"dan\",\"timeout_ms\":1000,"
    "\"rules\":[{\"tool\":\"t\",\"arguments\":{\"a\":1},\"then\":\"delegate\"}]},"
    "\"start\":true,\"idle_ms\":8,\"call_ms\":9,\"open_ms\":10,\"backoff_min_ms\":110,"
    "\"backoff_max_ms\":120,\"max_waiting\":13,\"max_message\":14,\"max_log\":15}");

TEST(what_is_written_is_read_and_the_same)
{
    const struct str texts[] = {
        S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"]}"),
        S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"http://h\",\"headers\":{\"X\":\"y\","
          "\"Authorization\":{\"env\":\"T\",\"before\":\"Bearer \"}},"
          "\"oauth_client_id\":\"i\",\"oauth_client_secret_file\":\"/f\","
          "\"oauth_metadata_url\":\"https://m\",\"oauth_scopes\":\"s\"}"),
        S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"https://h\",\"public\":true}"),
        full,
    };

    FOR_EACH_CASE(text, texts) {
        CLEANUP(buf_done) struct buf out;
        struct server_spec *a = read_spec(*text), *b;

        buf_init(&out, 1 << 16);
        server_spec_write(a, &out);
        b = read_spec(buf_str(&out));
        CHECK(server_spec_is_same(a, b));
        server_spec_unref(a);
        server_spec_unref(b);
    }
}

/* Each of them makes another server of it. */
TEST(every_difference_counts)
{
    static const char *const changes[][2] = {
        { "\"files\",", "\"filez\"," },
        { "\"room\"", "\"roem\"" },
        { "\"tools\"", "\"tool\"" },
        { "\"npx\",\"x\"", "\"npx\",\"y\"" },
        { "\"npx\",\"x\"", "\"npx\"" },
        { "\"/w\"", "\"/v\"" },
        { "\"A\":\"b\"", "\"A\":\"c\"" },
        { "{\"file\":\"/s\"}", "{\"env\":\"/s\"}" },
        { "{\"file\":\"/s\"}", "{\"file\":\"/s\",\"before\":\"x\"}" },
        { ",\"E\":{\"env\":\"F\"}", "" },
        { "[\"h\"]", "[\"i\"]" },
        { "[\"/r\"]", "[\"/q\"]" },
        { ",\"roots\":[\"file:///r\"]", "" },
        { "\"cpu\":5", "\"cpu\":6" },
        { "\"memory\":1", "\"memory\":2" },
        { "pooled", "per-caller" },
        { "modern", "auto" },
        { "warn", "hold" },
        { "\"dan\"", "\"eva\"" },
        { "\"timeout_ms\":1000", "\"timeout_ms\":1001" },
        { "\"tool\":\"t\"", "\"tool\":\"u\"" },
        { "{\"a\":1}", "{\"a\":2}" },
        { "\"then\":\"delegate\"", "\"then\":\"deny\"" },
        { "\"start\":true", "\"start\":false" },
        { "\"start\":true", "\"start\":true,\"public\":true" },
        { "\"max_log\":15", "\"max_log\":16" },
    };

    FOR_EACH_CASE(c, changes) {
        CLEANUP(buf_done) struct buf text;
        const char *at = strstr(full.ptr, (*c)[0]);
        struct server_spec *a = read_spec(full), *b;

        buf_init(&text, 1 << 16);
        buf_put(&text, (struct str){ full.ptr, (size_t)(at - full.ptr) });
        buf_put(&text, str_of((*c)[1]));
        buf_put(&text, str_of(at + strlen((*c)[0])));
        b = read_spec(buf_str(&text));
        CHECK(!server_spec_is_same(a, b));
        server_spec_unref(a);
        server_spec_unref(b);
    }
}

TEST(what_uses_this_machine_is_told_from_what_does_not)
{
    /* clang-format off */
    static const struct { struct str json; const char *why; } cases[] = {
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"]}"), "it is a program" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"http://h\"}"), "its url is not https" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"https://h\",\"headers\":{\"A\":\"b\",\"B\":{\"file\":\"/f\"}}}"), "a header of it is from a file or a variable of the gateway" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"https://h\",\"headers\":{\"B\":{\"env\":\"V\"}}}"), "a header of it is from a file or a variable of the gateway" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"https://h\",\"oauth_client_secret_file\":\"/f\"}"), "it has a secret from a file of the gateway" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"https://h\",\"headers\":{\"A\":\"b\"},\"oauth_client_id\":\"i\"}"), "" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct server_spec *spec = read_spec(c->json);
        const char *why = server_spec_uses_machine(spec);

        CHECK_STR(str_of(why ? why : ""), str_of(c->why));
        server_spec_unref(spec);
    }
}

TEST(what_is_wrong_is_said)
{
    /* clang-format off */
    static const struct { struct str json; const char *why; } cases[] = {
        { S("7"), "a server is a JSON object" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"x\":1}"), "\"x\" is unknown" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":\"a\"}"), "\"command\" does not say what it should" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"mode\":\"x\"}"), "\"mode\" does not say what it should" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"instances\":65}"), "\"instances\" does not say what it should" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"backoff_min_ms\":99}"), "\"backoff_min_ms\" does not say what it should" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"backoff_max_ms\":0}"), "\"backoff_max_ms\" does not say what it should" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"max_message\":67108865}"), "\"max_message\" does not say what it should" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"start\":1}"), "\"start\" does not say what it should" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"env\":{\"A\":{\"x\":\"y\"}}}"), "\"env\" does not say what it should" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"authorization\":{\"mode\":\"delegated\"}}"), "authorization: mode delegated needs a delegate" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"authorization\":{\"mode\":\"x\"}}"), "authorization: mode is always-allow, always-prompt, selective or delegated" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"authorization\":{\"mode\":\"delegated\",\"delegate\":\"a\"}}"), "authorization: a server does not decide on calls of its own" },
        { S("{\"name\":\"\",\"topic\":\"r\",\"command\":[\"a\"]}"), "the name of a server has 1 to 64 letters, digits, _ . -" },
        { S("{\"name\":\"../a\",\"topic\":\"r\",\"command\":[\"a\"]}"), "the name of a server has 1 to 64 letters, digits, _ . -" },
        { S("{\"name\":\"a\",\"command\":[\"a\"]}"), "a server needs a topic" },
        { S("{\"name\":\"a\",\"topic\":\"r\"}"), "a server has either a command or a url" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"url\":\"http://h\"}"), "a server has either a command or a url" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"\"]}"), "the command is empty" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\\u0000b\"]}"), "there is a zero byte in the command" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"read\":[\"b\"]}"), "read: \"b\" is no absolute path" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"write\":[\"b\"]}"), "write: \"b\" is no absolute path" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"network\":\"any\"}"), "network: any needs sandbox: off" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"sandbox\":\"off\",\"network\":\"none\"}"), "without a sandbox the network cannot be limited: network: any" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"sandbox\":\"basic\",\"network\":\"loopback\"}"), "sandbox: basic has network: none alone" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"network\":\"hosts\"}"), "network: hosts without any in hosts" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"hosts\":[\"h\"],\"network\":\"none\"}"), "hosts need network: hosts" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"network\":\"hosts\",\"hosts\":[\"https://h\"]}"), "the host \"https://h\": a host is no URL: HOST, HOST:PORT or *.DOMAIN" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"profile\":\"fool\"}"), "there is no profile \"fool\"; there are: everything, filesystem, memory, sequential-thinking, time, git, sqlite, github, gitlab, slack, brave-search, google-maps" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"env\":{\"1A\":\"\"}}"), "\"1A\" is no name of a variable" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"env\":{\"A\":{\"file\":\"\"}}}"), "the secret A does not say where it is" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"headers\":{\"A\":\"b\"}}"), "headers are for a url, not for a command" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"mode\":\"pooled\"}"), "instances are 1 to 64" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"command\":[\"a\"],\"roots\":[\"/x\"]}"), "a root is no file:// URI" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"ftp://h\"}"), "url begins with http:// or https:// and is one line" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"http://u:p@h\"}"), "url has no spaces, control characters or passwords (@)" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"http://h\",\"env\":{\"A\":\"b\"}}"), "variables are for a command, not for a url" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"http://h\",\"headers\":{\"A b\":\"c\"}}"), "\"A b\" is no name of a header" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"http://h\",\"headers\":{\"A\":\"b\\r\\nC: d\"}}"), "the header A has a line end" },
        { S("{\"name\":\"a\",\"topic\":\"r\",\"url\":\"http://h\",\"headers\":{\"authorization\":\"b\"}}"), "Authorization comes from file:PATH or env:NAME" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct server_spec *spec = NULL;
        char *why = NULL;

        CHECK_INT(server_spec_read(c->json, &spec, &why), ERR_INVALID);
        CHECK_STR(str_of(why), str_of(c->why));
        free(why);
    }
}
