/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What keys mean, in the view that is shown.
 */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "tui/pager.h"
#include "tui/tui_priv.h"

/* --- typing --- */

/* clang-format off */
static const struct {
    enum press press;
    uint32_t character; /* PRESS_CONTROL */
    enum line_key key;
} line_keys[] = {
    { PRESS_LEFT,       0,   LINE_LEFT },
    { PRESS_RIGHT,      0,   LINE_RIGHT },
    { PRESS_HOME,       0,   LINE_HOME },
    { PRESS_END,        0,   LINE_END },
    { PRESS_WORD_LEFT,  0,   LINE_WORD_LEFT },
    { PRESS_WORD_RIGHT, 0,   LINE_WORD_RIGHT },
    { PRESS_BACKSPACE,  0,   LINE_ERASE_LEFT },
    { PRESS_DELETE,     0,   LINE_ERASE_RIGHT },
    { PRESS_CONTROL,    'b', LINE_LEFT },
    { PRESS_CONTROL,    'f', LINE_RIGHT },
    { PRESS_CONTROL,    'a', LINE_HOME },
    { PRESS_CONTROL,    'e', LINE_END },
    { PRESS_CONTROL,    'w', LINE_CUT_WORD },
    { PRESS_CONTROL,    'u', LINE_CUT_LEFT },
    { PRESS_CONTROL,    'k', LINE_CUT_RIGHT },
    { PRESS_CONTROL,    'y', LINE_PASTE },
};
/* clang-format on */

static void type(struct tui *tui, struct line *line, uint32_t character)
{
    char utf8[4];
    size_t len = utf8_write(character, utf8);

    if (line_insert(line, (struct str){ utf8, len }))
        tui_notice(tui, STYLE_BAD, "the line is full");
}

/* False: this key is not about the line. */
static bool press_in_line(struct tui *tui, struct line *line, struct key key)
{
    if (key.press == PRESS_TEXT) {
        type(tui, line, key.character);
        return true;
    }
    for (size_t i = 0; i < COUNT(line_keys); i++)
        if (line_keys[i].press == key.press &&
            (key.press != PRESS_CONTROL || line_keys[i].character == key.character)) {
            line_key(line, line_keys[i].key);
            return true;
        }
    return false;
}

/* Inside pasted text nothing is a command: breaks and tabs are text. */
static void paste(struct tui *tui, struct line *line, struct key key)
{
    switch (key.press) {
    case PRESS_TEXT: type(tui, line, key.character); break;
    case PRESS_ENTER: type(tui, line, '\n'); break;
    case PRESS_TAB: type(tui, line, ' '); break;
    default: break;
    }
}

/* --- views --- */

static int page_of(const struct tui *tui)
{
    return tui->area.rows > 2 ? (int)tui->area.rows - 1 : 1;
}

static void cycle(struct tui *tui)
{
    static const enum view next[] = {
        [VIEW_ROOM] = VIEW_INBOX,
        [VIEW_INBOX] = VIEW_PEOPLE,
        [VIEW_PEOPLE] = VIEW_ROOM,
        [VIEW_TEXT] = VIEW_ROOM,
    };

    tui_set_view(tui, next[tui->view]);
}

/* At the end already, it is the banner that goes. */
static void escape_room(struct tui *tui)
{
    if (!tui->timeline.pin)
        tui->status.has_gap = false;
    room_follow(&tui->timeline);
}

static void press_in_room(struct tui *tui, struct key key)
{
    switch (key.press) {
    case PRESS_ENTER: tui_send_line(tui); return;
    case PRESS_UP: (void)history_older(&tui->history, &tui->line); return;
    case PRESS_DOWN: (void)history_newer(&tui->history, &tui->line); return;
    case PRESS_PAGE_UP: room_scroll(&tui->timeline, tui->area, -page_of(tui)); return;
    case PRESS_PAGE_DOWN: room_scroll(&tui->timeline, tui->area, page_of(tui)); return;
    case PRESS_ESCAPE: escape_room(tui); return;
    case PRESS_TAB:
        if (tui->line.text.len)
            tui_complete(tui);
        else
            cycle(tui);
        return;
    default: break;
    }
    if (key.press == PRESS_CONTROL && key.character == 'd' && tui->line.text.len == 0)
        tui->is_leaving = true;
    else if (key.press == PRESS_CONTROL && key.character == 'd')
        line_key(&tui->line, LINE_ERASE_RIGHT);
    else
        (void)press_in_line(tui, &tui->line, key);
}

