/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/tokens.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "policy/capability.h"

enum { SUFFIX_BYTES = 3, NAME_BYTES = 300, WHY_BYTES = 4096, RECORD_ARENA = 1 << 20 };

struct token_request {
    struct str id;
    struct str name;
    struct str_list topics;
    const struct json *capabilities;
    struct str profile;
    struct str type;
    struct str expires_at;
    bool admin;
};

#define F(member, need) JSON_FIELD(struct token_request, member, need)
static const struct json_field request_fields[] = {
    F(id, JSON_REQUIRED),           F(name, JSON_OPTIONAL),    F(topics, JSON_OPTIONAL),
    F(capabilities, JSON_OPTIONAL), F(profile, JSON_OPTIONAL), F(type, JSON_OPTIONAL),
    F(expires_at, JSON_OPTIONAL),   F(admin, JSON_OPTIONAL),
};
#undef F

struct str token_make_name(struct str prefix, struct arena *arena)
{
    uint8_t random[SUFFIX_BYTES];
    struct buf name;
    struct str kept;

    crypto_random(random, sizeof(random));
    buf_init(&name, 1024);
    buf_put(&name, prefix);
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '/')
            name.ptr[i] = '-'; /* names stand in paths */
    buf_putc(&name, '-');
    hex_write(&name, (struct str){ (const char *)random, sizeof(random) });
    kept = arena_str(arena, buf_str(&name));
    buf_done(&name);
    return kept;
}

/* It stands in the path that revokes the token. */
static bool name_is_valid(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7f || name.ptr[i] == '/')
            return false;
    return name.len <= NAME_BYTES;
}

static bool find_profile(const struct settings *settings, struct str name,
                         struct profile *ret)
{
    const struct profile *built_in;

    if (settings)
        return settings_profile(settings, name, ret);
    built_in = profile_find(name);
    if (built_in)
        *ret = *built_in;
    return built_in != NULL;
}

static const char *no_profile(const struct settings *settings, struct arena *arena)
{
    CLEANUP(buf_done) struct buf why;

    buf_init(&why, WHY_BYTES);
    buf_put(&why, S("There is no such profile; there are: "));
    settings_put_profiles(settings, &why);
    buf_putc(&why, '.');
    return arena_str(arena, buf_str(&why)).ptr;
}

static enum err resolve(const struct token_request *req, const struct settings *settings,
                        struct arena *arena, struct identity *ret, const char **ret_why)
{
    static const struct str everywhere[] = { S("*") };
    struct profile profile = {};

    *ret_why = "Exactly one of `capabilities` and `profile` is needed.";
    if ((req->profile.len > 0) == (req->capabilities != NULL))
        return ERR_BAD_REQUEST;
    *ret_why = "The list of capabilities is too long.";
    if (req->capabilities &&
        capability_list(req->capabilities, arena, &profile.capabilities, ret_why))
        return ERR_BAD_REQUEST;
    if (req->profile.len && !find_profile(settings, req->profile, &profile)) {
        *ret_why = no_profile(settings, arena);
        return ERR_BAD_REQUEST;
    }
    *ret = (struct identity){
        .id = req->id,
        .token_name = req->name.len ? req->name : token_make_name(req->id, arena),
        .topics = req->topics.items ? req->topics : (struct str_list){ everywhere, 1 },
        .capabilities = profile.capabilities,
        .profile = req->profile,
        .type = profile.type,
        .source = FROM_STORE,
        .is_admin = req->admin || profile.is_admin,
        .created_ms = clock_wall_ms(),
    };
    *ret_why = "`name` has up to 300 characters, no slash and no control characters.";
    if (!name_is_valid(ret->token_name))
        return ERR_BAD_REQUEST;
    *ret_why = "`type` is human, agent or service.";
    if (req->type.len && !participant_type_parse(req->type, &ret->type))
        return ERR_BAD_REQUEST;
    *ret_why = "`expires_at` is an RFC 3339 date-time in the future.";
    if (req->expires_at.len && (clock_parse(req->expires_at, &ret->expires_ms) ||
                                ret->expires_ms <= ret->created_ms))
        return ERR_BAD_REQUEST;
    return identity_check(ret, ret_why) ? ERR_BAD_REQUEST : OK;
}

enum err token_read_request(struct str body, const struct settings *settings,
                            struct arena *arena, struct identity *ret,
                            const char **ret_why)
{
    struct token_request req = {};
    struct json_problem problem = {};
    const struct json *root;

    *ret_why =
        "The body is not a JSON object of the right form: id, topics, capabilities or "
        "profile, type, name, expires_at, admin.";
    if (json_parse(body, arena, &root, &problem) ||
        json_read(root, request_fields, COUNT(request_fields), arena, &req, &problem))
        return ERR_BAD_REQUEST;
    return resolve(&req, settings, arena, ret, ret_why);
}

