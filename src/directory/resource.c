/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/resource.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"

static const struct str kind_names[] = { S("human"), S("agent") };
static const struct str per_names[] = { S("hour"), S("day"), S("month") };
static const struct str invite_names[] = { S("auto"), S("ask") };

/* What the object says, before it is judged. */
struct said {
    struct str id, kind, name, role, availability, location, time_zone, profile;
    struct str participant, invite, updated_at;
    struct str_list skills, languages;
    const struct json *rate;
};

/* clang-format off */
static const struct json_field said_fields[] = {
#define X(field) JSON_FIELD(struct said, field, JSON_OPTIONAL),
    RESOURCE_FIELDS(X)
#undef X
};
/* clang-format on */

struct said_rate {
    const struct json *amount;
    struct str currency, per;
};

static const struct json_field rate_fields[] = {
    JSON_FIELD(struct said_rate, amount, JSON_REQUIRED),
    JSON_FIELD(struct said_rate, currency, JSON_OPTIONAL),
    JSON_FIELD(struct said_rate, per, JSON_OPTIONAL),
};

static enum err fail(struct resource_problem *problem, struct str field, size_t item,
                     const char *what)
{
    if (problem)
        *problem = (struct resource_problem){ field, item, what };
    return ERR_INVALID;
}

/* C0, DEL and C1. Breaks and tabs are for texts of many lines. */
static bool has_control(struct str text, bool is_long)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (is_long && (c == '\n' || c == '\r' || c == '\t'))
            continue;
        if (c < ' ' || c == 0x7f)
            return true;
        if (c == 0xc2 && i + 1 < text.len && (unsigned char)text.ptr[i + 1] < 0xa0)
            return true;
    }
    return false;
}

static const char *name_problem(struct str text, size_t max)
{
    if (text.len > max)
        return max == RESOURCE_WORD ? "is longer than 64 bytes"
                                    : "is longer than 256 bytes";
    return has_control(text, false) ? "contains a control character" : NULL;
}

/* What participants go by. */
static const char *participant_problem(struct str id)
{
    if (id.len == 0)
        return "is empty";
    if (!utf8_is_valid(id))
        return "is not UTF-8";
    if (str_eq(id, S("system")) || str_starts(id, S("system:")))
        return "is a name of the gateway itself";
    return name_problem(id, RESOURCE_ID);
}

const char *resource_id_problem(struct str id)
{
    if (str_find(id, '/', 0) < id.len)
        return "contains a slash";
    if (str_eq(id, S(".")) || str_eq(id, S("..")))
        return "is a step of a path";
    return participant_problem(id);
}

static enum err check_ids(const struct said *said, struct resource_problem *problem)
{
    const char *what = said->id.ptr ? resource_id_problem(said->id) : NULL;

    if (what)
        return fail(problem, S("id"), 0, what);
    what = said->participant.ptr ? participant_problem(said->participant) : NULL;
    return what ? fail(problem, S("participant"), 0, what) : OK;
}

static enum err check_texts(const struct said *said, struct resource_problem *problem)
{
    const struct {
        struct str field, text;
        size_t max;
    } texts[] = {
        { S("name"), said->name, RESOURCE_NAME },
        { S("role"), said->role, RESOURCE_NAME },
        { S("availability"), said->availability, RESOURCE_WORD },
        { S("location"), said->location, RESOURCE_NAME },
        { S("time_zone"), said->time_zone, RESOURCE_WORD },
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        const char *what = name_problem(texts[i].text, texts[i].max);

        if (what)
            return fail(problem, texts[i].field, 0, what);
    }
    if (said->name.len == 0)
        return fail(problem, S("name"), 0, said->name.ptr ? "is empty" : "is missing");
    if (said->profile.len > RESOURCE_PROFILE)
        return fail(problem, S("profile"), 0, "is longer than 16384 bytes");
    if (has_control(said->profile, true))
        return fail(problem, S("profile"), 0, "contains a control character");
    return OK;
}

