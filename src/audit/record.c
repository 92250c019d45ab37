/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/record.h"

#include "base/cleanup.h"

static const struct str event_names[] = {
#define X(name, text) [AUDIT_##name] = { text, sizeof(text) - 1 },
    AUDIT_EVENTS(X)
#undef X
};

static const struct {
    struct str name;
    size_t offset;
} texts[] = {
#define X(member, name)                        \
    [AUDIT_TEXT_##member] = {                  \
        { name, sizeof(name) - 1 },            \
        offsetof(struct audit_record, member), \
    },
    AUDIT_TEXTS(X)
#undef X
};

struct str audit_text_name(enum audit_text which)
{
    return texts[which].name;
}

struct str *audit_text(struct audit_record *record, enum audit_text which)
{
    return (struct str *)((char *)record + texts[which].offset);
}

struct str audit_text_of(const struct audit_record *record, enum audit_text which)
{
    return *(const struct str *)((const char *)record + texts[which].offset);
}

struct str audit_event_name(enum audit_event event)
{
    return event_names[event];
}

enum err audit_event_parse(struct str name, enum audit_event *ret)
{
    for (size_t i = 0; i < COUNT(event_names); i++) {
        if (str_eq(name, event_names[i])) {
            *ret = (enum audit_event)i;
            return OK;
        }
    }
    return ERR_NOT_FOUND;
}
