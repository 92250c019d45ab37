/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/complete.h"

#include "base/plain.h"
#include "base/utf8.h"

enum { NAMES_BYTES = 512, WORD_BYTES = 4096 };

/* The last word of a chat, if it begins with an @. */
static void begin_mention(struct completion *c, struct str text)
{
    size_t at = text.len;

    while (at > 0 && text.ptr[at - 1] != ' ' && text.ptr[at - 1] != '\n')
        at--;
    if (at == text.len || text.ptr[at] != '@')
        return;
    c->word = WORD_PARTICIPANT;
    c->from = at;
    c->typed = str_slice(text, at + 1, text.len);
    c->is_mention = true;
}

static void begin_command(struct completion *c, struct str text)
{
    c->word = WORD_COMMAND;
    c->typed = str_slice(text, 1, text.len);
}

/* The text is one word that has not ended. */
static bool is_last(struct str text, struct arena *arena)
{
    struct str word;

    if (str_starts(text, S("\"")))
        return command_take_word(&text, arena, &word) != OK;
    return str_find(text, ' ', 0) == text.len;
}

/* The word that the text ends with: what comes before it is whole. */
static void begin_word(struct completion *c, const struct command_row *row,
                       struct str text, struct arena *arena)
{
    struct str rest = str_slice(text, 1 + row->name.len, text.len);

    for (size_t i = 0; i < COMMAND_WORDS && row->words[i]; i++) {
        struct str word;

        while (rest.len && rest.ptr[0] == ' ')
            rest = str_slice(rest, 1, rest.len);
        c->from = text.len - rest.len;
        c->typed = rest;
        if (is_last(rest, arena)) {
            c->word = row->words[i];
            break;
        }
        if (command_take_word(&rest, arena, &word))
            return;
        c->who = word;
    }
    if (c->word && str_starts(c->typed, S("\"")))
        c->typed = str_slice(c->typed, 1, c->typed.len);
    if (c->word == WORD_PARTICIPANT && str_starts(c->typed, S("@")))
        c->typed = str_slice(c->typed, 1, c->typed.len);
    if (str_starts(c->who, S("@")))
        c->who = str_slice(c->who, 1, c->who.len);
}

void complete_begin(struct completion *c, struct str before_cursor, struct arena *arena)
{
    size_t end = str_find(before_cursor, ' ', 0);
    const struct command_row *row;

    *c = (struct completion){};
    buf_init(&c->names, NAMES_BYTES);
    buf_init(&c->common, WORD_BYTES);
    if (!str_starts(before_cursor, S("/")) || str_starts(before_cursor, S("//"))) {
        begin_mention(c, before_cursor);
        return;
    }
    row = command_find(str_slice(before_cursor, 1, end));
    if (end == before_cursor.len)
        begin_command(c, before_cursor);
    else if (row)
        begin_word(c, row, before_cursor, arena);
}

void complete_done(struct completion *c)
{
    buf_done(&c->names);
    buf_done(&c->common);
}

static size_t count_equal(struct str a, struct str b)
{
    size_t len = 0;

    while (len < a.len && len < b.len && a.ptr[len] == b.ptr[len])
        len++;
    /* Not inside a character. */
    while (len > 0 && len < a.len && utf8_is_tail((unsigned char)a.ptr[len]))
        len--;
    return len;
}

static void put_name(struct completion *c, struct str name)
{
    if (c->names.len + name.len + 8 > NAMES_BYTES) {
        if (!c->names.is_full)
            buf_put(&c->names, S(" …"));
        c->names.is_full = true;
        return;
    }
    if (c->names.len)
        buf_put(&c->names, S("  "));
    plain_put(&c->names, name, PLAIN_LINE);
}

void complete_offer(struct completion *c, struct str candidate)
{
    if (candidate.len < c->typed.len ||
        !str_ieq(str_slice(candidate, 0, c->typed.len), c->typed))
        return;
    if (c->count == 0)
        buf_put(&c->common, str_slice(candidate, 0, WORD_BYTES));
    else
        c->common.len = count_equal(buf_str(&c->common), candidate);
    c->count++;
    put_name(c, candidate);
}

bool complete_put(const struct completion *c, struct buf *out)
{
    struct str common = buf_str(&c->common);
    bool is_whole = c->count == 1;

    if (c->count == 0 || (!is_whole && common.len <= c->typed.len))
        return false;
    if (c->is_mention) {
        buf_putc(out, '@');
        buf_put(out, common);
    } else if (c->word == WORD_COMMAND) {
        buf_putc(out, '/');
        buf_put(out, common);
    } else if (is_whole) {
        command_put_word(out, common);
    } else {
        if (str_find(common, ' ', 0) < common.len)
            buf_putc(out, '"');
        buf_put(out, common);
    }
    if (is_whole)
        buf_putc(out, ' ');
    return true;
}