/* Area/City, UTC, Etc/GMT+1: no list of zones is kept, so only the spelling is judged. */
static enum err check_zone(struct str zone, struct resource_problem *problem)
{
    for (size_t i = 0; i < zone.len; i++) {
        char c = zone.ptr[i];
        bool is_alnum =
            (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');

        if (!is_alnum && !(i > 0 && c && strchr("/_+-", c)))
            return fail(problem, S("time_zone"), 0,
                        "must be the name of a time zone, such as Europe/Zurich");
    }
    return OK;
}

static enum err check_list(struct str field, struct str_list list, size_t max,
                           struct resource_problem *problem)
{
    if (list.count > max)
        return fail(problem, field, 0,
                    max == RESOURCE_SKILLS ? "has more than 64 entries"
                                           : "has more than 32 entries");
    for (size_t i = 0; i < list.count; i++) {
        const char *what = name_problem(list.items[i], RESOURCE_WORD);

        if (list.items[i].len == 0)
            what = "is empty";
        for (size_t j = 0; j < i && !what; j++)
            if (str_ieq(list.items[i], list.items[j]))
                what = "stands there twice";
        if (what)
            return fail(problem, field, i + 1, what);
    }
    return OK;
}

/* The place of a name in a table; absent is the first. */
static bool find_name(struct str text, const struct str *names, size_t count,
                      unsigned *ret)
{
    for (unsigned i = 0; i < count; i++)
        if (!text.ptr || str_eq(text, names[i])) {
            *ret = i;
            return true;
        }
    return false;
}

static enum err read_choices(const struct said *said, struct resource *r,
                             struct resource_problem *problem)
{
    unsigned kind, invite;

    if (!said->kind.ptr)
        return fail(problem, S("kind"), 0, "is missing");
    if (!find_name(said->kind, kind_names, COUNT(kind_names), &kind))
        return fail(problem, S("kind"), 0, "must be human or agent");
    if (!find_name(said->invite, invite_names, COUNT(invite_names), &invite))
        return fail(problem, S("invite"), 0, "must be auto or ask");
    if (said->updated_at.ptr && clock_parse(said->updated_at, &r->updated_ms))
        return fail(problem, S("updated_at"), 0,
                    "must be a time such as 2030-01-31T12:00:00Z");
    r->kind = (enum resource_kind)kind;
    r->invite = (enum resource_invite)invite;
    return OK;
}

static bool is_currency(struct str text)
{
    if (text.len != 3)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!((text.ptr[i] | 0x20) >= 'a' && (text.ptr[i] | 0x20) <= 'z'))
            return false;
    return true;
}

/* Digits and a point: an amount is compared and shown as it stands. */
static const char *amount_problem(const struct json *amount)
{
    if (amount->type != JSON_NUMBER)
        return "must be a number";
    if (amount->text.len > RESOURCE_AMOUNT)
        return "is longer than 32 characters";
    for (size_t i = 0; i < amount->text.len; i++) {
        if (amount->text.ptr[i] == '-')
            return "must not be below 0";
        if ((amount->text.ptr[i] | 0x20) == 'e')
            return "must be written without an exponent";
    }
    return NULL;
}

static enum err read_rate(const struct json *json, struct arena *arena,
                          struct resource_rate *rate, struct resource_problem *problem)
{
    struct said_rate said = { .amount = json };
    struct json_problem bad = {};
    const char *what;
    unsigned per;

    if (!json)
        return OK;
    if (json->type != JSON_OBJECT && json->type != JSON_NUMBER)
        return fail(problem, S("rate"), 0, "must be an object or a number");
    if (json->type == JSON_OBJECT &&
        json_read(json, rate_fields, COUNT(rate_fields), arena, &said, &bad))
        return fail(problem, S("rate"), 0,
                    "must have an amount, and may have a currency and per");
    what = amount_problem(said.amount);
    if (what)
        return fail(problem, S("rate"), 0, what);
    if (said.currency.len && !is_currency(said.currency))
        return fail(problem, S("currency"), 0, "must be three letters, such as EUR");
    if (!find_name(said.per, per_names, COUNT(per_names), &per))
        return fail(problem, S("per"), 0, "must be hour, day or month");
    *rate = (struct resource_rate){ said.amount->text, said.currency,
                                    (enum resource_per)per };
    return OK;
}

static enum err check(const struct said *said, struct resource_problem *problem)
{
    enum err err = check_ids(said, problem);

    if (!err)
        err = check_texts(said, problem);
    if (!err)
        err = check_zone(said->time_zone, problem);
    if (!err)
        err = check_list(S("skills"), said->skills, RESOURCE_SKILLS, problem);
    if (!err)
        err = check_list(S("languages"), said->languages, RESOURCE_LANGUAGES, problem);
    return err;
}

enum err resource_read(const struct json *object, struct arena *arena,
                       struct resource *ret, struct resource_problem *problem)
{
    struct json_problem bad = {};
    struct said said = {};
    struct resource r = {};
    enum err err;

