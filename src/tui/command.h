/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a line means when it is sent: a chat, or a command that begins with a slash.
 *
 *     /call files read_file path=/etc/motd lines=3
 *     /propose files write_file {"path":"a","text":"b c"} -- the list is out of date
 *     /reject 17 not on a Friday
 *     //usr/bin is a text that begins with a slash
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum command_type {
    COMMAND_CHAT,
    COMMAND_CALL,
    COMMAND_PROPOSE,
    COMMAND_APPROVE,
    COMMAND_REJECT,
    COMMAND_WITHDRAW,
    COMMAND_INBOX,
    COMMAND_WHO,
    COMMAND_TOOLS,
    COMMAND_RAW,
    COMMAND_HELP,
    COMMAND_QUIT,
};

/* What a word of a command is, for completion. */
enum command_word {
    WORD_NONE,
    WORD_COMMAND,
    WORD_PARTICIPANT,
    WORD_TOOL,     /* of the participant before it */
    WORD_PROPOSAL, /* an open one: the number of its entry, or its id */
    WORD_ENTRY,    /* the number of an entry, or its id */
};

enum { COMMAND_WORDS = 2 };

struct command_row {
    struct str name; /* without the slash */
    enum command_type type;
    enum command_word words[COMMAND_WORDS];
    size_t needed; /* of the words */
    const char *usage;
    const char *help;
};

extern const struct command_row command_rows[];
extern const size_t command_count;

/* The command of that name, or NULL. */
const struct command_row *command_find(struct str name);

struct command {
    enum command_type type;
    struct str words[COMMAND_WORDS]; /* "" where they are missing */
    struct str text;                 /* a chat; the reason of a rejection or proposal */
    struct str arguments;            /* a JSON object; "" where none were given */
};

/* ERR_INVALID: *ret_why, static text, says what is wrong. The result borrows from the
 * line and from the arena. */
enum err command_parse(struct str line, struct arena *arena, struct command *ret,
                       const char **ret_why);

/* Takes the first word off: up to a space, or a JSON string in quotes. ERR_INVALID: the
 * quotes do not end, or no space follows. */
enum err command_take_word(struct str *rest, struct arena *arena, struct str *ret);

/* Writes a word so that it is read as one again. */
void command_put_word(struct buf *out, struct str word);
