/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /admin/resources: the directory for administrators. A question goes to the directory's
 * readers, a change to its writer (store/directory.h); the exchange waits meanwhile, so
 * what it holds may be borrowed there.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/directory.h"
#include "gateway/doors.h"
#include "gateway/gateway.h"
#include "gateway/resources.h"
#include "gateway/teams.h"
#include "store/directory.h"

enum { ARENA_BYTES = 1 << 20, ANSWER_BYTES = 16 << 20, SMALL_BYTES = 8192 };

static const char not_now[] = "The directory cannot be reached now.";
static const char is_importing[] = "An import is under way; try again when it has ended.";
static const char no_such[] = "There is no such resource.";

struct str resource_draw_id(char out[static RESOURCE_NEW_ID + 1])
{
    uint8_t bytes[8];
    struct buf text;

    crypto_random(bytes, sizeof(bytes));
    buf_init(&text, RESOURCE_NEW_ID);
    buf_put(&text, S("r-"));
    hex_write(&text, (struct str){ (const char *)bytes, sizeof(bytes) });
    memcpy(out, text.ptr, RESOURCE_NEW_ID);
    out[RESOURCE_NEW_ID] = '\0';
    buf_done(&text);
    return (struct str){ out, RESOURCE_NEW_ID };
}

void resource_fail(struct exchange *x, const struct resource_problem *problem)
{
    CLEANUP(buf_done) struct buf detail;
    CLEANUP(buf_done) struct buf members;
    struct json_writer w;

    buf_init(&detail, SMALL_BYTES);
    buf_init(&members, SMALL_BYTES);
    resource_problem_put(&detail, problem);
    buf_putc(&detail, '.');
    if (problem->field.len) {
        json_write_init(&w, &members);
        w.needs_comma = true;
        json_put_str(&w, S("field"), problem->field);
    }
    exchange_fail_with(x, &(struct failure){ .err = ERR_BAD_REQUEST,
                                             .detail = buf_str(&detail),
                                             .members = buf_str(&members) });
}

/* --- an errand to the directory's threads --- */

struct errand {
    struct store_directory_job job;
    struct exchange *x;
    struct arena arena;
    struct str id;
    struct resource resource; /* to be put, or found */
    struct resource_problem problem;
    struct directory_query query;
    struct str team; /* whose members alone are looked for; "": everybody */
    struct directory_ask ask;
    struct directory_page page;
    void (*work)(struct store_directory_job *job, struct store_directory *directory);
    void (*answer)(struct errand *e);
    void (*tell)(struct errand *e); /* the agents, of what has changed; NULL: nothing */
    enum err err;
    bool was_there;
    char new_id[RESOURCE_NEW_ID + 1];
};

static void errand_free(struct errand *e)
{
    directory_page_done(&e->page);
    arena_done(&e->arena);
    free(e);
}

static struct errand *errand_new(struct exchange *x)
{
    struct errand *e = xcalloc(1, sizeof(*e));

    e->x = x;
    arena_init(&e->arena, ARENA_BYTES);
    directory_page_init(&e->page);
    return e;
}

static void on_done(struct store_directory_job *job)
{
    struct errand *e = CONTAINER_OF(job, struct errand, job);

    if (exchange_resume(e->x)) {
        if (!e->err)
            e->answer(e);
        else if (e->err == ERR_NOT_FOUND)
            exchange_fail(e->x, ERR_NOT_FOUND, "%s", no_such);
        else if (e->err == ERR_CONFLICT)
            exchange_fail(e->x, ERR_CONFLICT, "There is a resource of that id.");
        else if (e->err == ERR_INVALID)
            resource_fail(e->x, &e->problem);
        else
            exchange_fail(e->x, ERR_UNAVAILABLE, "%s", not_now);
    }
    errand_free(e);
}

/* On the thread that writes: changes are told in the order in which they were made, and
 * also when whoever asked has gone. */
static void work_and_tell(struct store_directory_job *job,
                          struct store_directory *directory)
{
    struct errand *e = CONTAINER_OF(job, struct errand, job);

    e->work(job, directory);
    if (!e->err && e->tell)
        e->tell(e);
}

static void errand_start(struct errand *e, enum store_directory_lane lane,
                         void (*work)(struct store_directory_job *job,
                                      struct store_directory *directory),
                         void (*answer)(struct errand *e))
{
    e->job = (struct store_directory_job){
        .loop = e->x->worker->loop, .lane = lane, .work = work_and_tell, .done = on_done
    };
    e->work = work;
    e->answer = answer;
    exchange_suspend(e->x);
    store_directory_submit(gateway_store(e->x->worker->gateway), &e->job);
}

