/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary.h"

#include <time.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "envelope/kind.h"
#include "json/json.h"

enum {
    ARENA_BYTES = 256 << 20,
    LINE = 200,
    NUMBER = 12,
    SHORT_ID = 14,
    HEAD = 4,
    TAIL = 8,
    FEW = 8
};

/* One envelope on its way to a line. */
struct page {
    struct buf *out;
    const struct palette *ink;
    const struct moot_message *message;
    const struct json *payload; /* NULL: it could not be read */
    const struct json *replay;  /* whose it was; NULL: it is said for the first time */
    struct kind kind;           /* of what is told: of a replay, what it was */
    bool has_lines;
    uint64_t now_ms;
};

/* --- pieces --- */

static void put(struct page *page, const char *text)
{
    buf_put(page->out, str_of(text));
}

static void put_in(struct page *page, const char *ink, const char *text)
{
    put(page, ink);
    put(page, text);
    put(page, page->ink->off);
}

static void put_name(struct buf *out, const char *name)
{
    plain_put(out, str_of(name), PLAIN_LINE);
}

static void put_cut(struct buf *out, struct str text, enum plain how, size_t max)
{
    struct str shown = utf8_cut(text, max);

    plain_put(out, shown, how);
    if (shown.len < text.len)
        buf_putf(out, "... (%zu more bytes)", text.len - shown.len);
}

static const struct json *find(const struct page *page, const char *key)
{
    return json_find(page->payload, str_of(key));
}

/* One line of it: what follows the first is only hinted at. */
static void put_first_line(struct page *page, struct str text)
{
    struct str rest = text;
    struct str first = str_cut(&rest, '\n');

    put_cut(page->out, first, PLAIN_LINE, LINE);
    if (rest.len)
        buf_putf(page->out, " ... (%zu more bytes)", rest.len);
}

/* Many lines stand below each other, behind a mark that nobody else can write there. */
static void put_text(struct page *page, struct str text)
{
    struct str shown = utf8_cut(text, SUMMARY_TEXT);
    struct str rest = shown;

    if (!page->has_lines) {
        put_cut(page->out, text, PLAIN_LINE, SUMMARY_TEXT);
        return;
    }
    while (rest.ptr) {
        struct str line = str_cut(&rest, '\n');

        if (str_ends(line, S("\r")))
            line.len--;
        plain_put(page->out, line, PLAIN_LINE);
        if (rest.ptr)
            buf_putf(page->out, "\n         %s|%s ", page->ink->dim, page->ink->off);
    }
    if (shown.len < text.len)
        buf_putf(page->out, "... (%zu more bytes)", text.len - shown.len);
}

/* "12:03:44" by the clock of where we are. */
static void put_clock(struct buf *out, uint64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm here;

    (void)localtime_r(&seconds, &here); // lint: people read it, where they are
    buf_putf(out, "%02d:%02d:%02d", here.tm_hour, here.tm_min, here.tm_sec);
}

static void put_short_id(struct page *page, const char *id)
{
    struct str s = str_of(id);
    size_t tail = s.len;

    if (s.len <= SHORT_ID) {
        plain_put(page->out, s, PLAIN_LINE);
        return;
    }
    tail -= TAIL;
    while (tail < s.len && utf8_is_tail((unsigned char)s.ptr[tail]))
        tail++;
    plain_put(page->out, utf8_cut(s, HEAD), PLAIN_LINE);
    put(page, "..");
    plain_put(page->out, str_slice(s, tail, s.len), PLAIN_LINE);
}

/* --- beginning and end --- */

/* Everybody has a colour, and always the same. */
static const char *colour_of(const struct page *page, const char *who)
{
    size_t sum = 0;

    for (; *who; who++)
        sum = sum * 31 + (unsigned char)*who;
    return page->ink->people[sum % PALETTE_PEOPLE];
}

static void put_who(struct page *page, const char *who)
{
    put(page, colour_of(page, who));
    put_name(page->out, who);
    put(page, page->ink->off);
}

