/* SPDX-License-Identifier: Apache-2.0 */
/* Files of rules, and the record as rules see it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/audit_ask.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/rules.h"
#include "config/document.h"
#include "gateway/rules_hearing.h"

enum { SCRATCH_BYTES = 16 << 20, MESSAGE_BYTES = 1024 };

/* --- the file --- */

static int complain(struct config_problem *problem, const char *path)
{
    struct buf out;

    if (!problem->file[0])
        (void)snprintf(problem->file, sizeof(problem->file), "%s", path);
    buf_init(&out, MESSAGE_BYTES);
    config_problem_put(problem, &out);
    (void)cli_fail("%s", buf_cstr(&out));
    buf_done(&out);
    return CLI_FAILED;
}

/* What is read from a file, once it is JSON. */
struct wanted {
    struct arena *arena;
    const struct rule *like; /* the arguments of one like this are; NULL: rules are */
    struct rule_list *rules;
    const struct shape **shape;
};

/* Only arguments may be narrowed in the file of a rule. */
static enum err read_less(struct str text, const struct wanted *w,
                          struct rule_problem *wrong)
{
    const struct rule *like = w->like;
    struct rule_list rules = {};
    const struct rule *less;
    enum err err = rules_read(text, w->arena, &rules, wrong);

    if (err)
        return err;
    less = &rules.items[0];
    if (rules.count != 1 || !str_eq(less->topic, like->topic) ||
        !str_eq(less->proposer, like->proposer) || !str_eq(less->method, like->method) ||
        !str_eq(less->tool, like->tool) || !str_eq(less->to, like->to) ||
        less->budget != like->budget || less->expires_ms != like->expires_ms) {
        (void)snprintf(wrong->what, sizeof(wrong->what),
                       "must be the same rule but for its arguments; --budget and "
                       "--expires say the rest");
        return ERR_INVALID;
    }
    *w->shape = less->arguments;
    return OK;
}

static enum err read_text(struct str text, const struct wanted *w,
                          struct rule_problem *wrong)
{
    const struct json *root, *list;
    enum err err;

    if (!w->like)
        return rules_read(text, w->arena, w->rules, wrong);
    err = json_parse(text, w->arena, &root, NULL);
    if (err)
        return err;
    list = json_find(root, S("rules"));
    if (list && list->type == JSON_ARRAY)
        return read_less(text, w, wrong);
    return shape_read(root, text, w->arena, w->shape, wrong);
}

static int read_document(const char *path, struct str text, const struct wanted *w)
{
    struct config_problem problem = {};
    struct config_document document;
    struct rule_problem wrong = {};
    enum err err = config_document_read(text, path, &document, &problem);

    if (err)
        return complain(&problem, path);
    err = read_text(buf_str(&document.json), w, &wrong);
    if (err) {
        problem.mark = config_document_mark(&document, wrong.at);
        (void)snprintf(problem.message, sizeof(problem.message), "%s",
                       wrong.what[0] ? wrong.what : "the file is too large");
    }
    config_document_done(&document);
    return err ? complain(&problem, path) : CLI_OK;
}

static int load(const char *path, const struct wanted *w)
{
    struct buf text;
    int code;

    buf_init(&text, CONFIG_FILE_MAX + 1);
    code = cli_read_file(path, &text);
    if (!code)
        code = read_document(path, buf_str(&text), w);
    buf_done(&text);
    return code;
}

int rules_load(const char *path, struct arena *arena, struct rule_list *ret)
{
    return load(path, &(struct wanted){ .arena = arena, .rules = ret });
}

int rules_load_shape(const char *path, struct arena *arena, const struct rule *like,
                     const struct shape **ret)
{
    return load(path, &(struct wanted){ .arena = arena, .like = like, .shape = ret });
}

/* --- the record --- */

struct replaying {
    struct history *history;
    struct arena scratch;
    struct progress progress;
    struct rules_seen seen;
};

static void tick(struct replaying *r)
{
    r->seen.records++;
    if (progress_is_due(&r->progress))
        progress_tell(&r->progress, 0, 0, r->seen.records);
}

static bool on_record(void *user, const struct audit_record *record)
{
    struct replaying *r = user;

    tick(r);
    r->seen.removed += record->event == AUDIT_ENVELOPE && audit_body_is_removed(record);
    rules_hear(r->history, record, &r->scratch);
    return true;
}

static int replay(struct replaying *r, struct audit_source *source,
                  const struct audit_query *query)
{
    struct audit_query people = { .event = S("connect"),
                                  .topic = query->topic,
                                  .order = AUDIT_OLDEST_FIRST };
    enum err err = audit_source_records(source, &people, on_record, r);

    if (!err)
        err = audit_source_records(source, query, on_record, r);
    if (!err)
        (void)history_end(r->history, SIZE_MAX);
    return err ? audit_source_fail(source) : CLI_OK;
}

int rules_replay(const struct rules_record *record, uint64_t now_ms,
                 const struct history_listener *listener, struct rules_seen *ret)
{
    /* A file may be of any time, and is looked at whole. */
    const char *usual = record->place.file ? NULL : "30d";
    const struct audit_filter filter = { .since = record->since ? record->since : usual,
                                         .topic = record->topic,
                                         .kind = "mcp/*",
                                         .verdict = "allowed",
                                         .event = "envelope" };
    struct replaying r = {};
    struct audit_source *source;
    struct audit_query query;
    int code = audit_ask(&filter, now_ms, &query);

    if (!code)
        code = audit_source_open(&record->place, &source);
    if (code)
        return code;
    query.order = AUDIT_OLDEST_FIRST;
    r.history = history_new(listener);
    arena_init(&r.scratch, SCRATCH_BYTES);
    progress_begin(&r.progress, "reading", "records");
    for (size_t i = 0; i < record->persons.count; i++)
        history_person(r.history, str_of(record->persons.items[i]), true);
    code = replay(&r, source, &query);
    progress_end(&r.progress);
    arena_done(&r.scratch);
    history_free(r.history);
    audit_source_close(source);
    if (!code)
        *ret = r.seen;
    return code;
}
