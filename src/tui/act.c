/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doing what a line says, and completing it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "tui/command.h"
#include "tui/complete.h"
#include "tui/pretty.h"
#include "tui/tell.h"
#include "tui/tui_priv.h"

enum {
    ARENA_BYTES = 8 << 20,
    PROPOSAL_MS = 5 * 60'000,
    TOOLS_MS = 10'000,
    PENDING_MAX = 32, /* services that are asked */
    NUMBER_TEXT = 24,
    METHOD_NOT_FOUND = -32601, /* of JSON-RPC */
};

void tui_set_view(struct tui *tui, enum view view)
{
    tui->needs_drawing = true;
    if (tui->view == VIEW_INBOX || view == VIEW_INBOX) {
        inbox_tidy(&tui->inbox);
        tui_drop_verdict(tui);
    }
    tui->view = view;
}

/* The last function of the library failed. */
static void complain(struct tui *tui, enum moot_err err)
{
    struct buf why;

    buf_init(&why, NOTICE_BYTES);
    plain_put(&why, str_of(moot_why(tui->moot)), PLAIN_LINE);
    tui_notice(tui, STYLE_BAD, "%s%s", why.len ? buf_cstr(&why) : moot_strerror(err),
               err == MOOT_FORBIDDEN ? " (/propose asks others to do it)" : "");
    buf_done(&why);
}

/* --- saying --- */

static bool say_chat(struct tui *tui, const struct command *c)
{
    CLEANUP(xfreep) char *text = str_dup(c->text);
    enum moot_err err;

    if (str_trim(c->text).len == 0)
        return true;
    err = moot_chat(tui->moot, text);
    if (err)
        complain(tui, err);
    return err == MOOT_OK;
}

static bool say_request(struct tui *tui, const struct command *c)
{
    bool is_call = c->type == COMMAND_CALL;
    CLEANUP(xfreep) char *to = str_dup(c->words[0]);
    CLEANUP(xfreep) char *tool = str_dup(c->words[1]);
    CLEANUP(xfreep) char *arguments = c->arguments.len ? str_dup(c->arguments) : NULL;
    CLEANUP(xfreep) char *reason = c->text.len ? str_dup(c->text) : NULL;
    enum moot_err err;

    err = moot_request(tui->moot,
                       &(struct moot_request){ .to = strcmp(to, "-") == 0 ? NULL : to,
                                               .method = "tools/call",
                                               .name = tool,
                                               .arguments = arguments,
                                               .reason = reason,
                                               .how = is_call ? MOOT_CALL : MOOT_PROPOSE,
                                               .timeout_ms = is_call ? 0 : PROPOSAL_MS,
                                               .on_done = tui_on_done,
                                               .user = tui },
                       NULL);
    if (err)
        complain(tui, err);
    return err == MOOT_OK;
}

/* --- things that have a number --- */

/* "17", "#17" or an id. */
static struct entry *find_entry(struct tui *tui, struct str word)
{
    struct entry *entry = timeline_find(&tui->timeline, word);
    uint64_t number;

    if (entry)
        return entry;
    if (str_starts(word, S("#")))
        word = str_slice(word, 1, word.len);
    if (str_to_u64(word, UINT64_MAX, &number))
        return NULL;
    return timeline_find_number(&tui->timeline, number);
}

/* The id of an open proposal; "" and a complaint where there is none. */
static struct str find_proposal(struct tui *tui, struct str word)
{
    const struct entry *entry = find_entry(tui, word);
    struct str id = entry ? entry->id : word;

    if (inbox_find(&tui->inbox, id))
        return id;
    tui_notice(tui, STYLE_BAD, "no such proposal is open");
    return S("");
}

static bool do_approve(struct tui *tui, const struct command *c)
{
    CLEANUP(xfreep) char *id = str_dup(find_proposal(tui, c->words[0]));

    if (!*id)
        return false;
    tui_set_view(tui, VIEW_INBOX);
    (void)inbox_choose(&tui->inbox, str_of(id)); /* or it has just been decided */
    tui->decision.is_whole = true; /* it is asked again when it has been drawn */
    tui_begin_verdict(tui, VERDICT_RUN);
    return true;
}

