/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot join: the room in a terminal (tui/).
 */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/session.h"
#include "tui/tui.h"

struct join_options {
    struct session_options session;
    const char *on_proposal;
};

/* clang-format off */
static const struct cli_option options[] = {
    { "--on-proposal", "COMMAND", "run for each proposal that comes: JSON on its input, $MOOT_PROPOSAL_…",
      CLI_AT(struct join_options, on_proposal) },
    CLI_PLACE(struct join_options),
};
/* clang-format on */

enum { WHY_BYTES = 64 << 10 };

static int enter(const struct join_options *o, struct session_target *target)
{
    struct tui_options room = {
        .connection = { .url = buf_cstr(&target->url),
                        .topic = o->session.topic,
                        .token = buf_cstr(&target->token),
                        .ca_file = o->session.ca },
        .on_proposal = o->on_proposal,
    };
    struct buf why;
    enum err err;

    buf_init(&why, WHY_BYTES);
    err = tui_run(&room, &why);
    if (err)
        (void)cli_fail("%s", buf_cstr(&why));
    buf_done(&why);
    if (err == ERR_INVALID)
        return CLI_USAGE;
    return err ? CLI_FAILED : CLI_OK;
}

static int join(void *fields, char **arguments [[maybe_unused]],
                size_t count [[maybe_unused]])
{
    const struct join_options *o = fields;
    struct session_target target;
    int code = session_find(&o->session, &target);

    if (code == CLI_OK)
        code = enter(o, &target);
    session_target_done(&target);
    return code;
}

const struct cli_command cli_join = {
    .name = "join",
    .usage = "TOPIC",
    .summary = "the room in a terminal: talk, watch, decide on proposals",
    .more =
        "F1 tells the keys and commands, F2 is the inbox, F3 shows who is here; /quit\n"
        "leaves. Arguments of a proposal are edited in $VISUAL or $EDITOR. Colours are\n"
        "used where the terminal has some, unless $NO_COLOR is set.\n\n"
        "COMMAND is run by /bin/sh without a terminal, a few at once and each for a\n"
        "minute at most. It gets the proposal as JSON on its standard input, and in its\n"
        "environment MOOT_PROPOSAL_ID, _TYPE, _TOPIC, _FROM, _OWNER, _METHOD, _NAME,\n"
        "_TO and _REASON. These are words of others: quote them. $MOOT_TOKEN is not\n"
        "handed on; a token file is for programs that take part themselves.\n\n"
        "  moot join lobby\n"
        "  moot join lobby --on-proposal 'notify-send \"$MOOT_PROPOSAL_NAME\"'\n",
    .options = options,
    .option_count = COUNT(options),
    .run = join,
    .options_size = sizeof(struct join_options),
    .takes_topic = true,
};
