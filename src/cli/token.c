/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot token create | list | revoke. While a server holds the data directory the commands
 * go through it, so that they take effect at once; otherwise they open the store.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "cli/cell.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/place.h"
#include "cli/result.h"
#include "gateway/tokens.h"
#include "json/json.h"
#include "store/lock.h"
#include "store/store.h"

struct token_options {
    const char *server;
    const char *token_file;
    const char *ca;
    const char *data;
    const char *config;
    const char *topics;
    const char *capabilities;
    const char *profile;
    const char *type;
    const char *name;
    const char *expires;
    bool json;
};

#define OPT(member) CLI_AT(struct token_options, member)

/* --- where to --- */

struct target {
    struct cli_server server;
    struct cli_place place;
};

static int target_init(struct target *target, const struct token_options *o)
{
    int code = cli_place_init(&target->place, o->config, o->data);

    if (code)
        return code;
    target->server = (struct cli_server){ .url = o->server,
                                          .token_file = o->token_file,
                                          .ca = o->ca,
                                          .data = target->place.setup.data };
    return CLI_OK;
}

static void target_done(struct target *target)
{
    cli_place_done(&target->place);
}

/* Only `create` may begin a data directory; the others would find it empty. */
enum if_missing { REFUSE, BEGIN };

/* Opens the store, which no server uses just now. */
static int open_store(const struct target *target, enum if_missing if_missing,
                      struct store **ret, int *ret_lock)
{
    CLEANUP(xfreep) char *why = NULL;
    enum err err;

    if (cli_place_is_elsewhere(&target->place))
        return cli_fail("the gateway of %s keeps its tokens elsewhere: name its settings "
                        "with --config",
                        target->server.data);
    if (if_missing == REFUSE && !cli_place_has_store(&target->place))
        return cli_fail("no server runs on %s, and it holds no data",
                        target->server.data);
    err = data_lock(target->server.data, ret_lock);
    if (err == ERR_CONFLICT)
        return cli_fail("a server uses %s but does not answer on its local socket",
                        target->server.data);
    if (err)
        return cli_fail("%s: %s", target->server.data, strerror(errno));
    err = store_open(&target->place.setup, ret, &why);
    if (err) {
        (void)close(*ret_lock);
        return cli_fail("%s", why ? why : err_name(err));
    }
    return CLI_OK;
}

/* Runs `act` on the store, opened for it alone. */
static int with_store(const struct target *target, enum if_missing if_missing,
                      int (*act)(struct store *store, void *user), void *user)
{
    struct store *store = NULL;
    int lock = -1;
    int code = open_store(target, if_missing, &store, &lock);

    if (code)
        return code;
    code = act(store, user);
    store_close(store);
    (void)close(lock);
    return code;
}

/* --- create --- */

static void put_words(struct json_writer *w, struct str key, const char *list)
{
    struct str rest = str_of(list);

    if (!list)
        return;
    json_key(w, key);
    json_array_open(w);
    while (rest.ptr) {
        struct str word = str_trim(str_cut(&rest, ','));

        if (word.len)
            json_str(w, word);
    }
    json_array_close(w);
}

static void put_word(struct json_writer *w, struct str key, const char *word)
{
    if (word)
        json_put_str(w, key, str_of(word));
}

/* "24h", "30m", "7d" from now on, or a date as it is. False: neither; a bare number
 * might have meant anything. */
static bool put_expiry(struct json_writer *w, const char *text)
{
    struct str s = str_of(text);
    uint64_t value;

    if (!text)
        return true;
    if (str_to_u64(s, UINT64_MAX, &value) == OK)
        return false;
    if (cli_read_duration(s, &value)) {
        json_put_time(w, S("expires_at"), clock_wall_ms() + value);
        return true;
    }
    json_put_str(w, S("expires_at"), s);
    return clock_parse(s, &value) == OK;
}

