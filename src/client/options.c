/* SPDX-License-Identifier: Apache-2.0 */
/* What the options of a handle mean to its parts, and the defaults. */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "client/moot_priv.h"
#include "client/wire.h"
#include "crypto/crypto.h"

/* What the gateway takes, it may also send; and a welcome names everybody. */
size_t options_message_bytes(const struct moot *m, size_t gateway_bytes)
{
    size_t bytes = m->limits.envelope_bytes;

    if (gateway_bytes > HANDLE_GATEWAY_BYTES)
        gateway_bytes = HANDLE_GATEWAY_BYTES;
    if (gateway_bytes > bytes)
        bytes = gateway_bytes;
    return bytes + m->limits.participants * HANDLE_ROSTER_BYTES;
}

static uint32_t or_ms(uint32_t given, uint32_t usual)
{
    return given ? given : usual;
}

static size_t or_size(size_t given, size_t usual)
{
    return given ? given : usual;
}

struct moot_limits options_limits(const struct moot_limits *given)
{
    return (struct moot_limits){
        .envelope_bytes = or_size(given->envelope_bytes, 1 << 20),
        .outbox_bytes = or_size(given->outbox_bytes, 4 << 20),
        .depth = or_size(given->depth, 128),
        .calls = or_size(given->calls, 1024),
        .served = or_size(given->served, 1024),
        .served_bytes = or_size(given->served_bytes, 64 << 20),
        .proposals = or_size(given->proposals, 1024),
        .participants = or_size(given->participants, 100'000),
        .offenders = or_size(given->offenders, 256),
        .recent = or_size(given->recent, 1024),
    };
}

struct wire_settings options_wire(const struct moot *m,
                                  const struct moot_options *options)
{
    return (struct wire_settings){
        .url = str_of(options->url),
        .topic = str_of(options->topic),
        .token = str_of(options->token),
        .ca_file = str_of(options->ca_file),
        .is_directed = options->is_directed,
        .echoes = options->hears_itself,
        .connects_once = options->connects_once,
        .resolves_in_thread = options->resolves_in_thread,
        .connect_timeout_ms = or_ms(options->connect_timeout_ms, 10'000),
        .retry_min_ms = or_ms(options->retry_min_ms, 250),
        .retry_max_ms = or_ms(options->retry_max_ms, 30'000),
        .silence_ms = or_ms(options->silence_ms, 60'000),
        .message_bytes = options_message_bytes(m, 0),
        .outbox_bytes = m->limits.outbox_bytes,
    };
}

/* Does not begin with a minus: commands would take the ids for options. */
static void make_prefix(struct buf *out)
{
    uint8_t random[HANDLE_PREFIX * 3 / 4];

    do {
        buf_clear(out);
        crypto_random(random, sizeof(random));
        base64url_write(out, (struct str){ (const char *)random, sizeof(random) });
    } while (out->ptr[0] == '-');
}

struct occupant *options_occupant(struct moot *m, const struct moot_options *options)
{
    CLEANUP(buf_done) struct buf prefix;
    struct hash_key key;

    buf_init(&prefix, HANDLE_PREFIX);
    make_prefix(&prefix);
    hash_key_random(&key);
    return occupant_new(&m->seat,
                        &(struct occupant_settings){
                            .id_prefix = buf_str(&prefix),
                            .id_key = &key,
                            .hears_itself = options->hears_itself,
                            .reports = options->reports,
                            .call_timeout_ms = or_ms(options->call_timeout_ms, 60'000),
                            .limits = { .depth = m->limits.depth,
                                        .calls = m->limits.calls,
                                        .proposals = m->limits.proposals,
                                        .participants = m->limits.participants,
                                        .offenders = m->limits.offenders,
                                        .recent = m->limits.recent,
                                        .envelope_bytes = m->limits.envelope_bytes },
                        },
                        &tell_ops, m);
}

static const char *limits_fault(const struct moot_limits *limits)
{
    const struct {
        size_t given, most;
        const char *fault;
    } all[] = {
#define BYTES(name) { limits->name, HANDLE_MAX_BYTES, "limits." #name " is above 1 GiB" }
#define COUNT_OF(name)                                                         \
    {                                                                          \
        limits->name, HANDLE_MAX_COUNT, "limits." #name " is above 10 million" \
    }
        BYTES(envelope_bytes),
        BYTES(outbox_bytes),
        BYTES(served_bytes),
        COUNT_OF(calls),
        COUNT_OF(served),
        COUNT_OF(proposals),
        COUNT_OF(participants),
        COUNT_OF(offenders),
        COUNT_OF(recent),
        { limits->depth, JSON_MAX_DEPTH, "limits.depth is above 1024" },
#undef BYTES
#undef COUNT_OF
    };

    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i].given > all[i].most)
            return all[i].fault;
    return NULL;
}

const char *options_fault(const struct moot_options *options)
{
    if (!options->url)
        return "there is no url in the options";
    if (!options->topic)
        return "there is no topic in the options";
    if (!utf8_is_valid(str_of(options->name)) || !utf8_is_valid(str_of(options->version)))
        return "name or version is not UTF-8";
    if (options->after && strlen(options->after) > ENVELOPE_MAX_ID)
        return "after is no id of an envelope: it is too long";
    return limits_fault(&options->limits);
}
