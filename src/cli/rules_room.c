/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/rules_room.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "cli/client.h"

enum { TREE_BYTES = 256 << 20, TEXT_BYTES = 64 << 20, PATH_BYTES = 4096, SHORTEST = 8 };
enum { WHOLE = 12 /* a longer id is shortened */, NAMED = 4 };

/* --- reading --- */

/* What a file of rules may say; whatever else stands there is the gateway's. */
static bool is_of_rule(struct str key)
{
    static const struct str names[] = {
        S("id"),          S("topic"),       S("state"),      S("proposer"),
        S("method"),      S("tool"),        S("to"),         S("arguments"),
        S("budget"),      S("expires_at"),  S("created_at"), S("created_by"),
        S("accepted_at"), S("accepted_by"), S("evidence"),   S("note"),
    };

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_eq(names[i], key))
            return true;
    return false;
}

/* The same list, as a file would have it. */
static void put_rules(struct buf *out, const struct json *list)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("rules"));
    json_array_open(&w);
    JSON_FOREACH(item, list) {
        json_object_open(&w);
        if (item->type == JSON_OBJECT)
            JSON_FOREACH(member, item)
                if (is_of_rule(member->key)) {
                    json_key(&w, member->key);
                    json_raw(&w, member->raw);
                }
        json_object_close(&w);
    }
    json_array_close(&w);
    json_object_close(&w);
}

static uint64_t number_of(const struct json *item, struct str key)
{
    const struct json *value = json_find(item, key);
    uint64_t number = 0;

    if (value && value->type == JSON_NUMBER)
        (void)str_to_u64(value->text, UINT64_MAX, &number);
    return number;
}

static uint64_t time_of(const struct json *item, struct str key)
{
    uint64_t ms = 0;

    (void)clock_parse(json_text(json_find(item, key)), &ms);
    return ms;
}

static struct room_rule read_one(const struct json *item, const struct rule *rule)
{
    return (struct room_rule){
        .rule = *rule,
        .raw = item->raw,
        .uses = number_of(item, S("uses")),
        .used_this_hour = number_of(item, S("used_this_hour")),
        .last_use_ms = time_of(item, S("last_use")),
        .changed_ms = time_of(item, S("changed_at")),
        .changed_by = json_text(json_find(item, S("changed_by"))),
        .reason = json_text(json_find(item, S("reason"))),
    };
}

static enum err read_list(const struct json *list, struct room_rules *ret,
                          struct rule_problem *problem)
{
    CLEANUP(buf_done) struct buf text;
    struct rule_list read = {};
    enum err err;

    buf_init(&text, TEXT_BYTES);
    put_rules(&text, list);
    if (text.is_full)
        return ERR_TOO_BIG;
    err = rules_read(buf_str(&text), &ret->arena, &read, problem);
    if (err)
        return err;
    ret->items = arena_alloc(&ret->arena, (read.count + 1) * sizeof(*ret->items));
    if (!ret->items)
        return ERR_TOO_BIG;
    JSON_FOREACH(item, list) {
        ret->items[ret->count] = read_one(item, &read.items[ret->count]);
        ret->count++;
    }
    return OK;
}

enum err room_rules_read(struct str body, struct room_rules *ret,
                         struct rule_problem *problem)
{
    const struct json *root, *list;
    struct str kept;
    char *copy;
    enum err err;

    *ret = (struct room_rules){};
    arena_init(&ret->arena, TREE_BYTES);
    copy = arena_alloc(&ret->arena, body.len + 1);
    if (!copy)
        return ERR_TOO_BIG;
    memcpy(copy, body.ptr, body.len);
    kept = (struct str){ copy, body.len };
    err = json_parse(kept, &ret->arena, &root, NULL);
    if (err)
        return err;
    list = json_find(root, S("rules"));
    if (!list || list->type != JSON_ARRAY)
        return ERR_INVALID;
    ret->has_automation = !str_eq(json_text(json_find(root, S("automation"))), S("off"));
    return read_list(list, ret, problem);
}

void room_rules_done(struct room_rules *rules)
{
    arena_done(&rules->arena);
}

/* --- asking --- */

/* As what takes part finds its server; the token of a local one is not needed. */
static struct cli_server find_server(const struct session_options *o, struct buf *data)
{
    const char *from_env = getenv("MOOT_SERVER");
    struct cli_server server = { .url = o->server,
                                 .token_file = o->token_file,
                                 .ca = o->ca };

