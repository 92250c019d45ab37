/* SPDX-License-Identifier: Apache-2.0 */
/* A line of an export. What is read is written again as the same bytes, and can be
 * hashed, verified and written as CSV. */
#include <stdint.h>
#include <stdlib.h>

#include "audit/line.h"
#include "audit/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void write_again(const struct audit_line *line, struct buf *out)
{
    static const uint8_t key[ED25519_PUBLIC];
    struct audit_verifier *verifier = audit_verifier_new(S("x"), key, NULL);
    struct audit_report report;

    switch (line->type) {
    case AUDIT_LINE_ORIGIN: audit_origin_write(&line->origin, out); break;
    case AUDIT_LINE_CHECKPOINT:
        audit_checkpoint_write(&line->checkpoint, out);
        expect(!audit_verify_checkpoint(verifier, &line->checkpoint));
        break;
    case AUDIT_LINE_RECORD:
        audit_csv_write(&line->record, out);
        buf_clear(out);
        audit_record_write(&line->record, out);
        (void)audit_verify_record(verifier, &line->record);
        break;
    }
    audit_verify_end(verifier, &report);
    audit_verifier_free(verifier);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    struct audit_line line;
    const char *what = NULL;
    struct arena arena;
    struct buf out;

    arena_init(&arena, (size_t)1 << 31);
    buf_init(&out, SIZE_MAX / 4);
    if (audit_line_parse(text, &arena, &line, &what)) {
        expect(what != NULL);
    } else {
        write_again(&line, &out);
        expect(str_eq(str_slice(buf_str(&out), 0, out.len - 1), text));
        expect(out.ptr[out.len - 1] == '\n');
    }
    buf_done(&out);
    arena_done(&arena);
    return 0;
}
