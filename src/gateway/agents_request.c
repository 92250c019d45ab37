/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of agents. Each is known by who sent it and its message_id: one that comes
 * again, by whatever connection, gets the answer of the first, now or when there is one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "gateway/agents_priv.h"
#include "gateway/recording.h"
#include "gateway/teams.h"

enum { ASKING_MAX = 32 }; /* requests of one agent under way */

/* Somebody waits for an answer. */
struct wait {
    struct link entry_link;
    struct link client_link;
    struct agent_client *client;
};

/* A request under way. It outlives the connection that it came by. */
struct asking {
    struct agents *agents;
    struct agent_party *party;
    struct recall_entry *entry;
    struct identity *identity; /* a reference */
    enum agent_performative performative;
    char message_id[AGENT_UUID + 1];
};

static void wait_end(struct wait *wait)
{
    list_remove(&wait->entry_link);
    list_remove(&wait->client_link);
    wait->client->wait_count--;
    free(wait);
}

void agent_forget_waits(struct agent_client *client)
{
    struct wait *wait;

    LIST_FOREACH(wait, &client->waits, client_link)
        wait_end(wait);
}

static void wait_for(struct agent_client *client, struct recall_entry *entry)
{
    struct wait *wait = xcalloc(1, sizeof(*wait));

    wait->client = client;
    list_append(&entry->waiting, &wait->entry_link);
    list_append(&client->waits, &wait->client_link);
    client->wait_count++;
    agent_hold_reads(client);
}

/* --- answers --- */

static struct str answer_type(enum agent_performative performative)
{
    switch (performative) {
    case AGENT_RESOURCE_QUERY: return S("RESOURCE_RESULTS");
    case AGENT_TEAM_CREATE: return S("TEAM_CREATED");
    case AGENT_TEAM_GET_STATUS: return S("TEAM_STATUS");
    case AGENT_CONTEXT_SUBSCRIBE:
    case AGENT_CONTEXT_EVENT: break;
    }
    return S("ERROR");
}

static struct str code_of(enum err err)
{
    switch ((int)err) {
    case ERR_FORBIDDEN: return S("FORBIDDEN");
    case ERR_NOT_FOUND: return S("NOT_FOUND");
    case ERR_CONFLICT: return S("CONFLICT");
    case ERR_INVALID: return S("INVALID_PAYLOAD");
    case ERR_OVERLOAD: return S("OVERLOAD");
    case ERR_INTERNAL: return S("INTERNAL");
    default: return S("UNAVAILABLE");
    }
}

/* Whether the same request would fare the same again; else it may be tried again. */
static bool is_final(enum err err)
{
    return err == OK || err == ERR_FORBIDDEN || err == ERR_NOT_FOUND ||
           err == ERR_CONFLICT || err == ERR_INVALID;
}

/* What teams call their own in the protocol. */
static struct str field_name(enum agent_performative performative, struct str field)
{
    if (performative != AGENT_TEAM_CREATE)
        return field;
    if (str_eq(field, S("name")))
        return S("team_name");
    return str_eq(field, S("resources")) ? S("member_resource_ids") : field;
}

static void write_failure(struct agent_event *event, const struct asking *asking,
                          const struct directory_outcome *outcome)
{
    struct buf field;

    buf_init(&field, 1024);
    if (outcome->field.len) {
        buf_put(&field, S("payload."));
        buf_put(&field, field_name(asking->performative, outcome->field));
    }
    agent_fault_write(&event->w, str_of(asking->message_id),
                      &(struct agent_fault){ code_of(outcome->err), buf_str(&field),
                                             outcome->message, 0 });
    buf_done(&field);
}

static void write_answer(struct agent_event *event, const struct asking *asking,
                         const struct directory_outcome *outcome)
{
    agent_event_open(event, asking->agents,
                     outcome->err ? S("ERROR") : answer_type(asking->performative));
    if (outcome->err) {
        write_failure(event, asking, outcome);
        asking->agents->worker->metrics.agent_errors++;
    } else {
        json_put_str(&event->w, S("in_reply_to"), str_of(asking->message_id));
        json_put_members(&event->w, outcome->data, (struct str_list){});
    }
    agent_event_close(event);
}

/* A bit for each that is held: what an answer says may depend on any of them. */
static unsigned rights_of(struct worker *worker, struct identity *identity)
{
    struct str_list rights = directory_rights();
    unsigned held = identity->is_admin ? 1U << rights.count : 0;

    for (size_t i = 0; i < rights.count; i++)
        if (directory_may(worker, identity, rights.items[i]))
            held |= 1U << i;
    return held;
}

/* To whoever holds all that was held when it was asked for. Another token of the same
 * agent may do less, and so may the same one by now. */
static void give_answer(struct agent_client *client, const struct recall_entry *entry,
                        struct str message_id, struct str text)
{
    unsigned held = rights_of(client->peer.worker, client->identity);

    if (entry->rights & ~held)
        agent_tell_fault(
            client, message_id,
            &(struct agent_fault){
                S("FORBIDDEN"), S("message_id"),
                S("This was asked with more rights. Ask anew, with a new message_id."),
                0 });
    else
        agent_send(client, text);
}

static void asking_free(struct asking *asking)
{
    asking->party->asking--;
    identity_unref(asking->identity);
    free(asking);
}

static void note_refusal(const struct asking *asking, enum err err)
{
    recording_agent_refused(
        asking->agents->worker,
        &(struct agent_refusal){ .participant = asking->identity->id,
                                 .performative =
                                     agent_performative_name(asking->performative),
                                 .message_id = str_of(asking->message_id),
                                 .err = err });
}

