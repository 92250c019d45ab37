/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/roster.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"

enum { ROSTER_BYTES = 64 << 20 }; /* of all texts together */

struct roster_rights {
    struct str text;
    size_t refs;
    char bytes[];
};

void roster_init(struct roster *roster, size_t max)
{
    *roster = (struct roster){ .max = max };
    map_init(&roster->entries);
    map_init(&roster->rights);
    list_init(&roster->present);
    list_init(&roster->gone);
}

/* --- lists of capabilities --- */

/* What stands between the brackets. */
static struct str items_of(struct json_span array)
{
    if (!array.text.ptr || array.type != JSON_ARRAY)
        return S("");
    return str_trim(str_slice(array.text, 1, array.text.len - 1));
}

static void write_rights(const struct roster_note *note, struct buf *out)
{
    struct str patterns = items_of(note->patterns);
    struct str objects = items_of(note->objects);

    buf_putc(out, '[');
    buf_put(out, patterns);
    if (patterns.len && objects.len)
        buf_putc(out, ',');
    buf_put(out, objects);
    buf_putc(out, ']');
}

static bool has_room(const struct roster *roster, size_t bytes)
{
    return roster->bytes + bytes <= ROSTER_BYTES;
}

/* Shared with all whose list is the same; NULL: there is no room for it. */
static struct roster_rights *take_rights(struct roster *roster, struct str text)
{
    struct roster_rights *rights = map_find(&roster->rights, text);

    if (!rights) {
        if (!has_room(roster, text.len))
            return NULL;
        rights = xcalloc(1, sizeof(*rights) + text.len);
        memcpy(rights->bytes, text.ptr, text.len);
        rights->text = (struct str){ rights->bytes, text.len };
        map_set(&roster->rights, rights->text, rights);
        roster->bytes += text.len;
    }
    rights->refs++;
    return rights;
}

static void drop_rights(struct roster *roster, struct roster_rights *rights)
{
    if (--rights->refs)
        return;
    (void)map_remove(&roster->rights, rights->text);
    roster->bytes -= rights->text.len;
    free(rights);
}

/* --- entries --- */

static void free_entry(struct roster *roster, struct roster_entry *entry)
{
    list_remove(&entry->link);
    roster->bytes -= entry->id.len + entry->type.len;
    drop_rights(roster, entry->rights);
    free(entry);
}

static void free_gone(struct roster *roster)
{
    struct roster_entry *entry;

    LIST_FOREACH(entry, &roster->gone, link)
        free_entry(roster, entry);
}

void roster_done(struct roster *roster)
{
    list_splice(&roster->gone, &roster->present);
    free_gone(roster);
    map_done(&roster->entries);
    map_done(&roster->rights);
}

const struct roster_entry *roster_find(const struct roster *roster, struct str id)
{
    return map_find(&roster->entries, id);
}

static void note_change(struct roster_entry *entry, enum presence_change change)
{
    if (entry->is_changed) /* and not told yet: who is new has not changed */
        return;
    entry->is_changed = true;
    entry->change = change;
}

/* Takes over the rights. */
static void add_entry(struct roster *roster, const struct roster_note *note,
                      struct roster_rights *rights)
{
    size_t bytes = note->id.len + note->type.len;
    struct roster_entry *entry = xcalloc(1, sizeof(*entry) + bytes + 2);
    char *type = entry->bytes + note->id.len + 1;

    memcpy(entry->bytes, note->id.ptr, note->id.len);
    entry->id = (struct str){ entry->bytes, note->id.len };
    if (note->type.len)
        memcpy(type, note->type.ptr, note->type.len);
    entry->type = (struct str){ type, note->type.len };
    entry->rights = rights;
    entry->capabilities = rights->text;
    entry->listing = roster->listing;
    roster->bytes += bytes;
    map_set(&roster->entries, entry->id, entry);
    list_append(&roster->present, &entry->link);
    note_change(entry, PRESENCE_HERE);
}

/* Takes over the rights. The type is that of the token, and does not change while its
 * holder is here. */
static void change_entry(struct roster *roster, struct roster_entry *entry,
                         struct roster_rights *rights)
{
    struct roster_rights *old = entry->rights;

    entry->rights = rights;
    entry->capabilities = rights->text;
    if (old != rights)
        note_change(entry, PRESENCE_CHANGES);
    drop_rights(roster, old);
}

static struct roster_rights *rights_of(struct roster *roster,
                                       const struct roster_note *note)
{
    struct roster_rights *rights = NULL;
    struct buf text;

    buf_init(&text, ROSTER_BYTES);
    write_rights(note, &text);
    if (!text.is_full)
        rights = take_rights(roster, buf_str(&text));
    buf_done(&text);
    return rights;
}

/* Whoever is entered and changed is marked so. What does not fit is left as it was. */
static struct roster_entry *enter(struct roster *roster, const struct roster_note *note)
{
    struct roster_entry *entry = map_find(&roster->entries, note->id);
    struct roster_rights *rights = NULL;

    if (entry || (roster->entries.count < roster->max &&
                  has_room(roster, note->id.len + note->type.len)))
        rights = rights_of(roster, note);
    if (!rights) {
        roster->left_out++;
        return entry;
    }
    if (entry)
        change_entry(roster, entry, rights);
    else
        add_entry(roster, note, rights);
    return map_find(&roster->entries, note->id);
}

/* Leaves the map, and is kept until it was told. */
static void part(struct roster *roster, struct roster_entry *entry)
{
    (void)map_remove(&roster->entries, entry->id);
    list_remove(&entry->link);
    list_append(&roster->gone, &entry->link);
}

/* --- a whole list --- */

void roster_list_begin(struct roster *roster)
{
    roster->listing++;
}

void roster_list_add(struct roster *roster, const struct roster_note *note)
{
    struct roster_entry *entry = enter(roster, note);

    if (entry)
        entry->listing = roster->listing;
}

void roster_list_end(struct roster *roster)
{
    struct roster_entry *entry;

    free_gone(roster);
    LIST_FOREACH(entry, &roster->present, link)
        if (entry->listing != roster->listing)
            part(roster, entry);
}

void roster_tell(struct roster *roster, const struct occupant_ops *ops, void *user)
{
    struct roster_entry *entry;

    LIST_FOREACH(entry, &roster->gone, link)
        if (ops->on_presence)
            ops->on_presence(user, PRESENCE_LEAVES, entry);
    free_gone(roster);
    LIST_FOREACH(entry, &roster->present, link) {
        if (!entry->is_changed)
            continue;
        entry->is_changed = false;
        if (ops->on_presence)
            ops->on_presence(user, entry->change, entry);
    }
}

/* --- one change --- */

const struct roster_entry *roster_join(struct roster *roster,
                                       const struct roster_note *note,
                                       enum presence_change *ret_change)
{
    struct roster_entry *entry = enter(roster, note);

    if (!entry || !entry->is_changed)
        return NULL;
    entry->is_changed = false;
    *ret_change = entry->change == PRESENCE_HERE ? PRESENCE_JOINS : entry->change;
    return entry;
}

const struct roster_entry *roster_leave(struct roster *roster, struct str id)
{
    struct roster_entry *entry = map_find(&roster->entries, id);

    free_gone(roster);
    if (entry)
        part(roster, entry);
    return entry;
}
