/* SPDX-License-Identifier: Apache-2.0 */
/* Seats inside the gateway: a room of theirs, on a worker without connections. */
#include <stdio.h>

#include "base/xalloc.h"
#include "gateway/gateway_priv.h"
#include "gateway/room.h"
#include "gateway/topic_seat.h"
#include "mcp/rpc.h"
#include "participant/ask.h"
#include "participant/occupant.h"
#include "store_stage.h"

#define WALL_MS 1'700'000'000'000ULL

struct world {
    struct stage stage;
    struct gateway gateway;
    struct gateway_options options;
    struct worker worker;
    struct settings *settings;
    uint64_t now_ms;
};

static struct identity *identity_of(struct str id, struct str capability)
{
    static const struct str everywhere[] = { S("*") };

    return identity_new(&(struct identity){ .id = id,
                                            .token_name = id,
                                            .topics = { everywhere, 1 },
                                            .capabilities = { &capability, 1 },
                                            .type = TYPE_SERVICE });
}

static void world_init(struct world *world, struct str yaml)
{
    struct config_problem problem = {};
    struct config *config = NULL;

    *world = (struct world){};
    stage_init(&world->stage);
    CHECK_INT(config_parse(yaml, "moot.yaml", NULL, &config, &problem), OK);
    CHECK_INT(settings_new(config, &world->settings, &problem), OK);
    CHECK_STR(str_of(problem.message), S(""));
    world->options.data = world->stage.folder;
    world->gateway = (struct gateway){ .options = &world->options,
                                       .workers = &world->worker,
                                       .worker_count = 1,
                                       .settings = world->settings,
                                       .store = stage_open(&world->stage),
                                       .local = identity_of(S("local"), S("*")) };
    gateway_set_limits(&world->gateway, config);
    worker_init(&world->worker, &world->gateway, 0, world->settings);
    world->now_ms = loop_now_ms(world->worker.loop);
    loop_set_now(world->worker.loop, world->now_ms, WALL_MS + world->now_ms);
}

static void pass(struct world *world, uint64_t ms)
{
    world->now_ms += ms;
    loop_set_now(world->worker.loop, world->now_ms, WALL_MS + world->now_ms);
}

static void turn(struct world *world)
{
    for (int i = 0; i < 20; i++)
        loop_turn(world->worker.loop, 0);
}

static void world_done(struct world *world)
{
    recorder_close(&world->worker);
    store_stop(world->gateway.store);
    turn(world);
    worker_done(&world->worker);
    store_close(world->gateway.store);
    identity_unref(world->gateway.local);
    settings_unref(world->settings);
    stage_done(&world->stage);
}

/* Whoever sits there keeps what it was told, a line each: for texts their kind. */
struct sitter {
    struct topic_seat *seat;
    struct identity *identity;
    struct buf told, last_told, text;
    size_t text_count;
    struct str after;
    const char *closes_at; /* a kind */
};

static void on_begin(void *user, bool resumes)
{
    struct sitter *sitter = user;

    buf_putf(&sitter->told, "begin %d\n", resumes);
}

static struct str kind_of_text(struct str text)
{
    static const char key[] = "\"kind\":\"";
    const char *at = memmem(text.ptr, text.len, key, sizeof(key) - 1);
    struct str rest;

    if (!at)
        return S("?");
    at += sizeof(key) - 1;
    rest = (struct str){ at, (size_t)(text.ptr + text.len - at) };
    return str_cut(&rest, '"');
}

static void on_text(void *user, struct str text)
{
    struct sitter *sitter = user;
    struct str kind = kind_of_text(text);

    CHECK_INT(text.ptr[0], '{');
    CHECK_INT(text.ptr[text.len - 1], '}');
    sitter->text_count++;
    buf_putf(&sitter->told, STR_FMT "\n", STR_ARG(kind));
    buf_clear(&sitter->text);
    buf_put(&sitter->text, text);
    if (sitter->closes_at && str_eq(kind, str_of(sitter->closes_at))) {
        topic_seat_close(sitter->seat);
        sitter->seat = NULL;
    }
}

static void on_judged(void *user, uint64_t number)
{
    struct sitter *sitter = user;

    buf_putf(&sitter->told, "judged %llu\n", (unsigned long long)number);
}

static void on_lost(void *user, bool is_final, const char *why)
{
    struct sitter *sitter = user;

    buf_putf(&sitter->told, "lost %d %s\n", is_final, why);
}

