/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/rules_room.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/client.h"

enum { TREE_BYTES = 256 << 20, PATH_BYTES = 4096, SHORTEST = 8 };
enum { WHOLE = 12 /* a longer id is shortened */, NAMED = 4 };

/* --- reading --- */

enum err room_rules_read(struct str body, struct room_rules *ret,
                         struct rule_problem *problem)
{
    struct listing list = {};
    enum err err;

    *ret = (struct room_rules){};
    arena_init(&ret->arena, TREE_BYTES);
    err = listing_read(body, &ret->arena, &list, problem);
    ret->has_automation = list.has_automation;
    ret->items = list.items;
    ret->count = list.count;
    return err;
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

struct str room_rules_short(const struct room_rules *rules, const struct listed_rule *one)
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

const struct listed_rule *room_rules_find(const struct room_rules *rules, const char *id)
{
    const struct listed_rule *found = NULL;
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
