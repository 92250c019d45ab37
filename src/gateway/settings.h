/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a configuration means, checked and laid out for the workers: immutable, one value
 * per (re)load, shared by reference. A reload builds and checks everything first and then
 * hands each worker the new value.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "admit/admit.h"
#include "approval/ledger.h"
#include "base/arena.h"
#include "base/err.h"
#include "config/config.h"
#include "gateway/export_target.h"
#include "gateway/recorder.h"
#include "http/request.h"
#include "identity/identity.h"
#include "identity/jwt.h"
#include "sandbox/registry.h"
#include "topic/topic.h"
#include "ws/ws.h"

/* What a JSON Web Token stands for. */
struct jwt_settings {
    struct jwt_terms terms; /* no secret: none are accepted */
    struct profile profile;
    struct str_list topics;
};

/* What a value of a claim stands for. */
struct claimed_profile {
    struct str value;
    struct profile profile;
};

/* The identity provider. */
struct provider_settings {
    const struct config_provider *said; /* NULL: there is none */
    struct str title;
    struct profile profile; /* "": whoever has none of these is refused */
    const struct claimed_profile *profiles;
    size_t profile_count;
    struct str_list topics;
};

struct rulings;     /* policy/rulings.h */
struct server_list; /* server_list.h */
struct tls;

/* Who may enter a topic: whoever's topics cover it; who names it in full, and
 * administrators; the same, and for all others it does not exist. */
enum topic_access { TOPIC_PUBLIC, TOPIC_RESTRICTED, TOPIC_PRIVATE };

/* Everything that may differ from topic to topic. */
struct room_settings {
    struct str name; /* "" for those that are not named */
    enum topic_access access;
    struct topic_settings topic;
    struct admit_rules rules;
    struct ledger_settings ledger;
    enum audit_mode audit;
    uint64_t presence_delay_ms;
    bool takes_dotted; /* members of the dotted dialect */
    bool may_self_approve;
};

struct settings {
    atomic_uint refs;
    struct config *config; /* owned */
    struct admit_limits admit;
    struct http_limits http;
    struct ws_shared ws;        /* without inflater: each worker has its own */
    struct room_settings rooms; /* the defaults */
    struct room_settings *named_rooms;
    size_t named_count;
    struct identity **identities; /* the configuration's tokens */
    size_t identity_count;
    struct identity *anonymous; /* one of them, or NULL: by MCP, without a credential */
    struct identity *concierge; /* likewise, NULL where MCP is closed: mcp_halls.h */
    struct jwt_settings jwt;
    struct provider_settings provider;
    struct tls *tls; /* NULL: plain */
    struct export_targets exports;
    struct server_list *servers;  /* MCP servers of the configuration */
    struct registries registries; /* of their packages */
    struct rulings *rulings;      /* policy; NULL: none */
    struct str about; /* members of the welcome's `moot` that never change, as JSON */
    struct arena arena;
};

/* Takes the configuration on success. ERR_INVALID with `problem` filled: a profile that
 * does not exist, a bad capability, id, topic name or path of a field, an unreadable
 * certificate. */
enum err settings_new(struct config *config, struct settings **ret,
                      struct config_problem *problem);
struct settings *settings_ref(struct settings *settings);
void settings_unref(struct settings *settings);

/* The settings of a topic, or NULL when topics are closed and it is not named. */
const struct room_settings *settings_room(const struct settings *settings,
                                          struct str topic);

/* Is there a topic of which anything is recorded in this mode, or more strictly? */
bool settings_record(const struct settings *settings, enum audit_mode mode);

/* May this identity enter the topic with these settings (NULL: there is no such topic)?
 * ERR_FORBIDDEN, or ERR_NOT_FOUND where there is none or it must not learn of it. */
enum err room_settings_admit(const struct room_settings *settings, struct str topic,
                             const struct identity *identity);

/* The capabilities, type and role that a profile stands for: the configuration's own
 * first, then the built-in ones. False: no such profile. */
bool settings_profile(const struct settings *settings, struct str name,
                      struct profile *ret);

/* Do JSON Web Tokens, and those of the identity provider, mean the same under both? */
bool settings_jwt_equal(const struct settings *a, const struct settings *b);
bool settings_provider_equal(const struct settings *a, const struct settings *b);

/* The names of those there are, for messages; settings NULL: the built-in ones. */
void settings_put_profiles(const struct settings *settings, struct buf *out);
