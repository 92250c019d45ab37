/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over every file of its corpus, one TAP line each, so that what the
 * fuzzer once found stays found in every test run.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void replay(const char *folder, const char *name, int number)
{
    char path[4096];
    uint8_t *bytes;
    FILE *file;
    size_t size;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (!file) {
        printf("not ok %d %s\n", number, name);
        return;
    }
    (void)fseek(file, 0, SEEK_END);
    size = (size_t)ftell(file);
    rewind(file);
    /* Exactly the size of the input, so that the sanitizer sees the first byte behind. */
    bytes = malloc(size ? size : 1);
    if (!bytes || fread(bytes, 1, size, file) != size)
        abort();
    (void)fclose(file);
    (void)LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    printf("ok %d %s\n", number, name);
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    const struct dirent *entry;
    int count = 0;

    if (!folder) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            replay(argv[1], entry->d_name, ++count);
    (void)closedir(folder);
    printf("1..%d\n", count);
    return count ? 0 : 1;
}
