/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/line.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "tui/wrap.h"

void line_init(struct line *line)
{
    *line = (struct line){};
    buf_init(&line->text, LINE_MAX_BYTES);
    buf_init(&line->cut, LINE_MAX_BYTES);
}

void line_done(struct line *line)
{
    buf_done(&line->text);
    buf_done(&line->cut);
}

struct str line_text(const struct line *line)
{
    return buf_str(&line->text);
}

static struct str left(const struct line *line)
{
    return str_slice(line_text(line), 0, line->at);
}

static struct str right(const struct line *line)
{
    return str_slice(line_text(line), line->at, line->text.len);
}

enum err line_set(struct line *line, struct str text)
{
    if (text.len > LINE_MAX_BYTES)
        return ERR_TOO_BIG;
    buf_clear(&line->text);
    buf_put(&line->text, text);
    line->at = line->text.len;
    return OK;
}

/* What stands from `from` to the cursor goes, `text` comes. */
enum err line_replace(struct line *line, size_t from, struct str text)
{
    size_t behind = line->text.len - line->at;
    enum err err = buf_reserve(&line->text, text.len);

    if (err || !line->text.ptr)
        return err; /* nothing is put where nothing is */
    memmove(line->text.ptr + from + text.len, line->text.ptr + line->at, behind);
    if (text.len)
        memcpy(line->text.ptr + from, text.ptr, text.len);
    line->text.len = from + text.len + behind;
    line->at = from + text.len;
    return OK;
}

enum err line_insert(struct line *line, struct str text)
{
    return line_replace(line, line->at, text);
}

/* --- where the cursor can go --- */

static size_t one_left(const struct line *line)
{
    return line->at ? line->at - cluster_last(left(line)).text.len : 0;
}

static size_t one_right(const struct line *line)
{
    return line->at < line->text.len ? line->at + cluster_first(right(line)).text.len
                                     : line->at;
}

static bool is_between_words(char c)
{
    return c == ' ' || c == '\n';
}

static size_t word_left(const struct line *line)
{
    size_t at = line->at;

    while (at > 0 && is_between_words(line->text.ptr[at - 1]))
        at--;
    while (at > 0 && !is_between_words(line->text.ptr[at - 1]))
        at--;
    return at;
}

static size_t word_right(const struct line *line)
{
    size_t at = line->at;

    while (at < line->text.len && is_between_words(line->text.ptr[at]))
        at++;
    while (at < line->text.len && !is_between_words(line->text.ptr[at]))
        at++;
    return at;
}

static size_t home(const struct line *)
{
    return 0;
}

static size_t end(const struct line *line)
{
    return line->text.len;
}

static size_t nowhere(const struct line *line)
{
    return line->at;
}

enum what { MOVE, ERASE, CUT, PUT };

/* clang-format off */
static const struct {
    size_t (*to)(const struct line *line);
    enum what what;
} keys[LINE_KEYS] = {
    [LINE_LEFT]        = { one_left,   MOVE },
    [LINE_RIGHT]       = { one_right,  MOVE },
    [LINE_WORD_LEFT]   = { word_left,  MOVE },
    [LINE_WORD_RIGHT]  = { word_right, MOVE },
    [LINE_HOME]        = { home,       MOVE },
    [LINE_END]         = { end,        MOVE },
    [LINE_ERASE_LEFT]  = { one_left,   ERASE },
    [LINE_ERASE_RIGHT] = { one_right,  ERASE },
    [LINE_CUT_WORD]    = { word_left,  CUT },
    [LINE_CUT_LEFT]    = { home,       CUT },
    [LINE_CUT_RIGHT]   = { end,        CUT },
    [LINE_PASTE]       = { nowhere,    PUT },
};
/* clang-format on */

static void cut(struct line *line, size_t from, size_t to)
{
    if (from == to)
        return;
    buf_clear(&line->cut);
    buf_put(&line->cut, str_slice(line_text(line), from, to));
}

void line_key(struct line *line, enum line_key key)
{
    size_t to = keys[key].to(line);
    size_t from = to < line->at ? to : line->at;

    if (to < line->at)
        to = line->at;
    switch (keys[key].what) {
    case MOVE: line->at = from < line->at ? from : to; break;
    case PUT: (void)line_insert(line, buf_str(&line->cut)); break; /* or it is full */
    case CUT: cut(line, from, to); [[fallthrough]];
    case ERASE:
        line->at = to;
        (void)line_replace(line, from, S("")); /* shorter always fits */
        break;
    }
}

struct line_view line_view(const struct line *line, size_t columns)
{
    struct line_view view = { .cursor = wrap_columns(left(line)) };
    struct str text = line_text(line);

    /* The cursor wants a column too, also behind the end. */
    while (view.cursor + 1 > columns && view.from < line->at) {
        struct cluster c = cluster_first(str_slice(text, view.from, text.len));

        view.from += c.text.len;
        view.cursor -= c.columns;
    }
    return view;
}

/* --- lines that were sent --- */

void history_done(struct history *history)
{
    for (size_t i = 0; i < history->count; i++)
        free(history->lines[i]);
    free(history->draft);
    *history = (struct history){};
}

void history_add(struct history *history, struct str text)
{
    char **lines = history->lines;

    free(TAKE(history->draft));
    history->at = history->count;
    if (text.len == 0 ||
        (history->count && str_eq(str_of(lines[history->count - 1]), text)))
        return;
    if (history->count == HISTORY_LINES) {
        free(lines[0]);
        history->count--;
        memmove(lines, lines + 1, history->count * sizeof(lines[0]));
    }
    lines[history->count++] = str_dup(text);
    history->at = history->count;
}

static void show(struct history *history, struct line *line)
{
    const char *text =
        history->at < history->count ? history->lines[history->at] : history->draft;

    (void)line_set(line, str_of(text)); /* it was a line before */
}

bool history_older(struct history *history, struct line *line)
{
    if (history->at == 0)
        return false;
    if (history->at == history->count) {
        free(history->draft);
        history->draft = str_dup(line_text(line));
    }
    history->at--;
    show(history, line);
    return true;
}

bool history_newer(struct history *history, struct line *line)
{
    if (history->at == history->count)
        return false;
    history->at++;
    show(history, line);
    return true;
}
