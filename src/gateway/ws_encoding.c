/* SPDX-License-Identifier: Apache-2.0 */
/* How a text becomes a WebSocket frame: plain, or compressed once for everybody. */
#include "gateway/ws_door.h"
#include "ws/ws.h"

static size_t head_size(size_t text_len)
{
    return ws_head_size(text_len);
}

static void head_write(char *out, size_t text_len)
{
    (void)ws_head_write((uint8_t *)out, WS_OP_TEXT, text_len, false);
}

static enum err encode_plain(const struct encoding *self [[maybe_unused]],
                             struct str text, struct buf *out)
{
    uint8_t head[WS_MAX_HEAD];
    size_t len = ws_head_write(head, WS_OP_TEXT, text.len, false);
    enum err err = buf_append(out, (struct str){ (const char *)head, len });

    return err ? err : buf_append(out, text);
}

static enum err encode_deflated(const struct encoding *self, struct str text,
                                struct buf *out)
{
    const struct ws_encoding *own =
        CONTAINER_OF((uintptr_t)self, struct ws_encoding, encoding); /* drops const */
    uint8_t head[WS_MAX_HEAD];
    struct buf packed;
    size_t len;
    enum err err;

    if (text.len < own->min_bytes)
        return encode_plain(self, text, out);
    buf_init(&packed, text.len);
    if (ws_deflate(own->deflater, text, &packed)) {
        buf_done(&packed);
        return encode_plain(self, text, out); /* it would not get smaller */
    }
    len = ws_head_write(head, WS_OP_TEXT, packed.len, true);
    err = buf_append(out, (struct str){ (const char *)head, len });
    if (!err)
        err = buf_append(out, buf_str(&packed));
    buf_done(&packed);
    return err;
}

void ws_encodings_init(struct worker *worker)
{
    enum { WINDOW_BITS = 15 };

    worker->inflater = ws_inflater_new();
    worker->plain = (struct ws_encoding){
        .encoding = { head_size, head_write, encode_plain },
    };
    worker->deflated = (struct ws_encoding){
        .encoding = { .encode = encode_deflated },
        .deflater = ws_deflater_new(WINDOW_BITS),
    };
    ws_settings_changed(worker);
}

void ws_settings_changed(struct worker *worker)
{
    worker->ws_shared = worker->settings->ws;
    worker->ws_shared.inflater = worker->inflater;
    worker->deflated.min_bytes = worker->settings->config->compression_min;
}

void ws_encodings_done(struct worker *worker)
{
    ws_inflater_free(worker->inflater);
    ws_deflater_free(worker->deflated.deflater);
}
