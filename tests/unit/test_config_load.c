/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "harness.h"

enum { PATH = 256 };

/* A folder of its own for each test, with moot.yaml and secrets/root inside. */
struct place {
    char folder[64];
    char yaml[PATH];
    char secret[PATH];
};

static void write_file(const char *path, struct str text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    CHECK_INT(write(fd, text.ptr, text.len), text.len);
    CHECK_INT(fchmod(fd, mode), 0);
    (void)close(fd);
}

static void place_init(struct place *place, struct str yaml)
{
    char secrets[PATH];

    (void)snprintf(place->folder, sizeof(place->folder), "/tmp/test_config.XXXXXX");
    CHECK(mkdtemp(place->folder) != NULL);
    (void)snprintf(secrets, PATH, "%s/secrets", place->folder);
    CHECK_INT(mkdir(secrets, 0700), 0);
    (void)snprintf(place->yaml, PATH, "%s/moot.yaml", place->folder);
    (void)snprintf(place->secret, PATH, "%s/secrets/root", place->folder);
    write_file(place->yaml, yaml, 0600);
}

static void place_done(const struct place *place)
{
    char secrets[PATH];

    (void)snprintf(secrets, PATH, "%s/secrets", place->folder);
    (void)unlink(place->secret);
    (void)unlink(place->yaml);
    (void)rmdir(secrets);
    CHECK_INT(rmdir(place->folder), 0);
}

static const struct str example =
    S("listen: 127.0.0.1:8420\n"
      "data: ./data\n"
      "topics: { open: true }          # false: only the topics named under "
      "`topics.named`\n"
      "tokens:\n"
      "  - { token: tok-alice, id: alice, topics: [\"*\"], capabilities: [\"mcp/*\", "
      "\"chat\"] }\n"
      "  - { token: tok-bob,   id: bob,   topics: [room], profile: proposer }\n"
      "  - { token_file: secrets/root, id: root, profile: admin }\n"
      "limits: { envelope: 1MiB, outbox: 2MiB, depth: 128, rate_messages: 1000/s, "
      "rate_bytes: 16MiB/s }   # 0 = unlimited\n");

TEST(the_example_works_as_it_stands)
{
    struct config_problem problem = {};
    struct config *config = NULL;
    struct place place;
    char data[PATH];

    place_init(&place, example);
    write_file(place.secret, S("  tok-root\r\n\n"), 0600);
    CHECK_INT(config_load(place.yaml, &config, &problem), OK);
    CHECK_STR(str_of(problem.message), S(""));
    if (!config)
        return;
    (void)snprintf(data, PATH, "%s/data", place.folder);
    CHECK_STR(config->data, str_of(data));
    CHECK_STR(config->file, str_of(place.yaml));
    CHECK_INT(config->tokens.count, 3);
    CHECK_STR(config->tokens.items[0].token, S("tok-alice"));
    CHECK_STR(config->tokens.items[0].capabilities.items[1], S("chat"));
    CHECK_INT(config->tokens.items[0].capabilities.marks[1].line, 5);
    CHECK_INT(config->tokens.items[0].capabilities.marks[1].column, 75);
    CHECK_STR(config->tokens.items[1].topics.items[0], S("room"));
    CHECK_STR(config->tokens.items[1].profile, S("proposer"));
    CHECK_STR(config->tokens.items[2].token, S("tok-root"));
    CHECK_STR(config->tokens.items[2].token_file, str_of(place.secret));
    CHECK_INT(config->warnings.count, 0);
    config_free(config);
    place_done(&place);
}

TEST(a_secret_that_others_can_read_is_worth_a_warning)
{
    struct config *config = NULL;
    struct place place;

    place_init(&place, example);
    write_file(place.secret, S("tok-root"), 0644);
    CHECK_INT(config_load(place.yaml, &config, NULL), OK);
    if (!config)
        return;
    CHECK_INT(config->warnings.count, 1);
    CHECK_INT(config->warnings.marks[0].line, 7);
    CHECK(strstr(config->warnings.items[0].ptr, "can be read by others") != NULL);
    config_free(config);
    place_done(&place);
}