/* " replays bot -> worker": that it was so is what the replayer says. */
static void put_replayed(struct page *page)
{
    const struct json *to = json_find(page->replay, S("to"));
    size_t count = 0;

    put_in(page, page->ink->dim, " replays ");
    plain_put(page->out, json_text(json_find(page->replay, S("from"))), PLAIN_LINE);
    if (!to || to->type != JSON_ARRAY)
        return;
    JSON_FOREACH(who, to) {
        if (++count > FEW)
            continue;
        put(page, count > 1 ? ", " : " -> ");
        plain_put(page->out, json_text(who), PLAIN_LINE);
    }
    if (count > FEW)
        buf_putf(page->out, " and %zu more", count - FEW);
}

static void put_time(struct page *page)
{
    uint64_t wall_ms = page->message->is_replay ? 0 : page->now_ms;

    put(page, page->ink->dim);
    if (wall_ms || clock_parse(str_of(page->message->ts), &wall_ms) == OK)
        put_clock(page->out, wall_ms);
    else
        put(page, "--:--:--");
    put(page, page->ink->off);
    put(page, " ");
}

static void put_head(struct page *page)
{
    const struct moot_message *m = page->message;

    put_who(page, m->from);
    for (size_t i = 0; i < m->to_count && i < FEW; i++) {
        put(page, i ? ", " : " -> ");
        put_who(page, m->to[i]);
    }
    if (m->to_count > FEW)
        buf_putf(page->out, " and %zu more", m->to_count - FEW);
    if (page->replay)
        put_replayed(page);
    put(page, "  ");
}

static void put_thread(struct page *page)
{
    const struct moot_message *m = page->message;

    if (page->kind.type == KIND_CHAT && !m->correlation_id)
        return;
    put(page, "  ");
    put(page, page->ink->dim);
    put(page, "[");
    if (page->kind.type == KIND_PROPOSAL && !page->replay)
        put_name(page->out, m->id); /* people need it to decide */
    else
        put_short_id(page, m->id);
    if (m->correlation_id) {
        put(page, " re ");
        put_short_id(page, m->correlation_id);
    }
    put(page, "]");
    put(page, page->ink->off);
}

/* --- what is done --- */

/* Up to `max` bytes of them. */
static void put_params(struct buf *out, const struct json *params, size_t max)
{
    if (!params || params->type != JSON_OBJECT || !params->first)
        return;
    buf_putc(out, ' ');
    put_cut(out, params->raw, PLAIN_JSON, max);
}

/* "delete_file {…}" of a call, "resources/read uri {…}" of all else. */
static void put_call(struct buf *out, struct str method, struct str name,
                     const struct json *params, size_t max)
{
    bool is_tool = str_eq(method, S("tools/call"));
    bool is_named = is_tool || str_eq(method, S("prompts/get"));

    if (!name.len)
        name = json_text(json_find(params, S("name")));
    if (!is_tool || !name.len)
        plain_put(out, method, PLAIN_LINE);
    if (!is_tool && name.len)
        buf_putc(out, ' ');
    plain_put(out, name, PLAIN_LINE);
    put_params(out, is_named ? json_find(params, S("arguments")) : params, max);
}

static void put_addressees(struct buf *out, const char *const *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_put(out, i ? S(", ") : S(" -> "));
        put_name(out, to[i]);
    }
}

void summary_put_proposal(struct buf *out, const struct moot_proposal *p,
                          const struct palette *palette)
{
    struct str params = { p->params.ptr, p->params.len };
    const struct json *root = NULL;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (params.len == 0 || json_parse(params, &arena, &root, NULL))
        root = NULL;
    put_name(out, p->proposer);
    put_addressees(out, p->to, p->to_count);
    buf_putf(out, "  %s", palette->bold);
    put_call(out, str_of(p->method), str_of(p->name), root, SIZE_MAX);
    buf_put(out, str_of(palette->off));
    if (!root)
        buf_put(out, S(" (its arguments are not known here)"));
    if (p->reason && *p->reason) {
        buf_put(out, S(": "));
        put_name(out, p->reason);
    }
    if (p->owner) {
        buf_put(out, S(" (asked by "));
        put_name(out, p->owner);
        buf_putc(out, ')');
    }
    arena_done(&arena);
}

