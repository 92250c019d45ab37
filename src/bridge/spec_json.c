/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table says what a spec is made of: it writes one, reads one, and tells two apart.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/spec.h"
#include "json/json.h"

enum field_kind {
    FIELD_TEXT,
    FIELD_TEXTS,  /* NULL: it was not said */
    FIELD_NUMBER, /* of `size` bytes */
    FIELD_CHOICE, /* an enum */
    FIELD_BOOL,
    FIELD_VARIABLES, /* by name: a text, {"file":…} or {"env":…} */
    FIELD_GATE,      /* gate_terms.h */
};

struct spec_field {
    struct str key;
    enum field_kind kind;
    size_t offset, size;
    size_t count;              /* where the number of items stands */
    const struct str *choices; /* ends with "" */
    uint64_t min, max;
};

static const struct str modes[] = { S("shared"), S("per-caller"), S("pooled"), S("") };
static const struct str eras[] = { S("auto"), S("legacy"), S("modern"), S("") };
static const struct str pins[] = { S("hold"), S("warn"), S("off"), S("") };
static const struct str levels[] = { S("strict"), S("basic"), S("off"), S("") };
static const struct str networks[] = { S("none"), S("loopback"), S("hosts"), S("any"),
                                       S("") };

enum {
    FIELD_ITEMS_MAX = 1024,
    BACKOFF_MS = 100, /* at least: what fails at once is not tried without a pause */
};
#define FOREVER_MS (100ULL * 365 * 24 * 3600 * 1000)