/* PgUp and PgDn in a long text, of which `scroll` is the first line shown. */
static bool press_in_text(struct tui *tui, struct key key, struct str text,
                          size_t *scroll)
{
    int by;

    if (key.press == PRESS_PAGE_UP)
        by = -page_of(tui);
    else if (key.press == PRESS_PAGE_DOWN ||
             (key.press == PRESS_TEXT && key.character == ' '))
        by = page_of(tui);
    else
        return false;
    *scroll = pager_scroll(tui->area, text, *scroll, by);
    return true;
}

static bool is_back(struct key key)
{
    return key.press == PRESS_ESCAPE || (key.press == PRESS_TEXT && key.character == 'q');
}

static void press_in_help(struct tui *tui, struct key key)
{
    struct str body = buf_str(&tui->text.body);

    if (is_back(key) || key.press == PRESS_TAB) {
        tui_set_view(tui, VIEW_ROOM);
        return;
    }
    if (press_in_text(tui, key, body, &tui->text.scroll))
        return;
    if (key.press == PRESS_UP)
        tui->text.scroll = pager_scroll(tui->area, body, tui->text.scroll, -1);
    else if (key.press == PRESS_DOWN)
        tui->text.scroll = pager_scroll(tui->area, body, tui->text.scroll, 1);
}

static void press_in_people(struct tui *tui, struct key key)
{
    size_t chosen = people_chosen(&tui->people);

    if (press_in_text(tui, key, buf_str(&tui->person), &tui->people.scroll))
        return;
    if (is_back(key) || key.press == PRESS_TAB)
        tui_set_view(tui, VIEW_ROOM);
    else if (key.press == PRESS_UP)
        people_move(&tui->people, -1);
    else if (key.press == PRESS_DOWN)
        people_move(&tui->people, 1);
    else if (key.press == PRESS_TEXT && key.character == 't' && tui->people.count)
        tui_ask_tools(tui, str_of(tui->people.list[chosen].id));
}

/* --- the inbox --- */

static void scroll_item(struct tui *tui, struct key key)
{
    struct buf text;

    if (!tui->inbox.chosen)
        return;
    buf_init(&text, TEXT_BYTES);
    view_put_item(tui, tui->inbox.chosen, &text, 0);
    (void)press_in_text(tui, key, buf_str(&text), &tui->inbox.scroll);
    buf_done(&text);
}

static void press_letter(struct tui *tui, uint32_t letter)
{
    switch (letter) {
    case 'a': tui_begin_verdict(tui, VERDICT_RUN); break;
    case 'e': tui_begin_edit(tui); break;
    case 'r': tui_begin_verdict(tui, VERDICT_REJECT); break;
    case 'w': tui_begin_verdict(tui, VERDICT_WITHDRAW); break;
    case 'd': tui_begin_verdict(tui, VERDICT_DELEGATE); break;
    default: break;
    }
}

