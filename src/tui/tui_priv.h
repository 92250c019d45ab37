/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal room as a whole, and who does what in it:
 *
 *     tui.c       life and loop        hear.c   what the library tells → the models
 *     keys.c      keys → what to do    act.c    doing it: commands, decisions
 *     view*.c     the models → a canvas, nothing else
 */
#pragma once

#include <moot.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "tui/canvas.h"
#include "tui/child.h"
#include "tui/inbox.h"
#include "tui/line.h"
#include "tui/people.h"
#include "tui/room.h"
#include "tui/screen.h"
#include "tui/timeline.h"
#include "tui/tools.h"

enum view { VIEW_ROOM, VIEW_INBOX, VIEW_PEOPLE, VIEW_TEXT };

/* What is asked at the bottom of the inbox. */
enum question {
    ASK_NOTHING,
    ASK_RUN,        /* y: it is approved */
    ASK_TO,         /* whom to call, where the proposal does not say */
    ASK_REASON,     /* of a rejection */
    ASK_WITHDRAW,   /* y */
    ASK_EDIT_AGAIN, /* what was edited is no JSON object */
    ASK_DELEGATE,   /* who is to decide instead */
};

enum { QUIET_IDS = 64, NOTICE_BYTES = 2048, TEXT_BYTES = 16 << 20 };

struct tui {
    struct moot *moot;
    const char *topic;
    enum view view;
    bool is_leaving; /* the person wants to go */
    bool needs_drawing;
    bool wants_stop; /* … to leave for a while: Ctrl-Z */
    bool is_pasting;

    struct timeline timeline;
    struct inbox inbox;
    struct people people;
    bool people_are_stale;
    struct tools tools;
    struct line line;
    struct history history;
    char *tools_line; /* the line in which a tool was to be completed; or NULL */

    struct {
        enum moot_state state;
        struct buf why;  /* plain */
        int retry_ms;    /* -1: none is planned */
        bool has_joined; /* at least once */
        bool has_gap;    /* and nobody has acknowledged it */
        uint64_t missed; /* 0: nobody knows */
    } status;

    struct {
        struct buf text; /* plain; of the last key, until the next one */
        enum style style;
    } notice;

    struct {
        enum question question;
        struct verdict verdict;
        struct line line;  /* an answer that is typed */
        struct buf edited; /* ASK_EDIT_AGAIN: as it was left */
        bool may_run;      /* our capabilities allow what is chosen */
        char *tried;       /* the proposal of which we made the call last, or NULL */
        bool is_shown;     /* the question has been drawn: keys typed ahead answer none */
        bool is_whole;     /* all of it could be shown */
    } decision;

    struct {
        struct buf title, body; /* plain */
        size_t scroll;
    } text;
    struct buf person; /* all that is known of the one chosen among the people */

    char quiet[QUIET_IDS][MOOT_ID]; /* calls of ours that are not shown */
    size_t quiet_next;

    struct hook hook;
    struct edit edit;
    struct canvas canvas;
    struct area area; /* that scrolls, as it was drawn last */
};

/* --- tui.c --- */

void tui_notice(struct tui *tui, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Gives the terminal to the editor; tui_edited() follows when it ends. */
void tui_edit(struct tui *tui, struct str text);

/* --- hear.c --- */

extern const struct moot_handlers tui_handlers;
/* What became of a call or decision of ours. */
moot_on_done tui_on_done;
/* A request to us. */
moot_serve tui_on_call;
void tui_refresh_people(struct tui *tui);
void tui_describe_person(struct tui *tui);

/* --- act.c --- */

void tui_send_line(struct tui *tui);
void tui_complete(struct tui *tui);
void tui_ask_tools(struct tui *tui, struct str owner);
/* Services, for calls that they want authorized: what was announced before we came. */
void tui_ask_pending(struct tui *tui);
void tui_show_help(struct tui *tui);
void tui_set_view(struct tui *tui, enum view view);

/* --- decide.c --- */

void tui_begin_verdict(struct tui *tui, enum verdict_type type);
void tui_begin_edit(struct tui *tui);
void tui_edited(struct tui *tui, struct str text);
/* The question is answered with yes, or with what was typed. */
void tui_conclude(struct tui *tui);
/* Allowed, and for so long. */
void tui_conclude_for(struct tui *tui, uint64_t valid_ms);
/* A call that came too early is an approval instead. False: it was another one. */
bool tui_approve_instead(struct tui *tui, const struct moot_outcome *outcome);
/* Does our yes run it, or is it one of several? */
bool tui_runs(const struct tui *tui, const struct inbox_item *item);
void tui_drop_verdict(struct tui *tui);
/* A proposal changed: a question about it that no longer makes sense is taken back. */
void tui_review_verdict(struct tui *tui);
/* Rejects it at once. */
void tui_reject(struct tui *tui, struct str id, struct str reason);
/* May the chosen one be run by us? */
void tui_consider(struct tui *tui);

/* --- keys.c --- */

void tui_press(struct tui *tui, struct key key);

/* --- view.c, view_inbox.c, view_people.c --- */

void tui_draw(struct tui *tui, uint64_t now_ms);
void view_inbox(struct tui *tui, struct area area, uint64_t now_ms);
void view_people(struct tui *tui, struct area area);
/* A line across, with a word in it. */
void view_rule(struct canvas *canvas, struct area area, unsigned row, struct str word);
/* How many rows a list above a text has: a part of the area, but a few where there is
 * room for them, and never all. */
unsigned view_list_rows(struct area area, unsigned part);
/* "↓ 12 more lines", at the right of a row. */
void view_more(struct canvas *canvas, struct area area, unsigned row, size_t lines);
/* All that is known of an item, for reading. */
void view_put_item(const struct tui *tui, const struct inbox_item *item, struct buf *out,
                   uint64_t now_ms);