void summary_put_approvals(struct buf *out, const struct moot_proposal *p)
{
    if (p->needed < 2 && p->given == 0)
        return;
    buf_putf(out, "%u of %u approval%s", p->given, p->needed, p->needed == 1 ? "" : "s");
    for (size_t i = 0; i < p->approver_count; i++) {
        buf_put(out, i ? S(", ") : S(" ("));
        put_name(out, p->approvers[i]);
    }
    if (p->approver_count)
        buf_putc(out, ')');
}

void summary_put_left(struct buf *out, uint64_t until_ms, uint64_t now_ms)
{
    uint64_t seconds = until_ms > now_ms ? (until_ms - now_ms) / 1000 : 0;

    if (seconds >= 3600)
        buf_putf(out, "%lluh %llum", (unsigned long long)seconds / 3600,
                 (unsigned long long)seconds / 60 % 60);
    else if (seconds >= 60)
        buf_putf(out, "%llum %llus", (unsigned long long)seconds / 60,
                 (unsigned long long)seconds % 60);
    else
        buf_putf(out, "%llus", (unsigned long long)seconds);
}

/* --- authorizations --- */

static void put_authorization(struct page *page)
{
    const struct json *params = find(page, "params");

    put_in(page, page->ink->wait, "asks");
    put(page, " whether ");
    plain_put(page->out, json_text(json_find(params, S("requester"))), PLAIN_LINE);
    put(page, " may call ");
    plain_put(page->out, json_text(json_find(params, S("tool"))), PLAIN_LINE);
    put_params(page->out, json_find(params, S("arguments")), SUMMARY_JSON);
    put(page, " (");
    plain_put(page->out, json_text(json_find(params, S("id"))), PLAIN_LINE);
    put(page, ")");
    if (json_text(json_find(params, S("reason"))).len) {
        put(page, ": ");
        put_first_line(page, json_text(json_find(params, S("reason"))));
    }
}

/* "allows a1, and the same call until 13:00:00: go ahead" */
static void put_answer(struct page *page)
{
    const struct json *params = find(page, "params");
    struct str decision = json_text(json_find(params, S("decision")));
    struct str reason = json_text(json_find(params, S("reason")));
    bool is_yes = str_eq(decision, S("approve"));
    uint64_t wall_ms;

    if (is_yes || str_eq(decision, S("deny")))
        put_in(page, is_yes ? page->ink->good : page->ink->bad,
               is_yes ? "allows" : "denies");
    else
        put(page, "leaves");
    put(page, " ");
    plain_put(page->out, json_text(json_find(params, S("authorizationId"))), PLAIN_LINE);
    if (json_text(json_find(params, S("delegate"))).len) {
        put(page, " to ");
        plain_put(page->out, json_text(json_find(params, S("delegate"))), PLAIN_LINE);
    }
    if (!clock_parse(json_text(json_find(params, S("validUntil"))), &wall_ms)) {
        put(page, ", and the same call until ");
        put_clock(page->out, wall_ms);
    }
    if (reason.len) {
        put(page, ": ");
        put_first_line(page, reason);
    }
}

static void put_request(struct page *page)
{
    const char *verb = "asks";

    if (str_eq(page->kind.method, S("notifications/authorization/request"))) {
        put_authorization(page);
        return;
    }
    if (str_eq(page->kind.method, S("authorization/respond"))) {
        put_answer(page);
        return;
    }

    if (kind_is_notification(&page->kind))
        verb = "notifies";
    else if (str_eq(page->kind.method, S("tools/call")))
        verb = "calls";
    put_in(page, page->ink->bold, verb);
    put(page, " ");
    put_call(page->out, page->kind.method, page->kind.context, find(page, "params"),
             SUMMARY_JSON);
}

static void put_reason(struct page *page)
{
    struct str reason = json_text(find(page, "reason"));

    if (!reason.len)
        return;
    put(page, ": ");
    put_first_line(page, reason);
}

static void put_proposal(struct page *page)
{
    put_in(page, page->ink->wait, "proposes");
    put(page, " ");
    put_call(page->out, page->kind.method, page->kind.context, find(page, "params"),
             SUMMARY_JSON);
    put_reason(page);
}

