/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/command_priv.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "policy/capability.h"
#include "policy/capset.h"

#define F(member, need) JSON_FIELD(struct command_fields, member, need)
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
    F(brake, JSON_OPTIONAL), /* one of the two */
    F(automation, JSON_OPTIONAL),
    F(reason, JSON_OPTIONAL),
};
static const struct json_field rule_fields[] = {
    F(rule, JSON_REQUIRED),
};
static const struct json_field word_fields[] = {
    F(rule, JSON_REQUIRED),
    F(reason, JSON_OPTIONAL),
};
static const struct json_field accept_fields[] = {
    F(rule, JSON_REQUIRED),   F(shadow, JSON_OPTIONAL),     F(narrow, JSON_OPTIONAL),
    F(budget, JSON_OPTIONAL), F(expires_at, JSON_OPTIONAL), F(reason, JSON_OPTIONAL),
};
#undef F

/* clang-format off */
static const struct form {
    struct str kind;
    enum command_verb verb;
    const struct json_field *fields;
    size_t count;
    enum rule_verb rule_verb;
} forms[] = {
    { S("capability/grant"),   COMMAND_GRANT,     grant_fields,  COUNT(grant_fields),  0 },
    { S("capability/revoke"),  COMMAND_REVOKE,    revoke_fields, COUNT(revoke_fields), 0 },
    { S("participant/pause"),  COMMAND_PAUSE,     act_fields,    COUNT(act_fields),    0 },
    { S("participant/resume"), COMMAND_RESUME,    act_fields,    COUNT(act_fields),    0 },
    { S("participant/kick"),   COMMAND_KICK,      act_fields,    COUNT(act_fields),    0 },
    { S("topic/invite"),       COMMAND_INVITE,    invite_fields, COUNT(invite_fields), 0 },
    { S("topic/set"),          COMMAND_SET_TOPIC, set_fields,    COUNT(set_fields),    0 },
    { S("rule/suggest"),       COMMAND_RULE,      rule_fields,   COUNT(rule_fields),   RULE_SUGGEST },
    { S("rule/add"),           COMMAND_RULE,      rule_fields,   COUNT(rule_fields),   RULE_ADD },
    { S("rule/accept"),        COMMAND_RULE,      accept_fields, COUNT(accept_fields), RULE_ACCEPT },
    { S("rule/decline"),       COMMAND_RULE,      word_fields,   COUNT(word_fields),   RULE_DECLINE },
    { S("rule/disable"),       COMMAND_RULE,      word_fields,   COUNT(word_fields),   RULE_DISABLE },
    { S("rule/enable"),        COMMAND_RULE,      word_fields,   COUNT(word_fields),   RULE_ENABLE },
    { S("rule/remove"),        COMMAND_RULE,      word_fields,   COUNT(word_fields),   RULE_REMOVE },
};
/* clang-format on */

static const struct form *form_of(struct str kind)
{
    for (size_t i = 0; i < COUNT(forms); i++)
        if (str_eq(forms[i].kind, kind))
            return &forms[i];
    return NULL;
}

enum err command_bad(struct command_problem *problem, struct str field, const char *what)
{
    *problem = (struct command_problem){ .field = field, .what = what };
    return ERR_MALFORMED_ENVELOPE;
}

enum err command_too_much(struct command_problem *problem)
{
    *problem = (struct command_problem){ .field = S("payload"),
                                         .what = "too much to look through" };
    return ERR_TOO_LARGE;
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
                            struct arena *arena, struct command_fields *ret,
                            struct command_problem *problem)
{
    struct json_problem wrong = {};
    const struct json *root;
    enum err err = json_parse(env->payload.text, arena, &root, &wrong);

    if (err == ERR_TOO_BIG)
        return command_too_much(problem);
    if (err)
        return command_bad(problem, S("payload"), wrong.what);
    if (json_read(root, form->fields, form->count, arena, ret, &wrong))
        return command_bad(problem, path_of(wrong.field, arena), wrong.what);
    return OK;
}

static bool is_id(struct str id)
{
    return id.len >= 1 && id.len <= ENVELOPE_MAX_ID;
}

/* Whom it concerns: `recipient`, `participant`, or the one that `to` names. */
static enum err read_target(const struct envelope *env, const struct form *form,
                            const struct command_fields *fields, struct command *ret,
                            struct command_problem *problem)
{
    bool is_act = form->fields == act_fields;
    bool names_recipient = form->fields == grant_fields || form->fields == revoke_fields;

