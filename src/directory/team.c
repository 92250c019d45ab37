/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/team.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "directory/resource.h"
#include "policy/capability.h"

#define LAST_MS (UINT64_MAX / 2)

static const struct str states[] = {
    [TEAM_INVITED] = S("invited"),   [TEAM_MEMBER] = S("member"),
    [TEAM_DECLINED] = S("declined"), [TEAM_LEFT] = S("left"),
    [TEAM_REMOVED] = S("removed"),
};

struct str team_state_name(enum team_state state)
{
    return states[state];
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool team_id_is_valid(struct str id)
{
    if (id.len != TEAM_OWN_ID || !str_starts(id, S("t-")))
        return false;
    for (size_t i = 2; i < id.len; i++)
        if (!is_hex(id.ptr[i]))
            return false;
    return true;
}

struct str team_of_topic(struct str topic)
{
    struct str id =
        str_starts(topic, S("team-")) ? str_slice(topic, 5, topic.len) : S("");

    return team_id_is_valid(id) ? id : S("");
}

struct str team_topic(struct str id, char out[static TEAM_TOPIC + 1])
{
    size_t len = id.len < TEAM_OWN_ID ? id.len : TEAM_OWN_ID;

    memcpy(out, "team-", 5);
    memcpy(out + 5, id.ptr, len);
    out[5 + len] = '\0';
    return (struct str){ out, 5 + len };
}

static bool has_control(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return true;
    return false;
}

const char *team_name_problem(struct str name)
{
    if (str_trim(name).len == 0)
        return "is empty";
    if (name.len > TEAM_NAME)
        return "is longer than 256 bytes";
    if (!utf8_is_valid(name) || has_control(name))
        return "contains control characters";
    return NULL;
}

/* --- members --- */

struct team_member *team_find(const struct team_record *team, struct str resource)
{
    for (size_t i = 0; i < team->member_count; i++)
        if (str_eq(team->members[i].resource, resource))
            return &team->members[i];
    return NULL;
}

struct team_member *team_find_participant(const struct team_record *team,
                                          struct str participant)
{
    struct team_member *found = NULL;

    for (size_t i = 0; participant.len && i < team->member_count; i++) {
        struct team_member *member = &team->members[i];

        if (!team_member_counts(member) || !str_eq(member->participant, participant))
            continue;
        if (member->state == TEAM_MEMBER)
            return member;
        found = member;
    }
    return found;
}

bool team_concerns(const struct team_record *team, struct str participant)
{
    return str_eq(team->creator, participant) ||
           team_find_participant(team, participant) != NULL;
}

static bool make_place(struct team_record *team)
{
    for (size_t i = 0; i < team->member_count; i++) {
        if (team_member_counts(&team->members[i]))
            continue;
        memmove(&team->members[i], &team->members[i + 1],
                (team->member_count - i - 1) * sizeof(*team->members));
        team->member_count--;
        return true;
    }
    return false;
}

enum err team_put(struct team_record *team, const struct team_member *member)
{
    struct team_member *known = team_find(team, member->resource);

    if (known && team_member_counts(known))
        return ERR_CONFLICT;
    if (known) {
        *known = *member;
        return OK;
    }
    if (team->member_count == TEAM_MEMBERS && !make_place(team))
        return ERR_OVERLOAD;
    team->members[team->member_count++] = *member;
    return OK;
}

/* --- copying --- */

static bool copy_text(struct arena *arena, struct str *text)
{
    *text = arena_str(arena, *text);
    return text->ptr != NULL;
}

static bool copy_list(struct arena *arena, struct str_list *list)
{
    struct str *items = arena_alloc(arena, (list->count + 1) * sizeof(*items));

    for (size_t i = 0; items && i < list->count; i++) {
        items[i] = arena_str(arena, list->items[i]);
        if (!items[i].ptr)
            return false;
    }
    list->items = items;
    return items != NULL;
}

static bool copy_member(struct arena *arena, struct team_member *member)
{
    return copy_text(arena, &member->resource) && copy_text(arena, &member->name) &&
           copy_text(arena, &member->participant) &&
           copy_list(arena, &member->capabilities);
}

enum err team_copy(const struct team_record *team, enum team_place place,
                   struct arena *arena, struct team_record *ret)
{
    size_t most = place == TEAM_TO_CHANGE ? TEAM_MEMBERS : team->member_count;
    struct team_record copy = *team;