static void put_method(struct page *page)
{
    bool is_tool =
        str_eq(page->kind.method, S("tools/call")) && page->kind.context.len > 0;

    if (!is_tool)
        plain_put(page->out, page->kind.method, PLAIN_LINE);
    if (page->kind.context.len && !is_tool)
        put(page, " ");
    plain_put(page->out, page->kind.context, PLAIN_LINE);
}

static void put_error(struct page *page, const struct json *error)
{
    const struct json *code = json_find(error, S("code"));
    const struct json *request =
        json_find(json_find(error, S("data")), S("authorizationRequest"));

    if (request) {
        put_in(page, page->ink->wait, "asks for authorization");
        put(page, " of ");
        put_method(page);
        return;
    }
    put_in(page, page->ink->bad, "error");
    put(page, " of ");
    put_method(page);
    put(page, ": ");
    put_first_line(page, json_text(json_find(error, S("message"))));
    if (code) {
        put(page, " (");
        plain_put(page->out, code->text, PLAIN_LINE);
        put(page, ")");
    }
}

/* "4 tools": lists are for programs. */
static bool put_count(struct page *page, const struct json *result)
{
    static const char *const lists[] = { "tools", "resources", "resourceTemplates",
                                         "prompts" };

    for (size_t i = 0; i < COUNT(lists); i++) {
        const struct json *list = json_find(result, str_of(lists[i]));

        if (!list || list->type != JSON_ARRAY)
            continue;
        buf_putf(page->out, "%zu %s", list->count, lists[i]);
        return true;
    }
    return false;
}

/* The first text of a tool's result, or all of it as it is. */
static void put_result(struct page *page, const struct json *result)
{
    const struct json *content = json_find(result, S("content"));

    if (content && content->type == JSON_ARRAY)
        JSON_FOREACH(item, content)
            if (str_eq(json_text(json_find(item, S("type"))), S("text"))) {
                put_first_line(page, json_text(json_find(item, S("text"))));
                return;
            }
    if (result && !put_count(page, result))
        put_cut(page->out, result->raw, PLAIN_JSON, LINE);
}

static void put_response(struct page *page)
{
    const struct json *error = find(page, "error");
    const struct json *result = find(page, "result");
    const struct json *is_error = json_find(result, S("isError"));
    bool has_failed = is_error && is_error->type == JSON_TRUE;

    if (error) {
        put_error(page, error);
        return;
    }
    put_in(page, has_failed ? page->ink->bad : page->ink->good,
           has_failed ? "failure" : "result");
    put(page, " of ");
    put_method(page);
    put(page, ": ");
    put_result(page, result);
}

static void put_chat(struct page *page)
{
    put_text(page, json_text(find(page, "text")));
}

static void put_decision(struct page *page)
{
    static const char *const verbs[] = {
        [KIND_APPROVE] = "approves",
        [KIND_WITHDRAW] = "withdraws",
        [KIND_REJECT] = "rejects",
    };
    bool is_good = page->kind.type == KIND_APPROVE;

    put_in(page, is_good ? page->ink->good : page->ink->bad, verbs[page->kind.type]);
    put_reason(page);
}

/* Whatever else: as it stands. */
static void put_other(struct page *page)
{
    put_name(page->out, page->message->kind);
    put(page, " ");
    put_cut(page->out,
            (struct str){ page->message->payload.ptr, page->message->payload.len },
            PLAIN_JSON, SUMMARY_JSON);
}

/* --- what the gateway says --- */

static void put_change(struct page *page, struct str event, const struct json *who)
{
    struct str type = json_text(json_find(json_find(who, S("moot")), S("type")));

    plain_put(page->out, json_text(json_find(who, S("id"))), PLAIN_LINE);
    put(page, str_eq(event, S("leave")) ? " leaves" : " joins");
    if (type.len && !str_eq(event, S("leave"))) {
        put(page, " (");
        plain_put(page->out, type, PLAIN_LINE);
        put(page, ")");
    }
}

