/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of run time over those of a file, and all of them as a list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/overlay.h"
#include "harness.h"

/* A file for a while. */
struct paper {
    char path[64];
};

static struct paper paper_of(const char *text)
{
    struct paper paper = { "/tmp/moot-overlay-XXXXXX" };
    int fd = mkstemp(paper.path);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(fd);
    return paper;
}

static enum err load(const char *text, struct config_setting setting, struct config **ret,
                     struct config_problem *problem)
{
    struct config_overlay overlay = { &setting, 1 };
    struct paper paper;
    enum err err;

    if (!text)
        return config_load_over(NULL, &overlay, ret, problem);
    paper = paper_of(text);
    err = config_load_over(paper.path, &overlay, ret, problem);
    (void)unlink(paper.path);
    return err;
}

TEST(what_is_set_lies_over_what_the_file_says)
{
    static const char *const files[] = {
        NULL,
        "",
        "log: warn\n",
        "limits:\n",
        "limits: ~\n",
        "limits: { rate_messages: 7/s }\n",
        "limits: { burst: 1s, rate_messages: 0, depth: 20 }\ntopics: { max: 9 }\n",
    };

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct config *config = NULL;

        CHECK_INT(load(files[i],
                       (struct config_setting){ S("limits.rate_messages"), S("500/s") },
                       &config, NULL),
                  OK);
        CHECK_INT(config->limits.rate_messages, 500);
        CHECK_INT(config->limits.depth, i == 6 ? 20 : 128);
        CHECK_INT(config->topics.max, i == 6 ? 9 : 100'000);
        config_free(config);
    }
}

TEST(sections_are_made_as_deep_as_needed)
{
    struct config *config = NULL;

    CHECK_INT(load("topics: { named: { a: {}, b: { loop_guard: 3 } } }\n",
                   (struct config_setting){ S("topics.defaults.loop_guard"), S("17") },
                   &config, NULL),
              OK);
    CHECK_INT(config->topics.defaults.loop_guard, 17);
    CHECK_INT(config_topic_find(config, S("a"))->loop_guard, 17);
    CHECK_INT(config_topic_find(config, S("b"))->loop_guard, 3);
    config_free(config);
}

TEST(what_is_wrong_is_refused_as_in_a_file)
{
    static const struct {
        struct str name, value;
        const char *said;
    } cases[] = {
        { S("limits.rate_messages"), S("fast"), "rate" },
        { S("limits.kick_bar"), S("25h"), "24h" },
        { S("log"), S("loud"), "info" },
        { S("limits.envelope"), S("2MiB"), "cannot be set" },
        { S("tokens"), S("[]"), "cannot be set" },
        { S("limits"), S("{}"), "cannot be set" },
        { S("limits.rate_messages.x"), S("1"), "cannot be set" },
        { S(""), S("1"), "cannot be set" },
    };

    FOR_EACH_CASE(c, cases) {
        struct config_problem problem = {};
        struct config *config = NULL;

        CHECK_INT(
            load("", (struct config_setting){ c->name, c->value }, &config, &problem),
            ERR_INVALID);
        CHECK(!config);
        CHECK(strstr(problem.message, c->said) != NULL);
    }
}

TEST(a_broken_file_stays_broken)
{
    struct config_problem problem = {};
    struct config *config = NULL;

    CHECK_INT(load("limits: [1]\n",
                   (struct config_setting){ S("limits.rate_messages"), S("1/s") },
                   &config, &problem),
              ERR_INVALID);
    CHECK_INT(load("limitz: {}\n", (struct config_setting){ S("log"), S("debug") },
                   &config, &problem),
              ERR_INVALID);
    CHECK(!config);
}

struct seen {
    size_t count, live, changed;
    bool has_secret;
    char rate[32];
};

static void on_item(void *user, const struct config_item *item)
{
    struct seen *seen = user;

    seen->count++;
    seen->live += item->is_live;
    seen->changed += !item->is_preset;
    seen->has_secret |= memmem(item->value.ptr, item->value.len, "hush", 4) != NULL;
    CHECK(item->type && item->help && item->name.len);
    CHECK_INT(item->is_live, config_is_live(item->name));
    if (str_eq(item->name, S("limits.rate_messages")))
        (void)snprintf(seen->rate, sizeof(seen->rate), STR_FMT, STR_ARG(item->value));
}

TEST(all_values_are_listed_and_no_secret)
{
    struct config *config = NULL;
    struct seen seen = {};

    CHECK_INT(
        load(
            "hosts: [a.example]\ntokens: [{ token: hush-hush-hush-hush, id: x, profile: full }]\n"
            "store: postgresql://hush@h/d\n",
            (struct config_setting){ S("limits.rate_messages"), S("500/s") }, &config,
            NULL),
        OK);
    if (!config)
        return;
    config_each_item(config, on_item, &seen);
    CHECK(seen.count > 60);
    CHECK(seen.live >= 20);
    CHECK_INT(seen.changed, 2);
    CHECK(!seen.has_secret);
    CHECK_STR(str_of(seen.rate), S("500/s"));
    config_free(config);
}