enum { HOUR_MS = 3600'000, DAY_MS = 24 * HOUR_MS };

/* What is allowed may hold for a while. 0: the key says nothing of that. */
static uint64_t time_of(const struct tui *tui, uint32_t character)
{
    const struct inbox_item *item =
        inbox_find(&tui->inbox, str_of(tui->decision.verdict.id));

    if (tui->decision.question != ASK_RUN || !item || !item->owner)
        return 0;
    if (character == 'h')
        return HOUR_MS;
    return character == 'd' ? DAY_MS : 0;
}

/* Yes or no. Keys that came before the question was seen answer nothing. */
static void press_yes_or_no(struct tui *tui, struct key key)
{
    bool is_text = key.press == PRESS_TEXT && tui->decision.is_shown;
    bool can_edit = tui->decision.question == ASK_EDIT_AGAIN;

    if (key.press == PRESS_ESCAPE || (is_text && key.character == 'n')) {
        tui_drop_verdict(tui);
        tui_notice(tui, STYLE_DIM, "nothing was done");
    } else if (is_text && key.character == 'y' && !can_edit) {
        tui_conclude(tui);
    } else if (is_text && time_of(tui, key.character)) {
        tui_conclude_for(tui, time_of(tui, key.character));
    } else if (is_text && key.character == 'e' && can_edit) {
        tui_begin_edit(tui);
    } else {
        scroll_item(tui, key);
    }
}

static void press_answer(struct tui *tui, struct key key)
{
    if (key.press == PRESS_ENTER) {
        tui_conclude(tui);
    } else if (key.press == PRESS_ESCAPE) {
        tui_drop_verdict(tui);
        tui_notice(tui, STYLE_DIM, "nothing was done");
    } else if (!press_in_line(tui, &tui->decision.line, key)) {
        scroll_item(tui, key);
    }
}

static void press_in_inbox(struct tui *tui, struct key key)
{
    switch (tui->decision.question) {
    case ASK_NOTHING: break;
    case ASK_RUN:
    case ASK_WITHDRAW:
    case ASK_EDIT_AGAIN: press_yes_or_no(tui, key); return;
    case ASK_TO:
    case ASK_DELEGATE:
    case ASK_REASON: press_answer(tui, key); return;
    }
    if (is_back(key))
        tui_set_view(tui, VIEW_ROOM);
    else if (key.press == PRESS_TAB)
        cycle(tui);
    else if (key.press == PRESS_UP)
        (void)inbox_move(&tui->inbox, -1);
    else if (key.press == PRESS_DOWN)
        (void)inbox_move(&tui->inbox, 1);
    else if (key.press == PRESS_TEXT && key.character != ' ')
        press_letter(tui, key.character);
    else
        scroll_item(tui, key);
}

/* --- everywhere --- */

/* Takes back what is typed or asked; on an empty line it says how to leave. */
static void interrupt(struct tui *tui)
{
    if (tui->view != VIEW_ROOM)
        tui_set_view(tui, VIEW_ROOM);
    else if (tui->line.text.len)
        (void)line_set(&tui->line, S("")); /* it always fits */
    else
        tui_notice(tui, STYLE_DIM, "Ctrl-D or /quit leaves");
}

static bool press_anywhere(struct tui *tui, struct key key)
{
    switch (key.press) {
    case PRESS_HELP: tui_show_help(tui); return true;
    case PRESS_INBOX: tui_set_view(tui, VIEW_INBOX); return true;
    case PRESS_PEOPLE: tui_set_view(tui, VIEW_PEOPLE); return true;
    case PRESS_PASTE: tui->is_pasting = true; return true;
    case PRESS_PASTE_ENDS: tui->is_pasting = false; return true;
    case PRESS_CONTROL: break;
    default: return false;
    }
    if (key.character == 'c')
        interrupt(tui);
    else if (key.character == 'l')
        screen_redraw();
    else if (key.character == 'z')
        tui->wants_stop = true;
    else
        return false;
    return true;
}

static struct line *line_of(struct tui *tui)
{
    bool is_asked = tui->decision.question == ASK_TO ||
                    tui->decision.question == ASK_REASON ||
                    tui->decision.question == ASK_DELEGATE;

    if (tui->view == VIEW_ROOM)
        return &tui->line;
    return tui->view == VIEW_INBOX && is_asked ? &tui->decision.line : NULL;
}

void tui_press(struct tui *tui, struct key key)
{
    tui->needs_drawing = true;
    if (tui->is_pasting && key.press != PRESS_PASTE_ENDS) {
        if (line_of(tui))
            paste(tui, line_of(tui), key);
        return;
    }
    buf_clear(&tui->notice.text);
    if (press_anywhere(tui, key))
        return;
    switch (tui->view) {
    case VIEW_ROOM: press_in_room(tui, key); break;
    case VIEW_INBOX: press_in_inbox(tui, key); break;
    case VIEW_PEOPLE: press_in_people(tui, key); break;
    case VIEW_TEXT: press_in_help(tui, key); break;
    }
}