static void on_outcome(void *user, const struct directory_outcome *outcome)
{
    struct asking *asking = user;
    struct agents *agents = asking->agents;
    struct recall_entry *entry = asking->entry;
    struct agent_event event;
    struct wait *wait;

    write_answer(&event, asking, outcome);
    entry->rights |= rights_of(agents->worker, asking->identity); /* it has just looked */
    LIST_FOREACH(wait, &entry->waiting, entry_link) {
        struct agent_client *client = wait->client;

        wait_end(wait);
        give_answer(client, entry, str_of(asking->message_id), buf_str(&event.out));
        agent_hold_reads(client);
    }
    if (outcome->err == ERR_FORBIDDEN)
        note_refusal(asking, outcome->err);
    if (is_final(outcome->err))
        recall_answer(&agents->recall, entry, buf_str(&event.out),
                      loop_now_ms(agents->worker->loop));
    else
        recall_forget(&agents->recall, entry);
    agent_event_done(&event);
    asking_free(asking);
}

/* --- requests --- */

/* What a request says; one of them. */
union wish {
    struct agent_query query;
    struct agent_team team;
    struct str team_id;
};

static enum err read_wish(const struct agent_message *message, struct arena *arena,
                          union wish *ret, struct agent_problem *problem)
{
    switch (message->performative) {
    case AGENT_RESOURCE_QUERY:
        return agent_query_read(message, arena, &ret->query, problem);
    case AGENT_TEAM_CREATE: return agent_team_read(message, arena, &ret->team, problem);
    case AGENT_TEAM_GET_STATUS:
        return agent_team_id_read(message, arena, &ret->team_id, problem);
    case AGENT_CONTEXT_SUBSCRIBE:
    case AGENT_CONTEXT_EVENT: break;
    }
    return ERR_INTERNAL;
}

static void carry_out(const struct directory_asker *asker,
                      enum agent_performative performative, const union wish *wish)
{
    switch (performative) {
    case AGENT_RESOURCE_QUERY: directory_find(asker, &wish->query); break;
    case AGENT_TEAM_CREATE:
        teams_create(asker, &(struct team_plan){ .name = wish->team.name,
                                                 .resources = wish->team.resources,
                                                 .contract_id = wish->team.contract_id });
        break;
    case AGENT_TEAM_GET_STATUS: teams_status(asker, wish->team_id); break;
    case AGENT_CONTEXT_SUBSCRIBE:
    case AGENT_CONTEXT_EVENT: break;
    }
}

static void digest_of(const struct agent_message *message,
                      uint8_t ret[static SHA256_BYTES])
{
    struct str parts[] = { agent_performative_name(message->performative),
                           message->payload };

    crypto_sha256_parts(parts, COUNT(parts), ret);
}

/* It has come before. */
static void repeat(struct agent_client *client, const struct agent_message *message,
                   struct recall_entry *entry, const uint8_t digest[static SHA256_BYTES])
{
    if (!crypto_equal(entry->digest, digest, SHA256_BYTES))
        agent_tell_fault(
            client, message->message_id,
            &(struct agent_fault){ S("DUPLICATE_MESSAGE"), S("message_id"),
                                   S("The message_id stands for another message."), 0 });
    else if (entry->answer.ptr)
        give_answer(client, entry, message->message_id, entry->answer);
    else
        wait_for(client, entry);
}

/* Known from now on; the client waits for the answer. */
static struct asking *asking_new(struct agent_client *client,
                                 const struct agent_message *message,
                                 const uint8_t digest[static SHA256_BYTES])
{
    enum recall_kind kind =
        message->performative == AGENT_TEAM_CREATE ? RECALL_ACT : RECALL_QUESTION;
    struct asking *asking = xcalloc(1, sizeof(*asking));

    asking->agents = client->agents;
    asking->party = client->party;
    asking->party->asking++;
    asking->identity = identity_ref(client->identity);
    asking->performative = message->performative;
    memcpy(asking->message_id, message->message_id.ptr, AGENT_UUID);
    asking->entry = recall_begin(&client->agents->recall, client->identity->id,
                                 message->message_id, kind);
    memcpy(asking->entry->digest, digest, SHA256_BYTES);
    asking->entry->rights = rights_of(asking->agents->worker, asking->identity);
    wait_for(client, asking->entry);
    return asking;
}

void agent_request(struct agent_client *client, const struct agent_message *message,
                   struct arena *arena)
{
    struct agents *agents = client->agents;
    struct agent_problem problem = {};
    uint8_t digest[SHA256_BYTES];
    struct recall_entry *entry;
    union wish wish = {};

    if (read_wish(message, arena, &wish, &problem)) {
        agent_tell_fault(
            client, message->message_id,
            &(struct agent_fault){ problem.code, problem.field, problem.what, 0 });
        return;
    }
    digest_of(message, digest);
    entry = recall_find(&agents->recall, client->identity->id, message->message_id);
    if (entry) {
        repeat(client, message, entry, digest);
        return;
    }
    if (client->party->asking >= ASKING_MAX) {
        agent_tell_fault(client, message->message_id,
                         &(struct agent_fault){ S("OVERLOAD"), S(""),
                                                S("Too many requests are under way."),
                                                0 });
        return;
    }
    carry_out(&(struct directory_asker){ agents->worker, client->identity, on_outcome,
                                         asking_new(client, message, digest) },
              message->performative, &wish);
}