static struct str on_after(void *user)
{
    return ((struct sitter *)user)->after;
}

static const struct seat_ops sitter_ops = { on_begin, on_text, on_judged, on_lost,
                                            on_after };

static const struct topic_seat_terms server_terms = { .type = CONNECTION_SERVER,
                                                      .address = "gateway" };

static void sit_on(struct world *world, struct sitter *sitter, struct str id,
                   struct str capability, const struct topic_seat_terms *terms)
{
    *sitter = (struct sitter){ .identity = identity_of(id, capability) };
    buf_init(&sitter->told, 1 << 20);
    buf_init(&sitter->last_told, 1 << 20);
    buf_init(&sitter->text, 1 << 20);
    sitter->seat = topic_seat_open(&world->worker, S("room"), sitter->identity, terms,
                                   &sitter_ops, sitter);
    CHECK_INT(sitter->told.len, 0); /* nothing is told inside */
    turn(world);
}

static void sit(struct world *world, struct sitter *sitter, struct str id,
                struct str capability)
{
    sit_on(world, sitter, id, capability, &server_terms);
}

static void sitter_done(struct sitter *sitter)
{
    topic_seat_close(sitter->seat);
    identity_unref(sitter->identity);
    buf_done(&sitter->told);
    buf_done(&sitter->last_told);
    buf_done(&sitter->text);
}

/* Since the last time. */
static struct str told(struct sitter *sitter)
{
    buf_clear(&sitter->last_told);
    buf_put(&sitter->last_told, buf_str(&sitter->told));
    buf_clear(&sitter->told);
    return buf_str(&sitter->last_told);
}

static enum err say(struct sitter *sitter, const char *id, const char *rest)
{
    struct seat *seat = topic_seat_of(sitter->seat);
    struct buf text;
    enum err err;

    buf_init(&text, 1 << 20);
    buf_putf(&text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"" STR_FMT
             "\",%s,\"payload\":{}}",
             id, STR_ARG(sitter->identity->id), rest);
    err = seat->send(seat, buf_str(&text));
    buf_done(&text);
    return err;
}

static void fence(struct sitter *sitter, uint64_t number)
{
    struct seat *seat = topic_seat_of(sitter->seat);

    seat->fence(seat, number);
}

/* Both are here and have heard of each other. */
static void sit_two(struct world *world, struct sitter *ann, struct sitter *bob)
{
    sit(world, ann, S("ann"), S("*"));
    CHECK_STR(told(ann), S("begin 0\nsystem/welcome\n"));
    sit(world, bob, S("bob"), S("chat"));
    CHECK_STR(told(bob), S("begin 0\nsystem/welcome\n"));
    pass(world, 100);
    turn(world);
    (void)told(ann);
    (void)told(bob);
}

TEST(what_is_said_is_heard_by_the_others_in_its_order)
{
    struct sitter ann, bob;
    struct world world;

    world_init(&world, S("{}"));
    sit_two(&world, &ann, &bob);
    CHECK_INT(say(&ann, "1", "\"kind\":\"chat\""), OK);
    CHECK_INT(say(&ann, "2", "\"to\":[\"bob\"],\"kind\":\"x/a\""), OK);
    CHECK_INT(say(&ann, "3", "\"to\":[\"eve\"],\"kind\":\"x/b\""), OK);
    CHECK_STR(told(&bob), S("")); /* never inside */
    turn(&world);
    CHECK_STR(told(&bob), S("chat\nx/a\n"));
    CHECK_STR(told(&ann), S("")); /* no echo */
    CHECK_INT(world.worker.metrics.members, 2);
    CHECK_INT(world.worker.metrics.envelopes_admitted, 3);
    sitter_done(&ann);
    turn(&world);
    CHECK_STR(told(&bob), S(""));
    pass(&world, 100);
    turn(&world);
    CHECK_STR(told(&bob), S("system/presence\n")); /* ann has left */
    sitter_done(&bob);
    CHECK_INT(world.worker.metrics.members, 0);
    world_done(&world);
}

