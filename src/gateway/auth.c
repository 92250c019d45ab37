/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/auth.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/gateway.h"
#include "gateway/origin.h"
#include "gateway/resolve.h"

/* --- tickets live on the first worker; everybody else asks by mail --- */

enum { TICKET_TEXT = 128 };

struct ticket_letter {
    struct loop_mail mail;
    struct exchange *x;
    struct worker *origin;
    struct worker *keeper;
    enum ticket_use use;
    struct identity *identity; /* to issue for, or redeemed */
    uint64_t lifetime_ms;
    struct buf ticket;
    void (*on_spent)(struct exchange *x, struct identity *identity);
    void (*on_made)(struct exchange *x, struct str ticket);
};

static void letter_free(struct ticket_letter *letter)
{
    crypto_wipe(letter->ticket.ptr, letter->ticket.len);
    buf_done(&letter->ticket);
    identity_unref(letter->identity);
    free(letter);
}

static void on_answer(struct loop_mail *mail)
{
    struct ticket_letter *letter = CONTAINER_OF(mail, struct ticket_letter, mail);

    if (exchange_resume(letter->x)) {
        if (letter->on_spent)
            letter->on_spent(letter->x, TAKE(letter->identity));
        else
            letter->on_made(letter->x, buf_str(&letter->ticket));
    }
    letter_free(letter);
}

static void on_question(struct loop_mail *mail)
{
    struct ticket_letter *letter = CONTAINER_OF(mail, struct ticket_letter, mail);
    struct worker *keeper = letter->keeper;
    struct ticket_table *tickets =
        letter->use == TICKET_FOR_SOCKET ? &keeper->tickets : &keeper->links;
    uint64_t now_ms = loop_now_ms(keeper->loop);

    if (letter->on_spent)
        letter->identity = ticket_redeem(tickets, buf_str(&letter->ticket), now_ms);
    else if (ticket_issue(tickets, letter->identity, letter->lifetime_ms, now_ms,
                          &letter->ticket))
        buf_clear(&letter->ticket);
    letter->mail.deliver = on_answer;
    loop_post(letter->origin->loop, &letter->mail);
}

static struct ticket_letter *letter_new(struct exchange *x, enum ticket_use use)
{
    struct ticket_letter *letter = xcalloc(1, sizeof(*letter));

    letter->mail.deliver = on_question;
    letter->x = x;
    letter->use = use;
    letter->origin = x->worker;
    letter->keeper = gateway_worker(x->worker->gateway, 0);
    buf_init(&letter->ticket, TICKET_TEXT);
    exchange_suspend(x);
    return letter;
}

void ticket_spend(struct exchange *x, enum ticket_use use, struct str ticket,
                  void (*on_done)(struct exchange *x, struct identity *identity))
{
    struct ticket_letter *letter = letter_new(x, use);

    letter->on_spent = on_done;
    buf_put(&letter->ticket, ticket); /* one that is too long is simply unknown */
    loop_post(letter->keeper->loop, &letter->mail);
}

void ticket_make(struct exchange *x, struct identity *identity, enum ticket_use use,
                 uint64_t lifetime_ms,
                 void (*on_done)(struct exchange *x, struct str ticket))
{
    struct ticket_letter *letter = letter_new(x, use);

    letter->on_made = on_done;
    letter->identity = identity_ref(identity);
    letter->lifetime_ms = lifetime_ms;
    loop_post(letter->keeper->loop, &letter->mail);
}

/* --- resolving --- */

/* The token of "Bearer TOKEN"; the scheme in any case (RFC 6750 2.1). */
static enum err bearer_of(const struct http_request *req, struct str *ret)
{
    size_t count = 0;
    struct str value = http_header_find(req, S("Authorization"), &count);
    static const struct str scheme = { "Bearer ", 7 };

    *ret = (struct str){};
    if (count == 0)
        return OK;
    if (count > 1)
        return ERR_BAD_REQUEST;
    if (value.len <= scheme.len || !str_ieq(str_slice(value, 0, scheme.len), scheme))
        return ERR_UNAUTHORIZED;
    *ret = str_trim(str_slice(value, scheme.len, value.len));
    return OK;
}

static bool has_token_in_query(struct exchange *x)
{
    static const struct str names[] = { S("token"), S("access_token"), S("bearer") };
    struct str value;

    for (size_t i = 0; i < COUNT(names); i++)
        if (exchange_param(x, names[i], &value) || value.ptr)
            return true;
    return false;
}

typedef void (*auth_done)(struct exchange *x, enum err err, const char *why);

/* The identity is known (or there is none): does it suffice for the route? */
/* May this identity, or nobody, use the route? */
static enum err judge(const struct exchange *x, const char **ret_why)
{
    const struct net_peer *peer = exchange_peer(x);
    enum access access = x->route->access;

    *ret_why = "";
    if (access == ACCESS_LOOPBACK && !peer->is_local &&
        net_is_loopback(str_of(peer->address)))
        access = ACCESS_PUBLIC;
    if (access != ACCESS_PUBLIC && !x->identity) {
        *ret_why = "A bearer token is needed.";
        return ERR_UNAUTHORIZED;
    }
    if ((access == ACCESS_LOOPBACK || access == ACCESS_ADMIN) && !x->identity->is_admin) {
        *ret_why = "This needs the role of an administrator.";
        return ERR_FORBIDDEN;
    }
    return OK;
}

static void decide(struct exchange *x, auth_done on_done)
{
    const char *why;
    enum err err = judge(x, &why);

    on_done(x, err, why);
}

