/* SPDX-License-Identifier: Apache-2.0 */
#include "approval/petitions.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "json/json.h"

enum { TREE_BYTES = 8 << 20 };

void petitions_init(struct petitions *petitions)
{
    *petitions = (struct petitions){};
    list_init(&petitions->by_age);
}

static void drop(struct petitions *petitions, struct petition *a)
{
    list_remove(&a->link);
    petitions->count--;
    petitions->bytes -= a->bytes;
    free(a);
}

void petitions_done(struct petitions *petitions)
{
    struct petition *a;

    LIST_FOREACH(a, &petitions->by_age, link)
        drop(petitions, a);
}

const struct petition *petitions_next(const struct petitions *petitions,
                                      const struct petition *after, uint64_t wall_ms)
{
    const struct link *at = after ? &after->link : &petitions->by_age;

    while ((at = at->next) != &petitions->by_age) {
        const struct petition *a =
            CONTAINER_OF((uintptr_t)at, struct petition, link); /* drops const */

        if (a->expires_ms > wall_ms)
            return a;
    }
    return NULL;
}

size_t petitions_open(const struct petitions *petitions, uint64_t wall_ms)
{
    const struct petition *a = NULL;
    size_t open = 0;

    while ((a = petitions_next(petitions, a, wall_ms)))
        open++;
    return open;
}

/* --- announcing --- */

static bool is_name(struct str text)
{
    return text.len && text.len <= KIND_MAX_BYTES && !envelope_has_control(text);
}

static uint64_t expiry(const struct json *said, uint64_t wall_ms)
{
    uint64_t at_ms;

    if (clock_parse(json_text(said), &at_ms))
        return wall_ms + PETITIONS_EXPIRY_MS;
    return at_ms < wall_ms + PETITIONS_MAX_EXPIRY_MS ? at_ms
                                                     : wall_ms + PETITIONS_MAX_EXPIRY_MS;
}

/* False: it is none. The texts borrow from both. */
static bool read_announcement(const struct envelope *env, const struct json *params,
                              uint64_t wall_ms, struct petition *ret)
{
    const struct json *arguments = json_find(params, S("arguments"));

    *ret = (struct petition){
        .id = env->id,
        .owner = env->from,
        .authorization_id = json_text(json_find(params, S("id"))),
        .request_id = env->correlation_id,
        .tool = json_text(json_find(params, S("tool"))),
        .requester = json_text(json_find(params, S("requester"))),
        .proposer = json_text(json_find(params, S("proposer"))),
        .reason = utf8_cut(json_text(json_find(params, S("reason"))), PETITIONS_TEXT),
        .asked = env->to_count == 1 ? env->to[0] : S(""),
        .arguments = arguments ? arguments->raw : S(""),
        .created_ms = wall_ms,
        .expires_ms = expiry(json_find(params, S("expiresAt")), wall_ms),
    };
    if (arguments && arguments->type != JSON_OBJECT)
        return false;
    if (ret->arguments.len > PETITIONS_ARGUMENTS)
        ret->arguments = S("");
    return is_name(ret->authorization_id) && is_name(ret->tool) &&
           is_name(ret->requester) && (!ret->proposer.len || is_name(ret->proposer)) &&
           ret->expires_ms > wall_ms;
}

static void expire(struct petitions *petitions, uint64_t wall_ms)
{
    struct petition *a;

    LIST_FOREACH(a, &petitions->by_age, link)
        if (a->expires_ms <= wall_ms)
            drop(petitions, a);
}

/* By what its owner calls it. */
static struct petition *find(const struct petitions *petitions, struct str owner,
                             struct str id)
{
    struct petition *a;

    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
    LIST_FOREACH(a, &petitions->by_age, link)
        if (str_eq(a->owner, owner) && str_eq(a->authorization_id, id))
            return a;
    return NULL;
}

/* What one owner has. */
struct share {
    size_t count, bytes;
};

static struct share share_of(const struct petitions *petitions, struct str owner)
{
    const struct petition *a;
    struct share share = {};

    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
    LIST_FOREACH(a, &petitions->by_age, link)
        if (str_eq(a->owner, owner)) {
            share.count++;
            share.bytes += a->bytes;
        }
    return share;
}

static size_t bytes_of(const struct petition *a)
{
    return sizeof(*a) + a->id.len + a->owner.len + a->authorization_id.len +
           a->request_id.len + a->tool.len + a->requester.len + a->proposer.len +
           a->reason.len + a->asked.len + a->arguments.len;
}

/* What is asked for is bounded by numbers, arguments by bytes: one owner with much to ask
 * does not keep the others' from being known. */
static bool fits(const struct petitions *petitions, const struct petition *seen)
{
    struct share own = share_of(petitions, seen->owner);
    size_t bytes = bytes_of(seen);

    if (petitions->count >= PETITIONS_MAX || own.count >= PETITIONS_EACH)
        return false;
    return !seen->arguments.len || (petitions->bytes + bytes <= PETITIONS_BYTES &&
                                    own.bytes + bytes <= PETITIONS_EACH_BYTES);
}

