/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/removal.h"

#include "base/cleanup.h"

#define F(member, need) JSON_FIELD(struct audit_removal, member, need)
static const struct json_field fields[] = {
    F(topic, JSON_OPTIONAL),  F(except, JSON_OPTIONAL),    F(count, JSON_REQUIRED),
    F(bytes, JSON_REQUIRED),  F(first_seq, JSON_REQUIRED), F(last_seq, JSON_REQUIRED),
    F(reason, JSON_REQUIRED),
};

void audit_removal_write(const struct audit_removal *removal, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    if (removal->topic.ptr)
        json_put_str(&w, S("topic"), removal->topic);
    else
        json_put_strs(&w, S("except"), removal->except);
    json_put_uint(&w, S("count"), removal->count);
    json_put_uint(&w, S("bytes"), removal->bytes);
    json_put_uint(&w, S("first_seq"), removal->first_seq);
    json_put_uint(&w, S("last_seq"), removal->last_seq);
    json_put_str(&w, S("reason"), removal->reason);
    json_object_close(&w);
}

enum err audit_removal_parse(struct str body, struct arena *arena,
                             struct audit_removal *ret)
{
    struct audit_removal removal = {};
    const struct json *tree;
    enum err err = json_parse(body, arena, &tree, NULL);

    if (!err)
        err = json_read(tree, fields, COUNT(fields), arena, &removal, NULL);
    if (!err)
        *ret = removal;
    return err;
}

bool audit_removal_is_of(const struct audit_removal *removal, struct str topic)
{
    if (removal->topic.ptr)
        return str_eq(removal->topic, topic);
    for (size_t i = 0; i < removal->except.count; i++)
        if (str_eq(removal->except.items[i], topic))
            return false;
    return true;
}