    if (form->verb == COMMAND_SET_TOPIC || form->verb == COMMAND_RULE)
        return OK;
    ret->target = names_recipient ? fields->recipient : fields->participant;
    if (is_act && !ret->target.ptr && env->to_count == 1)
        ret->target = env->to[0];
    if (is_id(ret->target))
        return OK;
    return command_bad(
        problem, names_recipient ? S("payload.recipient") : S("payload.participant"),
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

static enum err read_capabilities(const struct command_fields *fields,
                                  struct arena *arena, struct command *ret,
                                  struct command_problem *problem)
{
    static const struct str field = { "payload.capabilities", 20 };
    const char *why = "a list of capabilities";
    enum err err;

    if (!fields->capabilities)
        return OK;
    err = capability_list(fields->capabilities, arena, &ret->capabilities, &why);
    if (err)
        return command_bad(problem, field, why);
    if (capset_check(ret->capabilities, NULL, &why))
        return command_bad(problem, field, why);
    if (ret->capabilities.count == 0)
        return command_bad(problem, field, "at least one is needed");
    if (ret->capabilities.count > COMMAND_MAX_CAPABILITIES)
        return command_bad(problem, field, "at most 64");
    if (count_objects(ret->capabilities) > COMMAND_MAX_OBJECTS)
        return command_bad(problem, field, "at most 8 with conditions on the payload");
    return OK;
}

static bool is_count(const struct json *value, uint64_t *ret)
{
    return value->type == JSON_NUMBER &&
           str_to_u64(value->text, COMMAND_MAX_USES, ret) == OK && *ret > 0;
}

static enum err read_terms(const struct command_fields *fields, uint64_t wall_ms,
                           struct command *ret, struct command_problem *problem)
{
    if (fields->expires_at.ptr &&
        (clock_parse(fields->expires_at, &ret->expires_ms) || ret->expires_ms <= wall_ms))
        return command_bad(problem, S("payload.expires_at"),
                           "an RFC 3339 date-time in the future");
    if (fields->max_uses && !is_count(fields->max_uses, &ret->max_uses))
        return command_bad(problem, S("payload.max_uses"),
                           "a number from 1 to 1000000000");
    if (fields->expires_in < 1 || fields->expires_in > INVITE_MAX_S)
        return command_bad(problem, S("payload.expires_in"), "seconds, from 1 to 604800");
    if (fields->reason.len > COMMAND_MAX_REASON)
        return command_bad(problem, S("payload.reason"), "at most 1024 bytes");
    ret->expires_in = fields->expires_in;
    ret->reason = fields->reason;
    return OK;
}

static enum err read_switch(struct str said, struct str field, enum switch_wish *ret,
                            struct command_problem *problem)
{
    if (!said.ptr)
        return OK;
    *ret = str_eq(said, S("on")) ? SWITCH_ON : SWITCH_OFF;
    if (*ret == SWITCH_ON || str_eq(said, S("off")))
        return OK;
    return command_bad(problem, field, "on or off");
}

static enum err read_switches(const struct command_fields *fields,
                              struct command *command, struct command_problem *problem)
{
    enum err err =
        read_switch(fields->brake, S("payload.brake"), &command->brake, problem);

    if (!err)
        err = read_switch(fields->automation, S("payload.automation"),
                          &command->automation, problem);
    if (!err && command->verb == COMMAND_SET_TOPIC && !fields->brake.ptr &&
        !fields->automation.ptr)
        err = command_bad(problem, S("payload"), "`brake` or `automation` is missing");
    return err;
}

/* What excludes what. */
static enum err check_choice(const struct command_fields *fields,
                             const struct command *command,
                             struct command_problem *problem)
{
    bool has_list = fields->capabilities != NULL;

    if (command->verb == COMMAND_REVOKE && has_list == (fields->grant_id.ptr != NULL))
        return command_bad(problem, S("payload.grant_id"),
                           "either this or `capabilities`");
    if (command->verb == COMMAND_INVITE && has_list == (fields->profile.ptr != NULL))
        return command_bad(problem, S("payload.capabilities"),
                           "either this or `profile`");
    if (fields->type.ptr && !str_eq(fields->type, S("agent")) &&
        !str_eq(fields->type, S("human")))
        return command_bad(problem, S("payload.type"), "agent or human");
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
        if (!texts[i]->ptr)
            return command_too_much(problem);
    }
    return OK;
}

/* The parts of a payload, each of which only some kinds have. */
static enum err read_parts(const struct command_reading *r, struct command *command)
{
    const struct command_fields *fields = r->fields;
    enum err err = check_choice(fields, command, r->problem);

    if (!err)
        err = read_switches(fields, command, r->problem);
    if (!err)
        err = read_capabilities(fields, r->arena, command, r->problem);
    if (!err)
        err = read_terms(fields, r->wall_ms, command, r->problem);
    command->grant_id = fields->grant_id;
    command->profile = fields->profile;
    command->type = fields->type;
    return err;
}

enum err command_read(const struct envelope *env, struct str topic, uint64_t wall_ms,
                      struct arena *arena, struct command *ret,
                      struct command_problem *problem)
{
    const struct form *form = form_of(env->kind.text);
    struct command_fields fields = { .expires_in = INVITE_DEFAULT_S };
    const struct command_reading r = { env, topic, wall_ms, arena, &fields, problem };
    struct command command = { .verb = form->verb, .id = env->id };
    enum err err = read_fields(env, form, arena, &fields, problem);

    if (!err)
        err = read_target(env, form, &fields, &command, problem);
    if (!err)
        err = read_parts(&r, &command);
    if (!err)
        err = keep_texts(&command, arena, problem);
    if (!err && command.verb == COMMAND_RULE) {
        command.rule.verb = form->rule_verb;
        command.rule.reason = command.reason;
        err = command_read_rule(&r, command.expires_ms, &command.rule);
    }
    if (!err)
        *ret = command;
    return err;
}