/* clang-format off */
#define AT(member)              offsetof(struct server_spec, member)
#define SIZE_OF(member)         sizeof(((struct server_spec *)0)->member)
#define TEXT(key, member)       { S(key), FIELD_TEXT, AT(member), SIZE_OF(member), 0, NULL, 0, 0 }
#define TEXTS(key, member, n)   { S(key), FIELD_TEXTS, AT(member), SIZE_OF(member), AT(n), NULL, 0, 0 }
#define NUMBER(key, member, max) BETWEEN(key, member, 0, max)
#define BETWEEN(key, member, min, max) { S(key), FIELD_NUMBER, AT(member), SIZE_OF(member), 0, NULL, min, max }
#define CHOICE(key, member, of) { S(key), FIELD_CHOICE, AT(member), SIZE_OF(member), 0, of, 0, 0 }
#define VARIABLES(key, member, n) { S(key), FIELD_VARIABLES, AT(member), SIZE_OF(member), AT(n), NULL, 0, 0 }
static const struct spec_field fields[] = {
    TEXT("topic",       topic),
    TEXT("id",          id),
    TEXT("url",         url),
    TEXTS("command",    command.words, command.count),
    TEXT("folder",      command.folder),
    VARIABLES("env",    variables, variable_count),
    VARIABLES("headers", headers, header_count),
    TEXT("oauth_client_id",          oauth.client_id),
    TEXT("oauth_client_secret_file", oauth.client_secret_file),
    TEXT("oauth_metadata_url",       oauth.metadata_url),
    TEXT("oauth_scopes",             oauth.scopes),
    CHOICE("sandbox",   permit.level, levels),
    TEXT("profile",     profile),
    CHOICE("network",   permit.network, networks),
    TEXTS("hosts",      permit.hosts, permit.host_count),
    TEXTS("read",       permit.read, permit.read_count),
    TEXTS("write",      permit.write, permit.write_count),
    TEXTS("roots",      roots, root_count),
    NUMBER("memory",    permit.memory, 1ULL << 50),
    NUMBER("processes", permit.processes, 1 << 20),
    NUMBER("files",     permit.files, 1 << 20),
    NUMBER("file_bytes", permit.file_bytes, 1ULL << 50),
    NUMBER("cpu",       permit.cpu_percent, 100'000),
    NUMBER("uid",       permit.uid, UINT32_MAX - 1),
    NUMBER("gid",       permit.gid, UINT32_MAX - 1),
    CHOICE("mode",      mode, modes),
    NUMBER("instances", instances, SERVER_INSTANCES_MAX),
    CHOICE("era",       era, eras),
    CHOICE("pin",       pin, pins),
    { S("authorization"), FIELD_GATE, AT(gate), SIZE_OF(gate), 0, NULL, 0, 0 },
    { S("public"), FIELD_BOOL, AT(is_public), SIZE_OF(is_public), 0, NULL, 0, 0 },
    { S("start"), FIELD_BOOL, AT(starts_now), SIZE_OF(starts_now), 0, NULL, 0, 0 },
    NUMBER("idle_ms",   idle_ms, FOREVER_MS),
    NUMBER("call_ms",   call_ms, FOREVER_MS),
    NUMBER("open_ms",   open_ms, FOREVER_MS),
    BETWEEN("backoff_min_ms", backoff_min_ms, BACKOFF_MS, FOREVER_MS),
    BETWEEN("backoff_max_ms", backoff_max_ms, BACKOFF_MS, FOREVER_MS),
    NUMBER("max_waiting", max_waiting, 1 << 16),
    NUMBER("max_message", max_message, 64 << 20),
    NUMBER("max_log",     max_log, 16 << 20),
};
/* clang-format on */

_Static_assert(sizeof(size_t) == sizeof(uint64_t) && sizeof(uid_t) == sizeof(uint32_t),
               "numbers have four bytes or eight");
_Static_assert(sizeof(enum server_mode) == sizeof(uint32_t), "choices have four bytes");

static uint64_t number_of(const struct server_spec *spec, const struct spec_field *field)
{
    const char *at = (const char *)spec + field->offset;
    uint32_t small;
    uint64_t large;

    if (field->size == sizeof(large)) {
        memcpy(&large, at, sizeof(large));
        return large;
    }
    memcpy(&small, at, sizeof(small));
    return small;
}

static void number_set(struct server_spec *spec, const struct spec_field *field,
                       uint64_t value)
{
    char *at = (char *)spec + field->offset;
    uint32_t small = (uint32_t)value;

    if (field->size == sizeof(value))
        memcpy(at, &value, sizeof(value));
    else
        memcpy(at, &small, sizeof(small));
}

static struct str text_of(const struct server_spec *spec, const struct spec_field *field)
{
    return *(const struct str *)((const char *)spec + field->offset);
}

static struct str_list texts_of(const struct server_spec *spec,
                                const struct spec_field *field)
{
    return (struct str_list){
        *(const struct str *const *)((const char *)spec + field->offset),
        *(const size_t *)((const char *)spec + field->count),
    };
}

static const struct server_variable *variables_of(const struct server_spec *spec,
                                                  const struct spec_field *field,
                                                  size_t *ret_count)
{
    *ret_count = *(const size_t *)((const char *)spec + field->count);
    return *(const struct server_variable *const *)((const char *)spec + field->offset);
}

static bool bool_of(const struct server_spec *spec, const struct spec_field *field)
{
    return *(const bool *)((const char *)spec + field->offset);
}

/* --- telling two apart --- */

static bool texts_are_same(struct str_list a, struct str_list b)
{
    if (a.count != b.count || !a.items != !b.items)
        return false;
    for (size_t i = 0; i < a.count; i++)
        if (!str_eq(a.items[i], b.items[i]))
            return false;
    return true;
}

static bool variables_are_same(const struct server_spec *a, const struct server_spec *b,
                               const struct spec_field *field)
{
    size_t a_count, b_count;
    const struct server_variable *x = variables_of(a, field, &a_count);
    const struct server_variable *y = variables_of(b, field, &b_count);

    if (a_count != b_count)
        return false;
    for (size_t i = 0; i < a_count; i++)
        if (!str_eq(x[i].name, y[i].name) || x[i].source != y[i].source ||
            !str_eq(x[i].from, y[i].from) || !str_eq(x[i].before, y[i].before))
            return false;
    return true;
}

static bool field_is_same(const struct server_spec *a, const struct server_spec *b,
                          const struct spec_field *field)
{
    switch (field->kind) {
    case FIELD_TEXT: return str_eq(text_of(a, field), text_of(b, field));
    case FIELD_TEXTS: return texts_are_same(texts_of(a, field), texts_of(b, field));
    case FIELD_NUMBER:
    case FIELD_CHOICE: return number_of(a, field) == number_of(b, field);
    case FIELD_BOOL: return bool_of(a, field) == bool_of(b, field);
    case FIELD_VARIABLES: return variables_are_same(a, b, field);
    case FIELD_GATE: return gate_terms_are_same(&a->gate, &b->gate);
    }
    return false;
}

bool server_spec_is_same(const struct server_spec *a, const struct server_spec *b)
{
    if (!str_eq(a->name, b->name))
        return false;
    for (size_t i = 0; i < COUNT(fields); i++)
        if (!field_is_same(a, b, &fields[i]))
            return false;
    return true;
}

/* --- writing --- */

static void put_variable(struct json_writer *w, const struct server_variable *v)
{
    json_key(w, v->name);
    if (v->source == SECRET_PLAIN) {
        json_str(w, v->from);
        return;
    }
    json_object_open(w);
    json_put_str(w, v->source == SECRET_FILE ? S("file") : S("env"), v->from);
    if (v->before.len > 0)
        json_put_str(w, S("before"), v->before);
    json_object_close(w);
}

static void put_variables(struct json_writer *w, const struct server_spec *spec,
                          const struct spec_field *field)
{
    size_t count;
    const struct server_variable *v = variables_of(spec, field, &count);

    if (count == 0)
        return;
    json_key(w, field->key);
    json_object_open(w);
    for (size_t i = 0; i < count; i++)
        put_variable(w, &v[i]);
    json_object_close(w);
}

/* What everybody has who says nothing is not said. */
static void put_gate(struct json_writer *w, const struct server_spec *spec,
                     const struct spec_field *field)
{
    static const struct gate_terms usual = { .timeout_ms = GATE_TIMEOUT_MS };

    if (gate_terms_are_same(&spec->gate, &usual))
        return;
    json_key(w, field->key);
    gate_terms_write(&spec->gate, w);
}

static void put_field(struct json_writer *w, const struct server_spec *spec,
                      const struct spec_field *field)
{
    switch (field->kind) {
    case FIELD_TEXT:
        if (text_of(spec, field).len > 0)
            json_put_str(w, field->key, text_of(spec, field));
        break;
    case FIELD_TEXTS:
        if (texts_of(spec, field).items)
            json_put_strs(w, field->key, texts_of(spec, field));
        break;
    case FIELD_NUMBER: json_put_uint(w, field->key, number_of(spec, field)); break;
    case FIELD_CHOICE:
        json_put_str(w, field->key, field->choices[number_of(spec, field)]);
        break;
    case FIELD_BOOL: json_put_bool(w, field->key, bool_of(spec, field)); break;
    case FIELD_VARIABLES: put_variables(w, spec, field); break;
    case FIELD_GATE: put_gate(w, spec, field); break;
    }
}

void server_spec_write(const struct server_spec *spec, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("name"), spec->name);
    for (size_t i = 0; i < COUNT(fields); i++)
        put_field(&w, spec, &fields[i]);
    json_object_close(&w);
}

