/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/message.h"

#include <endian.h>
#include <string.h>

#include "json/json.h"

enum { WORD = 8, CLIENT_AT = WORD, SEQ_AT = 2 * WORD, ID_SIZE = 3 * WORD };
enum { STAMP_SIZE = ID_SIZE + 2 * WORD + 2 };
enum { TAIL = 64 }; /* the stamp ends within this many bytes of the envelope's end */
enum { MESSAGE_MAX = 32 * 1024 * 1024 };

struct shape {
    const char *kinds[2]; /* by enum message_dialect */
    const char *open;     /* the payload up to the text, and after it */
    const char *close;
    bool has_correlation;
};

const struct str message_welcome[] = { S("\"system/welcome\""), S("\"system.welcome\"") };
const struct str message_error[] = { S("\"system/error\""), S("\"system.error\"") };

static const char *const protocols[] = {
    [MESSAGE_SLASH] = "mcpx/v0.1",
    [MESSAGE_DOTTED] = "mcpx/draft",
};

/* clang-format off */
static const struct shape shapes[] = {
    [MESSAGE_CHAT] = {
        .kinds = { "chat", "chat.message" },
        .open  = "{\"text\":\"",
        .close = "\"}}",
    },
    [MESSAGE_REQUEST] = {
        .kinds = { "mcp/request:tools/call", "mcp.request.tools/call" },
        .open  = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                 "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"",
        .close = "\"}}}}",
    },
    [MESSAGE_RESPONSE] = {
        .kinds = { "mcp/response:tools/call", "mcp.response.tools/call" },
        .open  = "{\"jsonrpc\":\"2.0\",\"id\":1,"
                 "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"",
        .close = "\"}]}}}",
        .has_correlation = true,
    },
};
/* clang-format on */

static void word_write(char *out, uint32_t word)
{
    for (size_t i = 0; i < WORD; i++)
        out[i] = (char)('A' + (word >> (28 - 4 * i) & 0xf));
}

/* Eight letters at once: every step folds neighbours into one twice as wide. */
static uint32_t word_parse(const char *in)
{
    uint64_t x;

    memcpy(&x, in, sizeof(x));
    x = le64toh(x) - 0x4141414141414141;
    x = (x << 4 | x >> 8) & 0x00ff00ff00ff00ff;
    x = (x << 8 | x >> 16) & 0x0000ffff0000ffff;
    return (uint32_t)(x << 16 | x >> 32);
}

static void id_write(char *out, const struct stamp *stamp)
{
    word_write(out, stamp->run);
    word_write(out + CLIENT_AT, stamp->client);
    word_write(out + SEQ_AT, stamp->seq);
}

static void stamp_write(char *out, const struct stamp *stamp)
{
    out[0] = '@';
    id_write(out + 1, stamp);
    word_write(out + 1 + ID_SIZE, (uint32_t)(stamp->sent_ns >> 32));
    word_write(out + 1 + ID_SIZE + WORD, (uint32_t)stamp->sent_ns);
    out[STAMP_SIZE - 1] = '@';
}

bool stamp_find(struct str text, uint32_t run, struct stamp *ret)
{
    struct str tail = str_slice(text, text.len > TAIL ? text.len - TAIL : 0, text.len);
    const char *end = tail.len ? memrchr(tail.ptr, '@', tail.len) : NULL;
    const char *at;

    if (!end || end - tail.ptr < STAMP_SIZE - 1)
        return false;
    at = end - (STAMP_SIZE - 1);
    if (*at != '@' || word_parse(at + 1) != run)
        return false;
    *ret = (struct stamp){
        .run = run,
        .client = word_parse(at + 1 + CLIENT_AT),
        .seq = word_parse(at + 1 + SEQ_AT),
        .sent_ns = (uint64_t)word_parse(at + 1 + ID_SIZE) << 32 |
                   word_parse(at + 1 + ID_SIZE + WORD),
    };
    return true;
}

/* Appends `size` bytes to be patched later and says where they stand. */
static size_t put_blank(struct buf *text, size_t size)
{
    size_t at = text->len;

    for (size_t i = 0; i < size; i++)
        buf_putc(text, 'x');
    return at;
}

enum err message_init(struct message *message, enum message_kind kind,
                      enum message_dialect dialect, struct str from, struct str to,
                      size_t size)
{
    const struct shape *shape = &shapes[kind];
    struct buf *text = &message->text;
    size_t rest = STAMP_SIZE + strlen(shape->close);
    struct json_writer w;

    *message = (struct message){};
    buf_init(text, MESSAGE_MAX);
    buf_putf(text, "{\"protocol\":\"%s\",\"id\":\"", protocols[dialect]);
    message->id_at = put_blank(text, ID_SIZE);
    buf_put(text, S("\",\"from\":"));
    json_write_init(&w, text);
    json_str(&w, from);
    if (to.len) {
        buf_put(text, S(",\"to\":["));
        json_write_init(&w, text);
        json_str(&w, to);
        buf_putc(text, ']');
    }
    buf_putf(text, ",\"kind\":\"%s\"", shape->kinds[dialect]);
    if (shape->has_correlation) {
        buf_put(text, S(",\"correlation_id\":\""));
        message->correlation_at = put_blank(text, ID_SIZE);
        buf_putc(text, '"');
    }
    buf_putf(text, ",\"payload\":%s", shape->open);
    if (text->len + rest < size)
        (void)put_blank(text, size - text->len - rest);
    message->stamp_at = put_blank(text, STAMP_SIZE);
    buf_put(text, str_of(shape->close));
    return text->is_full ? ERR_TOO_BIG : OK;
}

void message_done(struct message *message)
{
    buf_done(&message->text);
}

struct str message_stamp(struct message *message, const struct stamp *stamp,
                         const struct stamp *cause)
{
    char *text = message->text.ptr;

    id_write(text + message->id_at, stamp);
    stamp_write(text + message->stamp_at, stamp);
    if (message->correlation_at)
        id_write(text + message->correlation_at, cause);
    return buf_str(&message->text);
}
