/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a challenge to a token, against a server of the test on the same loop. In what it
 * says "@" stands for its own address; it is its own authorization server, at "@/as".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "fetch/fetch.h"
#include "harness.h"
#include "net/listen.h"
#include "oauth/oauth.h"

enum { PAGES = 8, PATIENCE = 2000 };

struct page {
    const char *path;
    int status;
    const char *body;
};

/* clang-format off */
#define RESOURCE "{\"resource\":\"@/mcp\",\"authorization_servers\":[\"@/as\"],\"scopes_supported\":[\"r\"]}"
#define SERVER(issuer, more) \
    "{\"issuer\":\"@/" issuer "\",\"authorization_endpoint\":\"@/" issuer "/authorize\"," \
    "\"token_endpoint\":\"@/" issuer "/token\",\"registration_endpoint\":\"@/" issuer "/register\"," \
    "\"token_endpoint_auth_methods_supported\":[\"none\"]" more "}"
#define S256 ",\"code_challenge_methods_supported\":[\"S256\"]"
#define TOKEN(token) "{\"access_token\":\"" token "\",\"token_type\":\"Bearer\",\"expires_in\":3600," \
    "\"refresh_token\":\"again\"}"

static const struct page usual[] = {
    { "/.well-known/oauth-protected-resource/mcp",    200, RESOURCE },
    { "/.well-known/oauth-authorization-server/as",   200, SERVER("as", S256) },
    { "/as/register",                                 201, "{\"client_id\":\"one\"}" },
    { "/as/token",                                    200, TOKEN("t1") },
};
/* clang-format on */

struct stage {
    struct loop *loop;
    struct fetch *fetch;
    struct oauth *oauth;
    struct listener listener;
    int fd;
    char url[NET_ADDRESS + 16]; /* of itself */
    struct page pages[PAGES];   /* before the usual ones */
    struct buf asked;           /* lines: method, path, body */
    struct buf kept, sign_in;
    size_t sign_ins;
    uint64_t now;
    size_t done;
    enum err err;
    bool is_alone; /* nobody signs in */
    bool is_away;  /* nobody is there until oauth_sign_in() */
    size_t missed, signed_in;
};

struct visitor {
    struct stage *stage;
    struct loop_fd io;
    struct loop_task reap;
    struct buf bytes;
};

/* --- the server --- */

static const struct page *find_page(const struct stage *stage, struct str path)
{
    for (size_t i = 0; i < PAGES && stage->pages[i].path; i++)
        if (str_eq(path, str_of(stage->pages[i].path)))
            return &stage->pages[i];
    for (size_t i = 0; i < COUNT(usual); i++)
        if (str_eq(path, str_of(usual[i].path)))
            return &usual[i];
    return NULL;
}

static void put_with_address(struct buf *out, const struct stage *stage, const char *text)
{
    for (; *text; text++) {
        if (*text == '@')
            buf_put(out, str_of(stage->url));
        else
            buf_putc(out, *text);
    }
}

