/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/ticket.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "crypto/crypto.h"
#include "identity/identity.h"

enum { SECRET_BYTES = 32, TICKET_BYTES = 43 };

struct ticket {
    struct link link;
    struct identity *identity;
    uint64_t ends_ms;
    uint8_t hash[SHA256_BYTES];
};

static struct str hash_key(const uint8_t hash[static SHA256_BYTES])
{
    return (struct str){ (const char *)hash, SHA256_BYTES };
}

void ticket_table_init(struct ticket_table *table, size_t max, size_t max_per_id)
{
    map_init(&table->by_hash);
    list_init(&table->tickets);
    table->max = max;
    table->max_per_id = max_per_id;
}

/* Takes the ticket out of the table and returns its reference. */
static struct identity *use_up(struct ticket_table *table, struct ticket *ticket)
{
    struct identity *identity = ticket->identity;

    (void)map_remove(&table->by_hash, hash_key(ticket->hash));
    list_remove(&ticket->link);
    free(ticket);
    return identity;
}

void ticket_table_done(struct ticket_table *table)
{
    struct ticket *ticket;

    LIST_FOREACH(ticket, &table->tickets, link)
        identity_unref(use_up(table, ticket));
    map_done(&table->by_hash);
}

/* Drops expired tickets and counts what the participant has of the others. */
static size_t count_live(struct ticket_table *table, struct str id, uint64_t now_ms)
{
    struct ticket *ticket;
    size_t count = 0;

    LIST_FOREACH(ticket, &table->tickets, link) {
        if (now_ms >= ticket->ends_ms)
            identity_unref(use_up(table, ticket));
        else
            count += str_eq(ticket->identity->id, id);
    }
    return count;
}

static void add_ticket(struct ticket_table *table, struct str text,
                       struct identity *identity, uint64_t ends_ms)
{
    struct ticket *ticket = xcalloc(1, sizeof(*ticket));

    ticket->identity = identity_ref(identity);
    ticket->ends_ms = ends_ms;
    crypto_sha256(text, ticket->hash);
    list_append(&table->tickets, &ticket->link);
    map_set(&table->by_hash, hash_key(ticket->hash), ticket);
}

enum err ticket_issue(struct ticket_table *table, struct identity *identity,
                      uint64_t lifetime_ms, uint64_t now_ms, struct buf *out)
{
    uint8_t secret[SECRET_BYTES];
    size_t before = out->len;
    enum err err;

    if (count_live(table, identity->id, now_ms) >= table->max_per_id ||
        table->by_hash.count >= table->max)
        return ERR_OVERLOAD;
    err = buf_reserve(out, TICKET_BYTES);
    if (err)
        return err;
    crypto_random(secret, sizeof(secret));
    base64url_write(out, (struct str){ (const char *)secret, sizeof(secret) });
    crypto_wipe(secret, sizeof(secret));
    add_ticket(table, str_slice(buf_str(out), before, out->len), identity,
               now_ms + lifetime_ms);
    return OK;
}

struct identity *ticket_redeem(struct ticket_table *table, struct str ticket,
                               uint64_t now_ms)
{
    uint8_t hash[SHA256_BYTES];
    struct identity *identity;
    struct ticket *found;
    bool is_live;

    crypto_sha256(ticket, hash);
    found = map_find(&table->by_hash, hash_key(hash));
    if (!found || !crypto_equal(found->hash, hash, sizeof(hash)))
        return NULL;
    is_live = now_ms < found->ends_ms;
    identity = use_up(table, found);
    if (is_live)
        return identity;
    identity_unref(identity);
    return NULL;
}

void ticket_revoke(struct ticket_table *table, struct str id)
{
    struct ticket *ticket;

    LIST_FOREACH(ticket, &table->tickets, link)
        if (str_eq(ticket->identity->id, id))
            identity_unref(use_up(table, ticket));
}