/* Patterns separated by commas, or a JSON array, which may hold objects. */
static bool put_capabilities(struct json_writer *w, const char *list)
{
    struct json_scan scan;
    struct json_span span;

    if (!str_starts(str_of(list), S("["))) {
        put_words(w, S("capabilities"), list);
        return true;
    }
    json_scan_init(&scan, str_of(list), JSON_MAX_DEPTH);
    if (json_value(&scan, &span) || json_scan_end(&scan))
        return false;
    json_key(w, S("capabilities"));
    json_raw(w, span.text);
    return true;
}

static int write_create(const struct token_options *o, const char *id, struct buf *out)
{
    struct json_writer w;
    bool is_date, is_list;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("id"), str_of(id));
    put_words(&w, S("topics"), o->topics);
    is_list = put_capabilities(&w, o->capabilities);
    put_word(&w, S("profile"), o->profile);
    put_word(&w, S("type"), o->type);
    put_word(&w, S("name"), o->name);
    is_date = put_expiry(&w, o->expires);
    json_object_close(&w);
    if (!is_list)
        return cli_fail("--capabilities looks like a JSON array but is none");
    if (!is_date)
        return cli_fail("--expires takes a time like 24h or 7d, or an RFC 3339 date");
    return CLI_OK;
}

static void print_created(const struct token_options *o, struct str secret,
                          struct str name)
{
    struct json_writer w;
    struct buf out;

    if (!o->json) {
        printf(STR_FMT "\n", STR_ARG(secret));
        fprintf(stderr,
                "This is token \"" STR_FMT "\". It is shown this once; only its hash is "
                "kept.\n",
                STR_ARG(name));
        return;
    }
    buf_init(&out, 1 << 20);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("token"), secret);
    json_put_str(&w, S("name"), name);
    json_object_close(&w);
    printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
    crypto_wipe(out.ptr, out.len);
    buf_done(&out);
}

static int print_answer(const struct token_options *o, const struct cli_answer *answer)
{
    const struct json *root, *secret, *name;
    struct arena arena;
    int code = CLI_OK;

    if (answer->status >= 400)
        return cli_report(answer);
    arena_init(&arena, 1 << 20);
    if (json_parse(buf_str(&answer->body), &arena, &root, NULL)) {
        code = cli_fail("the server's answer cannot be read");
    } else {
        secret = json_find(root, S("token"));
        name = json_find(json_find(root, S("about")), S("name"));
        if (secret && name)
            print_created(o, secret->text, name->text);
    }
    arena_done(&arena);
    return code;
}

struct creation {
    const struct token_options *options;
    struct str body;
};

static int create_in_store(struct store *store, void *user)
{
    const struct creation *creation = user;
    struct identity identity;
    struct store_token record;
    struct arena arena;
    struct buf secret;
    const char *why = "";
    int code;

    arena_init(&arena, 4 << 20);
    buf_init(&secret, 256);
    if (token_read_request(creation->body, NULL, &arena, &identity, &why)) {
        code = cli_fail("%s", why);
    } else {
        enum err err;

        token_draw(&identity, &secret);
        token_to_record(&identity, &arena, &record);
        err = store_token_add(store, &record);
        code = CLI_OK;
        if (err == ERR_CONFLICT)
            code = cli_fail("there is a token of that name");
        else if (err)
            code = cli_fail("the store cannot be written");
        else
            print_created(creation->options, buf_str(&secret), identity.token_name);
    }
    crypto_wipe(secret.ptr, secret.len);
    buf_done(&secret);
    arena_done(&arena);
    return code;
}

static int create_token(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    const struct token_options *o = fields;
    struct cli_answer answer = {};
    struct target target;
    struct buf body;
    enum err err;
    int code;

    code = target_init(&target, o);
    if (code)
        return code;
    buf_init(&body, 1 << 20);
    code = write_create(o, arguments[0], &body);
    if (code) {
        buf_done(&body);
        target_done(&target);
        return code;
    }
    err = cli_call(&target.server, "POST", S("/admin/tokens"), buf_str(&body), &answer);
    if (err == ERR_NOT_FOUND)
        code = with_store(&target, BEGIN, create_in_store,
                          &(struct creation){ o, buf_str(&body) });
    else
        code = err ? CLI_FAILED : print_answer(o, &answer);
    buf_done(&answer.body);
    target_done(&target);
    buf_done(&body);
    return code;
}

