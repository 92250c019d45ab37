/* SPDX-License-Identifier: Apache-2.0 */
/* moot send, moot chat: envelopes, one after the other, each taken before the next. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/arguments.h"
#include "cli/input.h"
#include "cli/session.h"
#include "json/json.h"

enum { TEXT_BYTES = 16 << 20, LINE_BYTES = 1 << 20, READ_BYTES = 65536, AGAIN_MS = 250 };

/* --- send --- */

struct send_options {
    struct session_options session;
    struct cli_list to;
    const char *kind, *payload, *correlation;
};

#define OPT(member) CLI_AT(struct send_options, member)

/* clang-format off */
static const struct cli_option send_options[] = {
    { "--kind",        "KIND", "of the envelope: participant/status, mcp/approve …", OPT(kind) },
    { "--to",          "PARTICIPANT",   "to this participant; may be given again",            OPT(to) },
    { "--payload",     "JSON", "an object, @FILE or - for standard input; else {}",  OPT(payload) },
    { "--correlation", "ID",   "the envelope it refers to",                          OPT(correlation) },
    CLI_SESSION(struct send_options),
};
/* clang-format on */

struct sending {
    const struct send_options *options;
    const char *payload;
};

/* The id is what others will refer to. */
static void on_sent(struct moot *m [[maybe_unused]], void *user,
                    const struct moot_outcome *outcome)
{
    struct session *session = user;
    struct buf out;

    if (outcome->type == MOOT_SENT && !session->options->json) {
        buf_init(&out, LINE_BYTES);
        buf_putf(&out, "%s\n", outcome->id);
        session_print(session, &out);
        buf_done(&out);
    }
    session_end(session, session->options->json || outcome->type != MOOT_SENT
                             ? session_report(session, outcome)
                             : CLI_OK);
}

static void begin_send(struct session *session)
{
    const struct sending *sending = session->user;
    struct moot_envelope envelope = {
        .kind = sending->options->kind,
        .payload = sending->payload,
        .correlation_id = sending->options->correlation,
        .to = sending->options->to.items,
        .to_count = sending->options->to.count,
        .on_done = on_sent,
        .user = session,
    };
    enum moot_err err = moot_send(session->moot, &envelope, NULL);

    if (err)
        session_end(session, session_fail(session, err));
}

static int send_one(void *fields, char **arguments [[maybe_unused]],
                    size_t count [[maybe_unused]])
{
    const struct send_options *o = fields;
    struct sending sending = { .options = o };
    struct session_plan plan = { .on_begin = begin_send, .user = &sending };
    struct str object;
    struct buf payload;
    int code;

    if (!o->kind)
        return cli_fail("--kind says what is sent; see `moot send --help`"), CLI_USAGE;
    buf_init(&payload, TEXT_BYTES);
    code = cli_read_value(o->payload ? o->payload : "{}", &payload);
    if (code == CLI_OK)
        code = cli_check_object("--payload", buf_str(&payload), &object);
    if (code == CLI_OK) {
        sending.payload = buf_cstr(&payload);
        code = session_run(&o->session, &plan);
    }
    buf_done(&payload);
    return code;
}

const struct cli_command cli_send = {
    .name = "send",
    .usage = "TOPIC --kind KIND [OPTIONS]",
    .summary = "send an envelope; prints its id",
    .more = "  moot send lobby --kind participant/status --payload '{\"busy\":true}'\n",
    .options = send_options,
    .option_count = COUNT(send_options),
    .run = send_one,
    .options_size = sizeof(struct send_options),
    .takes_topic = true,
};

/* --- chat --- */

struct chat_options {
    struct session_options session;
};

static const struct cli_option chat_options[] = { CLI_SESSION(struct chat_options) };

struct talk {
    struct buf text;    /* the words, or what was read and not said yet */
    struct buf payload; /* of what was said last */
    bool has_words;     /* on the command line: one chat, line breaks included */
    bool is_at_end;     /* nothing more will be read */
    int code;
};

static void say_next(struct session *session);

