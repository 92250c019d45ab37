/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the record elsewhere as well: to a syslog daemon, to an OpenTelemetry collector,
 * or both. Each destination has a feed: it reads the record behind its cursor, page by
 * page, and moves the cursor when a page has been taken. The cursor is kept in the store,
 * so every record is sent at least once, in order, whatever ends meanwhile. The first
 * time a destination is named, its feed begins at the head of that moment; later it goes
 * on where it stopped, even if the destination is another one of the same kind.
 *
 * It has a thread with a loop of its own, started when there is something to send to:
 * neither formatting nor a slow receiver costs the workers anything.
 */
#pragma once

#include "gateway/metrics.h"
#include "gateway/settings.h"
#include "store/store.h"

struct exporter;

/* Reads the cursors: before anything has been handed to the store's writer. */
struct exporter *exporter_new(struct store *store, const char *data);

/* Puts settings into force. On the main thread. */
void exporter_apply(struct exporter *exporter, struct settings *settings);

/* Ends the thread; what it has to keep is handed over. Before the store is closed. */
void exporter_stop(struct exporter *exporter);

/* After the store has been closed. NULL is fine. */
void exporter_free(struct exporter *exporter);

/* Adds what it counts. From any thread. */
void exporter_count(const struct exporter *exporter, struct metrics *total);