static void put_presence(struct page *page)
{
    const struct json *batch = find(page, "participants");
    size_t count = 0;

    put(page, page->ink->dim);
    if (!batch || batch->type != JSON_ARRAY) {
        put_change(page, json_text(find(page, "event")), find(page, "participant"));
    } else {
        JSON_FOREACH(who, batch) {
            if (++count > FEW)
                continue;
            put(page, count > 1 ? ", " : "");
            put_change(page, json_text(json_find(who, S("event"))), who);
        }
        if (count > FEW)
            buf_putf(page->out, " and %zu more", count - FEW);
    }
    put(page, page->ink->off);
}

static void put_notice(struct page *page)
{
    put_in(page, page->ink->wait, "notice:");
    put(page, " ");
    put_text(page, json_text(find(page, "message")));
}

static void put_violation(struct page *page)
{
    plain_put(page->out, json_text(find(page, "participant")), PLAIN_LINE);
    put(page, " ");
    put_in(page, page->ink->bad, "was refused");
    put(page, " ");
    plain_put(page->out, json_text(find(page, "attempted_kind")), PLAIN_LINE);
    put(page, ": ");
    plain_put(page->out, json_text(find(page, "error")), PLAIN_LINE);
}

static void put_refusal(struct page *page)
{
    put_in(page, page->ink->bad, "refused:");
    put(page, " ");
    put_first_line(page, json_text(find(page, "message")));
}

static void put_welcome(struct page *page)
{
    const struct json *others = find(page, "participants");
    const struct json *you = find(page, "you");
    const struct json *moot = find(page, "moot");
    size_t count = others && others->type == JSON_ARRAY ? others->count : 0;

    put(page, page->ink->dim);
    put(page, "you are ");
    plain_put(page->out, json_text(json_find(you, S("id"))), PLAIN_LINE);
    put(page, " in ");
    plain_put(page->out, json_text(json_find(moot, S("topic"))), PLAIN_LINE);
    buf_putf(page->out, ", with %zu other%s", count, count == 1 ? "" : "s");
    put(page, page->ink->off);
}

static struct str raw_of(const struct json *object, const char *name)
{
    const struct json *value = json_find(object, str_of(name));

    return value ? value->raw : S("?");
}

/* "the brake is on, by ann", "automation is off, by ann" */
static void put_topic_news(struct page *page)
{
    bool is_brake = find(page, "brake");

    put_in(page, page->ink->wait, is_brake ? "the brake" : "automation");
    put(page, " is ");
    plain_put(page->out, json_text(find(page, is_brake ? "brake" : "automation")),
              PLAIN_LINE);
    put(page, ", by ");
    plain_put(page->out, json_text(find(page, "by")), PLAIN_LINE);
}

/* "the rule r-18b2 (bot: write) is suspended, by ann: it wrote too much" */
static void put_rule_news(struct page *page)
{
    const struct json *tool = find(page, "tool");

    put_in(page, page->ink->wait, "the rule ");
    plain_put(page->out, json_text(find(page, "rule")), PLAIN_LINE);
    put(page, " (");
    plain_put(page->out, json_text(find(page, "proposer")), PLAIN_LINE);
    put(page, ": ");
    plain_put(page->out, json_text(tool ? tool : find(page, "method")), PLAIN_LINE);
    put(page, ") is ");
    plain_put(page->out, json_text(find(page, "state")), PLAIN_LINE);
    put(page, ", by ");
    plain_put(page->out, json_text(find(page, "by")), PLAIN_LINE);
    if (json_text(find(page, "reason")).len) {
        put(page, ": ");
        put_first_line(page, json_text(find(page, "reason")));
    }
}

/* "p1 has 1 of 2 approvals, now of ann", "p1 was rejected by ann: no" */
static void put_proposal_news(struct page *page)
{
    const struct json *approvals = find(page, "approvals");
    struct str state = json_text(find(page, "state"));

    put(page, page->ink->dim);
    plain_put(page->out, json_text(find(page, "proposal")), PLAIN_LINE);
    if (str_eq(state, S("open"))) {
        put(page, " has ");
        put_cut(page->out, raw_of(approvals, "given"), PLAIN_LINE, NUMBER);
        put(page, " of ");
        put_cut(page->out, raw_of(approvals, "needed"), PLAIN_LINE, NUMBER);
        put(page, " approvals");
    } else {
        put(page, str_eq(state, S("expired")) ? " has " : " was ");
        plain_put(page->out, state, PLAIN_LINE);
    }
    if (json_text(find(page, "by")).len) {
        put(page, str_eq(state, S("open")) ? ", now of " : " by ");
        plain_put(page->out, json_text(find(page, "by")), PLAIN_LINE);
    }
    put_reason(page);
    put(page, page->ink->off);
}

