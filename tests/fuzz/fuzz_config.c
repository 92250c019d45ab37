/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a configuration. What is accepted and printed must be accepted again and
 * print the same (tokens apart: they are masked); what is refused must say why.
 */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_print(const struct config *config)
{
    struct config *again = NULL;
    struct buf a, b;

    buf_init(&a, 64 << 20);
    buf_init(&b, 64 << 20);
    config_print(config, &a);
    if (a.len <= CONFIG_FILE_MAX && config->tokens.count == 0) {
        if (config_parse(buf_str(&a), "again", NULL, &again, NULL))
            abort();
        config_print(again, &b);
        if (!str_eq(buf_str(&a), buf_str(&b)))
            abort();
    }
    config_free(again);
    buf_done(&a);
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct config_problem problem = {};
    struct config *config = NULL;

    if (config_parse((struct str){ (const char *)bytes, size }, "fuzz", NULL, &config,
                     &problem)) {
        if (problem.message[0] == '\0')
            abort();
        return 0;
    }
    check_print(config);
    config_free(config);
    return 0;
}