/* --- list --- */

/* Patterns, then objects by the kinds they cover. */
static void put_held(struct buf *out, const struct json *patterns,
                     const struct json *objects)
{
    const char *comma = "";

    for (const struct json *item = patterns ? patterns->first : NULL; item;
         item = item->next, comma = ", ") {
        buf_put(out, str_of(comma));
        plain_put(out, item->text, PLAIN_LINE);
    }
    for (const struct json *item = objects ? objects->first : NULL; item;
         item = item->next, comma = ", ") {
        buf_put(out, str_of(comma));
        plain_put(out, json_text(json_find(item, S("kind"))), PLAIN_LINE);
        buf_put(out, S(" (by payload)"));
    }
}

static void put_row(struct buf *out, const struct json *token)
{
    const struct json *profile = json_find(token, S("profile"));
    const struct json *expires = json_find(token, S("expires_at"));
    const struct {
        struct str text;
        size_t width;
    } cells[] = {
        { json_text(json_find(token, S("name"))), 20 },
        { json_text(json_find(token, S("id"))), 16 },
        { json_text(json_find(token, S("type"))), 8 },
        { json_text(json_find(token, S("source"))), 8 },
        { expires ? str_slice(expires->text, 0, 19) : S("never"), 20 },
        { json_text(profile), 0 },
    };

    for (size_t i = 0; i < COUNT(cells); i++) {
        buf_put(out, i ? S(" ") : S(""));
        (void)cell_put(out, cells[i].text, cells[i].width);
    }
    if (!profile)
        put_held(out, json_find(token, S("capabilities")),
                 json_find(json_find(token, S("moot")), S("capabilities")));
    buf_putc(out, '\n');
}

static int put_list(struct buf *out, struct str body)
{
    const struct json *root = NULL, *tokens = NULL;
    struct arena arena;

    arena_init(&arena, 64 << 20);
    if (json_parse(body, &arena, &root, NULL) == OK)
        tokens = json_find(root, S("tokens"));
    if (tokens) {
        buf_putf(out, "%-20s %-16s %-8s %-8s %-20s %s\n", "NAME", "PARTICIPANT", "TYPE",
                 "FROM", "EXPIRES", "MAY");
        JSON_FOREACH(token, tokens)
            put_row(out, token);
    }
    arena_done(&arena);
    return tokens ? CLI_OK : cli_fail("the server's answer cannot be read");
}

static int print_list(const struct token_options *o, struct str body)
{
    int code = CLI_OK;
    struct buf out;

    buf_init(&out, 64 << 20);
    if (o->json)
        result_put_json(&out, body, isatty(STDOUT_FILENO) ? RESULT_PLAIN : RESULT_RAW);
    else
        code = put_list(&out, body);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_done(&out);
    return code;
}

static void on_token(void *user, const struct store_token *token)
{
    struct identity *identity = token_from_record(token);

    if (identity)
        token_write_json(identity, user);
    identity_unref(identity);
}

static int list_in_store(struct store *store, void *user)
{
    struct json_writer w;
    struct buf out;
    int code;

    buf_init(&out, 64 << 20);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_key(&w, S("tokens"));
    json_array_open(&w);
    if (store_token_each(store, on_token, &w)) {
        buf_done(&out);
        return cli_fail("the store cannot be read");
    }
    json_array_close(&w);
    json_object_close(&w);
    code = print_list(user, buf_str(&out));
    buf_done(&out);
    return code;
}

static int list_tokens(void *fields, char **arguments [[maybe_unused]],
                       size_t count [[maybe_unused]])
{
    struct token_options *o = fields;
    struct cli_answer answer = {};
    struct target target;
    enum err err;
    int code;

    code = target_init(&target, o);
    if (code)
        return code;
    err = cli_call(&target.server, "GET", S("/admin/tokens"), S(""), &answer);
    if (err == ERR_NOT_FOUND)
        code = with_store(&target, REFUSE, list_in_store, o);
    else if (err)
        code = CLI_FAILED;
    else
        code = answer.status >= 400 ? cli_report(&answer)
                                    : print_list(o, buf_str(&answer.body));
    buf_done(&answer.body);
    target_done(&target);
    return code;
}