static bool do_reject(struct tui *tui, const struct command *c)
{
    CLEANUP(xfreep) char *id = str_dup(find_proposal(tui, c->words[0]));

    if (*id)
        tui_reject(tui, str_of(id), c->text);
    return *id;
}

static bool do_withdraw(struct tui *tui, const struct command *c)
{
    CLEANUP(xfreep) char *id = str_dup(find_proposal(tui, c->words[0]));
    enum moot_err err;

    if (!*id)
        return false;
    err = moot_cancel(tui->moot, id, NULL);
    if (err)
        complain(tui, err);
    return err == MOOT_OK;
}

static void show_text(struct tui *tui, const char *title)
{
    buf_clear(&tui->text.title);
    buf_put(&tui->text.title, str_of(title));
    tui->text.scroll = 0;
    tui_set_view(tui, VIEW_TEXT);
}

/* As it came, but laid out; what is too long was not kept whole and stands as it is. */
static bool do_raw(struct tui *tui, const struct command *c)
{
    const struct entry *entry = c->words[0].len ? find_entry(tui, c->words[0]) : NULL;
    struct buf *body = &tui->text.body;

    for (struct entry *e = timeline_last(&tui->timeline); e && !c->words[0].len && !entry;
         e = timeline_before(&tui->timeline, e))
        entry = e->raw.len ? e : NULL;
    if (!entry || !entry->raw.len) {
        tui_notice(tui, STYLE_BAD, "there is no such envelope (any more)");
        return false;
    }
    buf_clear(body);
    if (entry->raw.len < entry->raw_len)
        buf_putf(body, "The first %zu of %zu bytes:\n\n", entry->raw.len, entry->raw_len);
    if (pretty_put(body, entry->raw, PRETTY_SHOWN))
        plain_put(body, entry->raw, PLAIN_TEXT);
    show_text(tui, "an envelope as it came");
    return true;
}

/* --- people and tools --- */

static bool do_who(struct tui *tui, const struct command *c)
{
    tui->people_are_stale = true;
    tui_refresh_people(tui);
    if (c->words[0].len && !people_choose(&tui->people, c->words[0])) {
        tui_notice(tui, STYLE_BAD, "nobody of that name is here");
        return false;
    }
    tui_set_view(tui, VIEW_PEOPLE);
    if (c->type == COMMAND_TOOLS)
        tui_ask_tools(tui, c->words[0]);
    return true;
}

static void on_tools(struct moot *m, void *user, const struct moot_outcome *outcome);

/* What is asked only to complete a line is not shown in the room. */
static void keep_quiet(struct tui *tui, const char *id)
{
    char *place = tui->quiet[tui->quiet_next++ % QUIET_IDS];

    memcpy(place, id, strlen(id) + 1);
}

static void request_page(struct tui *tui, struct shelf *shelf, struct str cursor)
{
    struct json_writer w;
    struct buf params;
    enum moot_err err;

    buf_init(&params, 8192);
    json_write_init(&w, &params);
    json_object_open(&w);
    if (cursor.len)
        json_put_str(&w, S("cursor"), cursor);
    json_object_close(&w);
    err = moot_request(tui->moot,
                       &(struct moot_request){ .to = shelf->owner,
                                               .method = "tools/list",
                                               .params = buf_cstr(&params),
                                               .how = MOOT_CALL,
                                               .timeout_ms = TOOLS_MS,
                                               .on_done = on_tools,
                                               .user = tui },
                       shelf->asked);
    buf_done(&params);
    if (err == MOOT_OK) {
        keep_quiet(tui, shelf->asked);
        return;
    }
    shelf_fail(shelf, str_of(moot_strerror(err)));
    complain(tui, err);
}