static void put_gap(struct page *page)
{
    put_in(page, page->ink->wait, "some envelopes were missed");
}

/* What the gateway says has no sender worth a name, and is in no thread. */
static bool put_system(struct page *page)
{
    static const struct {
        struct str kind;
        void (*put)(struct page *page);
    } rows[] = {
        { S("system/presence"), put_presence },
        { S("system/notice"), put_notice },
        { S("system/violation"), put_violation },
        { S("system/error"), put_refusal },
        { S("system/welcome"), put_welcome },
        { S("system/gap"), put_gap },
        { S("system/proposal"), put_proposal_news },
        { S("system/topic"), put_topic_news },
        { S("system/rule"), put_rule_news },
    };

    for (size_t i = 0; page->payload && i < COUNT(rows); i++)
        if (str_eq(str_of(page->message->kind), rows[i].kind)) {
            rows[i].put(page);
            return true;
        }
    return false;
}

/* --- all of it --- */

static void put_deed(struct page *page)
{
    if (!page->payload) {
        put_other(page);
        return;
    }
    switch (page->kind.type) {
    case KIND_REQUEST: put_request(page); return;
    case KIND_RESPONSE: put_response(page); return;
    case KIND_PROPOSAL: put_proposal(page); return;
    case KIND_APPROVE:
    case KIND_WITHDRAW:
    case KIND_REJECT: put_decision(page); return;
    case KIND_CHAT: put_chat(page); return;
    case KIND_OTHER:
    case KIND_ROUTING:
    case KIND_COMMAND: put_other(page); return;
    }
}

/* Of a chat, or of what is called a replay: nothing that is anything else passes for one.
 * What was replayed is told as it was. */
static void open_replay(struct page *page, struct arena *arena)
{
    const struct moot_message *m = page->message;
    bool is_replay = str_starts(str_of(m->kind), S("replay/"));
    struct str mark = S("\"replay_of\"");
    const struct json *root, *replay;
    struct kind kind;

    if ((!is_replay && page->kind.type != KIND_CHAT) || !m->text.len ||
        !memmem(m->text.ptr, m->text.len, mark.ptr, mark.len) ||
        json_parse((struct str){ m->text.ptr, m->text.len }, arena, &root, NULL))
        return;
    replay = json_find(root, S("replay_of"));
    if (!json_text(json_find(replay, S("from"))).len)
        return;
    page->replay = replay;
    if (is_replay && kind_parse(json_text(json_find(replay, S("kind"))), &kind) == OK)
        page->kind = kind;
}

static void page_open(struct page *page, struct arena *arena)
{
    const struct moot_message *m = page->message;
    struct str payload = { m->payload.ptr, m->payload.len };

    arena_init(arena, ARENA_BYTES);
    if (json_parse(payload, arena, &page->payload, NULL))
        page->payload = NULL;
    if (kind_parse(str_of(m->kind), &page->kind))
        page->kind = (struct kind){ .type = KIND_OTHER };
    open_replay(page, arena);
}

void summary_put(struct buf *out, const struct moot_message *message,
                 const struct summary_look *look)
{
    struct page page = {
        .out = out,
        .ink = look->palette,
        .message = message,
        .has_lines = look->has_lines,
        .now_ms = look->now_ms,
    };
    struct arena arena;

    page_open(&page, &arena);
    put_time(&page);
    if (!put_system(&page)) {
        put_head(&page);
        put_deed(&page);
        put_thread(&page);
    }
    put(&page, "\n");
    arena_done(&arena);
}

void summary_put_deed(struct buf *out, const struct moot_message *message,
                      const struct palette *palette)
{
    struct page page = { .out = out, .ink = palette, .message = message };
    struct arena arena;

    page_open(&page, &arena);
    put_head(&page);
    put_deed(&page);
    arena_done(&arena);
}
