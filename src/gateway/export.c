/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/export.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/export_feed.h"
#include "store/record.h"

enum {
    TICK_MS = 200,
    HEAD_MS = 60'000, /* between two heads to syslog */
    LAST_TURNS = 4,   /* the store's letters, when it has been closed */
};

enum { SYSLOG, OTLP, FEEDS };

static const char *const feed_names[FEEDS] = { [SYSLOG] = "syslog", [OTLP] = "otlp" };

struct exporter {
    struct store *store;
    struct loop *loop;
    pthread_t thread;
    bool has_thread;
    struct feed feeds[FEEDS];
    struct settings *settings[FEEDS]; /* in which the feed's target stands; may be NULL */
    struct loop_timer tick;
    struct loop_mail stop;
    uint64_t head_seq; /* the last one that syslog was sent */
    uint64_t head_ms;  /* and when */

    struct export_origin origin;
    char host[HOST_NAME_MAX + 1];
    char installation[AUDIT_INSTALLATION];
};

/* --- on its own thread --- */

static void send_head(struct exporter *exporter, const struct audit_head *head)
{
    struct export_sink *sink = exporter->feeds[SYSLOG].sink;
    uint64_t now_ms = loop_now_ms(exporter->loop);
    bool is_due = !exporter->head_ms || now_ms - exporter->head_ms >= HEAD_MS;

    if (!sink || !head->seq || head->seq == exporter->head_seq || !is_due)
        return;
    exporter->head_seq = head->seq;
    exporter->head_ms = now_ms;
    sink->ops->send_head(sink, head);
}

static void on_tick(struct loop_timer *timer)
{
    struct exporter *exporter = CONTAINER_OF(timer, struct exporter, tick);
    struct store_health health;

    store_health(exporter->store, &health);
    send_head(exporter, &health.head);
    for (size_t i = 0; i < FEEDS; i++)
        feed_tick(&exporter->feeds[i], health.head.seq);
    loop_timer_set(exporter->loop, timer, TICK_MS);
}

static struct export_sink *new_sink(struct exporter *exporter, size_t which,
                                    const struct export_targets *targets)
{
    struct export_sink base = { .loop = exporter->loop,
                                .owner = &exporter->feeds[which].owner,
                                .origin = &exporter->origin };
    CLEANUP(xfreep) char *why = NULL;
    struct export_sink *sink = NULL;

    if (which == SYSLOG && targets->syslog.transport != SYSLOG_NOWHERE)
        return syslog_sink_new(&base, &targets->syslog);
    if (which == OTLP && targets->otlp.url)
        sink = otlp_sink_new(&base, &targets->otlp, &why);
    if (why)
        log_error("export.unable", "to=otlp reason=%s", LOG_TEXT(str_of(why)));
    return sink;
}

static bool is_same(size_t which, const struct export_targets *a,
                    const struct export_targets *b)
{
    return which == SYSLOG ? syslog_target_equals(&a->syslog, &b->syslog)
                           : otlp_target_equals(&a->otlp, &b->otlp);
}

struct letter {
    struct loop_mail mail;
    struct exporter *exporter;
    struct settings *settings;
    uint64_t head_seq; /* of the moment that it was written */
};

static void on_settings(struct loop_mail *mail)
{
    struct letter *letter = CONTAINER_OF(mail, struct letter, mail);
    struct exporter *exporter = letter->exporter;
    struct settings *next = letter->settings;

    for (size_t i = 0; i < FEEDS; i++) {
        struct settings *old = exporter->settings[i];

        if (old && is_same(i, &old->exports, &next->exports))
            continue;
        feed_attach(&exporter->feeds[i], new_sink(exporter, i, &next->exports),
                    letter->head_seq);
        settings_unref(old);
        exporter->settings[i] = settings_ref(next);
    }
    settings_unref(next);
    free(letter);
    if (!loop_timer_is_set(&exporter->tick))
        on_tick(&exporter->tick);
}

static void on_stop(struct loop_mail *mail)
{
    struct exporter *exporter = CONTAINER_OF(mail, struct exporter, stop);

    loop_timer_clear(exporter->loop, &exporter->tick);
    for (size_t i = 0; i < FEEDS; i++)
        feed_stop(&exporter->feeds[i]);
    loop_stop(exporter->loop);
}