static struct errand *errand_of(struct store_directory_job *job)
{
    return CONTAINER_OF(job, struct errand, job);
}

static void answer_resource(struct errand *e, int status)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, RESOURCE_TEXT);
    json_write_init(&w, &out);
    resource_write(&w, &e->resource, RESOURCE_DETAILS);
    exchange_json(e->x, status, &out);
}

static void answer_found(struct errand *e)
{
    answer_resource(e, 200);
}

/* --- looking --- */

static void get_work(struct store_directory_job *job, struct store_directory *directory)
{
    struct errand *e = errand_of(job);

    e->err = store_resource_get(directory, e->id, &e->arena, &e->resource);
}

void resource_get(struct exchange *x)
{
    struct errand *e = errand_new(x);

    e->id = x->params[0];
    errand_start(e, DIRECTORY_READS, get_work, answer_found);
}

/* clang-format off */
static const struct parameter {
    struct str name;
    size_t offset; /* of its text in the errand */
} parameters[] = {
    { S("query"),        offsetof(struct errand, query.text) },
    { S("availability"), offsetof(struct errand, query.availability) },
    { S("kind"),         offsetof(struct errand, query.kind) },
    { S("location"),     offsetof(struct errand, query.location) },
    { S("max_rate"),     offsetof(struct errand, query.max_rate) },
    { S("currency"),     offsetof(struct errand, query.currency) },
    { S("team"),         offsetof(struct errand, team) },
    { S("cursor"),       offsetof(struct errand, query.cursor) },
};
/* clang-format on */

/* "python,fastapi" */
static bool read_skills(struct errand *e, struct str text)
{
    struct str *items = arena_alloc(&e->arena, (DIRECTORY_SKILLS + 1) * sizeof(*items));
    size_t count = 0;

    while (items && text.ptr) {
        struct str skill = str_trim(str_cut(&text, ','));

        if (skill.len == 0)
            continue;
        if (count == DIRECTORY_SKILLS + 1)
            return false;
        items[count++] = skill;
    }
    e->query.skills = (struct str_list){ items, count };
    return items != NULL;
}

/* What is wrong with it, or NULL. */
static const char *read_parameter(struct errand *e, const struct http_param *param)
{
    uint64_t limit;

    for (size_t i = 0; i < COUNT(parameters); i++)
        if (str_eq(param->name, parameters[i].name)) {
            struct str *text = (void *)((char *)e + parameters[i].offset);

            if (text->ptr)
                return "A parameter stands there twice.";
            *text = param->value;
            return NULL;
        }
    if (str_eq(param->name, S("limit"))) {
        if (e->query.limit || str_to_u64(param->value, DIRECTORY_PAGE, &limit) || !limit)
            return "`limit` is a number from 1 to 100, once.";
        e->query.limit = limit;
        return NULL;
    }
    if (!str_eq(param->name, S("skills")))
        return "There is no such parameter: query, skills, availability, kind, "
               "location, max_rate, currency, team, limit, cursor.";
    if (e->query.skills.items || !read_skills(e, param->value))
        return "`skills` is a list of up to 16 with commas between them, once.";
    return NULL;
}

static const char *read_query(struct errand *e)
{
    struct str rest = e->x->request.query;
    struct http_param param;
    const char *wrong = NULL;

    while (!wrong && rest.ptr && rest.len) {
        if (http_query_next(&rest, &e->x->arena, &param))
            return "The query cannot be read.";
        wrong = read_parameter(e, &param);
    }
    return wrong;
}

static void search_work(struct store_directory_job *job,
                        struct store_directory *directory)
{
    struct errand *e = errand_of(job);

    e->err = store_resource_search(directory, &e->ask, &e->page);
}

static void answer_page(struct errand *e)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, ANSWER_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_key(&w, S("resources"));
    json_array_open(&w);
    for (size_t i = 0; i < e->page.count; i++) {
        const struct directory_hit *hit = &e->page.hits[i];

        json_object_open(&w);
        json_key(&w, S("resource"));
        resource_write(&w, &hit->resource, RESOURCE_DETAILS);
        json_put_uint(&w, S("score"), hit->match.score);
        json_key(&w, S("reason"));
        directory_reason_write(&w, &e->ask, &hit->resource, &hit->match);
        json_object_close(&w);
    }
    json_array_close(&w);
    if (e->page.cursor[0])
        json_put_str(&w, S("next"), str_of(e->page.cursor));
    if (e->page.is_partial)
        json_put_bool(&w, S("partial"), true);
    json_object_close(&w);
    exchange_json(e->x, 200, &out);
}