TEST(a_fence_comes_back_behind_the_refusals_before_it)
{
    struct sitter ann, bob;
    struct world world;

    world_init(&world, S("{}"));
    sit_two(&world, &ann, &bob);
    CHECK_INT(say(&bob, "1", "\"kind\":\"mcp/request:tools/list\""), OK);
    fence(&bob, 0x1'0000'0007);
    CHECK_INT(say(&bob, "2", "\"kind\":\"chat\""), OK);
    fence(&bob, 0x1'0000'0008);
    CHECK_STR(told(&bob), S(""));
    turn(&world);
    CHECK_STR(told(&bob), S("system/error\njudged 4294967303\njudged 4294967304\n"));
    CHECK_STR(told(&ann), S("chat\n"));
    CHECK_INT(world.worker.metrics.envelopes_refused, 1);
    sitter_done(&ann);
    sitter_done(&bob);
    world_done(&world);
}

/* What somebody here has scanned is taken as it is, but for a depth that is not allowed.
 */
TEST(what_comes_with_its_view_is_judged_like_any_other)
{
    static const struct {
        const char *kind, *payload;
        size_t depth;
        const char *heard, *refused;
    } cases[] = {
        { "chat", "{\"text\":\"hi\"}", 4, "chat\n", "" },
        { "chat", "{\"text\":[[]]}", 4, "chat\n", "" },
        { "chat", "{\"text\":[[[]]]}", 100, "", "system/error\n" },
        { "mcp/request:tools/list", "{}", 4, "", "system/error\n" },
    };
    struct sitter ann, bob;
    struct world world;
    struct arena arena;
    int id = 0;

    world_init(&world, S("limits: { depth: 4 }"));
    sit_two(&world, &ann, &bob);
    arena_init(&arena, 1 << 20);
    FOR_EACH_CASE(c, cases) {
        struct seat *seat = topic_seat_of(bob.seat);
        struct envelope env;
        struct buf text;

        buf_init(&text, 1000);
        buf_putf(&text,
                 "{\"protocol\":\"mcpx/v0.1\",\"id\":\"v%d\",\"from\":\"" STR_FMT
                 "\",\"to\":[\"" STR_FMT "\"],\"kind\":\"%s\",\"payload\":%s}",
                 id++, STR_ARG(bob.identity->id), STR_ARG(ann.identity->id), c->kind,
                 c->payload);
        CHECK_INT(
            envelope_scan(buf_str(&text), c->depth, DIALECT_SLASH, &arena, &env, NULL),
            OK);
        CHECK_INT(seat->send_scanned(seat, &env, c->depth), OK);
        turn(&world);
        CHECK_STR(told(&ann), str_of(c->heard));
        CHECK_STR(told(&bob), str_of(c->refused));
        buf_done(&text);
    }
    arena_done(&arena);
    sitter_done(&ann);
    sitter_done(&bob);
    world_done(&world);
}

TEST(a_seat_has_no_rate_but_a_size)
{
    struct sitter ann, bob;
    struct world world;
    char id[16];
    struct buf big;

    world_init(&world, S("limits: { rate_messages: 1/s, rate_bytes: 2000/s }"));
    sit_two(&world, &ann, &bob);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(id, sizeof(id), "%d", i);
        CHECK_INT(say(&bob, id, "\"kind\":\"chat\""), OK);
    }
    turn(&world);
    CHECK_STR(told(&bob), S(""));
    CHECK_INT(world.worker.metrics.envelopes_admitted, 100);
    CHECK_INT(world.worker.metrics.rate_limited, 0);
    buf_init(&big, 2 << 20);
    for (size_t i = 0; i <= 1 << 20; i++)
        buf_putc(&big, ' ');
    CHECK_INT(topic_seat_of(bob.seat)->send(topic_seat_of(bob.seat), buf_str(&big)),
              ERR_TOO_BIG);
    buf_done(&big);
    sitter_done(&ann);
    sitter_done(&bob);
    world_done(&world);
}