/* The answer to tools/list, or what came instead. */
static void on_tools(struct moot *, void *user, const struct moot_outcome *outcome)
{
    struct tui *tui = user;
    struct shelf *shelf = tools_find_asked(&tui->tools, str_of(outcome->id));
    struct buf text;

    if (!shelf)
        return; /* who was asked has left, or was asked again */
    tui->needs_drawing = true;
    buf_init(&text, 4096);
    if (outcome->type == MOOT_RESULT) {
        if (shelf_add(shelf, (struct str){ outcome->json.ptr, outcome->json.len }, &text))
            request_page(tui, shelf, buf_str(&text));
    } else if (outcome->type == MOOT_ERROR && outcome->code == METHOD_NOT_FOUND) {
        shelf->state = SHELF_KNOWN; /* it does not know of tools: it has none */
    } else {
        plain_put(&text, str_slice(str_of(outcome->message), 0, 200), PLAIN_LINE);
        shelf_fail(shelf, text.len ? buf_str(&text) : S("no answer"));
        tui_notice(tui, STYLE_BAD, "no tools: %s", shelf->why);
    }
    buf_done(&text);
    if (shelf->state == SHELF_KNOWN && shelf->count == 0)
        tui_notice(tui, STYLE_DIM, "no tools");
    if (shelf->state == SHELF_KNOWN && tui->tools_line &&
        str_eq(line_text(&tui->line), str_of(tui->tools_line)))
        tui_complete(tui);
}

void tui_ask_tools(struct tui *tui, struct str owner)
{
    struct shelf *shelf = tools_find(&tui->tools, owner);

    if (shelf && shelf->state == SHELF_ASKED)
        return;
    shelf = tools_ask(&tui->tools, owner);
    request_page(tui, shelf, S(""));
    if (shelf->state == SHELF_ASKED)
        tui_notice(tui, STYLE_DIM, "asking for tools");
}

/* --- what waits already --- */

/* The library enters what is listed: on_proposal tells of it. */
void tui_ask_pending(struct tui *tui)
{
    struct moot_participant who;
    size_t count = 0;
    size_t at = 0;
    char id[MOOT_ID];

    if (!moot_may(tui->moot, "mcp/request:authorization/list",
                  "{\"method\":\"authorization/list\"}"))
        return;
    while (count < PENDING_MAX && moot_next_participant(tui->moot, &at, &who)) {
        if (strcmp(who.type, "service") != 0)
            continue;
        count++;
        if (!moot_request(tui->moot,
                          &(struct moot_request){ .to = who.id,
                                                  .method = "authorization/list",
                                                  .params = "{}",
                                                  .how = MOOT_CALL,
                                                  .timeout_ms = TOOLS_MS },
                          id))
            keep_quiet(tui, id); /* who does not answer asks nothing */
    }
}

/* --- help --- */

/* clang-format off */
static const char keys_help[] =
    "Keys\n\n"
    "  Enter            send what is typed\n"
    "  Tab              complete @names, /commands, participants and tools;\n"
    "                   on an empty line: room, inbox, people in turn\n"
    "  Up, Down         what was sent before\n"
    "  PgUp, PgDn       read back and forward; Esc goes to the end\n"
    "  Ctrl-A, Ctrl-E   to the beginning, to the end of the line\n"
    "  Ctrl-W, Ctrl-U, Ctrl-K   cut a word, all before, all behind; Ctrl-Y puts it back\n"
    "  F1, F2, F3       this help, the inbox, who is here; Esc comes back\n"
    "  Ctrl-L           draw everything anew\n"
    "  Ctrl-D, /quit    leave\n\n"
    "In the inbox the one that is shown is the one that is decided, whatever\n"
    "comes meanwhile. a approves after a y, e opens its arguments in $VISUAL or\n"
    "$EDITOR and then asks, r rejects with a reason, w withdraws what is your\n"
    "own. Where several have to approve, the last one runs it.\n\n"
    "A call that a server asks about: a allows it, after a y this once, after an\n"
    "h or a d the same call for an hour or a day as well. r denies it with a\n"
    "reason, d lets somebody else decide.\n\n"
    "Commands\n\n";
/* clang-format on */

void tui_show_help(struct tui *tui)
{
    struct buf *body = &tui->text.body;

    buf_clear(body);
    buf_put(body, str_of(keys_help));
    for (size_t i = 0; i < command_count; i++)
        buf_putf(body, "  %s\n      %s\n", command_rows[i].usage, command_rows[i].help);
    buf_put(body,
            S("\nN is the number behind a # in the room, or an id. A text that begins "
              "with a slash is written with two.\n"));
    show_text(tui, "help");
}