/* --- revoke --- */

static int revoke_in_store(struct store *store, void *user)
{
    const char *name = user;
    bool found = false;

    if (store_token_remove(store, str_of(name), &found))
        return cli_fail("the store cannot be written");
    if (!found)
        return cli_fail("there is no token \"%s\"", name);
    printf("revoked %s\n", name);
    return CLI_OK;
}

static int revoke_token(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    const struct token_options *o = fields;
    struct cli_answer answer = {};
    struct target target;
    struct buf path;
    enum err err;
    int code;

    code = target_init(&target, o);
    if (code)
        return code;
    buf_init(&path, 4096);
    buf_put(&path, S("/admin/tokens/"));
    cli_put_segment(&path, str_of(arguments[0]));
    err = cli_call(&target.server, "DELETE", buf_str(&path), S(""), &answer);
    if (err == ERR_NOT_FOUND) {
        code = with_store(&target, REFUSE, revoke_in_store, arguments[0]);
    } else if (err) {
        code = CLI_FAILED;
    } else if (answer.status >= 400) {
        code = cli_report(&answer);
    } else {
        printf("revoked %s\n", arguments[0]);
        code = CLI_OK;
    }
    buf_done(&answer.body);
    buf_done(&path);
    target_done(&target);
    return code;
}

/* --- the commands --- */

/* clang-format off */
#define CONFIG_OPTION \
    { "--config", "FILE", "the gateway's settings: they say where it keeps things", OPT(config) }
/* clang-format on */

static const struct cli_option create_options[] = {
    { "--profile", "NAME",
      "full, proposer, responder, reader, tools, human, admin, bridge, orchestrator, directory",
      OPT(profile) },
    { "--capabilities", "LIST",
      "patterns separated by commas or a JSON array, instead of a profile",
      OPT(capabilities) },
    { "--topics", "LIST", "topics it may enter, separated by commas; default *",
      OPT(topics) },
    { "--type", "TYPE", "human, agent or service; default: what the profile says",
      OPT(type) },
    { "--name", "NAME", "the token's own name; default: the id and a suffix", OPT(name) },
    { "--expires", "WHEN", "24h, 7d, or an RFC 3339 date; default: never", OPT(expires) },
    { "--json", NULL, "answer as JSON", OPT(json) },
    CONFIG_OPTION,
    CLI_WHERE(struct token_options),
};

const struct cli_command cli_token_create = {
    .name = "token create",
    .usage = "ID (--profile NAME | --capabilities LIST) [OPTIONS]",
    .summary = "make a token for a participant; its secret is shown once",
    .more =
        "The secret goes to standard output, everything else to standard error. While a\n"
        "server runs on the data directory the token works at once; profiles of its\n"
        "settings file are known only then. Without one the store is opened: name the\n"
        "settings with --config where that is a database.\n\n"
        "  moot token create bot --profile proposer --topics room,lobby --expires 7d\n",
    .options = create_options,
    .option_count = COUNT(create_options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = create_token,
    .options_size = sizeof(struct token_options),
};

static const struct cli_option list_options[] = {
    { "--json", NULL, "answer as JSON", OPT(json) },
    CONFIG_OPTION,
    CLI_WHERE(struct token_options),
};

const struct cli_command cli_token_list = {
    .name = "token list",
    .usage = "",
    .summary = "list tokens: whom they stand for and what they allow",
    .options = list_options,
    .option_count = COUNT(list_options),
    .run = list_tokens,
    .options_size = sizeof(struct token_options),
};

static const struct cli_option revoke_options[] = { CONFIG_OPTION,
                                                    CLI_WHERE(struct token_options) };

const struct cli_command cli_token_revoke = {
    .name = "token revoke",
    .usage = "NAME",
    .summary = "make a token worthless and close its connections",
    .options = revoke_options,
    .option_count = COUNT(revoke_options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = revoke_token,
    .options_size = sizeof(struct token_options),
};