/* --- reading --- */

static char *complaint(struct str key, const char *what)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "\"" STR_FMT "\" %s",
                   STR_ARG(str_slice(key, 0, 80)), what);
    return xstrdup(text);
}

static enum err read_texts(struct server_spec *spec, const struct spec_field *field,
                           const struct json *json)
{
    struct str *items;
    size_t i = 0;

    if (json->type != JSON_ARRAY || json->count > FIELD_ITEMS_MAX)
        return ERR_INVALID;
    items = arena_alloc(&spec->arena, (json->count + 1) * sizeof(*items));
    if (!items)
        return ERR_TOO_BIG;
    JSON_FOREACH(item, json) {
        if (item->type != JSON_STRING)
            return ERR_INVALID;
        items[i] = arena_str(&spec->arena, item->text);
        if (!items[i++].ptr)
            return ERR_TOO_BIG;
    }
    *(const struct str **)((char *)spec + field->offset) = items;
    *(size_t *)((char *)spec + field->count) = json->count;
    return OK;
}

/* {"file":…} or {"env":…}, and perhaps "before". */
static const struct json *read_source(const struct json *json,
                                      struct server_variable *ret)
{
    const struct json *file = json_find(json, S("file")),
                      *env = json_find(json, S("env"));
    const struct json *before = json_find(json, S("before"));
    size_t known = (file != NULL) + (env != NULL) + (before != NULL);

    if (!file == !env || json->count != known || (before && before->type != JSON_STRING))
        return NULL;
    ret->source = file ? SECRET_FILE : SECRET_ENVIRONMENT;
    ret->before = json_text(before);
    return file ? file : env;
}

static enum err read_variable(struct arena *arena, const struct json *json,
                              struct server_variable *ret)
{
    const struct json *from = json->type == JSON_OBJECT ? read_source(json, ret) : json;

    if (!from || from->type != JSON_STRING)
        return ERR_INVALID;
    ret->name = arena_str(arena, json->key);
    ret->from = arena_str(arena, from->text);
    ret->before = arena_str(arena, ret->before);
    return ret->name.ptr && ret->from.ptr && ret->before.ptr ? OK : ERR_TOO_BIG;
}

static enum err read_variables(struct server_spec *spec, const struct spec_field *field,
                               const struct json *json)
{
    struct server_variable *items;
    size_t i = 0;
    enum err err;

    if (json->type != JSON_OBJECT || json->count > FIELD_ITEMS_MAX)
        return ERR_INVALID;
    items = arena_alloc(&spec->arena, (json->count + 1) * sizeof(*items));
    if (!items)
        return ERR_TOO_BIG;
    JSON_FOREACH(item, json) {
        err = read_variable(&spec->arena, item, &items[i++]);
        if (err)
            return err;
    }
    *(const struct server_variable **)((char *)spec + field->offset) = items;
    *(size_t *)((char *)spec + field->count) = json->count;
    return OK;
}

