/* SPDX-License-Identifier: Apache-2.0 */
/* An identity is one block: counter, struct, the lists' arrays, then all texts. */
#include "identity/identity.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "policy/capability.h"
#include "policy/capset.h"

enum {
    ID_MAX_BYTES = 256,
    GUEST_ID_MAX_BYTES = 64,
    TOPIC_MAX_BYTES = 128,
    NORMAL_MAX_BYTES = CAPSET_MAX_PATTERNS * CAPABILITY_MAX_BYTES,
};

struct identity_block {
    atomic_size_t refs;
    struct identity identity;
    struct str items[];
};

/* What is still free of the block. */
struct room {
    struct str *items;
    char *bytes;
};

static size_t bytes_of(struct str_list list)
{
    size_t bytes = 0;

    for (size_t i = 0; i < list.count; i++)
        bytes += list.items[i].len;
    return bytes;
}

static struct str copy_str(struct room *room, struct str s)
{
    struct str copy = { room->bytes, s.len };

    if (s.len)
        memcpy(room->bytes, s.ptr, s.len);
    room->bytes += s.len;
    return copy;
}

static struct str_list copy_list(struct room *room, struct str_list list)
{
    struct str_list copy = { room->items, list.count };

    for (size_t i = 0; i < list.count; i++)
        *room->items++ = copy_str(room, list.items[i]);
    return copy;
}

/* A copy in one block, its capabilities as they are given here. */
static struct identity *copy_with(const struct identity *template,
                                  struct str_list capabilities)
{
    size_t items = template->topics.count + capabilities.count;
    size_t bytes = template->id.len + template->token_name.len + template->profile.len +
                   bytes_of(template->topics) + bytes_of(capabilities);
    struct identity_block *block =
        xmalloc(sizeof(*block) + items * sizeof(block->items[0]) + bytes);
    struct room room = { block->items, (char *)(block->items + items) };
    struct identity *identity = &block->identity;

    atomic_init(&block->refs, 1);
    *identity = *template;
    identity->topics = copy_list(&room, template->topics);
    identity->capabilities = copy_list(&room, capabilities);
    identity->id = copy_str(&room, template->id);
    identity->token_name = copy_str(&room, template->token_name);
    identity->profile = copy_str(&room, template->profile);
    return identity;
}

struct identity *identity_new(const struct identity *template)
{
    struct str_list capabilities = template->capabilities;
    struct identity *identity;
    struct arena arena;

    arena_init(&arena, NORMAL_MAX_BYTES);
    (void)capability_list_normal(template->capabilities, &arena, &capabilities);
    identity = copy_with(template, capabilities);
    arena_done(&arena);
    return identity;
}

struct identity *identity_ref(struct identity *identity)
{
    struct identity_block *block =
        CONTAINER_OF(identity, struct identity_block, identity);

    (void)atomic_fetch_add_explicit(&block->refs, 1, memory_order_relaxed);
    return identity;
}

void identity_unref(struct identity *identity)
{
    struct identity_block *block;

    if (!identity)
        return;
    block = CONTAINER_OF(identity, struct identity_block, identity);
    /* Whoever frees must see what the other holders did before they let go. */
    if (atomic_fetch_sub_explicit(&block->refs, 1, memory_order_acq_rel) == 1)
        free(block);
}

void identity_hash_unopened(struct str name, uint8_t ret[static SHA256_BYTES])
{
    uint8_t hash[SHA256_BYTES];

    crypto_sha256(name, hash);
    memset(ret, 0, SHA256_BYTES / 2);
    memcpy(ret + SHA256_BYTES / 2, hash, SHA256_BYTES / 2);
}

uint64_t identity_lasts_ms(const struct identity *identity)
{
    switch (identity->source) {
    case FROM_CONFIG:
    case FROM_STORE:
    case FROM_SERVER:
    case FROM_JWT:
    case FROM_PROVIDER: return identity->expires_ms;
    case FROM_SESSION:
    case FROM_INVITATION:
    case FROM_GUEST: return identity->lasts_ms;
    }
    return identity->expires_ms;
}

static bool has_control(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
            return true;
    return false;
}

/* The gateway itself speaks as `system:gateway`; nobody may look like it. */
static bool is_reserved(struct str id)
{
    return str_eq(id, S("system")) || str_starts(id, S("system:"));
}

static const char *why_bad_id(struct str id)
{
    if (id.len == 0 || id.len > ID_MAX_BYTES)
        return "a participant id has 1 to 256 bytes";
    if (!utf8_is_valid(id) || has_control(id))
        return "a participant id is UTF-8 without control characters";
    if (is_reserved(id))
        return "participant ids that begin with system: belong to the gateway";
    return NULL;
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool guest_id_is_valid(struct str id)
{
    static const struct str reserved = { "system", 6 };

    if (id.len == 0 || id.len > GUEST_ID_MAX_BYTES || !is_alnum(id.ptr[0]))
        return false;
    for (size_t i = 0; i < id.len; i++)
        if (!is_alnum(id.ptr[i]) && !(id.ptr[i] && strchr("._-", id.ptr[i])))
            return false;
    return id.len < reserved.len || !str_ieq(str_slice(id, 0, reserved.len), reserved);
}

static bool is_topic_char(char c)
{
    return is_alnum(c) || (c && strchr("._~-", c));
}

bool topic_name_is_valid(struct str name)
{
    if (name.len == 0 || name.len > TOPIC_MAX_BYTES || name.ptr[0] == '.')
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!is_topic_char(name.ptr[i]))
            return false;
    return true;
}

static bool topic_pattern_is_valid(struct str pattern)
{
    if (str_eq(pattern, S("*")))
        return true;
    if (str_ends(pattern, S("*")))
        pattern.len--;
    return topic_name_is_valid(pattern);
}

enum err identity_check(const struct identity *identity, const char **ret_why)
{
    const char *why = why_bad_id(identity->id);

    for (size_t i = 0; !why && i < identity->topics.count; i++)
        if (!topic_pattern_is_valid(identity->topics.items[i]))
            why =
                "a topic pattern is a topic name, the beginning of one and *, or * alone";
    if (why) {
        *ret_why = why;
        return ERR_INVALID;
    }
    return capset_check(identity->capabilities, NULL, ret_why);
}

static bool topic_matches(struct str pattern, struct str topic)
{
    if (!str_ends(pattern, S("*")))
        return str_eq(pattern, topic);
    pattern.len--;
    return str_starts(topic, pattern);
}

bool identity_may_enter(const struct identity *identity, struct str topic)
{
    for (size_t i = 0; i < identity->topics.count; i++)
        if (topic_matches(identity->topics.items[i], topic))
            return true;
    return false;
}

bool identity_names_topic(const struct identity *identity, struct str topic)
{
    for (size_t i = 0; i < identity->topics.count; i++)
        if (str_eq(identity->topics.items[i], topic))
            return true;
    return false;
}