static void start_search(struct errand *e)
{
    if (directory_ask_read(&e->query, &e->ask, &e->problem)) {
        resource_fail(e->x, &e->problem);
        errand_free(e);
        return;
    }
    errand_start(e, DIRECTORY_READS, search_work, answer_page);
}

static void on_team(void *user, const struct directory_outcome *outcome)
{
    struct errand *e = user;

    if (!exchange_resume(e->x)) {
        errand_free(e);
        return;
    }
    if (!outcome->err &&
        teams_read_resources(outcome->data, &e->arena, &e->query.members) == OK) {
        e->query.is_of_team = true;
        start_search(e);
        return;
    }
    exchange_fail(e->x, outcome->err ? outcome->err : ERR_INTERNAL, STR_FMT,
                  STR_ARG(outcome->message));
    errand_free(e);
}

static void search(struct exchange *x)
{
    struct errand *e = errand_new(x);
    const char *wrong = read_query(e);

    if (wrong) {
        exchange_fail(x, ERR_BAD_REQUEST, "%s", wrong);
        errand_free(e);
        return;
    }
    if (!e->team.len) {
        start_search(e);
        return;
    }
    exchange_suspend(x);
    teams_resources(&(struct directory_asker){ x->worker, x->identity, on_team, e },
                    e->team);
}

bool resources_accepted(const struct exchange *x, enum sheet_format *ret)
{
    if (http_header_has_token(&x->request, S("Accept"), S("text/csv")))
        *ret = SHEET_CSV;
    else if (http_header_has_token(&x->request, S("Accept"), S("application/x-ndjson")))
        *ret = SHEET_JSON;
    else
        return false;
    return true;
}

void resources_list(struct exchange *x)
{
    enum sheet_format format;

    if (!resources_accepted(x, &format))
        search(x);
    else if (x->request.query.len)
        exchange_fail(x, ERR_BAD_REQUEST,
                      "Rows are those of the whole directory: they take no parameter.");
    else
        resources_export(x, format);
}

/* --- changing --- */

static bool may_write(struct exchange *x)
{
    if (!gateway_is_importing(x->worker->gateway))
        return true;
    exchange_fail(x, ERR_CONFLICT, "%s", is_importing);
    return false;
}

/* The resource of the body; false if that already answered. `id`: "" for any. */
static bool read_body(struct errand *e, struct str id)
{
    struct json_problem bad = {};
    const struct json *root;

    if (json_parse(e->x->body, &e->arena, &root, &bad)) {
        exchange_fail(e->x, ERR_BAD_REQUEST, "The body is not JSON: %s, at byte %zu.",
                      bad.what ? bad.what : "it is too large", bad.at);
        return false;
    }
    if (resource_read(root, &e->arena, &e->resource, &e->problem)) {
        resource_fail(e->x, &e->problem);
        return false;
    }
    if (id.len && e->resource.id.len && !str_eq(id, e->resource.id)) {
        exchange_fail(e->x, ERR_BAD_REQUEST, "The body has another id than the path.");
        return false;
    }
    if (id.len)
        e->resource.id = id;
    e->resource.updated_ms = loop_wall_ms(e->x->worker->loop);
    return true;
}

/* Was it there before? What is found is of no interest. */
static enum err look_up(struct errand *e, struct store_directory *directory)
{
    struct resource found;
    enum err err = store_resource_get(directory, e->resource.id, &e->arena, &found);

    e->was_there = err == OK;
    return err == ERR_NOT_FOUND ? OK : err;
}

static void put_work(struct store_directory_job *job, struct store_directory *directory)
{
    struct errand *e = errand_of(job);

    e->err = look_up(e, directory);
    if (!e->err)
        e->err = store_resource_put_all(directory, &e->resource, 1);
}

static void add_work(struct store_directory_job *job, struct store_directory *directory)
{
    struct errand *e = errand_of(job);

    e->err = look_up(e, directory);
    if (!e->err && e->was_there)
        e->err = ERR_CONFLICT;
    if (!e->err)
        e->err = store_resource_put_all(directory, &e->resource, 1);
}

static void tell_put(struct errand *e)
{
    directory_tell_resource(e->x->worker, DIRECTORY_PUT, &e->resource);
}

static void tell_removed(struct errand *e)
{
    directory_tell_resource(e->x->worker, DIRECTORY_REMOVED,
                            &(struct resource){ .id = e->id });
}

static void answer_put(struct errand *e)
{
    log_info("resource.put", "id=%s by=%s", LOG_TEXT(e->resource.id),
             LOG_TEXT(e->x->identity->id));
    answer_resource(e, e->was_there ? 200 : 201);
}