    if (!server.url && !o->data && from_env && *from_env)
        server.url = from_env;
    cli_data_directory(o->data, S(""), data);
    server.data = buf_cstr(data);
    return server;
}

static int complain_read(enum err err, const struct rule_problem *problem)
{
    if (err == ERR_TOO_BIG)
        return cli_fail("there are more rules than can be read");
    if (!problem->what[0])
        return cli_fail("the server's answer cannot be read");
    return cli_fail("a rule of the server cannot be read: %s", problem->what);
}

static int complain_answer(const struct cli_answer *answer, const char *topic)
{
    if (answer->status == 403)
        return cli_fail("you may not read %s, so its rules are not shown", topic);
    return cli_report(answer);
}

int room_rules_fetch(const struct session_options *options, struct room_rules *ret)
{
    CLEANUP(buf_done) struct buf data, path;
    struct rule_problem problem = {};
    struct cli_answer answer = {};
    struct cli_server server;
    enum err err;
    int code;

    *ret = (struct room_rules){};
    buf_init(&data, PATH_BYTES);
    buf_init(&path, PATH_BYTES);
    server = find_server(options, &data);
    buf_put(&path, S("/topics/"));
    cli_put_segment(&path, str_of(options->topic));
    buf_put(&path, S("/rules"));
    err = cli_call(&server, "GET", buf_str(&path), S(""), &answer);
    if (err == ERR_NOT_FOUND)
        return cli_fail("no server runs on %s; `moot serve` starts one, --server names "
                        "another",
                        server.data);
    if (err)
        return CLI_FAILED;
    code = answer.status < 300 ? CLI_OK : complain_answer(&answer, options->topic);
    if (code == CLI_OK) {
        err = room_rules_read(buf_str(&answer.body), ret, &problem);
        code = err ? complain_read(err, &problem) : CLI_OK;
    }
    ret->topic = str_of(options->topic);
    buf_done(&answer.body);
    return code;
}

/* --- finding --- */

struct str room_rules_short(const struct room_rules *rules, const struct room_rule *one)
{
    struct str id = one->rule.id;
    size_t len = SHORTEST;

    if (id.len <= WHOLE)
        return id;
    for (size_t i = 0; i < rules->count; i++) {
        struct str other = rules->items[i].rule.id;
        size_t same = 0;

        while (same < id.len && same < other.len && id.ptr[same] == other.ptr[same])
            same++;
        if (&rules->items[i] != one && same >= len)
            len = same + 1;
    }
    return str_slice(id, 0, len);
}

/* "r-1" begins r-18b26c5f, r-1f00aa12 and 3 more */
static void complain_several(const struct room_rules *rules, const char *id)
{
    CLEANUP(buf_done) struct buf out;
    size_t count = 0;

    buf_init(&out, PATH_BYTES);
    for (size_t i = 0; i < rules->count; i++) {
        if (!str_starts(rules->items[i].rule.id, str_of(id)))
            continue;
        if (count++ >= NAMED)
            continue;
        buf_put(&out, out.len ? S(", ") : S(""));
        plain_put(&out, room_rules_short(rules, &rules->items[i]), PLAIN_LINE);
    }
    if (count > NAMED)
        buf_putf(&out, " and %zu more", count - NAMED);
    (void)cli_fail("several rules begin with \"%s\": %s; give more of it", id,
                   buf_cstr(&out));
}

const struct room_rule *room_rules_find(const struct room_rules *rules, const char *id)
{
    const struct room_rule *found = NULL;
    size_t count = 0;

    for (size_t i = 0; i < rules->count; i++) {
        if (str_eq(rules->items[i].rule.id, str_of(id)))
            return &rules->items[i];
        if (*id && str_starts(rules->items[i].rule.id, str_of(id))) {
            found = &rules->items[i];
            count++;
        }
    }
    if (count == 1)
        return found;
    if (count)
        complain_several(rules, id);
    else
        (void)cli_fail("there is no rule \"%s\" in " STR_FMT "; `moot rules list " STR_FMT
                       "` shows them",
                       id, STR_ARG(rules->topic), STR_ARG(rules->topic));
    return NULL;
}
