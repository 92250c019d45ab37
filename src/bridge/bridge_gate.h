/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a bridge's tools that somebody must authorize first (ADR-001):
 *
 *     tools/call ─► gate_holds ─► the server
 *                       │ -32001, and an announcement to the room or to a delegate
 *                       └─► authorization/respond ─► the server, or -32002
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "bridge/gate.h"
#include "crypto/crypto.h"

struct bridge;
struct bridged;
struct envelope;
struct listed;
struct proposed;
struct rpc_reply;
struct rpc_request;

enum { GATE_PRINT = SHA256_BYTES }; /* of a tool and its arguments */

/* True: the call is answered, or waits. */
bool gate_holds(struct bridged *call, const struct rpc_request *request,
                const struct listed *tool, struct str payload);
/* Is this request the very call that was proposed, or an edit of it that is marked? The
 * gateway lets only some people edit. */
bool gate_is_call_proposed(const struct proposed *p, const struct envelope *request);
void bridged_ungate(struct bridged *call); /* nobody's word is waited for any more */
void gates_tick(struct bridge *b);
void gates_gone(struct bridge *b, struct str id);   /* he has left the room */
void gates_close(struct bridge *b, struct str why); /* nobody can decide any more */

/* authorization/respond, …/list, …/revoke. */
bool is_gate_method(struct str method);
void gate_method(struct bridge *b, struct str from, const struct rpc_request *request,
                 struct rpc_reply *ret);
