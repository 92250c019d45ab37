/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/pick.h"

static bool note(const struct json_member *member, const struct pick *picks, size_t count,
                 size_t *found)
{
    for (size_t i = 0; i < count; i++) {
        if (!json_string_is(member->key, picks[i].name))
            continue;
        if (*found & (size_t)1 << i)
            return false;
        *found |= (size_t)1 << i;
        *picks[i].ret = member->value;
    }
    return true;
}

bool pick_members(struct json_span object, const struct pick *picks, size_t count)
{
    struct json_scan scan;
    struct json_member member;
    size_t found = 0;
    enum err err;

    if (!object.text.ptr || object.type != JSON_OBJECT)
        return false;
    json_walk_init(&scan, object);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &member, &err))
        if (!note(&member, picks, count, &found))
            return false;
    return !err;
}
