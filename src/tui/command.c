/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/command.h"

#include "base/cleanup.h"
#include "json/json.h"

enum { DEPTH = 64, ARGUMENT_BYTES = 1 << 20 };

/* clang-format off */
const struct command_row command_rows[] = {
    { S("approve"),  COMMAND_APPROVE,  { WORD_PROPOSAL }, 1, "/approve N",
      "show a proposal, and run it after a y" },
    { S("call"),     COMMAND_CALL,     { WORD_PARTICIPANT, WORD_TOOL }, 2, "/call WHO TOOL [NAME=VALUE … | {JSON}]",
      "call a tool" },
    { S("help"),     COMMAND_HELP,     {}, 0, "/help", "keys and commands" },
    { S("inbox"),    COMMAND_INBOX,    {}, 0, "/inbox", "what waits for a decision" },
    { S("propose"),  COMMAND_PROPOSE,  { WORD_PARTICIPANT, WORD_TOOL }, 2, "/propose WHO TOOL [ARGUMENTS] [-- WHY]",
      "propose that somebody calls it" },
    { S("quit"),     COMMAND_QUIT,     {}, 0, "/quit", "leave" },
    { S("raw"),      COMMAND_RAW,      { WORD_ENTRY }, 0, "/raw [N]", "an envelope as it came; the last one" },
    { S("reject"),   COMMAND_REJECT,   { WORD_PROPOSAL }, 1, "/reject N [WHY]", "reject a proposal" },
    { S("tools"),    COMMAND_TOOLS,    { WORD_PARTICIPANT }, 1, "/tools WHO", "what somebody offers" },
    { S("who"),      COMMAND_WHO,      { WORD_PARTICIPANT }, 0, "/who [WHO]", "who is here, and what they may do" },
    { S("withdraw"), COMMAND_WITHDRAW, { WORD_PROPOSAL }, 1, "/withdraw N", "take back what you proposed" },
};
/* clang-format on */
const size_t command_count = COUNT(command_rows);

const struct command_row *command_find(struct str name)
{
    for (size_t i = 0; i < command_count; i++)
        if (str_eq(command_rows[i].name, name))
            return &command_rows[i];
    return NULL;
}

static void skip_spaces(struct str *rest)
{
    while (rest->len && rest->ptr[0] == ' ')
        *rest = str_slice(*rest, 1, rest->len);
}

static bool ends_word(struct str rest)
{
    return rest.len == 0 || rest.ptr[0] == ' ';
}

/* A JSON value that the text begins with, taken off it. */
static enum err take_json(struct str *rest, struct json_span *ret)
{
    struct json_scan scan;
    enum err err;

    json_scan_init(&scan, *rest, DEPTH);
    err = json_value(&scan, ret);
    if (err)
        return err;
    *rest = str_slice(*rest, scan.at, rest->len);
    return ends_word(*rest) ? OK : ERR_INVALID;
}

static struct str take_plain(struct str *rest)
{
    size_t end = str_find(*rest, ' ', 0);
    struct str word = str_slice(*rest, 0, end);

    *rest = str_slice(*rest, end, rest->len);
    return word;
}

enum err command_take_word(struct str *rest, struct arena *arena, struct str *ret)
{
    struct json_span string;
    enum err err;

    skip_spaces(rest);
    if (!str_starts(*rest, S("\""))) {
        *ret = take_plain(rest);
        return OK;
    }
    err = take_json(rest, &string);
    return err ? err : json_unescape(string, arena, ret);
}

void command_put_word(struct buf *out, struct str word)
{
    bool is_plain = word.len > 0 && word.ptr[0] != '"' && word.ptr[0] != '@' &&
                    str_find(word, ' ', 0) == word.len &&
                    str_find(word, '\n', 0) == word.len;
    struct json_writer w;

    if (is_plain) {
        buf_put(out, word);
        return;
    }
    json_write_init(&w, out);
    json_str(&w, word);
}

/* --- arguments --- */

static bool is_json_word(struct str word)
{
    struct json_span value;
    struct str rest = word;

    return take_json(&rest, &value) == OK && rest.len == 0;
}

/* NAME=VALUE: a JSON value is one, everything else is a text. */
static enum err put_pair(struct json_writer *w, struct str *rest)
{
    size_t equals = str_find(*rest, '=', 0);
    struct str before, word;
    struct json_span value;
    enum err err;

