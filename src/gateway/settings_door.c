/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings in force, and those that may be changed while the server runs. A change is
 * tried alone first, so that whoever made it hears what is wrong with it; then it is laid
 * over the file, with what was changed before, and all of it is put into force like a
 * reload, or nothing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/gateway.h"
#include "gateway/tuning.h"

enum { ANSWER_BYTES = 1 << 20, ITEM_BYTES = 16 << 10 };

/* --- telling --- */

struct showing {
    const struct tuning *tuning;
    struct json_writer w;
};

static void put_text(struct json_writer *w, struct str key, const char *text)
{
    if (text)
        json_put_str(w, key, str_of(text));
}

static void put_choices(struct json_writer *w, const char *const *choices)
{
    if (!choices)
        return;
    json_key(w, S("choices"));
    json_array_open(w);
    for (; *choices; choices++)
        json_str(w, str_of(*choices));
    json_array_close(w);
}

static void put_value(struct json_writer *w, const struct config_item *item)
{
    json_key(w, S("value"));
    if (!item->is_given)
        json_null(w);
    else if (item->is_list)
        json_raw(w, item->value);
    else
        json_str(w, item->value);
}

static struct str source_of(const struct config_item *item, const struct tuned *tuned)
{
    if (tuned)
        return S("runtime");
    return item->is_preset ? S("default") : S("file");
}

static void put_item(void *user, const struct config_item *item)
{
    struct showing *showing = user;
    const struct tuned *tuned = tuning_find(showing->tuning, item->name);
    struct json_writer *w = &showing->w;

    json_object_open(w);
    json_put_str(w, S("name"), item->name);
    json_put_str(w, S("type"), str_of(item->type));
    put_value(w, item);
    put_text(w, S("default"), item->preset);
    put_text(w, S("min"), item->min);
    put_text(w, S("max"), item->max);
    put_choices(w, item->choices);
    json_put_str(w, S("source"), source_of(item, tuned));
    if (tuned) {
        json_put_str(w, S("by"), str_of(tuned->by));
        json_put_time(w, S("since"), tuned->at_ms);
    }
    json_put_bool(w, S("live"), item->is_live);
    json_put_bool(w, S("needs_restart"), item->needs_restart);
    json_put_str(w, S("help"), str_of(item->help));
    json_object_close(w);
}