static void *run(void *user)
{
    struct exporter *exporter = user;

    loop_run(exporter->loop);
    return NULL;
}

/* --- on the main thread --- */

static void on_cursor(void *user, const struct store_item *item)
{
    struct exporter *exporter = user;

    for (size_t i = 0; i < FEEDS; i++)
        if (str_eq(item->key, str_of(feed_names[i])))
            feed_restore(&exporter->feeds[i], item->value);
}

static void read_origin(struct exporter *exporter, const char *data)
{
    struct audit_origin origin;
    char path[PATH_MAX];

    (void)gethostname(exporter->host, sizeof(exporter->host) - 1);
    (void)snprintf(path, sizeof(path), "%s/audit.pub", data);
    exporter->origin = (struct export_origin){ .host = str_of(exporter->host),
                                               .process = (uint64_t)getpid() };
    if (store_public_read(path, &origin, exporter->installation, NULL) == OK)
        exporter->origin.installation =
            (struct str){ exporter->installation, AUDIT_INSTALLATION };
}

struct exporter *exporter_new(struct store *store, const char *data)
{
    struct exporter *exporter = xcalloc(1, sizeof(*exporter));

    exporter->store = store;
    exporter->loop = loop_new();
    exporter->tick.on_fire = on_tick;
    exporter->stop.deliver = on_stop;
    for (size_t i = 0; i < FEEDS; i++)
        feed_init(&exporter->feeds[i], feed_names[i], store, exporter->loop);
    if (store_item_each(store, STORE_EXPORT, on_cursor, exporter))
        log_warn("export.cursors", "reason=\"they cannot be read; begins at the head\"");
    read_origin(exporter, data);
    return exporter;
}

static bool has_targets(const struct export_targets *targets)
{
    return targets->syslog.transport != SYSLOG_NOWHERE || targets->otlp.url;
}

void exporter_apply(struct exporter *exporter, struct settings *settings)
{
    struct store_health health;
    struct letter *letter;

    if (!exporter->has_thread && !has_targets(&settings->exports))
        return;
    if (!exporter->has_thread &&
        pthread_create(&exporter->thread, NULL, run, exporter) != 0) {
        log_error("export.thread", "reason=\"it cannot be started\"");
        return;
    }
    if (!exporter->has_thread)
        (void)pthread_setname_np(exporter->thread, "export");
    exporter->has_thread = true;
    store_health(exporter->store, &health);
    letter = xcalloc(1, sizeof(*letter));
    *letter = (struct letter){ .mail.deliver = on_settings,
                               .exporter = exporter,
                               .settings = settings_ref(settings),
                               .head_seq = health.head.seq };
    loop_post(exporter->loop, &letter->mail);
}

void exporter_stop(struct exporter *exporter)
{
    if (!exporter || !exporter->has_thread)
        return;
    loop_post(exporter->loop, &exporter->stop);
    (void)pthread_join(exporter->thread, NULL);
    exporter->has_thread = false;
}

void exporter_free(struct exporter *exporter)
{
    if (!exporter)
        return;
    for (int turn = 0; turn < LAST_TURNS; turn++)
        loop_turn(exporter->loop, 0);
    for (size_t i = 0; i < FEEDS; i++) {
        feed_done(&exporter->feeds[i]);
        settings_unref(exporter->settings[i]);
    }
    loop_free(exporter->loop);
    free(exporter);
}

void exporter_count(const struct exporter *exporter, struct metrics *total)
{
    const struct feed_counts *syslog = &exporter->feeds[SYSLOG].counts;
    const struct feed_counts *otlp = &exporter->feeds[OTLP].counts;

    total->syslog_records += atomic_load(&syslog->records);
    total->syslog_rejected += atomic_load(&syslog->rejected);
    total->syslog_failures += atomic_load(&syslog->failures);
    total->syslog_lag += atomic_load(&syslog->lag);
    total->otlp_records += atomic_load(&otlp->records);
    total->otlp_rejected += atomic_load(&otlp->rejected);
    total->otlp_failures += atomic_load(&otlp->failures);
    total->otlp_lag += atomic_load(&otlp->lag);
}
