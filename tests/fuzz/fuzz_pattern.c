/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is a pattern, the rest a kind; the compiled matcher must agree with the
 * model of D14, also on kinds that are not UTF-8. */
#include <stdlib.h>

#include "../harness/pattern_model.h"
#include "policy/pattern.h"

enum { MAX_KIND = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str kind = { (const char *)bytes, size };
    struct str text = str_cut(&kind, '\n');
    struct pattern *pattern = NULL;

    if (kind.len > MAX_KIND || pattern_new(text, &pattern, NULL))
        return 0;
    if (!str_eq(pattern_text(pattern), text) ||
        pattern_matches(pattern, kind) != model_matches(text, kind))
        abort();
    pattern_free(pattern);
    return 0;
}