TEST(not_more_than_64_KiB_are_heard_in_a_turn)
{
    enum { BYTES = 30'000, COUNT_ = 7 };
    struct sitter ann, bob;
    struct world world;
    char rest[BYTES + 64];
    char id[16];
    size_t before;

    world_init(&world, S("{}"));
    sit_two(&world, &ann, &bob);
    (void)snprintf(rest, sizeof(rest), "\"kind\":\"chat\",\"x\":\"%0*d\"", BYTES, 0);
    for (int i = 0; i < COUNT_; i++) {
        (void)snprintf(id, sizeof(id), "%d", i);
        CHECK_INT(say(&ann, id, rest), OK);
    }
    before = bob.text_count;
    do
        loop_turn(world.worker.loop, 0);
    while (bob.text_count == before);
    CHECK_INT(bob.text_count - before, 3);
    turn(&world);
    CHECK_INT(bob.text_count - before, COUNT_);
    sitter_done(&ann);
    sitter_done(&bob);
    world_done(&world);
}

TEST(a_welcome_is_heard_whole_with_everybody_in_it)
{
    enum { MANY = 50 };
    struct sitter others[MANY], bob;
    struct world world;
    char id[16];

    world_init(&world, S("{}"));
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(id, sizeof(id), "other-%02d", i);
        sit(&world, &others[i], str_of(id), S("chat"));
    }
    pass(&world, 100);
    turn(&world);
    sit(&world, &bob, S("bob"), S("chat"));
    CHECK_STR(told(&bob), S("begin 0\nsystem/welcome\n"));
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(id, sizeof(id), "\"other-%02d\"", i);
        CHECK(memmem(bob.text.ptr, bob.text.len, id, strlen(id)) != NULL);
    }
    for (int i = 0; i < MANY; i++)
        sitter_done(&others[i]);
    sitter_done(&bob);
    world_done(&world);
}

TEST(whoever_is_kicked_comes_back_and_hears_what_was_missed)
{
    struct sitter ann, bob;
    struct world world;

    world_init(&world, S("limits: { kick_bar: 1s }"));
    sit_two(&world, &ann, &bob);
    CHECK_INT(say(&ann, "1", "\"kind\":\"chat\""), OK);
    turn(&world);
    CHECK_STR(told(&bob), S("chat\n"));
    bob.after = S("1");
    room_kick(room_find(&world.worker, S("room")), S("bob"));
    while (topic_seat_is_taken(bob.seat)) /* that becomes durable first */
        loop_turn(world.worker.loop, 10);
    turn(&world);
    CHECK_STR(told(&bob), S("lost 0 it was removed from the topic\n"));
    CHECK(!topic_seat_is_taken(bob.seat));
    CHECK_INT(say(&bob, "x", "\"kind\":\"chat\""), ERR_AGAIN);
    CHECK_INT(say(&ann, "2", "\"kind\":\"x/missed\""), OK);
    pass(&world, 600);
    turn(&world);
    CHECK_STR(told(&bob), S("")); /* barred still */
    pass(&world, 1100);
    turn(&world);
    CHECK_STR(told(&bob), S("begin 1\nsystem/welcome\nsystem/presence\nx/missed\n"));
    CHECK(topic_seat_is_taken(bob.seat));
    sitter_done(&ann);
    sitter_done(&bob);
    world_done(&world);
}

TEST(a_seat_may_be_closed_by_what_it_hears)
{
    struct sitter ann, bob;
    struct world world;

    world_init(&world, S("{}"));
    sit_two(&world, &ann, &bob);
    bob.closes_at = "x/end";
    CHECK_INT(say(&ann, "1", "\"kind\":\"x/end\""), OK);
    CHECK_INT(say(&ann, "2", "\"kind\":\"chat\""), OK);
    turn(&world);
    CHECK_STR(told(&bob), S("x/end\n"));
    CHECK_INT(world.worker.metrics.members, 1);
    sitter_done(&ann);
    sitter_done(&bob);
    world_done(&world);
}

TEST(a_newer_one_of_the_same_id_replaces_it_and_it_waits)
{
    struct sitter one, two;
    struct world world;

    world_init(&world, S("topics: { defaults: { duplicate: replace } }"));
    sit(&world, &one, S("bob"), S("chat"));
    (void)told(&one);
    sit(&world, &two, S("bob"), S("chat"));
    CHECK_STR(told(&one), S("lost 0 it was replaced by a newer connection\n"));
    CHECK_STR(told(&two), S("begin 0\nsystem/welcome\n"));
    pass(&world, 499);
    turn(&world);
    CHECK_STR(told(&one), S(""));
    sitter_done(&one);
    sitter_done(&two);
    world_done(&world);
}

static const struct topic_seat_terms once_terms = { .type = CONNECTION_MCP,
                                                    .address = "mcp",
                                                    .presence = PRESENCE_OFF,
                                                    .is_limited = true,
                                                    .sits_once = true };

