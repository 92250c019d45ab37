/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /teams for whoever has a credential, and /admin/teams for administrators: the same
 * handlers, since every call checks the rights of who asks (teams.h).
 */
#include <stdlib.h>

#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/teams.h"

/* Somebody waits for what comes of it. */
struct team_wait {
    struct exchange *x;
    int status;
};

static void fail(struct exchange *x, const struct directory_outcome *outcome)
{
    struct json_writer w;
    struct buf members;

    buf_init(&members, 1024);
    json_write_init(&w, &members);
    w.needs_comma = true;
    if (outcome->field.len)
        json_put_str(&w, S("field"), outcome->field);
    exchange_fail_with(x, &(struct failure){ .err = outcome->err == ERR_INVALID
                                                        ? ERR_BAD_REQUEST
                                                        : outcome->err,
                                             .detail = outcome->message,
                                             .members = buf_str(&members) });
    buf_done(&members);
}

static void on_done(void *user, const struct directory_outcome *outcome)
{
    struct team_wait *wait = user;
    struct buf out;

    if (exchange_resume(wait->x)) {
        if (outcome->err) {
            fail(wait->x, outcome);
        } else {
            buf_init(&out, outcome->data.len);
            buf_put(&out, outcome->data);
            exchange_json(wait->x, wait->status, &out);
            buf_done(&out);
        }
    }
    free(wait);
}

/* The exchange waits from now on. */
static struct directory_asker asker_of(struct exchange *x, int status)
{
    struct team_wait *wait = xcalloc(1, sizeof(*wait));

    wait->x = x;
    wait->status = status;
    exchange_suspend(x);
    return (struct directory_asker){ x->worker, x->identity, on_done, wait };
}

struct body {
    struct str name, contract_id, resource;
    struct str_list resources;
};

#define F(member, need) JSON_FIELD(struct body, member, need)
static const struct json_field create_fields[] = {
    F(name, JSON_REQUIRED),
    F(resources, JSON_REQUIRED),
    F(contract_id, JSON_OPTIONAL),
};
static const struct json_field name_fields[] = { F(name, JSON_REQUIRED) };
static const struct json_field add_fields[] = { F(resources, JSON_REQUIRED) };
static const struct json_field answer_fields[] = { F(resource, JSON_OPTIONAL) };
#undef F

/* False: that was answered. */
static bool read_body(struct exchange *x, const struct json_field *fields, size_t count,
                      struct body *ret)
{
    struct json_problem problem = {};
    const struct json *root;

    *ret = (struct body){};
    if (json_parse(x->body.len ? x->body : S("{}"), &x->arena, &root, &problem)) {
        exchange_fail(x, ERR_BAD_REQUEST, "The body is not JSON: %s, at byte %zu.",
                      problem.what ? problem.what : "it is too large", problem.at);
        return false;
    }
    if (!json_read(root, fields, count, &x->arena, ret, &problem))
        return true;
    exchange_fail(x, ERR_BAD_REQUEST, "The body cannot be used: " STR_FMT ": %s.",
                  STR_ARG(str_slice(problem.field, 0, 64)),
                  problem.what ? problem.what : "is wrong");
    return false;
}

struct page {
    struct str after;
    uint64_t limit;
};

/* What is wrong with it, or NULL. */
static const char *read_parameter(const struct http_param *param, struct page *page)
{
    if (str_eq(param->name, S("limit"))) {
        bool is_good = !page->limit &&
                       str_to_u64(param->value, TEAMS_PAGE, &page->limit) == OK &&
                       page->limit;

        return is_good ? NULL : "`limit` is a number from 1 to 1000, once.";
    }
    if (!str_eq(param->name, S("cursor")))
        return "There is no such parameter: limit, cursor.";
    if (page->after.len || !param->value.len)
        return "`cursor` is the `next` of another answer, once.";
    page->after = param->value;
    return NULL;
}

static const char *read_page(struct exchange *x, struct page *page)
{
    struct str rest = x->request.query;
    struct http_param param;
    const char *wrong = NULL;

    while (!wrong && rest.ptr && rest.len) {
        if (http_query_next(&rest, &x->arena, &param))
            return "The query cannot be read.";
        wrong = read_parameter(&param, page);
    }
    return wrong;
}

void teams_get(struct exchange *x)
{
    struct page page = { .after = S("") };
    const char *wrong = read_page(x, &page);
    struct directory_asker asker;

    if (wrong) {
        exchange_fail(x, ERR_BAD_REQUEST, "%s", wrong);
        return;
    }
    asker = asker_of(x, 200);
    teams_list(&asker, page.after, page.limit ? page.limit : TEAMS_PRESET_PAGE);
}

void teams_post(struct exchange *x)
{
    struct directory_asker asker;
    struct body body;

    if (!read_body(x, create_fields, COUNT(create_fields), &body))
        return;
    asker = asker_of(x, 201);
    teams_create(&asker,
                 &(struct team_plan){ body.name, body.resources, body.contract_id });
}

void team_get(struct exchange *x)
{
    struct directory_asker asker = asker_of(x, 200);

    teams_status(&asker, x->params[0]);
}

void team_patch(struct exchange *x)
{
    struct directory_asker asker;
    struct body body;

    if (!read_body(x, name_fields, COUNT(name_fields), &body))
        return;
    asker = asker_of(x, 200);
    teams_rename(&asker, x->params[0], body.name);
}

void team_delete(struct exchange *x)
{
    struct directory_asker asker = asker_of(x, 200);

    teams_dissolve(&asker, x->params[0]);
}

void team_members_post(struct exchange *x)
{
    struct directory_asker asker;
    struct body body;

    if (!read_body(x, add_fields, COUNT(add_fields), &body))
        return;
    asker = asker_of(x, 200);
    teams_add(&asker, x->params[0], body.resources);
}

void team_member_delete(struct exchange *x)
{
    struct directory_asker asker = asker_of(x, 200);

    teams_remove(&asker, x->params[0], (struct str_list){ &x->params[1], 1 });
}

static void answer_invitation(struct exchange *x, enum team_answer answer)
{
    struct directory_asker asker;
    struct body body;

    if (!read_body(x, answer_fields, COUNT(answer_fields), &body))
        return;
    asker = asker_of(x, 200);
    teams_answer_invitation(&asker, x->params[0], body.resource, answer);
}

void team_accept(struct exchange *x)
{
    answer_invitation(x, TEAM_ACCEPT);
}

void team_decline(struct exchange *x)
{
    answer_invitation(x, TEAM_DECLINE);
}
