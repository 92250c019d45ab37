/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/guest_token.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cli/client.h"
#include "crypto/crypto.h"
#include "json/json.h"

enum { TEXT_BYTES = 1 << 20, PATH_BYTES = 4096 };

static bool is_given(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

static void put_order(struct buf *out, const struct guest_order *order, const char *topic)
{
    struct str topics[] = { str_of(topic) };
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("id"), order->id);
    if (order->profile.len)
        json_put_str(&w, S("profile"), order->profile);
    else
        json_put_strs(&w, S("capabilities"), order->capabilities);
    json_put_strs(&w, S("topics"), (struct str_list){ topics, COUNT(topics) });
    json_object_close(&w);
}

static int read_made(const struct cli_answer *answer, struct session_target *target,
                     struct guest_token *token)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root;

    arena_init(&arena, TEXT_BYTES);
    if (answer->status >= 400)
        return cli_report(answer);
    if (json_parse(buf_str(&answer->body), &arena, &root, NULL))
        return cli_fail("the server's answer cannot be read");
    buf_put(&target->token, json_text(json_find(root, S("token"))));
    token->name = str_dup(json_text(json_find(json_find(root, S("about")), S("name"))));
    return CLI_OK;
}

static bool is_kept(const struct cli_server *server, struct str id)
{
    CLEANUP(buf_done) struct buf path;
    struct cli_answer answer = {};
    enum err err;

    buf_init(&path, PATH_BYTES);
    buf_put(&path, S("/admin/servers/"));
    cli_put_segment(&path, id);
    err = cli_call(server, "GET", buf_str(&path), S(""), &answer);
    if (!err)
        buf_done(&answer.body);
    return !err && answer.status == 200;
}

static int make(const struct session_options *o, const struct guest_order *order,
                struct session_target *target, struct guest_token *token)
{
    struct cli_server server = { .data = token->folder };
    CLEANUP(buf_done) struct buf body;
    struct cli_answer answer;
    enum err err;
    int code;

    buf_init(&body, TEXT_BYTES);
    if (order->is_server && is_kept(&server, order->id))
        return cli_fail("the gateway keeps a server \"" STR_FMT "\" itself (`moot ps`); "
                        "give this one another name with --as",
                        STR_ARG(order->id));
    put_order(&body, order, o->topic);
    err = cli_call(&server, "POST", S("/admin/tokens"), buf_str(&body), &answer);
    if (err == ERR_NOT_FOUND)
        return cli_fail("no server runs on %s; `moot serve` starts one, --server names "
                        "another",
                        token->folder);
    if (err)
        return CLI_FAILED;
    code = read_made(&answer, target, token);
    crypto_wipe(answer.body.ptr, answer.body.len);
    buf_done(&answer.body);
    return code;
}

int guest_token_find(const struct session_options *options,
                     const struct guest_order *order, struct session_target *ret,
                     struct guest_token *ret_token)
{
    CLEANUP(xfreep) char *socket = NULL;
    CLEANUP(buf_done) struct buf path;
    bool is_elsewhere = options->server || (!options->data && is_given("MOOT_SERVER"));

    *ret_token = (struct guest_token){};
    buf_init(&path, PATH_BYTES);
    if (is_elsewhere || options->token_file || is_given("MOOT_TOKEN"))
        return session_find(options, ret);
    buf_init(&ret->url, PATH_BYTES);
    buf_init(&ret->token, TEXT_BYTES);
    cli_data_directory(options->data, S(""), &path);
    ret_token->folder = xstrdup(buf_cstr(&path));
    buf_put(&path, S("/moot.sock"));
    socket = realpath(buf_cstr(&path), NULL);
    buf_putf(&ret->url, "unix:%s", socket ? socket : buf_cstr(&path));
    return make(options, order, ret, ret_token);
}

/* That it cannot be revoked now is no reason to fail: the server may have gone first. */
static void take_back(const struct guest_token *token)
{
    struct cli_server server = { .data = token->folder };
    CLEANUP(buf_done) struct buf path;
    struct cli_answer answer;

    buf_init(&path, PATH_BYTES);
    buf_put(&path, S("/admin/tokens/"));
    cli_put_segment(&path, str_of(token->name));
    if (cli_call(&server, "DELETE", buf_str(&path), S(""), &answer) == OK)
        buf_done(&answer.body);
}

void guest_token_done(struct guest_token *token, struct session_target *target)
{
    if (token->name)
        take_back(token);
    free(token->name);
    free(token->folder);
    session_target_done(target);
}