static void fail_login(struct exchange *x, const char *why, auth_done on_done)
{
    const struct net_peer *peer = exchange_peer(x);
    struct worker *worker = x->worker;

    worker->metrics.logins_failed++;
    if (!peer->is_trusted)
        throttle_failed(&worker->throttle, str_of(peer->address),
                        loop_now_ms(worker->loop));
    log_info("login.fail", "peer=%s path=%s", peer->address, LOG_TEXT(x->request.path));
    on_done(x, ERR_UNAUTHORIZED, why);
}

static void on_ticket_spent(struct exchange *x, struct identity *identity);

static void pass_login(struct exchange *x, struct identity *identity, auth_done on_done)
{
    if (!exchange_peer(x)->is_trusted)
        throttle_passed(&x->worker->throttle, str_of(exchange_peer(x)->address));
    x->identity = identity;
    decide(x, on_done);
}

static void on_resolved(void *user, struct identity *identity, enum err err,
                        const char *why)
{
    struct exchange *x = user;

    if (!exchange_resume(x))
        identity_unref(identity);
    else if (identity)
        pass_login(x, identity, x->on_authenticated);
    else if (err == ERR_UNAVAILABLE)
        x->on_authenticated(x, err, why); /* says nothing about the token */
    else
        fail_login(x, why, x->on_authenticated);
}

static void with_bearer(struct exchange *x, struct str token, auth_done on_done)
{
    struct worker *worker = x->worker;
    struct identity *identity =
        token_table_find(&worker->tokens, token, loop_wall_ms(worker->loop));

    if (identity) {
        pass_login(x, identity_ref(identity), on_done);
    } else if (resolve_may_help(worker, token)) {
        exchange_suspend(x);
        resolve_start(worker, token, &(struct resolve_asker){ on_resolved, x });
    } else {
        fail_login(x, "The bearer token is not known or has expired.", on_done);
    }
}

/* A trusted peer needs no credential, so there is nothing to guess; and it shares its
 * address with all other sockets of this machine. */
static bool is_throttled(const struct exchange *x)
{
    const struct net_peer *peer = exchange_peer(x);

    return !peer->is_trusted &&
           !throttle_allows(&x->worker->throttle, str_of(peer->address),
                            loop_now_ms(x->worker->loop));
}

static void without_credential(struct exchange *x, auth_done on_done)
{
    struct identity *anonymous = x->worker->settings->anonymous;

    if (exchange_peer(x)->is_trusted)
        x->identity = identity_ref(gateway_local_identity(x->worker->gateway));
    else if (x->route->access == ACCESS_MCP && anonymous &&
             identity_may_enter(anonymous, x->topic) && origin_is_this_machine(x))
        x->identity = identity_ref(anonymous);
    decide(x, on_done);
}

void auth_start(struct exchange *x, auth_done on_done)
{
    struct str token, ticket = {};
    enum err err;

    if (has_token_in_query(x)) {
        on_done(x, ERR_BAD_REQUEST,
                "Tokens in a query end up in logs; send it in the Authorization header.");
        return;
    }
    err = bearer_of(&x->request, &token);
    if (!err && x->route->takes_ticket)
        err = exchange_param(x, S("ticket"), &ticket);
    if (err || (token.ptr && ticket.ptr)) {
        on_done(
            x, err == ERR_UNAUTHORIZED ? err : ERR_BAD_REQUEST,
            "The credentials cannot be read: one `Authorization: Bearer TOKEN`, or one "
            "ticket.");
        return;
    }
    if (!token.ptr && !ticket.ptr) {
        without_credential(x, on_done);
        return;
    }
    /* Else any page could have the address of its visitor refused. */
    if (origin_is_hidden(x)) {
        on_done(x, ERR_FORBIDDEN, "Pages of other sites do not sign in here.");
        return;
    }
    if (is_throttled(x)) {
        on_done(x, ERR_THROTTLED, "Too many failed attempts from this address.");
        return;
    }
    x->on_authenticated = on_done;
    if (ticket.ptr)
        ticket_spend(x, TICKET_FOR_SOCKET, ticket, on_ticket_spent);
    else
        with_bearer(x, token, on_done);
}

bool auth_is_in_force(const struct worker *worker, const struct identity *identity)
{
    if (identity == gateway_local_identity(worker->gateway))
        return true;
    if (identity->expires_ms && loop_wall_ms(worker->loop) >= identity->expires_ms)
        return false;
    return token_table_find_hash(&worker->tokens, identity->token_hash) != NULL;
}

enum err auth_again(struct exchange *x, const char **ret_why)
{
    struct identity *now;

    if (x->identity && !auth_is_in_force(x->worker, x->identity)) {
        *ret_why = "The token was revoked or has expired.";
        return ERR_UNAUTHORIZED;
    }
    now = x->identity ? token_table_find_hash(&x->worker->tokens, x->identity->token_hash)
                      : NULL;
    if (now && now != x->identity) {
        identity_unref(x->identity);
        x->identity = identity_ref(now);
    }
    return judge(x, ret_why);
}

static void on_ticket_spent(struct exchange *x, struct identity *identity)
{
    if (identity && !auth_is_in_force(x->worker, identity)) {
        identity_unref(identity); /* its token has gone since the ticket was made */
        identity = NULL;
    }
    if (!identity) {
        fail_login(x, "The ticket is not known, was used, or has expired.",
                   x->on_authenticated);
        return;
    }
    x->identity = identity;
    decide(x, x->on_authenticated);
}