TEST(who_sits_once_has_lost_the_place_for_good)
{
    struct sitter ann, bob, again;
    struct world world;

    world_init(&world, S("limits: { kick_bar: 1s }"));
    sit(&world, &ann, S("ann"), S("chat"));
    sit_on(&world, &bob, S("bob"), S("chat"), &once_terms);
    CHECK_STR(told(&bob), S("begin 0\nsystem/welcome\n"));
    room_kick(room_find(&world.worker, S("room")), S("bob"));
    while (topic_seat_is_taken(bob.seat)) /* that becomes durable first */
        loop_turn(world.worker.loop, 10);
    turn(&world);
    CHECK_STR(told(&bob), S("lost 1 it was removed from the topic\n"));
    sit_on(&world, &again, S("bob"), S("chat"), &once_terms);
    CHECK_STR(told(&again), S("lost 1 it may not be there\n")); /* barred */
    pass(&world, 60'000);
    turn(&world);
    CHECK_STR(told(&bob), S(""));
    CHECK_STR(told(&again), S(""));
    CHECK_INT(say(&bob, "1", "\"kind\":\"chat\""), ERR_AGAIN);
    sitter_done(&again);
    sitter_done(&ann);
    sitter_done(&bob);
    world_done(&world);
}

TEST(presence_is_told_as_the_terms_say)
{
    struct sitter ann, bob, eve;
    struct world world;

    world_init(&world, S("{}"));
    sit(&world, &ann, S("ann"), S("chat"));
    sit_on(&world, &bob, S("bob"), S("chat"), &once_terms);
    (void)told(&bob);
    sit(&world, &eve, S("eve"), S("chat"));
    CHECK_INT(say(&eve, "1", "\"kind\":\"chat\""), OK);
    turn(&world);
    CHECK_STR(told(&bob), S("chat\n"));
    sitter_done(&eve);
    sitter_done(&ann);
    sitter_done(&bob);
    world_done(&world);
}

TEST(rates_hold_for_seats_that_are_limited)
{
    struct sitter ann, bob;
    struct world world;

    world_init(&world, S("limits: { rate_messages: 1/s, burst: 1s }"));
    sit(&world, &ann, S("ann"), S("chat"));
    sit_on(&world, &bob, S("bob"), S("chat"), &once_terms);
    (void)told(&ann);
    (void)told(&bob);
    CHECK_INT(say(&bob, "1", "\"kind\":\"chat\""), OK);
    CHECK_INT(say(&bob, "2", "\"kind\":\"chat\""), OK);
    turn(&world);
    CHECK_STR(told(&bob), S("system/error\n"));
    CHECK(memmem(bob.text.ptr, bob.text.len, "rate_limited", 12) != NULL);
    for (int i = 0; i < 10; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "a%d", i);
        CHECK_INT(say(&ann, id, "\"kind\":\"chat\""), OK);
    }
    turn(&world);
    CHECK(memmem(ann.told.ptr, ann.told.len, "system/error", 12) == NULL);
    sitter_done(&ann);
    sitter_done(&bob);
    world_done(&world);
}

TEST(another_identity_has_other_rights_and_a_welcome)
{
    struct sitter ann, bob;
    struct world world;
    struct identity *other;

    world_init(&world, S("{}"));
    sit_two(&world, &ann, &bob);
    topic_seat_set_identity(bob.seat, bob.identity);
    turn(&world);
    CHECK_STR(told(&bob), S(""));
    other = identity_of(S("bob"), S("x/b"));
    topic_seat_set_identity(bob.seat, other);
    identity_unref(other);
    turn(&world);
    CHECK_STR(told(&bob), S("system/welcome\n"));
    CHECK_INT(say(&bob, "1", "\"kind\":\"chat\""), OK);
    CHECK_INT(say(&bob, "2", "\"kind\":\"x/b\""), OK);
    turn(&world);
    CHECK_STR(told(&bob), S("system/error\n"));
    CHECK_STR(told(&ann), S("x/b\n"));
    sitter_done(&ann);
    sitter_done(&bob);
    world_done(&world);
}

