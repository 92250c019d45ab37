/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/command.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "policy/capability.h"
#include "policy/capset.h"

/* The members of all payloads; which of them a kind knows says its table. */
struct fields {
    struct str recipient;
    struct str participant;
    struct str grant_id;
    struct str profile;
    struct str type;
    struct str reason;
    struct str expires_at;
    struct str brake;
    const struct json *capabilities;
    const struct json *max_uses;
    uint64_t expires_in;
};

#define F(member, need) JSON_FIELD(struct fields, member, need)
static const struct json_field grant_fields[] = {
    F(recipient, JSON_REQUIRED),  F(capabilities, JSON_REQUIRED),
    F(expires_at, JSON_OPTIONAL), F(max_uses, JSON_OPTIONAL),
    F(reason, JSON_OPTIONAL),
};
static const struct json_field revoke_fields[] = {
    F(recipient, JSON_REQUIRED),
    F(grant_id, JSON_OPTIONAL),
    F(capabilities, JSON_OPTIONAL),
    F(reason, JSON_OPTIONAL),
};
static const struct json_field act_fields[] = {
    F(participant, JSON_OPTIONAL), /* or one `to` */
    F(reason, JSON_OPTIONAL),
};
static const struct json_field invite_fields[] = {
    F(participant, JSON_REQUIRED), F(capabilities, JSON_OPTIONAL),
    F(profile, JSON_OPTIONAL),     F(type, JSON_OPTIONAL),
    F(expires_in, JSON_OPTIONAL),  F(reason, JSON_OPTIONAL),
};
static const struct json_field set_fields[] = {
    F(brake, JSON_REQUIRED),
    F(reason, JSON_OPTIONAL),
};
#undef F

/* clang-format off */
static const struct form {
    struct str kind;
    enum command_verb verb;
    const struct json_field *fields;
    size_t count;
} forms[] = {
    { S("capability/grant"),   COMMAND_GRANT,  grant_fields,  COUNT(grant_fields) },
    { S("capability/revoke"),  COMMAND_REVOKE, revoke_fields, COUNT(revoke_fields) },
    { S("participant/pause"),  COMMAND_PAUSE,  act_fields,    COUNT(act_fields) },
    { S("participant/resume"), COMMAND_RESUME, act_fields,    COUNT(act_fields) },
    { S("participant/kick"),   COMMAND_KICK,   act_fields,    COUNT(act_fields) },
    { S("topic/invite"),       COMMAND_INVITE, invite_fields, COUNT(invite_fields) },
    { S("topic/set"),          COMMAND_SET_TOPIC, set_fields, COUNT(set_fields) },
};
/* clang-format on */

static const struct form *form_of(struct str kind)
{
    for (size_t i = 0; i < COUNT(forms); i++)
        if (str_eq(forms[i].kind, kind))
            return &forms[i];
    return NULL;
}

static const struct command_problem too_much = { { "payload", 7 },
                                                 "too much to look through" };

static enum err bad(struct command_problem *problem, struct str field, const char *what)
{
    *problem = (struct command_problem){ field, what };
    return ERR_MALFORMED_ENVELOPE;
}

/* payload.NAME, for a name that json_read() found fault with. */
static struct str path_of(struct str name, struct arena *arena)
{
    struct buf path;
    struct str kept;

    buf_init(&path, 256);
    buf_put(&path, S("payload."));
    buf_put(&path, str_slice(name, 0, 128));
    kept = arena_str(arena, buf_str(&path));
    buf_done(&path);
    return kept.ptr ? kept : S("payload");
}

/* Everything that is no text of JSON was refused by the scan, but for names that stand
 * twice below the top. */
static enum err read_fields(const struct envelope *env, const struct form *form,
                            struct arena *arena, struct fields *ret,
                            struct command_problem *problem)
{
    struct json_problem wrong = {};
    const struct json *root;
    enum err err = json_parse(env->payload.text, arena, &root, &wrong);

    if (err == ERR_TOO_BIG) {
        *problem = too_much;
        return ERR_TOO_LARGE;
    }
    if (err)
        return bad(problem, S("payload"), wrong.what);
    if (json_read(root, form->fields, form->count, arena, ret, &wrong))
        return bad(problem, path_of(wrong.field, arena), wrong.what);
    return OK;
}

static bool is_id(struct str id)
{
    return id.len >= 1 && id.len <= ENVELOPE_MAX_ID;
}

/* Whom it concerns: `recipient`, `participant`, or the one that `to` names. */
static enum err read_target(const struct envelope *env, const struct form *form,
                            const struct fields *fields, struct command *ret,
                            struct command_problem *problem)
{
    bool is_act = form->fields == act_fields;
    bool names_recipient = form->fields == grant_fields || form->fields == revoke_fields;

    if (form->fields == set_fields)
        return OK;
    ret->target = names_recipient ? fields->recipient : fields->participant;
    if (is_act && !ret->target.ptr && env->to_count == 1)
        ret->target = env->to[0];
    if (is_id(ret->target))
        return OK;
    return bad(problem,
               names_recipient ? S("payload.recipient") : S("payload.participant"),
               is_act ? "name one participant, here or in `to`"
                      : "a participant id has 1 to 256 bytes");
}