    if (!object || object->type != JSON_OBJECT)
        return fail(problem, S(""), 0, "must be an object");
    if (object->raw.len > RESOURCE_MAX)
        return fail(problem, S(""), 0, "is larger than 64 KiB");
    err = json_read(object, said_fields, COUNT(said_fields), arena, &said, &bad);
    if (err == ERR_TOO_BIG)
        return err;
    if (err)
        return fail(problem, bad.field, 0, bad.what);
    err = check(&said, problem);
    if (!err)
        err = read_choices(&said, &r, problem);
    if (!err)
        err = read_rate(said.rate, arena, &r.rate, problem);
    if (err)
        return err;
    r.id = said.id;
    r.name = said.name;
    r.role = said.role;
    r.skills = said.skills;
    r.availability = said.availability;
    r.location = said.location;
    r.languages = said.languages;
    r.time_zone = said.time_zone;
    r.profile = said.profile;
    r.participant = said.participant;
    *ret = r;
    return OK;
}

/* --- copying --- */

static bool copy_text(struct arena *arena, struct str *text)
{
    if (text->len == 0) {
        *text = S("");
        return true;
    }
    *text = arena_str(arena, *text);
    return text->ptr != NULL;
}

static bool copy_list(struct arena *arena, struct str_list *list)
{
    struct str *items = arena_alloc(arena, (list->count + 1) * sizeof(*items));

    if (!items)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        items[i] = list->items[i];
        if (!copy_text(arena, &items[i]))
            return false;
    }
    list->items = items;
    return true;
}

enum err resource_copy(const struct resource *resource, struct arena *arena,
                       struct resource *ret)
{
    struct resource copy = *resource;
    struct str *texts[] = {
        &copy.id,       &copy.name,        &copy.role,          &copy.availability,
        &copy.location, &copy.rate.amount, &copy.rate.currency, &copy.time_zone,
        &copy.profile,  &copy.participant,
    };

    for (size_t i = 0; i < COUNT(texts); i++)
        if (!copy_text(arena, texts[i]))
            return ERR_TOO_BIG;
    if (!copy_list(arena, &copy.skills) || !copy_list(arena, &copy.languages))
        return ERR_TOO_BIG;
    *ret = copy;
    return OK;
}

/* --- writing --- */

static void put_given(struct json_writer *w, struct str key, struct str text)
{
    if (text.len)
        json_put_str(w, key, text);
}

static void put_list(struct json_writer *w, struct str key, struct str_list list)
{
    if (list.count)
        json_put_strs(w, key, list);
}

static void put_rate(struct json_writer *w, const struct resource_rate *rate)
{
    if (rate->amount.len == 0)
        return;
    json_key(w, S("rate"));
    json_object_open(w);
    json_key(w, S("amount"));
    json_raw(w, rate->amount);
    put_given(w, S("currency"), rate->currency);
    json_put_str(w, S("per"), resource_per_name(rate->per));
    json_object_close(w);
}

void resource_write(struct json_writer *w, const struct resource *resource,
                    enum resource_view view)
{
    json_object_open(w);
    put_given(w, S("id"), resource->id);
    json_put_str(w, S("kind"), resource_kind_name(resource->kind));
    json_put_str(w, S("name"), resource->name);
    put_given(w, S("role"), resource->role);
    put_list(w, S("skills"), resource->skills);
    put_given(w, S("availability"), resource->availability);
    put_given(w, S("location"), resource->location);
    if (view == RESOURCE_DETAILS)
        put_rate(w, &resource->rate);
    put_list(w, S("languages"), resource->languages);
    put_given(w, S("time_zone"), resource->time_zone);
    put_given(w, S("profile"), resource->profile);
    if (view == RESOURCE_DETAILS)
        put_given(w, S("participant"), resource->participant);
    json_put_str(w, S("invite"), resource_invite_name(resource->invite));
    if (resource->updated_ms)
        json_put_time(w, S("updated_at"), resource->updated_ms);
    json_object_close(w);
}

void resource_problem_put(struct buf *out, const struct resource_problem *problem)
{
    if (problem->field.len == 0)
        buf_put(out, S("the resource"));
    else
        buf_put(out, utf8_cut(problem->field, RESOURCE_WORD));
    if (problem->item)
        buf_putf(out, "[%zu]", problem->item);
    buf_putf(out, " %s", problem->what ? problem->what : "is not valid");
}

unsigned resource_availability_rank(struct str availability)
{
    static const struct str ranked[RESOURCE_AVAILABILITIES] = {
        S("full-time"), S("part-time"), S("contract"), S(""), S("unavailable"),
    };

    for (unsigned i = 0; i < COUNT(ranked); i++)
        if (str_ieq(availability, ranked[i]))
            return i;
    return 3;
}

struct str resource_kind_name(enum resource_kind kind)
{
    return kind_names[kind];
}

struct str resource_per_name(enum resource_per per)
{
    return per_names[per];
}

struct str resource_invite_name(enum resource_invite invite)
{
    return invite_names[invite];
}
