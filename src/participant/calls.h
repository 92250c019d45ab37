/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we sent and wait for: calls for the answer of the one who was asked, proposals for
 * somebody's decision, everything else for the gateway's word (a fence). Each ends once.
 *
 *     asked ────────────────────────────────────────► answered, refused, timed out, …
 *       │ refused, and proposed instead                  ▲
 *       └► proposed ──► taken up: somebody asks for us ──┘
 *
 * These are called by the occupant, with o->now set, from where callbacks may be called.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "participant/occupant.h"

struct calls;

struct calls *calls_new(size_t max);
void calls_free(struct calls *calls);
void calls_rest(struct calls *calls); /* occupant_rest() */

/* Of a response, before anybody hears of it: "", or the static name of an offence
 * (foreign_response, second_response, method_mismatch) for which it is dropped. Changes
 * nothing. */
struct str calls_fault(struct occupant *o, const struct heard *heard,
                       struct str *ret_field);

/* A response without fault: after on_heard, which may have cancelled the call. */
void calls_answer(struct occupant *o, const struct heard *heard);

/* A request, reject or withdraw with a correlation_id. */
void calls_watch(struct occupant *o, const struct heard *heard);

/* Somebody has approved a proposal: who waits for it is told. */
void calls_counted(struct occupant *o, struct str id);

/* notifications/progress. */
void calls_progress(struct occupant *o, const struct heard *heard);

/* A system/error. True: whoever waits was told; else on_refusal tells it. */
bool calls_refused(struct occupant *o, const struct refused *refused);

/* Somebody left: now, or before this connection began; then what was asked on it is not
 * concerned. */
enum left_when { LEFT_NOW, LEFT_BEFORE };
void calls_left(struct occupant *o, struct str id, enum left_when when);

void calls_broken(struct occupant *o);                 /* the connection, not for good */
void calls_gap(struct occupant *o);                    /* answers may have been missed */
void calls_lost(struct occupant *o);                   /* there will be no connection */
void calls_judged(struct occupant *o, uint64_t fence); /* this fence and all before it */
void calls_tick(struct occupant *o);
uint64_t calls_due_ms(const struct occupant *o); /* monotonic; UINT64_MAX: never */