TEST(a_room_stays_as_long_as_somebody_sits_in_it)
{
    struct sitter bob;
    struct world world;

    world_init(&world, S("{}"));
    sit(&world, &bob, S("bob"), S("chat"));
    for (int i = 0; i < 20; i++) {
        pass(&world, 60'000);
        turn(&world);
    }
    CHECK(room_find(&world.worker, S("room")) != NULL);
    sitter_done(&bob);
    for (int i = 0; i < 20; i++) {
        pass(&world, 60'000);
        turn(&world);
    }
    CHECK(room_find(&world.worker, S("room")) == NULL);
    world_done(&world);
}

/* --- an occupant: it answers whoever calls it --- */

struct echo {
    struct topic_seat *seat;
    struct occupant *occupant;
    struct world *world;
    struct buf result;
    bool is_caller;
};

static struct moment now_of(const struct echo *echo)
{
    return (struct moment){ echo->world->now_ms, WALL_MS + echo->world->now_ms };
}

static void echo_begin(void *user, bool resumes)
{
    occupant_begin(((struct echo *)user)->occupant, resumes);
}

static void echo_text(void *user, struct str text)
{
    struct echo *echo = user;

    occupant_hear(echo->occupant, text, now_of(echo));
}

static void echo_judged(void *user, uint64_t number)
{
    struct echo *echo = user;

    occupant_judged(echo->occupant, number, now_of(echo));
}

static void echo_lost(void *user, bool is_final, const char *why [[maybe_unused]])
{
    struct echo *echo = user;

    occupant_lost(echo->occupant, is_final, now_of(echo));
}

static struct str echo_after(void *user)
{
    return occupant_last(((struct echo *)user)->occupant);
}

static const struct seat_ops echo_seat_ops = { echo_begin, echo_text, echo_judged,
                                               echo_lost, echo_after };

static void on_request(void *user, const struct heard *heard, const struct str *reply_to,
                       size_t reply_count)
{
    struct echo *echo = user;
    struct rpc_request request;
    const char *what = "";
    struct arena arena;

    arena_init(&arena, 1 << 20);
    CHECK_INT(rpc_read(heard->env.payload.text, &arena, &request, &what), OK);
    CHECK_INT(occupant_answer(echo->occupant,
                              &(struct answer){ .request_id = heard->env.id,
                                                .method = S("tools/call"),
                                                .rpc_id = request.id,
                                                .to = reply_to,
                                                .to_count = reply_count,
                                                .member = S("result"),
                                                .json = S("{\"content\":[]}") },
                              now_of(echo)),
              OK);
    arena_done(&arena);
}

static void on_done(void *user, const struct outcome *outcome)
{
    struct echo *echo = user;

    buf_putf(&echo->result, "%d " STR_FMT " " STR_FMT "\n", (int)outcome->type,
             STR_ARG(outcome->by), STR_ARG(outcome->json.text));
}

static void echo_init(struct world *world, struct echo *echo, struct str id)
{
    struct identity *identity = identity_of(id, S("mcp/*"));

    *echo = (struct echo){ .world = world };
    buf_init(&echo->result, 4096);
    echo->seat = topic_seat_open(&world->worker, S("room"), identity, &server_terms,
                                 &echo_seat_ops, echo);
    echo->occupant = occupant_new(
        topic_seat_of(echo->seat),
        &(struct occupant_settings){ .id_prefix = id,
                                     .call_timeout_ms = 10'000,
                                     .limits = { 64, 64, 64, 256, 16, 64, 0 } },
        &(struct occupant_ops){ .on_request = on_request }, echo);
    identity_unref(identity);
}

static void echo_done(struct echo *echo)
{
    topic_seat_close(echo->seat);
    occupant_free(echo->occupant);
    buf_done(&echo->result);
}

TEST(an_occupant_sits_there_as_on_any_seat)
{
    struct echo server, caller;
    struct world world;
    const char *why = "";

    world_init(&world, S("{}"));
    echo_init(&world, &server, S("server"));
    echo_init(&world, &caller, S("caller"));
    turn(&world);
    pass(&world, 100);
    turn(&world);
    CHECK(occupant_is_welcome(caller.occupant));
    CHECK_STR(occupant_id(server.occupant), S("server"));
    CHECK(occupant_find_participant(server.occupant, S("caller")) != NULL);
    CHECK_INT(occupant_request(caller.occupant,
                               &(struct asking){ .to = S("server"),
                                                 .method = S("tools/call"),
                                                 .name = S("x"),
                                                 .how = ASK_CALL,
                                                 .ops = { .on_done = on_done },
                                                 .user = &caller },
                               now_of(&caller), NULL, &why),
              OK);
    CHECK_STR(str_of(why), S(""));
    turn(&world);
    CHECK_STR(buf_str(&caller.result), S("0 server {\"content\":[]}\n"));
    echo_done(&caller);
    echo_done(&server);
    world_done(&world);
}