    if (equals == 0 || equals >= str_find(*rest, ' ', 0))
        return ERR_INVALID;
    json_key(w, str_slice(*rest, 0, equals));
    *rest = str_slice(*rest, equals + 1, rest->len);
    if (rest->len && strchr("\"{[", rest->ptr[0])) {
        before = *rest;
        err = take_json(rest, &value);
        if (err)
            return err;
        json_raw(w, str_slice(before, 0, (size_t)(rest->ptr - before.ptr)));
        return OK;
    }
    word = take_plain(rest);
    if (is_json_word(word))
        json_raw(w, word);
    else
        json_str(w, word);
    return OK;
}

static bool begins_reason(struct str rest)
{
    return str_starts(rest, S("--")) && ends_word(str_slice(rest, 2, rest.len));
}

static enum err put_pairs(struct json_writer *w, struct str *rest)
{
    json_object_open(w);
    for (skip_spaces(rest); rest->len && !begins_reason(*rest); skip_spaces(rest)) {
        enum err err = put_pair(w, rest);

        if (err)
            return err;
    }
    json_object_close(w);
    return OK;
}

static enum err put_object(struct json_writer *w, struct str *rest)
{
    struct str before = *rest;
    struct json_span object;
    enum err err = take_json(rest, &object);

    if (err)
        return err;
    json_raw(w, str_slice(before, 0, (size_t)(rest->ptr - before.ptr)));
    skip_spaces(rest);
    return rest->len == 0 || begins_reason(*rest) ? OK : ERR_INVALID;
}

/* Both ways to write them; none at all is "". */
static enum err take_arguments(struct str *rest, struct arena *arena, struct str *ret,
                               const char **ret_why)
{
    const struct json *tree;
    struct json_writer w;
    struct buf out;
    enum err err;

    skip_spaces(rest);
    if (rest->len == 0 || begins_reason(*rest))
        return OK;
    buf_init(&out, ARGUMENT_BYTES);
    json_write_init(&w, &out);
    err = str_starts(*rest, S("{")) ? put_object(&w, rest) : put_pairs(&w, rest);
    if (!err)
        *ret = arena_str(arena, buf_str(&out));
    buf_done(&out);
    *ret_why = "arguments are NAME=VALUE, or one JSON object";
    if (err || !ret->ptr)
        return ERR_INVALID;
    *ret_why = "the arguments name something twice";
    return json_parse(*ret, arena, &tree, NULL) ? ERR_INVALID : OK;
}

/* --- the whole line --- */

/* "@files" is the participant "files". */
static enum err take_words(const struct command_row *row, struct str *rest,
                           struct arena *arena, struct command *ret)
{
    for (size_t i = 0; i < COMMAND_WORDS && row->words[i]; i++) {
        struct str word;
        bool is_quoted;
        enum err err;

        skip_spaces(rest);
        is_quoted = str_starts(*rest, S("\""));
        err = command_take_word(rest, arena, &word);
        if (err)
            return err;
        if (!is_quoted && row->words[i] == WORD_PARTICIPANT && str_starts(word, S("@")))
            word = str_slice(word, 1, word.len);
        if (word.len == 0 && i < row->needed)
            return ERR_INVALID;
        ret->words[i] = word;
    }
    return OK;
}

static enum err take_rest(struct str rest, struct arena *arena, struct command *ret,
                          const char **ret_why)
{
    enum err err = OK;

    if (ret->type == COMMAND_CALL || ret->type == COMMAND_PROPOSE)
        err = take_arguments(&rest, arena, &ret->arguments, ret_why);
    if (err)
        return err;
    if (ret->type == COMMAND_PROPOSE && begins_reason(rest))
        rest = str_slice(rest, 2, rest.len);
    else if (ret->type != COMMAND_REJECT && str_trim(rest).len) {
        *ret_why = "that is more than this command takes";
        return ERR_INVALID;
    }
    ret->text = str_trim(rest);
    return OK;
}

enum err command_parse(struct str line, struct arena *arena, struct command *ret,
                       const char **ret_why)
{
    struct command c = { .type = COMMAND_CHAT, .text = line };
    const struct command_row *row;
    struct str rest = line;
    enum err err;

    if (!str_starts(line, S("/")) || str_starts(line, S("//"))) {
        c.text = str_slice(line, str_starts(line, S("//")) ? 1 : 0, line.len);
        *ret = c;
        return OK;
    }
    row = command_find(str_slice(take_plain(&rest), 1, line.len));
    *ret_why = "there is no such command; /help lists them";
    if (!row)
        return ERR_INVALID;
    c = (struct command){ .type = row->type };
    *ret_why = row->usage;
    err = take_words(row, &rest, arena, &c);
    if (err)
        return ERR_INVALID;
    err = take_rest(rest, arena, &c, ret_why);
    if (err)
        return err;
    *ret = c;
    return OK;
}