static void serve(struct visitor *visitor, struct str path)
{
    const struct page *page = find_page(visitor->stage, path);
    CLEANUP(buf_done) struct buf body, answer;

    buf_init(&body, 10'000);
    buf_init(&answer, 10'000);
    put_with_address(&body, visitor->stage, page ? page->body : "{}");
    buf_putf(&answer, "HTTP/1.1 %d x\r\nContent-Length: %zu\r\n\r\n",
             page ? page->status : 404, body.len);
    buf_put(&answer, buf_str(&body));
    (void)send(visitor->io.fd, answer.ptr, answer.len, MSG_NOSIGNAL);
}

/* True where the request is whole. */
static bool take_request(struct visitor *visitor)
{
    const char *text = buf_cstr(&visitor->bytes);
    const char *end = strstr(text, "\r\n\r\n");
    const char *length = end ? strcasestr(text, "content-length:") : NULL;
    size_t body = length && length < end ? strtoul(length + 15, NULL, 10) : 0;
    char method[8], path[256];

    if (!end || visitor->bytes.len < (size_t)(end - text) + 4 + body)
        return false;
    CHECK_INT(sscanf(text, "%7s %255s", method, path), 2);
    buf_putf(&visitor->stage->asked, "%s %s %.*s\n", method, path, (int)body, end + 4);
    serve(visitor, str_of(path));
    buf_drop(&visitor->bytes, (size_t)(end - text) + 4 + body);
    return true;
}

static void reap(struct loop_task *task)
{
    free(CONTAINER_OF(task, struct visitor, reap));
}

static void on_ready(struct loop_fd *io, uint32_t events [[maybe_unused]])
{
    struct visitor *visitor = CONTAINER_OF(io, struct visitor, io);
    char bytes[4096];
    ssize_t got = recv(io->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    if (got > 0) {
        buf_put(&visitor->bytes, (struct str){ bytes, (size_t)got });
        while (take_request(visitor))
            ;
        return;
    }
    loop_fd_remove(visitor->stage->loop, io);
    (void)close(io->fd);
    buf_done(&visitor->bytes);
    loop_defer(visitor->stage->loop, &visitor->reap);
}

static void on_accept(void *user, int fd, const struct net_peer *peer [[maybe_unused]])
{
    struct visitor *visitor = calloc(1, sizeof(*visitor));

    visitor->stage = user;
    visitor->reap.run = reap;
    visitor->io = (struct loop_fd){ .fd = fd, .events = EPOLLIN, .on_ready = on_ready };
    buf_init(&visitor->bytes, 100'000);
    CHECK_INT(loop_fd_add(visitor->stage->loop, &visitor->io), OK);
}

/* --- the stage --- */

static void on_sign_in(void *user, struct str url)
{
    struct stage *stage = user;

    stage->sign_ins++;
    buf_clear(&stage->sign_in);
    buf_put(&stage->sign_in, url);
}

static void on_missed(void *user)
{
    ((struct stage *)user)->missed++;
}

static void on_signed_in(void *user, enum err err, const char *why [[maybe_unused]])
{
    struct stage *stage = user;

    stage->signed_in++;
    stage->err = err;
}

static void on_keep(void *user, struct str json)
{
    struct stage *stage = user;

    buf_clear(&stage->kept);
    buf_put(&stage->kept, json);
}

static void on_done(void *user, enum err err, const char *why [[maybe_unused]])
{
    struct stage *stage = user;

    stage->done++;
    stage->err = err;
}

static void stage_set_time(struct stage *stage, uint64_t more_ms)
{
    stage->now += more_ms;
    loop_set_now(stage->loop, stage->now, stage->now);
}

static void stage_open_oauth(struct stage *stage, const char *client_id)
{
    struct oauth_ops ops = { .on_sign_in = stage->is_alone ? NULL : on_sign_in,
                             .on_missed = on_missed,
                             .on_signed_in = on_signed_in,
                             .on_keep = on_keep };
    char url[100];

    (void)snprintf(url, sizeof(url), "%s/mcp", stage->url);
    stage->oauth = oauth_new(
        stage->loop, stage->fetch,
        &(struct oauth_settings){
            .server_url = str_of(url),
            .client_name = S("Moot"),
            .redirect_uri = stage->is_away ? S("") : S("http://127.0.0.1:1/callback"),
            .client_id = str_of(client_id),
            .sign_in_ms = 60'000,
        },
        &ops, stage);
}

static void stage_open(struct stage *stage, const char *client_id)
{
    const char *why;
    char *missing = NULL;
    char address[NET_ADDRESS];

    stage->loop = loop_new();
    stage->now = 1'000'000;
    buf_init(&stage->asked, 100'000);
    buf_init(&stage->kept, 10'000);
    buf_init(&stage->sign_in, 10'000);
    CHECK_INT(fetch_new(stage->loop, &stage->fetch, &missing), OK);
    CHECK_INT(net_listen(S("127.0.0.1:0"), &stage->fd, &why), OK);
    CHECK_INT(listener_init(&stage->listener, stage->loop, stage->fd, on_accept, stage),
              OK);
    net_bound_address(stage->fd, address);
    (void)snprintf(stage->url, sizeof(stage->url), "http://%s", address);
    stage_set_time(stage, 0);
    stage_open_oauth(stage, client_id);
}

static void stage_close(struct stage *stage)
{
    oauth_free(stage->oauth);
    fetch_free(stage->fetch);
    for (int i = 0; i < 20; i++)
        loop_turn(stage->loop, 1);
    listener_done(&stage->listener);
    (void)close(stage->fd);
    loop_turn(stage->loop, 0);
    loop_free(stage->loop);
    buf_done(&stage->asked);
    buf_done(&stage->kept);
    buf_done(&stage->sign_in);
}

static void turn_until(struct stage *stage, const size_t *counter, size_t wanted)
{
    for (int i = 0; i < PATIENCE && *counter < wanted; i++)
        loop_turn(stage->loop, 5);
    CHECK_INT(*counter, wanted);
}

static void renew(struct stage *stage, unsigned status, const char *challenge)
{
    struct credential *credential = oauth_credential(stage->oauth);

    credential->ops->renew(
        credential,
        &(struct challenge){ .status = status, .www_authenticate = str_of(challenge) },
        on_done, stage);
}

static struct str current(struct stage *stage)
{
    struct credential *credential = oauth_credential(stage->oauth);

    return credential->ops->current(credential);
}

/* The value of a parameter in the address to sign in at, still escaped. */
static struct str parameter(const struct stage *stage, struct str name)
{
    struct str rest = buf_str(&stage->sign_in);

    (void)str_cut(&rest, '?');
    while (rest.ptr) {
        struct str value = str_cut(&rest, '&');

        if (str_eq(str_cut(&value, '='), name))
            return value;
    }
    return (struct str){};
}

/* A person who signs in and comes back. */
static enum err come_back(struct stage *stage, const char *more)
{
    struct str state = parameter(stage, S("state"));
    const char *why;
    char query[300];

    (void)snprintf(query, sizeof(query), "code=c&state=" STR_FMT "%s", STR_ARG(state),
                   more);
    return oauth_returned(stage->oauth, str_of(query), &why);
}

static void get_token(struct stage *stage, unsigned status, const char *challenge)
{
    size_t sign_ins = stage->sign_ins, done = stage->done;

    renew(stage, status, challenge);
    turn_until(stage, &stage->sign_ins, sign_ins + 1);
    CHECK_INT(come_back(stage, ""), OK);
    turn_until(stage, &stage->done, done + 1);
    CHECK_INT(stage->err, OK);
}

static bool was_asked(const struct stage *stage, const char *text)
{
    return stage->asked.len &&
           memmem(stage->asked.ptr, stage->asked.len, text, strlen(text)) != NULL;
}

/* --- what is shown --- */

TEST(a_401_leads_to_a_token_that_is_kept)
{
    struct stage stage = {};
    struct buf kept;

    stage_open(&stage, "");
    CHECK_STR(current(&stage), S(""));
    get_token(&stage, 401, "Bearer");
    CHECK_STR(current(&stage), S("Bearer t1"));
    CHECK(str_starts(buf_str(&stage.asked),
                     S("GET /.well-known/oauth-protected-resource/mcp \n"
                       "GET /.well-known/oauth-authorization-server/as \n"
                       "POST /as/register {\"client_name\":\"Moot\"")));
    CHECK(was_asked(&stage,
                    "POST /as/token grant_type=authorization_code&code=c&code_verif"));
    CHECK(was_asked(&stage, "%2Fmcp&client_id=one\n"));
    CHECK_STR(parameter(&stage, S("scope")), S("r"));
    CHECK_STR(parameter(&stage, S("client_id")), S("one"));
    buf_init(&kept, 10'000);
    buf_put(&kept, buf_str(&stage.kept));
    oauth_free(stage.oauth);
    stage_open_oauth(&stage, "");
    CHECK_INT(oauth_restore(stage.oauth, buf_str(&kept)), OK);
    CHECK_STR(current(&stage), S("Bearer t1"));
    oauth_sign_out(stage.oauth);
    CHECK_STR(current(&stage), S(""));
    CHECK(memmem(stage.kept.ptr, stage.kept.len, "t1", 2) == NULL);
    buf_done(&kept);
    stage_close(&stage);
}

TEST(what_was_kept_for_another_server_or_client_is_not_used)
{
    struct stage stage = {};
    struct buf kept;

    buf_init(&kept, 10'000);
    stage_open(&stage, "mine");
    buf_putf(&kept,
             "{\"resource\":\"%s/mcp\",\"client_id\":\"other\",\"access_token\":\"t\","
             "\"ends_ms\":0}",
             stage.url);
    CHECK_INT(oauth_restore(stage.oauth, buf_str(&kept)), ERR_INVALID);
    CHECK_INT(oauth_restore(stage.oauth,
                            S("{\"resource\":\"https://evil/mcp\",\"client_id\":\"mine\","
                              "\"access_token\":\"t\",\"ends_ms\":0}")),
              ERR_INVALID);
    CHECK_INT(oauth_restore(stage.oauth, S("x")), ERR_INVALID);
    CHECK_STR(current(&stage), S(""));
    buf_done(&kept);
    stage_close(&stage);
}

TEST(whoever_was_refused_with_an_older_token_takes_the_new_one)
{
    struct stage stage = {};
    struct credential *credential;

    stage_open(&stage, "");
    get_token(&stage, 401, "Bearer");
    buf_clear(&stage.asked);
    credential = oauth_credential(stage.oauth);
    credential->ops->renew(credential,
                           &(struct challenge){ .status = 401, .used = S("Bearer t0") },
                           on_done, &stage);
    CHECK_INT(stage.done, 1); /* never inside */
    turn_until(&stage, &stage.done, 2);
    CHECK_INT(stage.err, OK);
    CHECK_INT(stage.asked.len, 0);
    stage_close(&stage);
}

TEST(several_wait_for_one_sign_in_and_who_has_gone_is_not_told)
{
    struct stage stage = {}, gone = {};
    struct credential *credential;

    stage_open(&stage, "");
    credential = oauth_credential(stage.oauth);
    credential->ops->renew(credential, &(struct challenge){ .status = 401 }, on_done,
                           &gone);
    renew(&stage, 401, "Bearer");
    renew(&stage, 401, "Bearer");
    turn_until(&stage, &stage.sign_ins, 1);
    credential->ops->forget(credential, &gone);
    CHECK_INT(come_back(&stage, ""), OK);
    turn_until(&stage, &stage.done, 2);
    CHECK_INT(stage.sign_ins, 1);
    CHECK_INT(gone.done, 0);
    stage_close(&stage);
}

TEST(a_token_is_refreshed_before_it_ends)
{
    struct stage stage = {};

    stage_open(&stage, "");
    get_token(&stage, 401, "Bearer");
    stage.pages[0] = (struct page){ "/as/token", 200, TOKEN("t2") };
    buf_clear(&stage.asked);
    stage_set_time(&stage, 3'539'000);
    for (int i = 0; i < 50; i++)
        loop_turn(stage.loop, 1);
    CHECK_INT(stage.asked.len, 0);
    stage_set_time(&stage, 1'000);
    for (int i = 0; i < PATIENCE && !str_eq(current(&stage), S("Bearer t2")); i++)
        loop_turn(stage.loop, 5);
    CHECK_STR(current(&stage), S("Bearer t2"));
    CHECK(was_asked(&stage,
                    "POST /as/token grant_type=refresh_token&refresh_token=again&res"));
    CHECK_INT(stage.sign_ins, 1);
    stage_close(&stage);
}

TEST(a_refused_token_is_refreshed_and_a_refused_refresh_is_a_sign_in)
{
    struct stage stage = {};

    stage_open(&stage, "");
    get_token(&stage, 401, "Bearer");
    stage.pages[0] = (struct page){ "/as/token", 200, TOKEN("t2") };
    renew(&stage, 401, "Bearer");
    turn_until(&stage, &stage.done, 2);
    CHECK_STR(current(&stage), S("Bearer t2"));
    CHECK_INT(stage.sign_ins, 1);
    stage_set_time(&stage, 100'000); /* it lived for a while */
    stage.pages[0] = (struct page){ "/as/token", 400, "{\"error\":\"invalid_grant\"}" };
    renew(&stage, 401, "Bearer");
    turn_until(&stage, &stage.sign_ins, 2);
    stage.pages[0] = (struct page){ "/as/token", 200, TOKEN("t3") };
    CHECK_INT(come_back(&stage, ""), OK);
    turn_until(&stage, &stage.done, 3);
    CHECK_STR(current(&stage), S("Bearer t3"));
    stage_close(&stage);
}

TEST(a_step_up_asks_for_all_that_was_asked_for_and_not_for_ever)
{
    struct stage stage = {};

    stage_open(&stage, "");
    get_token(&stage, 401, "Bearer scope=\"a b\"");
    CHECK_STR(parameter(&stage, S("scope")), S("a%20b"));
    get_token(&stage, 403, "Bearer error=\"insufficient_scope\", scope=\"c a\"");
    CHECK_STR(parameter(&stage, S("scope")), S("a%20b%20c"));
    renew(&stage, 403, "Bearer error=\"insufficient_scope\"");
    turn_until(&stage, &stage.done, 3);
    CHECK_INT(stage.err, ERR_FORBIDDEN);
    for (size_t i = 0; i < 2; i++) {
        stage_set_time(&stage, 100'000);
        get_token(&stage, 403, "Bearer scope=c");
    }
    stage_set_time(&stage, 100'000);
    renew(&stage, 403, "Bearer scope=c");
    turn_until(&stage, &stage.done, 6);
    CHECK_INT(stage.err, ERR_FORBIDDEN);
    CHECK_INT(stage.sign_ins, 4);
    stage_close(&stage);
}

TEST(a_server_that_takes_no_token_is_not_asked_for_ever)
{
    struct stage stage = {
        .pages = { { "/as/token", 200,
                     "{\"access_token\":\"t\",\"token_type\":\"Bearer\"}" } }
    };

    stage_open(&stage, "");
    for (size_t i = 0; i < 3; i++)
        get_token(&stage, 401, "Bearer");
    renew(&stage, 401, "Bearer");
    turn_until(&stage, &stage.done, 4);
    CHECK_INT(stage.err, ERR_FORBIDDEN);
    CHECK_INT(stage.sign_ins, 3);
    stage_close(&stage);
}

TEST(another_authorization_server_is_shown_nothing_of_the_old_one)
{
    struct stage stage = {};

    stage_open(&stage, "");
    get_token(&stage, 401, "Bearer");
    stage.pages[0] =
        (struct page){ "/.well-known/oauth-protected-resource/mcp", 200,
                       "{\"resource\":\"@/mcp\",\"authorization_servers\":[\"@/two\"]}" };
    stage.pages[1] = (struct page){ "/.well-known/oauth-authorization-server/two", 200,
                                    SERVER("two", S256) };
    stage.pages[2] = (struct page){ "/two/register", 201, "{\"client_id\":\"two-id\"}" };
    stage.pages[3] = (struct page){ "/two/token", 200, TOKEN("t2") };
    buf_clear(&stage.asked);
    get_token(&stage, 401, "Bearer");
    CHECK_STR(current(&stage), S("Bearer t2"));
    CHECK_STR(parameter(&stage, S("client_id")), S("two-id"));
    CHECK(parameter(&stage, S("scope")).ptr == NULL);
    CHECK(!was_asked(&stage, "again") && !was_asked(&stage, "=one"));
    CHECK(!was_asked(&stage, " /as/"));
    stage_close(&stage);
}

TEST(a_given_client_id_is_shown_to_one_authorization_server_alone)
{
    struct stage stage = {};

    stage_open(&stage, "given");
    get_token(&stage, 401, "Bearer");
    CHECK(!was_asked(&stage, "/register"));
    CHECK_STR(parameter(&stage, S("client_id")), S("given"));
    stage.pages[0] =
        (struct page){ "/.well-known/oauth-protected-resource/mcp", 200,
                       "{\"resource\":\"@/mcp\",\"authorization_servers\":[\"@/two\"]}" };
    stage.pages[1] = (struct page){ "/.well-known/oauth-authorization-server/two", 200,
                                    SERVER("two", S256) };
    renew(&stage, 401, "Bearer");
    turn_until(&stage, &stage.done, 2);
    CHECK_INT(stage.err, ERR_FORBIDDEN);
    CHECK_INT(stage.sign_ins, 1);
    stage_close(&stage);
}

TEST(an_answer_that_is_not_ours_changes_nothing_and_one_of_another_issuer_ends_it)
{
    struct stage stage = {};
    const char *why;

    stage_open(&stage, "");
    CHECK_INT(oauth_returned(stage.oauth, S("code=c&state=s"), &why), ERR_INVALID);
    renew(&stage, 401, "Bearer");
    turn_until(&stage, &stage.sign_ins, 1);
    CHECK_INT(oauth_returned(stage.oauth, S("code=c&state=guess"), &why), ERR_INVALID);
    CHECK_INT(oauth_returned(stage.oauth, S("code=c"), &why), ERR_INVALID);
    loop_turn(stage.loop, 1);
    CHECK_INT(stage.done, 0);
    CHECK_INT(come_back(&stage, "&iss=https%3A%2F%2Fevil"), ERR_INVALID);
    turn_until(&stage, &stage.done, 1);
    CHECK_INT(stage.err, ERR_FORBIDDEN);
    CHECK(!was_asked(&stage, "/token"));
    CHECK_INT(come_back(&stage, ""), ERR_INVALID); /* it is over */
    stage_close(&stage);
}

TEST(nobody_who_comes_is_a_timeout)
{
    struct stage stage = {};

    stage_open(&stage, "");
    renew(&stage, 401, "Bearer");
    turn_until(&stage, &stage.sign_ins, 1);
    stage_set_time(&stage, 60'001);
    turn_until(&stage, &stage.done, 1);
    CHECK_INT(stage.err, ERR_TIMEOUT);
    CHECK_INT(come_back(&stage, ""), ERR_INVALID);
    stage_close(&stage);
}

TEST(where_nobody_is_there_nobody_is_asked)
{
    struct stage stage = { .is_alone = true };

    stage_open(&stage, "");
    renew(&stage, 401, "Bearer");
    turn_until(&stage, &stage.done, 1);
    CHECK_INT(stage.err, ERR_FORBIDDEN);
    CHECK_INT(stage.missed, 1);
    CHECK(!was_asked(&stage, "/register"));
    stage_close(&stage);
}

TEST(whoever_comes_later_signs_in_with_what_was_asked_for)
{
    struct stage stage = { .is_away = true };

    stage_open(&stage, "");
    renew(&stage, 401, "Bearer scope=\"tools\"");
    turn_until(&stage, &stage.done, 1);
    CHECK_INT(stage.err, ERR_FORBIDDEN);
    CHECK_INT(stage.missed, 1);
    CHECK(!was_asked(&stage, "/register"));
    buf_clear(&stage.asked);
    renew(&stage, 401, "Bearer scope=\"tools\"");
    turn_until(&stage, &stage.done, 2);
    CHECK_INT(stage.missed, 1); /* told once */
    CHECK_INT(stage.asked.len, 0);
    oauth_sign_in(stage.oauth, S("http://127.0.0.1:2/here"));
    turn_until(&stage, &stage.sign_ins, 1);
    CHECK_STR(parameter(&stage, S("redirect_uri")),
              S("http%3A%2F%2F127.0.0.1%3A2%2Fhere"));
    CHECK_STR(parameter(&stage, S("scope")), S("tools"));
    CHECK_INT(come_back(&stage, ""), OK);
    turn_until(&stage, &stage.signed_in, 1);
    CHECK_INT(stage.err, OK);
    CHECK_STR(current(&stage), S("Bearer t1"));
    stage_close(&stage);
}

TEST(of_two_sign_ins_the_later_one_counts_and_those_who_wait_are_told)
{
    struct stage stage = { .is_away = true };
    const char *why;
    char first[200];

    stage_open(&stage, "");
    oauth_sign_in(stage.oauth, S("http://127.0.0.1:2/here"));
    turn_until(&stage, &stage.sign_ins, 1);
    (void)snprintf(first, sizeof(first), "code=c&state=" STR_FMT,
                   STR_ARG(parameter(&stage, S("state"))));
    renew(&stage, 401, "Bearer");
    oauth_sign_in(stage.oauth, S("http://127.0.0.1:2/here"));
    turn_until(&stage, &stage.sign_ins, 2);
    CHECK_INT(oauth_returned(stage.oauth, str_of(first), &why), ERR_INVALID);
    CHECK_INT(come_back(&stage, ""), OK);
    turn_until(&stage, &stage.done, 1);
    CHECK_INT(stage.err, OK);
    CHECK_INT(stage.signed_in, 1);
    stage.err = OK;
    renew(&stage, 403, "Bearer error=\"insufficient_scope\", scope=\"more\"");
    turn_until(&stage, &stage.done, 2);
    CHECK_INT(stage.err, ERR_FORBIDDEN); /* he has gone again */
    CHECK_INT(stage.missed, 1);
    stage_close(&stage);
}

TEST(what_a_server_says_of_others_or_not_at_all_is_no_way_to_a_token)
{
    static const struct page cases[] = {
        { "/.well-known/oauth-protected-resource/mcp", 200,
          "{\"resource\":\"https://evil/mcp\",\"authorization_servers\":[\"@/as\"]}" },
        { "/.well-known/oauth-protected-resource/mcp", 200, "{}" },
        { "/.well-known/oauth-authorization-server/as", 200, SERVER("other", S256) },
        { "/.well-known/oauth-authorization-server/as", 200, SERVER("as", "") },
        { "/.well-known/oauth-authorization-server/as", 404, "" },
        { "/.well-known/oauth-authorization-server/as", 200,
          "{\"issuer\":\"@/as\",\"authorization_endpoint\":\"http://far.example/a\","
          "\"token_endpoint\":\"@/t\",\"registration_endpoint\":\"@/as/register\"" S256
          "}" },
        { "/.well-known/oauth-authorization-server/as", 200,
          "{\"issuer\":\"@/as\",\"authorization_endpoint\":\"@/a\","
          "\"token_endpoint\":\"http://far.example/t\","
          "\"registration_endpoint\":\"@/as/register\"" S256 "}" },
        { "/.well-known/oauth-authorization-server/as", 200,
          "{\"issuer\":\"@/as\",\"authorization_endpoint\":\"@/a\","
          "\"token_endpoint\":\"@/t\"" S256 "}" }, /* no registration */
        { "/as/register", 400, "{\"error\":\"invalid_redirect_uri\"}" },
        { "/as/register", 201, "{}" },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage stage = { .pages = { *c } };

        stage_open(&stage, "");
        renew(&stage, 401, "Bearer");
        turn_until(&stage, &stage.done, 1);
        CHECK_INT(stage.err, ERR_FORBIDDEN);
        CHECK_INT(stage.sign_ins, 0);
        stage_close(&stage);
    }
}