TEST(print_keeps_files_and_not_their_content)
{
    struct config *config = NULL;
    struct config *again = NULL;
    struct place place;
    struct buf out;

    place_init(&place, S("tokens: [{ token_file: ./secrets/root, id: r, profile: p }]"));
    write_file(place.secret, S("tok-root"), 0600);
    CHECK_INT(config_load(place.yaml, &config, NULL), OK);
    if (!config)
        return;
    buf_init(&out, 1 << 20);
    config_print(config, &out);
    CHECK(strstr(buf_cstr(&out), "tok-root") == NULL);
    CHECK_INT(config_parse(buf_str(&out), "x", "/", &again, NULL), OK);
    CHECK(again && str_eq(again->tokens.items[0].token, S("tok-root")));
    buf_done(&out);
    config_free(config);
    config_free(again);
    place_done(&place);
}

TEST(bad_secrets_are_refused)
{
    static const struct {
        struct str secret; /* ptr NULL: no such file */
        const char *message;
    } cases[] = {
        { {}, "No such file or directory" },   { S(""), "must hold one token" },
        { S("\n \n"), "must hold one token" }, { S("a b"), "must hold one token" },
        { S("a\nb"), "must hold one token" },  { S("a\0b"), "must hold one token" },
    };

    FOR_EACH_CASE(c, cases) {
        struct config_problem problem = {};
        struct config *config = NULL;
        struct place place;

        place_init(&place,
                   S("tokens:\n- token_file: secrets/root\n  id: r\n  profile: p"));
        if (c->secret.ptr)
            write_file(place.secret, c->secret, 0600);
        CHECK_INT(config_load(place.yaml, &config, &problem), ERR_INVALID);
        CHECK(strstr(problem.message, c->message) != NULL);
        CHECK_INT(problem.mark.line, 2);
        CHECK_INT(problem.mark.column, 15);
        place_done(&place);
    }
}

TEST(a_file_that_is_too_long_for_a_token_is_refused)
{
    struct config_problem problem = {};
    struct config *config = NULL;
    struct place place;
    char long_token[4097];

    memset(long_token, 'a', sizeof(long_token));
    place_init(&place, S("tokens: [{ token_file: secrets/root, id: r, profile: p }]"));
    write_file(place.secret, (struct str){ long_token, 4097 }, 0600);
    CHECK_INT(config_load(place.yaml, &config, &problem), ERR_INVALID);
    write_file(place.secret, (struct str){ long_token, 4096 }, 0600);
    CHECK_INT(config_load(place.yaml, &config, &problem), OK);
    config_free(config);
    place_done(&place);
}

TEST(a_missing_file_and_a_folder_are_no_configuration)
{
    struct config_problem problem = {};
    struct config *config = NULL;

    CHECK_INT(config_load("/nonexistent/moot.yaml", &config, &problem), ERR_NOT_FOUND);
    CHECK_STR(str_of(problem.message), S("No such file or directory"));
    CHECK_STR(str_of(problem.file), S("/nonexistent/moot.yaml"));
    CHECK_INT(problem.mark.line, 0);
    CHECK_INT(config_load("/", &config, &problem), ERR_IO);
    CHECK_STR(str_of(problem.message), S("Is a directory"));
    CHECK(config == NULL);
}

TEST(a_file_over_a_megabyte_is_refused)
{
    struct config_problem problem = {};
    struct config *config = NULL;
    struct place place;

    place_init(&place, S("# "));
    CHECK_INT(truncate(place.yaml, CONFIG_FILE_MAX + 1), 0);
    CHECK_INT(config_load(place.yaml, &config, &problem), ERR_TOO_BIG);
    CHECK_STR(str_of(problem.message), S("the file is larger than 1 MiB"));
    place_done(&place);
}