static enum err read_choice(struct server_spec *spec, const struct spec_field *field,
                            const struct json *json)
{
    for (uint64_t i = 0; field->choices[i].len > 0; i++)
        if (json->type == JSON_STRING && str_eq(json->text, field->choices[i])) {
            number_set(spec, field, i);
            return OK;
        }
    return ERR_INVALID;
}

static enum err read_number(struct server_spec *spec, const struct spec_field *field,
                            const struct json *json)
{
    uint64_t value;

    if (json->type != JSON_NUMBER || str_to_u64(json->text, field->max, &value) ||
        value < field->min)
        return ERR_INVALID;
    number_set(spec, field, value);
    return OK;
}

static enum err read_text(struct server_spec *spec, const struct spec_field *field,
                          const struct json *json)
{
    struct str text;

    if (json->type != JSON_STRING)
        return ERR_INVALID;
    text = arena_str(&spec->arena, json->text);
    if (!text.ptr)
        return ERR_TOO_BIG;
    *(struct str *)((char *)spec + field->offset) = text;
    return OK;
}

static enum err read_gate(struct server_spec *spec, const struct json *json,
                          char **ret_why)
{
    enum err err = gate_terms_read(json, &spec->arena, &spec->gate, ret_why);

    if (!err && !spec->gate.timeout_ms)
        spec->gate.timeout_ms = GATE_TIMEOUT_MS;
    return err;
}

/* *ret_why stays NULL where there is nothing better to say than that it is wrong. */
static enum err read_field(struct server_spec *spec, const struct spec_field *field,
                           const struct json *json, char **ret_why)
{
    switch (field->kind) {
    case FIELD_TEXT: return read_text(spec, field, json);
    case FIELD_TEXTS: return read_texts(spec, field, json);
    case FIELD_NUMBER: return read_number(spec, field, json);
    case FIELD_CHOICE: return read_choice(spec, field, json);
    case FIELD_BOOL:
        if (json->type != JSON_TRUE && json->type != JSON_FALSE)
            return ERR_INVALID;
        *(bool *)((char *)spec + field->offset) = json->type == JSON_TRUE;
        return OK;
    case FIELD_VARIABLES: return read_variables(spec, field, json);
    case FIELD_GATE: return read_gate(spec, json, ret_why);
    }
    return ERR_INVALID;
}

static const struct spec_field *field_find(struct str key)
{
    for (size_t i = 0; i < COUNT(fields); i++)
        if (str_eq(fields[i].key, key))
            return &fields[i];
    return NULL;
}

/* What is read here is kept in the store and shown to those who administer. */
static bool has_open_secret(const struct server_spec *spec)
{
    for (size_t i = 0; i < spec->header_count; i++)
        if (spec->headers[i].source == SECRET_PLAIN &&
            str_ieq(spec->headers[i].name, S("Authorization")))
            return true;
    return false;
}

/* What is not said follows from the rest, as in the configuration. */
static void set_network(const struct json *root, struct permit *permit)
{
    if (json_find(root, S("network")))
        return;
    if (permit->level == SANDBOX_OFF)
        permit->network = NETWORK_ANY;
    else if (permit->host_count > 0)
        permit->network = NETWORK_HOSTS;
}

static enum err read_object(const struct json *root, struct server_spec *spec,
                            char **ret_why)
{
    JSON_FOREACH(member, root) {
        const struct spec_field *field = field_find(member->key);

        if (str_eq(member->key, S("name")))
            continue;
        if (!field) {
            *ret_why = complaint(member->key, "is unknown");
            return ERR_INVALID;
        }
        *ret_why = NULL;
        if (read_field(spec, field, member, ret_why)) {
            if (!*ret_why)
                *ret_why = complaint(member->key, "does not say what it should");
            return ERR_INVALID;
        }
    }
    set_network(root, &spec->permit);
    *ret_why = server_spec_fault(spec);
    if (!*ret_why && has_open_secret(spec))
        *ret_why = xstrdup("Authorization comes from file:PATH or env:NAME");
    return *ret_why ? ERR_INVALID : OK;
}

CLEANUP_FOR(struct server_spec, server_spec_unref)

enum err server_spec_read(struct str json, struct server_spec **ret, char **ret_why)
{
    CLEANUP(server_spec_unrefp) struct server_spec *spec = NULL;
    CLEANUP(arena_done) struct arena arena;
    const struct json *root;
    enum err err;

    arena_init(&arena, 4 << 20);
    if (json_parse(json, &arena, &root, NULL) || root->type != JSON_OBJECT) {
        *ret_why = xstrdup("a server is a JSON object");
        return ERR_INVALID;
    }
    spec = server_spec_new(json_text(json_find(root, S("name"))));
    err = read_object(root, spec, ret_why);
    if (err)
        return err;
    *ret = TAKE(spec);
    return OK;
}