void token_draw(struct identity *identity, struct buf *secret)
{
    size_t from = secret->len;

    token_write(secret);
    crypto_sha256(str_slice(buf_str(secret), from, secret->len), identity->token_hash);
}

typedef void list_writer(struct str_list list, struct json_writer *w);

static void write_strings(struct str_list list, struct json_writer *w)
{
    json_array_open(w);
    for (size_t i = 0; i < list.count; i++)
        json_str(w, list.items[i]);
    json_array_close(w);
}

static struct str list_text(struct str_list list, list_writer *write, struct arena *arena)
{
    struct json_writer w;
    struct buf out;
    struct str kept;

    buf_init(&out, RECORD_ARENA);
    json_write_init(&w, &out);
    write(list, &w);
    kept = arena_str(arena, buf_str(&out));
    buf_done(&out);
    return kept;
}

void token_to_record(const struct identity *identity, struct arena *arena,
                     struct store_token *ret)
{
    *ret =
        (struct store_token){ .name = identity->token_name,
                              .id = identity->id,
                              .topics = list_text(identity->topics, write_strings, arena),
                              .capabilities = list_text(identity->capabilities,
                                                        capability_list_write, arena),
                              .profile = identity->profile,
                              .type = participant_type_name(identity->type),
                              .is_admin = identity->is_admin,
                              .created_ms = identity->created_ms,
                              .expires_ms = identity->expires_ms };
    memcpy(ret->hash, identity->token_hash, SHA256_BYTES);
}

static enum err read_strings(struct str text, struct arena *arena, struct str_list *ret)
{
    const struct json *root;
    struct str *items;
    size_t count = 0;
    enum err err = json_parse(text, arena, &root, NULL);

    if (err)
        return err;
    if (root->type != JSON_ARRAY)
        return ERR_INVALID;
    items = arena_alloc(arena, (root->count + 1) * sizeof(*items));
    if (!items)
        return ERR_TOO_BIG;
    JSON_FOREACH(item, root) {
        if (item->type != JSON_STRING)
            return ERR_INVALID;
        items[count++] = item->text;
    }
    *ret = (struct str_list){ items, count };
    return OK;
}

static enum err read_capabilities(struct str text, struct arena *arena,
                                  struct str_list *ret)
{
    const struct json *root;
    enum err err = json_parse(text, arena, &root, NULL);

    if (err)
        return err;
    return capability_list(root, arena, ret, NULL);
}

struct identity *token_from_record(const struct store_token *record)
{
    struct identity *made = NULL;
    struct identity template = { .id = record->id,
                                 .token_name = record->name,
                                 .profile = record->profile,
                                 .source = FROM_STORE,
                                 .is_admin = record->is_admin,
                                 .created_ms = record->created_ms,
                                 .expires_ms = record->expires_ms };
    struct arena arena;
    const char *why;

    arena_init(&arena, RECORD_ARENA);
    memcpy(template.token_hash, record->hash, SHA256_BYTES);
    if (read_strings(record->topics, &arena, &template.topics) == OK &&
        read_capabilities(record->capabilities, &arena, &template.capabilities) == OK &&
        participant_type_parse(record->type, &template.type) &&
        identity_check(&template, &why) == OK)
        made = identity_new(&template);
    arena_done(&arena);
    return made;
}

void token_write_json(const struct identity *identity, struct json_writer *w)
{
    static const struct str sources[] = {
        [FROM_CONFIG] = S("config"),   [FROM_STORE] = S("store"),
        [FROM_SESSION] = S("session"), [FROM_INVITATION] = S("invitation"),
        [FROM_GUEST] = S("guest"),     [FROM_SERVER] = S("server"),
        [FROM_JWT] = S("jwt"),         [FROM_PROVIDER] = S("provider"),
    };

    json_object_open(w);
    json_put_str(w, S("name"), identity->token_name);
    json_put_str(w, S("id"), identity->id);
    json_put_str(w, S("type"), participant_type_name(identity->type));
    json_put_strs(w, S("topics"), identity->topics);
    capability_list_put_patterns(w, S("capabilities"), identity->capabilities);
    capability_list_put_moot(w, identity->capabilities);
    if (identity->profile.len)
        json_put_str(w, S("profile"), identity->profile);
    json_put_bool(w, S("admin"), identity->is_admin);
    json_put_str(w, S("source"), sources[identity->source]);
    json_put_time(w, S("created_at"), identity->created_ms);
    if (identity->expires_ms)
        json_put_time(w, S("expires_at"), identity->expires_ms);
    json_object_close(w);
}
