/* SPDX-License-Identifier: Apache-2.0 */
#include "envelope/strict.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "envelope/lookalike.h"

/* A name that was looked for in an object. */
struct found {
    struct json_span value; /* text.ptr NULL: absent */
    bool is_doubtful;       /* stands twice, or another name folds to it */
};

enum payload_name { METHOD, RESULT, ERROR, PARAMS };
static const struct str payload_names[] = {
    [METHOD] = S("method"),
    [RESULT] = S("result"),
    [ERROR] = S("error"),
    [PARAMS] = S("params"),
};

enum reference_name { TYPE, NAME, URI };
static const struct str reference_names[] = {
    [TYPE] = S("type"),
    [NAME] = S("name"),
    [URI] = S("uri"),
};

/* What a CONTEXT is compared with, where it is not the name. */
static const struct str methods_by_uri[] = {
    S("resources/read"),
    S("resources/subscribe"),
    S("resources/unsubscribe"),
};

static enum err mismatch(struct strict_problem *problem, struct str field,
                         struct str expected, const char *what)
{
    *problem = (struct strict_problem){ field, expected, what };
    return ERR_KIND_PAYLOAD_MISMATCH;
}

/* finding */

static void note_doubt(struct str name, const struct str *names, size_t count,
                       struct found *found)
{
    for (size_t i = 0; i < count; i++)
        if (lookalike_is_any(name, &names[i], 1))
            found[i].is_doubtful = true;
}

static enum err note(const struct json_member *m, const struct str *names, size_t count,
                     struct found *found, struct arena *scratch)
{
    struct str name = m->key.text;

    if (m->key.has_escape && json_unescape(m->key, scratch, &name))
        return ERR_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        if (str_eq(name, names[i])) {
            found[i].is_doubtful |= found[i].value.text.ptr != NULL;
            found[i].value = m->value;
            return OK;
        }
    if (lookalike_is_any(name, names, count))
        note_doubt(name, names, count, found);
    return OK;
}

/* Looks for several names in one pass over an object; `ret` holds one for each. */
static enum err find(struct json_span object, const struct str *names, size_t count,
                     struct found *ret, struct arena *scratch)
{
    struct json_scan scan;
    struct json_member m;
    enum err err;

    json_walk_init(&scan, object);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err))
        err = note(&m, names, count, ret, scratch);
    return err;
}

/* judging */

static enum err expect_sure(const struct found *found, struct str field,
                            struct str expected, struct strict_problem *problem)
{
    if (found->is_doubtful)
        return mismatch(problem, field, expected,
                        "given twice, or beside a name that looks like it");
    return OK;
}

static enum err expect_absent(const struct found *found, struct str field,
                              struct strict_problem *problem)
{
    if (found->value.text.ptr || found->is_doubtful)
        return mismatch(problem, field, S(""), "must not stand here");
    return OK;
}

static enum err expect_object(const struct found *found, struct str field,
                              struct str expected, struct strict_problem *problem)
{
    if (!found->is_doubtful &&
        (!found->value.text.ptr || found->value.type != JSON_OBJECT))
        return mismatch(problem, field, expected, "must be an object");
    return expect_sure(found, field, expected, problem);
}

static enum err expect_text(const struct found *found, struct str field,
                            struct str expected, struct strict_problem *problem)
{
    if (!found->is_doubtful &&
        (!found->value.text.ptr || found->value.type != JSON_STRING ||
         !json_string_is(found->value, expected)))
        return mismatch(problem, field, expected, "must be what the kind says");
    return expect_sure(found, field, expected, problem);
}

/* The reference of a completion: its type says which of its names counts. */
static enum err check_reference(struct json_span params, struct str context,
                                struct arena *scratch, struct strict_problem *problem)
{
    struct found in_reference[COUNT(reference_names)] = {};
    const struct found *type = &in_reference[TYPE];
    struct found reference = {};
    enum err err;

    err = find(params, &S("ref"), 1, &reference, scratch);
    if (!err)
        err = expect_object(&reference, S("payload.params.ref"), context, problem);
    if (!err)
        err = find(reference.value, reference_names, COUNT(reference_names), in_reference,
                   scratch);
    if (!err)
        err = expect_sure(type, S("payload.params.ref.type"), S(""), problem);
    if (err)
        return err;
    if (type->value.text.ptr && type->value.type == JSON_STRING) {
        if (json_string_is(type->value, S("ref/prompt")))
            return expect_text(&in_reference[NAME], S("payload.params.ref.name"), context,
                               problem);
        if (json_string_is(type->value, S("ref/resource")))
            return expect_text(&in_reference[URI], S("payload.params.ref.uri"), context,
                               problem);
    }
    return mismatch(problem, S("payload.params.ref.type"), S(""),
                    "must be \"ref/prompt\" or \"ref/resource\"");
}

static bool is_by_uri(struct str method)
{
    for (size_t i = 0; i < COUNT(methods_by_uri); i++)
        if (str_eq(method, methods_by_uri[i]))
            return true;
    return false;
}

static enum err check_context(const struct kind *kind, struct json_span params,
                              struct arena *scratch, struct strict_problem *problem)
{
    bool by_uri = is_by_uri(kind->method);
    struct found found = {};
    enum err err;

    if (str_eq(kind->method, S("completion/complete")))
        return check_reference(params, kind->context, scratch, problem);
    err = find(params, &reference_names[by_uri ? URI : NAME], 1, &found, scratch);
    if (err)
        return err;
    return expect_text(&found,
                       by_uri ? S("payload.params.uri") : S("payload.params.name"),
                       kind->context, problem);
}

/* A request, or the proposal of one. */
static enum err check_call(const struct kind *kind, const struct found *payload,
                           struct arena *scratch, struct strict_problem *problem)
{
    enum err err;

    err = expect_text(&payload[METHOD], S("payload.method"), kind->method, problem);
    if (!err)
        err = expect_absent(&payload[RESULT], S("payload.result"), problem);
    if (!err)
        err = expect_absent(&payload[ERROR], S("payload.error"), problem);
    if (err || !kind->context.ptr)
        return err;
    err = expect_object(&payload[PARAMS], S("payload.params"), S(""), problem);
    if (err)
        return err;
    return check_context(kind, payload[PARAMS].value, scratch, problem);
}

static enum err check_response(const struct found *payload,
                               struct strict_problem *problem)
{
    const struct found *result = &payload[RESULT];
    const struct found *error = &payload[ERROR];
    enum err err;

    err = expect_absent(&payload[METHOD], S("payload.method"), problem);
    if (!err)
        err = expect_sure(result, S("payload.result"), S(""), problem);
    if (!err)
        err = expect_sure(error, S("payload.error"), S(""), problem);
    if (err)
        return err;
    if (!result->value.text.ptr == !error->value.text.ptr)
        return mismatch(problem, S("payload"), S(""),
                        "a response has either `result` or `error`");
    return OK;
}

enum err strict_check(const struct kind *kind, struct json_span payload,
                      struct arena *scratch, struct strict_problem *problem)
{
    bool is_response = kind->type == KIND_RESPONSE;
    struct found found[COUNT(payload_names)] = {};
    enum err err;

    if (!is_response && kind->type != KIND_REQUEST && kind->type != KIND_PROPOSAL)
        return OK;
    err = find(payload, payload_names, COUNT(payload_names), found, scratch);
    if (err)
        return err;
    return is_response ? check_response(found, problem)
                       : check_call(kind, found, scratch, problem);
}
