/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is a kind, the rest a payload. What is read as a command must keep to
 * its bounds, whatever it was made of. */
#include <stdlib.h>

#include "admit/command.h"
#include "policy/capset.h"

enum { WALL_MS = 1'000'000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A payload has been scanned before it is read. */
static bool is_object(struct str text)
{
    struct json_scan scan;
    struct json_span span;

    json_scan_init(&scan, text, JSON_MAX_DEPTH);
    return json_value(&scan, &span) == OK && json_scan_end(&scan) == OK &&
           span.type == JSON_OBJECT;
}

/* A whole rule, or the name of one; and a few words where it is accepted. */
static bool is_sound_rule(const struct rule_change *change)
{
    bool is_whole = change->verb == RULE_SUGGEST || change->verb == RULE_ADD;

    if (change->id.len < 1 || change->id.len > RULE_ID ||
        (change->rule != NULL) != is_whole || change->is_by_human)
        return false;
    if (is_whole && (!change->rule->arguments || change->rule->topic.len == 0))
        return false;
    return change->verb == RULE_ACCEPT || (!change->narrow && !change->budget &&
                                           !change->expires_ms && !change->is_shadow);
}

static bool is_sound(const struct command *command)
{
    bool has_target = command->verb != COMMAND_SET_TOPIC && command->verb != COMMAND_RULE;

    if ((command->target.len > 0) != has_target || command->target.len > ENVELOPE_MAX_ID)
        return false;
    if (command->capabilities.count > COMMAND_MAX_CAPABILITIES ||
        capset_check(command->capabilities, NULL, NULL))
        return false;
    if (command->verb == COMMAND_RULE && !is_sound_rule(&command->rule))
        return false;
    if (command->expires_ms && command->expires_ms <= WALL_MS)
        return false;
    return command->max_uses <= COMMAND_MAX_USES && command->expires_in >= 1 &&
           command->expires_in <= INVITE_MAX_S &&
           command->reason.len <= COMMAND_MAX_REASON;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str payload = { (const char *)bytes, size };
    struct str kind = str_cut(&payload, '\n');
    struct envelope env = { .payload = { JSON_OBJECT, false, payload } };
    struct command_problem problem = {};
    struct command command;
    struct arena arena;

    if (!payload.ptr || kind_parse(kind, &env.kind) || env.kind.type != KIND_COMMAND ||
        !is_object(payload))
        return 0;
    arena_init(&arena, 1 << 20);
    if (command_read(&env, S("lobby"), WALL_MS, &arena, &command, &problem) == OK) {
        if (!is_sound(&command))
            abort();
    } else if (!problem.what || problem.field.len == 0) {
        abort();
    }
    arena_done(&arena);
    return 0;
}