    copy.members = arena_alloc(arena, (most + 1) * sizeof(*copy.members));
    if (!copy.members || !copy_text(arena, &copy.id) || !copy_text(arena, &copy.name) ||
        !copy_text(arena, &copy.contract_id) || !copy_text(arena, &copy.creator) ||
        !copy_list(arena, &copy.capabilities))
        return ERR_TOO_BIG;
    for (size_t i = 0; i < team->member_count; i++) {
        copy.members[i] = team->members[i];
        if (!copy_member(arena, &copy.members[i]))
            return ERR_TOO_BIG;
    }
    *ret = copy;
    return OK;
}

/* --- writing --- */

static void put_text(struct json_writer *w, struct str key, struct str value)
{
    if (value.len)
        json_put_str(w, key, value);
}

static void put_some(struct json_writer *w, struct str key, uint64_t value)
{
    if (value)
        json_put_uint(w, key, value);
}

static void put_capabilities(struct json_writer *w, struct str_list list)
{
    if (list.count == 0)
        return;
    json_key(w, S("capabilities"));
    capability_list_write(list, w);
}

static void write_member(const struct team_member *member, struct json_writer *w)
{
    json_object_open(w);
    json_put_str(w, S("resource"), member->resource);
    json_put_str(w, S("name"), member->name);
    put_text(w, S("participant"), member->participant);
    json_put_str(w, S("state"), states[member->state]);
    put_capabilities(w, member->capabilities);
    put_some(w, S("until"), member->until_ms);
    json_object_close(w);
}

void team_write(const struct team_record *team, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("name"), team->name);
    put_text(&w, S("contract"), team->contract_id);
    json_put_str(&w, S("creator"), team->creator);
    put_capabilities(&w, team->capabilities);
    json_put_uint(&w, S("created"), team->created_ms);
    put_some(&w, S("active"), team->active_ms);
    put_some(&w, S("dissolved"), team->dissolved_ms);
    json_key(&w, S("members"));
    json_array_open(&w);
    for (size_t i = 0; i < team->member_count; i++)
        write_member(&team->members[i], &w);
    json_array_close(&w);
    json_object_close(&w);
}

/* --- reading --- */

struct member_item {
    struct str resource, name, participant, state;
    const struct json *capabilities;
    uint64_t until;
};

#define F(member, need) JSON_FIELD(struct member_item, member, need)
static const struct json_field member_fields[] = {
    F(resource, JSON_REQUIRED),     F(name, JSON_REQUIRED),
    F(participant, JSON_OPTIONAL),  F(state, JSON_REQUIRED),
    F(capabilities, JSON_OPTIONAL), F(until, JSON_OPTIONAL),
};
#undef F

struct team_item {
    struct str name, contract, creator;
    const struct json *capabilities, *members;
    uint64_t created, active, dissolved;
};

#define F(member, need) JSON_FIELD(struct team_item, member, need)
static const struct json_field team_fields[] = {
    F(name, JSON_REQUIRED),    F(contract, JSON_OPTIONAL),
    F(creator, JSON_REQUIRED), F(capabilities, JSON_OPTIONAL),
    F(members, JSON_REQUIRED), F(created, JSON_REQUIRED),
    F(active, JSON_OPTIONAL),  F(dissolved, JSON_OPTIONAL),
};
#undef F

static bool read_state(struct str name, enum team_state *ret)
{
    for (size_t i = 0; i < COUNT(states); i++)
        if (str_eq(states[i], name)) {
            *ret = (enum team_state)i;
            return true;
        }
    return false;
}

static bool read_capabilities(const struct json *json, struct arena *arena,
                              struct str_list *ret)
{
    if (!json)
        return true;
    return capability_list(json, arena, ret, NULL) == OK &&
           ret->count <= TEAM_CAPABILITIES;
}

static bool is_id(struct str id)
{
    return id.len > 0 && id.len <= RESOURCE_ID && !has_control(id);
}

static bool read_member(const struct json *json, struct arena *arena,
                        struct team_member *ret)
{
    struct member_item item = {};

    if (json_read(json, member_fields, COUNT(member_fields), arena, &item, NULL) ||
        !is_id(item.resource) || item.name.len > RESOURCE_NAME ||
        (item.participant.len && !is_id(item.participant)) || item.until > LAST_MS ||
        !read_state(item.state, &ret->state) ||
        !read_capabilities(item.capabilities, arena, &ret->capabilities))
        return false;
    ret->resource = item.resource;
    ret->name = item.name;
    ret->participant = item.participant;
    ret->until_ms = item.until;
    return true;
}

static bool read_members(const struct json *list, struct arena *arena,
                         struct team_record *ret)
{
    if (list->type != JSON_ARRAY || list->count > TEAM_MEMBERS)
        return false;
    ret->members = arena_alloc(arena, TEAM_MEMBERS * sizeof(*ret->members));
    if (!ret->members)
        return false;
    JSON_FOREACH(item, list) {
        struct team_member member = {};

        if (!read_member(item, arena, &member) || team_find(ret, member.resource))
            return false;
        ret->members[ret->member_count++] = member;
    }
    return true;
}

enum err team_read(struct str id, struct str text, struct arena *arena,
                   struct team_record *ret)
{
    struct team_record team = { .id = id };
    struct team_item item = {};
    const struct json *root;

    if (!team_id_is_valid(id) || json_parse(text, arena, &root, NULL) ||
        json_read(root, team_fields, COUNT(team_fields), arena, &item, NULL) ||
        team_name_problem(item.name) || item.contract.len > TEAM_CONTRACT ||
        !is_id(item.creator) || item.created > LAST_MS || item.active > LAST_MS ||
        item.dissolved > LAST_MS ||
        !read_capabilities(item.capabilities, arena, &team.capabilities) ||
        !read_members(item.members, arena, &team))
        return ERR_INVALID;
    team.name = item.name;
    team.contract_id = item.contract;
    team.creator = item.creator;
    team.created_ms = item.created;
    team.active_ms = item.active;
    team.dissolved_ms = item.dissolved;
    *ret = team;
    return OK;
}
