/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sec-WebSocket-Extensions from outside: the answer is within what was asked for, and our
 * own answer read as an offer is acceptable again.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "ws/deflate.h"
#include "ws/handshake.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_answer(const struct ws_extension *ext, int min_bits)
{
    struct ws_extension again;
    struct buf answer;

    if (ext->server_bits < min_bits || ext->server_bits < 9 || ext->server_bits > 15)
        abort();
    buf_init(&answer, 1000);
    ws_extension_write(&answer, ext);
    if (answer.is_full || ws_extension_choose(buf_str(&answer), min_bits, &again) ||
        !again.is_on || again.server_bits != ext->server_bits ||
        again.names_server_bits != ext->names_server_bits ||
        again.names_client_bits != ext->names_client_bits)
        abort();
    buf_done(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str header;
    struct ws_extension ext;
    int min_bits;

    if (size < 1)
        return 0;
    min_bits = 8 + bytes[0] % 8;
    header = (struct str){ (const char *)bytes + 1, size - 1 };
    if (!ws_extension_choose(header, min_bits, &ext) && ext.is_on)
        check_answer(&ext, min_bits);
    (void)ws_key_check(header);
    return 0;
}