void resource_put(struct exchange *x)
{
    const char *wrong = resource_id_problem(x->params[0]);
    struct errand *e;

    if (!may_write(x))
        return;
    if (wrong) {
        resource_fail(x, &(struct resource_problem){ .field = S("id"), .what = wrong });
        return;
    }
    e = errand_new(x);
    e->tell = tell_put;
    if (read_body(e, x->params[0]))
        errand_start(e, DIRECTORY_WRITES, put_work, answer_put);
    else
        errand_free(e);
}

void resources_add(struct exchange *x)
{
    struct errand *e;

    if (!may_write(x))
        return;
    e = errand_new(x);
    if (!read_body(e, S(""))) {
        errand_free(e);
        return;
    }
    if (e->resource.id.len == 0)
        e->resource.id = resource_draw_id(e->new_id);
    e->tell = tell_put;
    errand_start(e, DIRECTORY_WRITES, add_work, answer_put);
}

/* --- changing some of it (RFC 7396) --- */

/* The members of the patch over those of the resource; null takes one away. */
static void merge(struct errand *e, const struct json *patch, struct buf *out)
{
    struct str *names = arena_alloc(&e->arena, (patch->count + 1) * sizeof(*names));
    struct json_writer w, old;
    CLEANUP(buf_done) struct buf text;
    size_t count = 0;

    buf_init(&text, RESOURCE_TEXT);
    json_write_init(&old, &text);
    resource_write(&old, &e->resource, RESOURCE_DETAILS);
    json_write_init(&w, out);
    json_object_open(&w);
    JSON_FOREACH(member, patch) {
        if (names)
            names[count++] = member->key;
        if (member->type == JSON_NULL)
            continue;
        json_key(&w, member->key);
        json_raw(&w, member->raw);
    }
    json_put_members(&w, buf_str(&text), (struct str_list){ names, count });
    json_object_close(&w);
}

static enum err apply_patch(struct errand *e)
{
    const struct json *patch, *root;
    struct buf text;
    struct str kept;
    enum err err = json_parse(e->x->body, &e->arena, &patch, NULL);

    if (err)
        return err;
    buf_init(&text, ARENA_BYTES);
    merge(e, patch, &text);
    kept = arena_str(&e->arena, buf_str(&text));
    buf_done(&text);
    if (!kept.ptr)
        return ERR_TOO_BIG;
    err = json_parse(kept, &e->arena, &root, NULL);
    return err ? err : resource_read(root, &e->arena, &e->resource, &e->problem);
}

static void patch_work(struct store_directory_job *job, struct store_directory *directory)
{
    struct errand *e = errand_of(job);
    uint64_t now_ms = e->resource.updated_ms;

    e->problem = (struct resource_problem){ .what = "is too large" };
    e->err = store_resource_get(directory, e->id, &e->arena, &e->resource);
    if (e->err)
        return;
    e->was_there = true;
    e->err = apply_patch(e);
    if (e->err) {
        e->err = ERR_INVALID;
        return;
    }
    if (!str_eq(e->resource.id, e->id)) {
        e->problem = (struct resource_problem){ .field = S("id"), .what = "stays" };
        e->err = ERR_INVALID;
        return;
    }
    e->resource.updated_ms = now_ms;
    e->err = store_resource_put_all(directory, &e->resource, 1);
}

void resource_patch(struct exchange *x)
{
    const struct json *patch;
    struct errand *e;

    if (!may_write(x))
        return;
    if (json_parse(x->body, &x->arena, &patch, NULL) || patch->type != JSON_OBJECT) {
        exchange_fail(x, ERR_BAD_REQUEST, "The body is a JSON object of what changes.");
        return;
    }
    e = errand_new(x);
    e->id = x->params[0];
    e->resource.updated_ms = loop_wall_ms(x->worker->loop);
    e->tell = tell_put;
    errand_start(e, DIRECTORY_WRITES, patch_work, answer_put);
}

/* --- removing --- */

static void remove_work(struct store_directory_job *job,
                        struct store_directory *directory)
{
    struct errand *e = errand_of(job);

    e->err = store_resource_remove(directory, e->id, &e->was_there);
    if (!e->err && !e->was_there)
        e->err = ERR_NOT_FOUND;
}

static void answer_removed(struct errand *e)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    log_info("resource.remove", "id=%s by=%s", LOG_TEXT(e->id),
             LOG_TEXT(e->x->identity->id));
    buf_init(&out, SMALL_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("removed"), e->id);
    json_object_close(&w);
    exchange_json(e->x, 200, &out);
}

void resource_delete(struct exchange *x)
{
    struct errand *e;

    if (!may_write(x))
        return;
    e = errand_new(x);
    e->id = x->params[0];
    e->tell = tell_removed;
    errand_start(e, DIRECTORY_WRITES, remove_work, answer_removed);
}