static size_t count_objects(struct str_list capabilities)
{
    size_t count = 0;

    for (size_t i = 0; i < capabilities.count; i++)
        count += capability_text_is_object(capabilities.items[i]);
    return count;
}

static enum err read_capabilities(const struct fields *fields, struct arena *arena,
                                  struct command *ret, struct command_problem *problem)
{
    static const struct str field = { "payload.capabilities", 20 };
    const char *why = "a list of capabilities";
    enum err err;

    if (!fields->capabilities)
        return OK;
    err = capability_list(fields->capabilities, arena, &ret->capabilities, &why);
    if (err)
        return bad(problem, field, why);
    if (capset_check(ret->capabilities, NULL, &why))
        return bad(problem, field, why);
    if (ret->capabilities.count == 0)
        return bad(problem, field, "at least one is needed");
    if (ret->capabilities.count > COMMAND_MAX_CAPABILITIES)
        return bad(problem, field, "at most 64");
    if (count_objects(ret->capabilities) > COMMAND_MAX_OBJECTS)
        return bad(problem, field, "at most 8 with conditions on the payload");
    return OK;
}

static bool is_count(const struct json *value, uint64_t *ret)
{
    return value->type == JSON_NUMBER &&
           str_to_u64(value->text, COMMAND_MAX_USES, ret) == OK && *ret > 0;
}

static enum err read_terms(const struct fields *fields, uint64_t wall_ms,
                           struct command *ret, struct command_problem *problem)
{
    if (fields->expires_at.ptr &&
        (clock_parse(fields->expires_at, &ret->expires_ms) || ret->expires_ms <= wall_ms))
        return bad(problem, S("payload.expires_at"),
                   "an RFC 3339 date-time in the future");
    if (fields->max_uses && !is_count(fields->max_uses, &ret->max_uses))
        return bad(problem, S("payload.max_uses"), "a number from 1 to 1000000000");
    if (fields->expires_in < 1 || fields->expires_in > INVITE_MAX_S)
        return bad(problem, S("payload.expires_in"), "seconds, from 1 to 604800");
    if (fields->reason.len > COMMAND_MAX_REASON)
        return bad(problem, S("payload.reason"), "at most 1024 bytes");
    ret->expires_in = fields->expires_in;
    ret->reason = fields->reason;
    return OK;
}

/* What excludes what. */
static enum err check_choice(const struct fields *fields, const struct command *command,
                             struct command_problem *problem)
{
    bool has_list = fields->capabilities != NULL;

    if (command->verb == COMMAND_REVOKE && has_list == (fields->grant_id.ptr != NULL))
        return bad(problem, S("payload.grant_id"), "either this or `capabilities`");
    if (command->verb == COMMAND_INVITE && has_list == (fields->profile.ptr != NULL))
        return bad(problem, S("payload.capabilities"), "either this or `profile`");
    if (command->verb == COMMAND_SET_TOPIC && !str_eq(fields->brake, S("on")) &&
        !str_eq(fields->brake, S("off")))
        return bad(problem, S("payload.brake"), "on or off");
    if (fields->type.ptr && !str_eq(fields->type, S("agent")) &&
        !str_eq(fields->type, S("human")))
        return bad(problem, S("payload.type"), "agent or human");
    return OK;
}

/* Capabilities are in the arena already, in their normal form. */
static enum err keep_texts(struct command *command, struct arena *arena,
                           struct command_problem *problem)
{
    struct str *texts[] = { &command->id,      &command->target, &command->grant_id,
                            &command->profile, &command->type,   &command->reason };

    for (size_t i = 0; i < COUNT(texts); i++) {
        if (!texts[i]->ptr)
            continue;
        *texts[i] = arena_str(arena, *texts[i]);
        if (!texts[i]->ptr) {
            *problem = too_much;
            return ERR_TOO_LARGE;
        }
    }
    return OK;
}

enum err command_read(const struct envelope *env, uint64_t wall_ms, struct arena *arena,
                      struct command *ret, struct command_problem *problem)
{
    const struct form *form = form_of(env->kind.text);
    struct fields fields = { .expires_in = INVITE_DEFAULT_S };
    struct command command = { .verb = form->verb, .id = env->id };
    enum err err = read_fields(env, form, arena, &fields, problem);

    if (!err)
        err = read_target(env, form, &fields, &command, problem);
    if (!err)
        err = check_choice(&fields, &command, problem);
    if (!err)
        err = read_capabilities(&fields, arena, &command, problem);
    if (!err)
        err = read_terms(&fields, wall_ms, &command, problem);
    if (err)
        return err;
    command.grant_id = fields.grant_id;
    command.profile = fields.profile;
    command.type = fields.type;
    command.is_on = str_eq(fields.brake, S("on"));
    err = keep_texts(&command, arena, problem);
    *ret = command;
    return err;
}
