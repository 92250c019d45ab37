/* SPDX-License-Identifier: Apache-2.0 */
/* How much a bridge keeps, and for how long. */
#pragma once

enum {
    BRIDGE_PARTICIPANTS = 1'000'000, /* topics.*.max_members says how many there are */
    BRIDGE_ASKED = 64,
    BRIDGE_ASKED_AHEAD = 32, /* … so many things */
    BRIDGE_PROPOSALS = 1000, /* of others, where somebody authorizes calls */
    BRIDGE_RECENT = 64,
    BRIDGE_DEPTH = 128,
    BRIDGE_ENVELOPE = 1 << 20, /* bytes, where the gateway does not say */
    BRIDGE_TREE = 96,          /* bytes of a tree for each byte of its text, at most */
    BRIDGE_ANSWERS = 4 << 20,  /* bytes of answers that wait for the room */
    BRIDGE_GUESTS = 256,
    BRIDGE_WATCHED = 1000, /* resources that somebody subscribed to */
    BRIDGE_TASKS = 1000,
    BRIDGE_ELICITED = 256, /* URL elicitations whose end may be told */
    BRIDGE_PAGES = 1000,   /* of one list */
};

enum {
    BRIDGE_QUESTION_MS = 5 * 60 * 1000,
    BRIDGE_ASKED_MS = 1000,        /* a call asks no more often, once it has asked … */
    BRIDGE_RETURN_MS = 30'000,     /* for callers to come back, where the room was lost */
    BRIDGE_TELL_MS = 1000,         /* changes of a list are told no more often */
    BRIDGE_SETTLE_MS = 2000,       /* without a change: the first catalogue is whole */
    BRIDGE_TRUST_MS = 10'000,      /* … at the latest */
    BRIDGE_RETRY_MS = 1000,        /* an answer that was refused for now */
    BRIDGE_PRESS_MS = 100,         /* one for which there was no room */
    BRIDGE_TTL_MS = 24 * 3600'000, /* a list that is to hold longer has no time */
    BRIDGE_LIST_MS = 30'000,       /* for one page of a list */
    BRIDGE_PROGRESS_MS = 100,      /* of a task is told no more often */
    BRIDGE_TASK_MS = 3600'000,     /* a task that has no time to live */
};