static void miss(struct petitions *petitions, const struct petition *seen,
                 uint64_t wall_ms)
{
    petitions->missed = petitions_missed(petitions, wall_ms) + 1;
    if (petitions->missed_until_ms < seen->expires_ms)
        petitions->missed_until_ms = seen->expires_ms;
}

static void copy(char **at, struct str *text)
{
    if (text->len)
        memcpy(*at, text->ptr, text->len);
    *text = (struct str){ *at, text->len };
    *at += text->len;
}

static void enter(struct petitions *petitions, const struct petition *seen)
{
    size_t bytes = bytes_of(seen);
    struct petition *a;
    char *at;

    a = xmalloc(bytes);
    *a = *seen;
    a->bytes = bytes;
    at = (char *)(a + 1);
    copy(&at, &a->id);
    copy(&at, &a->owner);
    copy(&at, &a->authorization_id);
    copy(&at, &a->request_id);
    copy(&at, &a->tool);
    copy(&at, &a->requester);
    copy(&at, &a->proposer);
    copy(&at, &a->reason);
    copy(&at, &a->asked);
    copy(&at, &a->arguments);
    list_append(&petitions->by_age, &a->link);
    petitions->count++;
    petitions->bytes += bytes;
}

static void hear_announcement(struct petitions *petitions, const struct envelope *env,
                              const struct json *payload, uint64_t wall_ms)
{
    struct petition seen;
    struct petition *former;

    if (!read_announcement(env, json_find(payload, S("params")), wall_ms, &seen))
        return;
    expire(petitions, wall_ms);
    former = find(petitions, seen.owner, seen.authorization_id);
    if (former)
        drop(petitions, former);
    if (!fits(petitions, &seen))
        seen.arguments = S("");
    if (fits(petitions, &seen))
        enter(petitions, &seen);
    else
        miss(petitions, &seen, wall_ms);
}

/* --- answering --- */

bool petition_heeds(const struct petition *a, struct str from, struct str about)
{
    return !str_eq(from, a->requester) && !str_eq(from, a->proposer) &&
           (!a->asked.len || str_eq(from, a->asked)) &&
           (!about.ptr || str_eq(about, a->id));
}

static void hear_word(struct petitions *petitions, const struct envelope *env,
                      const struct json *payload)
{
    const struct json *params = json_find(payload, S("params"));
    struct str id = json_text(json_find(params, S("authorizationId")));
    struct str decision = json_text(json_find(params, S("decision")));

    if (!str_eq(decision, S("approve")) && !str_eq(decision, S("deny")))
        return;
    for (size_t i = 0; i < env->to_count; i++) {
        struct petition *a = find(petitions, env->to[i], id);

        if (a && petition_heeds(a, env->from, env->correlation_id))
            drop(petitions, a);
    }
}

/* -32001 with what is asked for: the call is not over. */
static bool is_provisional(const struct json *payload)
{
    const struct json *error = json_find(payload, S("error"));
    const struct json *code = json_find(error, S("code"));

    return code && str_eq(code->raw, S("-32001")) &&
           json_find(json_find(error, S("data")), S("authorizationRequest"));
}

static struct petition *find_call(const struct petitions *petitions,
                                  const struct envelope *response)
{
    struct petition *a;

    LIST_FOREACH(a, &petitions->by_age, link)
        if (str_eq(a->owner, response->from) && a->request_id.len &&
            str_eq(a->request_id, response->correlation_id))
            return a;
    return NULL;
}

/* --- hearing --- */

static void hear_payload(struct petitions *petitions, const struct envelope *env,
                         uint64_t wall_ms)
{
    const struct json *payload;
    struct petition *a;
    struct arena arena;

    arena_init(&arena, TREE_BYTES);
    if (json_parse(env->payload.text, &arena, &payload, NULL))
        payload = NULL; /* a name stands twice: nobody can say what it means */
    if (env->kind.type == KIND_RESPONSE) {
        a = find_call(petitions, env);
        if (a && !is_provisional(payload))
            drop(petitions, a);
    } else if (str_eq(env->kind.method, S("authorization/respond"))) {
        hear_word(petitions, env, payload);
    } else {
        hear_announcement(petitions, env, payload, wall_ms);
    }
    arena_done(&arena);
}

void petitions_hear(struct petitions *petitions, const struct envelope *env,
                    uint64_t wall_ms)
{
    struct str method = env->kind.method;

    if (env->kind.type == KIND_RESPONSE
            ? find_call(petitions, env) != NULL
            : str_eq(method, S("authorization/respond")) ||
                  str_eq(method, S("notifications/authorization/request")))
        hear_payload(petitions, env, wall_ms);
}

size_t petitions_missed(const struct petitions *petitions, uint64_t wall_ms)
{
    return wall_ms < petitions->missed_until_ms ? petitions->missed : 0;
}
