/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the examples share: which room, with which token, and how to show text of others.
 *
 *     PROGRAM [--token-file FILE] URL TOPIC …
 *
 * The token is in the file, or in MOOT_TOKEN; never on the command line, where everybody
 * on the machine can read it.
 */
#pragma once

#include <moot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct example {
    const char *url, *topic;
    char token[1024];
    int rest_count; /* arguments behind the topic */
    char **rest;
};

static inline void example_token(struct example *example, const char *path)
{
    FILE *file = fopen(path, "r");

    if (!file || !fgets(example->token, sizeof(example->token), file)) {
        perror(path);
        exit(2);
    }
    example->token[strcspn(example->token, "\r\n")] = '\0';
    (void)fclose(file);
}

/* Ends the program where arguments are missing; `usage` names those behind the topic. */
static inline struct example example_begin(int argc, char **argv, int least,
                                           const char *usage)
{
    struct example example = { .token = "" };
    const char *token = getenv("MOOT_TOKEN");
    int at = 1;

    if (argc > 2 && !strcmp(argv[1], "--token-file")) {
        example_token(&example, argv[2]);
        at = 3;
    } else if (token) {
        (void)snprintf(example.token, sizeof(example.token), "%s", token);
    }
    if (argc < at + 2 + least) {
        (void)fprintf(stderr, "usage: %s [--token-file FILE] URL TOPIC%s\n", argv[0],
                      usage);
        exit(2);
    }
    example.url = argv[at];
    example.topic = argv[at + 1];
    example.rest = argv + at + 2;
    example.rest_count = argc - at - 2;
    return example;
}

/* Text of others on a terminal: whatever could move the cursor, ring, or turn the reading
 * direction is shown by its bytes. */
static inline void example_json(const char *label, struct moot_str text)
{
    printf("%s", label);
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] >= ' ' && text.ptr[i] <= '~')
            (void)putchar(text.ptr[i]);
        else
            printf("\\x%02x", (unsigned char)text.ptr[i]);
    (void)putchar('\n');
    (void)fflush(stdout);
}

static inline void example_line(const char *label, const char *text)
{
    struct moot_str str = { text, strlen(text) };

    example_json(label, str);
}