static void on_said(struct moot *m [[maybe_unused]], void *user,
                    const struct moot_outcome *outcome)
{
    struct session *session = user;
    struct talk *talk = session->user;

    if (outcome->type == MOOT_REFUSED && strcmp(outcome->error, "rate_limited") == 0) {
        session_wake(session, AGAIN_MS); /* a pipe is faster than anybody may talk */
        return;
    }
    if (outcome->type != MOOT_SENT || session->options->json)
        talk->code = session_report(session, outcome);
    if (talk->code)
        session_end(session, talk->code);
    else
        say_next(session);
}

static void say(struct session *session)
{
    struct talk *talk = session->user;
    struct moot_envelope envelope = { .kind = "chat",
                                      .payload = buf_cstr(&talk->payload),
                                      .on_done = on_said,
                                      .user = session };
    enum moot_err err = moot_send(session->moot, &envelope, NULL);

    if (err == MOOT_OFFLINE || err == MOOT_FULL)
        session_wake(session, AGAIN_MS);
    else if (err)
        session_end(session, session_fail(session, err));
}

static void write_chat(struct talk *talk, struct str text)
{
    struct json_writer w;

    buf_clear(&talk->payload);
    json_write_init(&w, &talk->payload);
    json_object_open(&w);
    json_put_str(&w, S("text"), text);
    json_put_str(&w, S("format"), S("plain"));
    json_object_close(&w);
}

/* The next line that has something on it; false: there is none (yet). */
static bool take_line(struct talk *talk)
{
    while (talk->text.len) {
        struct str all = buf_str(&talk->text);
        size_t end = str_find(all, '\n', 0);
        struct str line = str_slice(all, 0, end);
        bool is_whole = end < all.len || talk->is_at_end || all.len >= LINE_BYTES;

        if (!is_whole)
            return false;
        if (str_ends(line, S("\r")))
            line.len--;
        if (line.len)
            write_chat(talk, line);
        buf_drop(&talk->text, end < all.len ? end + 1 : all.len);
        if (line.len)
            return true;
    }
    return false;
}

static void say_next(struct session *session)
{
    struct talk *talk = session->user;
    bool has_more = !talk->has_words && take_line(talk);

    if (has_more)
        say(session);
    else if (talk->is_at_end)
        session_end(session, CLI_OK);
    session->reads_input = !has_more && !talk->is_at_end;
}

static void on_input(struct session *session)
{
    struct talk *talk = session->user;
    ssize_t got;

    if (buf_reserve(&talk->text, READ_BYTES)) {
        session_end(session, cli_fail("a line is too long"));
        return;
    }
    got = read(STDIN_FILENO, talk->text.ptr + talk->text.len, READ_BYTES);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got < 0) {
        session_end(session, cli_fail("standard input: %s", strerror(errno)));
        return;
    }
    talk->text.len += (size_t)got;
    talk->is_at_end = got == 0;
    say_next(session);
}

static void begin_chat(struct session *session)
{
    struct talk *talk = session->user;

    if (!talk->has_words) {
        session->reads_input = true;
        return;
    }
    write_chat(talk, buf_str(&talk->text));
    talk->is_at_end = true;
    say(session);
}

static int chat(void *fields, char **arguments, size_t count)
{
    const struct chat_options *o = fields;
    struct talk talk = { .has_words = count > 0 };
    struct session_plan plan = {
        .on_begin = begin_chat, .on_input = on_input, .on_wake = say, .user = &talk
    };
    int code;

    buf_init(&talk.text, LINE_BYTES + READ_BYTES);
    buf_init(&talk.payload, TEXT_BYTES);
    for (size_t i = 0; i < count; i++) {
        buf_put(&talk.text, i ? S(" ") : S(""));
        buf_put(&talk.text, str_of(arguments[i]));
    }
    code = talk.text.is_full ? cli_fail("this is too long") : CLI_OK;
    if (code == CLI_OK)
        code = session_run(&o->session, &plan);
    buf_done(&talk.text);
    buf_done(&talk.payload);
    return code;
}

const struct cli_command cli_chat = {
    .name = "chat",
    .usage = "TOPIC [TEXT...]",
    .summary = "say something, or each line of standard input",
    .more = "  moot chat lobby The build is green.\n"
            "  make 2>&1 | grep -i warning | moot chat lobby\n",
    .options = chat_options,
    .option_count = COUNT(chat_options),
    .max_arguments = SIZE_MAX,
    .run = chat,
    .options_size = sizeof(struct chat_options),
    .takes_topic = true,
};