static void reply(struct exchange *x)
{
    struct showing showing = { .tuning = gateway_tuning(x->worker->gateway) };
    const char *path = gateway_config_path(x->worker->gateway);
    struct buf out;

    buf_init(&out, ANSWER_BYTES);
    json_write_init(&showing.w, &out);
    json_object_open(&showing.w);
    put_text(&showing.w, S("file"), path);
    json_key(&showing.w, S("settings"));
    json_array_open(&showing.w);
    config_each_item(x->worker->settings->config, put_item, &showing);
    json_array_close(&showing.w);
    json_object_close(&showing.w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

void admin_settings(struct exchange *x)
{
    reply(x);
}

/* --- changing --- */

struct change {
    struct recorder_waiter waiter;
    struct exchange *x;
    struct arena arena;
    struct config_setting settings[CONFIG_OVERLAY_MAX]; /* value ptr NULL: no more */
    size_t count;
};

static void change_free(struct change *change)
{
    arena_done(&change->arena);
    free(change);
}

/* Alone, over the defaults: what is wrong with it is said here. */
static bool is_good(struct exchange *x, const struct config_setting *setting)
{
    struct config_problem problem = {};
    struct config *config = NULL;

    if (config_load_over(NULL, &(struct config_overlay){ setting, 1 }, &config,
                         &problem)) {
        exchange_fail(x, ERR_BAD_REQUEST, "`" STR_FMT "`: %s.", STR_ARG(setting->name),
                      problem.message);
        return false;
    }
    config_free(config);
    return true;
}

/* Strings, numbers and true or false, as they would stand in the file. */
static bool read_value(const struct json *json, struct str *ret)
{
    struct str text = json->type == JSON_STRING ? json->text : json->raw;

    if (json->type != JSON_STRING && json->type != JSON_NUMBER &&
        json->type != JSON_TRUE && json->type != JSON_FALSE)
        return false;
    *ret = text;
    return text.len && text.len <= CONFIG_OVERLAY_TEXT && !envelope_has_control(text);
}

static bool read_member(struct change *change, const struct json *json)
{
    struct config_setting *setting = &change->settings[change->count];
    struct exchange *x = change->x;

    *setting = (struct config_setting){ .name = json->key };
    if (!config_is_live(json->key)) {
        exchange_fail(x, ERR_BAD_REQUEST,
                      "`%.*s` is nothing that can be set while the server runs.",
                      (int)(json->key.len < 64 ? json->key.len : 64), json->key.ptr);
        return false;
    }
    change->count++;
    if (json->type == JSON_NULL)
        return true;
    if (!read_value(json, &setting->value)) {
        exchange_fail(x, ERR_BAD_REQUEST,
                      "`" STR_FMT "` is a text, a number, true, false, or null for what "
                      "the file says.",
                      STR_ARG(json->key));
        return false;
    }
    return is_good(x, setting);
}

static bool read_change(struct change *change)
{
    struct exchange *x = change->x;
    struct str body = arena_str(&change->arena, x->body);
    const struct json *root = NULL;

    if (json_parse(body, &change->arena, &root, NULL) || root->type != JSON_OBJECT ||
        root->count == 0 || root->count > CONFIG_OVERLAY_MAX) {
        exchange_fail(x, ERR_BAD_REQUEST,
                      "The body is an object of settings, as "
                      "{\"limits.rate_messages\":\"500/s\"}.");
        return false;
    }
    JSON_FOREACH(json, root)
        if (!read_member(change, json))
            return false;
    return true;
}

static void on_durable(struct recorder_waiter *waiter, enum err err)
{
    struct change *change = CONTAINER_OF(waiter, struct change, waiter);

    if (err)
        exchange_fail(change->x, err, "%s", recorder_problem);
    else
        reply(change->x);
    change_free(change);
}

static void on_gone(void *user)
{
    struct change *change = user;

    recorder_cancel(&change->waiter);
    change_free(change);
}

/* What is in force is kept. */
static void keep(struct worker *worker, const struct change *change)
{
    const struct tuning *tuning = gateway_tuning(worker->gateway);

    for (size_t i = 0; i < change->count; i++) {
        struct store_item item = { .section = STORE_SETTING,
                                   .topic = S(""),
                                   .key = change->settings[i].name };
        const struct tuned *tuned = tuning_find(tuning, item.key);
        struct buf value;

        buf_init(&value, ITEM_BYTES);
        if (tuned) {
            tuned_write(tuned, &value);
            item.value = buf_str(&value);
            (void)recorder_put(worker, &item);
        } else {
            (void)recorder_remove(worker, &item);
        }
        buf_done(&value);
    }
}

/* Whoever asked may have gone meanwhile: what is in force is kept all the same. */
static void on_tuned(void *user, struct str problem)
{
    struct change *change = user;
    struct exchange *x = change->x;
    struct worker *worker = x->worker;

    if (!problem.len)
        keep(worker, change);
    if (!exchange_resume(x)) {
        change_free(change);
        return;
    }
    if (problem.len) {
        exchange_fail(x, ERR_CONFLICT, STR_FMT, STR_ARG(problem));
        change_free(change);
        return;
    }
    change->waiter =
        (struct recorder_waiter){ .ticket = recorder_last(worker), .on_end = on_durable };
    exchange_on_gone(x, on_gone, change);
    recorder_wait(worker, &change->waiter);
}

static void apply(struct change *change)
{
    struct exchange *x = change->x;
    struct worker *worker = x->worker;
    struct tuning next = {};

    tuning_copy(&next, gateway_tuning(worker->gateway));
    for (size_t i = 0; i < change->count; i++)
        if (change->settings[i].value.ptr)
            tuning_set(&next, &change->settings[i], x->identity->id,
                       loop_wall_ms(worker->loop));
        else
            tuning_remove(&next, change->settings[i].name);
    exchange_suspend(x);
    gateway_tune(worker->gateway, &next, on_tuned, change); /* may free the change */
    tuning_done(&next);
}

void admin_set_settings(struct exchange *x)
{
    struct change *change;

    if (!recorder_is_able(x->worker)) {
        exchange_fail(x, ERR_UNAVAILABLE, "%s", recorder_problem);
        return;
    }
    change = xcalloc(1, sizeof(*change));
    change->x = x;
    arena_init(&change->arena, ANSWER_BYTES);
    if (read_change(change))
        apply(change);
    else
        change_free(change);
}