static bool do_command(struct tui *tui, const struct command *c)
{
    switch (c->type) {
    case COMMAND_CHAT: return say_chat(tui, c);
    case COMMAND_CALL:
    case COMMAND_PROPOSE: return say_request(tui, c);
    case COMMAND_APPROVE: return do_approve(tui, c);
    case COMMAND_REJECT: return do_reject(tui, c);
    case COMMAND_WITHDRAW: return do_withdraw(tui, c);
    case COMMAND_INBOX: tui_set_view(tui, VIEW_INBOX); return true;
    case COMMAND_WHO:
    case COMMAND_TOOLS: return do_who(tui, c);
    case COMMAND_RAW: return do_raw(tui, c);
    case COMMAND_HELP: tui_show_help(tui); return true;
    case COMMAND_QUIT: tui->is_leaving = true; return true;
    }
    return true;
}

/* What cannot be done stays on the line. */
void tui_send_line(struct tui *tui)
{
    struct str line = line_text(&tui->line);
    struct command command = {};
    const char *why = "";
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (command_parse(line, &arena, &command, &why)) {
        tui_notice(tui, STYLE_BAD, "%s", why);
    } else if (do_command(tui, &command)) {
        history_add(&tui->history, line);
        (void)line_set(&tui->line, S("")); /* it always fits */
        room_follow(&tui->timeline);
    }
    arena_done(&arena);
}

/* --- completion --- */

static void offer_people(struct tui *tui, struct completion *c)
{
    struct moot_participant who;
    size_t at = 0;

    while (moot_next_participant(tui->moot, &at, &who))
        complete_offer(c, str_of(who.id));
}

static void offer_numbers(struct tui *tui, struct completion *c)
{
    for (struct entry *e = timeline_last(&tui->timeline); e;
         e = timeline_before(&tui->timeline, e)) {
        char text[NUMBER_TEXT];
        bool is_wanted = c->word == WORD_PROPOSAL
                             ? e->told == TELL_PROPOSAL && e->state == STATE_OPEN
                             : e->raw.len > 0;

        (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)e->number);
        if (is_wanted)
            complete_offer(c, str_of(text));
    }
}

/* False: they are asked for, and it is tried again then. */
static bool offer_tools(struct tui *tui, struct completion *c)
{
    const struct shelf *shelf = tools_find(&tui->tools, c->who);

    if (!shelf || shelf->state != SHELF_KNOWN) {
        free(tui->tools_line);
        tui->tools_line = str_dup(line_text(&tui->line));
        tui_ask_tools(tui, c->who);
        return false;
    }
    for (size_t i = 0; i < shelf->count; i++)
        complete_offer(c, str_of(shelf->names[i]));
    return true;
}

static bool offer(struct tui *tui, struct completion *c)
{
    switch (c->word) {
    case WORD_NONE: break;
    case WORD_COMMAND:
        for (size_t i = 0; i < command_count; i++)
            complete_offer(c, command_rows[i].name);
        break;
    case WORD_PARTICIPANT: offer_people(tui, c); break;
    case WORD_TOOL: return offer_tools(tui, c);
    case WORD_PROPOSAL:
    case WORD_ENTRY: offer_numbers(tui, c); break;
    }
    return true;
}

static void put_completion(struct tui *tui, struct completion *c)
{
    struct buf word;

    buf_init(&word, LINE_MAX_BYTES);
    if (complete_put(c, &word)) {
        if (line_replace(&tui->line, c->from, buf_str(&word)))
            tui_notice(tui, STYLE_BAD, "the line is full");
    }
    if (c->count == 0)
        tui_notice(tui, STYLE_DIM, "nothing begins like this");
    else if (c->count > 1)
        tui_notice(tui, STYLE_DIM, "%s", buf_cstr(&c->names));
    buf_done(&word);
}

void tui_complete(struct tui *tui)
{
    struct completion c;
    struct arena arena;

    free(TAKE(tui->tools_line));
    arena_init(&arena, ARENA_BYTES);
    complete_begin(&c, str_slice(line_text(&tui->line), 0, tui->line.at), &arena);
    if (c.word != WORD_NONE && offer(tui, &c))
        put_completion(tui, &c);
    complete_done(&c);
    arena_done(&arena);
}
