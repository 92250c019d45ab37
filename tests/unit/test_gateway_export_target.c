/* SPDX-License-Identifier: Apache-2.0 */
/* Where records go, as a file says it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/export_target.h"
#include "gateway/settings.h"
#include "harness.h"

/* The settings of a text, or NULL and what is wrong with it. */
static struct settings *load(const char *yaml, const char *folder,
                             struct config_problem *problem)
{
    struct settings *settings = NULL;
    struct config *config = NULL;

    *problem = (struct config_problem){};
    if (config_parse(str_of(yaml), "moot.yaml", folder, &config, problem))
        return NULL;
    if (settings_new(config, &settings, problem)) {
        config_free(config);
        return NULL;
    }
    return settings;
}

TEST(syslog_goes_to_a_socket_or_to_a_host_and_port)
{
    static const struct {
        const char *yaml;
        enum syslog_transport transport;
        const char *host;
        uint16_t port;
    } cases[] = {
        { "log: info", SYSLOG_NOWHERE, NULL, 0 },
        { "audit: { syslog: 'unix:/dev/log' }", SYSLOG_UNIX, "/dev/log", 0 },
        { "audit: { syslog: 'udp://127.0.0.1:1514' }", SYSLOG_UDP, "127.0.0.1", 1514 },
        { "audit: { syslog: 'udp://logs.example' }", SYSLOG_UDP, "logs.example", 514 },
        { "audit: { syslog: 'tcp://[::1]:601' }", SYSLOG_TCP, "::1", 601 },
        { "audit: { syslog: 'tcp://[::1]' }", SYSLOG_TCP, "::1", 514 },
    };

    FOR_EACH_CASE(c, cases) {
        struct config_problem problem;
        struct settings *settings = load(c->yaml, NULL, &problem);

        CHECK_STR(str_of(problem.message), S(""));
        if (!settings)
            continue;
        CHECK_INT(settings->exports.syslog.transport, c->transport);
        CHECK_STR(str_of(settings->exports.syslog.host), str_of(c->host));
        CHECK_INT(settings->exports.syslog.port, c->port);
        CHECK(settings->exports.otlp.url == NULL);
        settings_unref(settings);
    }
}

TEST(what_cannot_be_sent_to_is_refused_with_its_line)
{
    static const struct {
        const char *yaml;
        const char *what;
    } cases[] = {
        { "audit:\n  syslog: /dev/log",
          "audit.syslog \"/dev/log\" begins with none of udp://, tcp://, unix:/" },
        { "audit:\n  syslog: unix:log",
          "audit.syslog \"unix:log\" is not the full path of a socket" },
        { "audit:\n  syslog: tcp://", "audit.syslog \"tcp://\" names no host" },
        { "audit:\n  syslog: tcp://a/b:1", "audit.syslog \"tcp://a/b:1\" names no host" },
        { "audit:\n  syslog: udp://a:0",
          "audit.syslog \"udp://a:0\" has no port from 1 to 65535 behind the host" },
        { "audit:\n  syslog: udp://a:65536",
          "audit.syslog \"udp://a:65536\" has no port from 1 to 65535 behind the host" },
        { "audit:\n  syslog: 'udp://a:'",
          "audit.syslog \"udp://a:\" has no port from 1 to 65535 behind the host" },
        { "audit:\n  syslog: 'tcp://[::1'",
          "audit.syslog \"tcp://[::1\" has no ] behind the address" },
        { "audit:\n  otlp: collector:4318",
          "audit.otlp begins with neither http:// nor https://" },
        { "audit:\n  otlp: http:///v1/logs", "audit.otlp names no host" },
        { "audit:\n  otlp: http://:4318/", "audit.otlp names no host" },
        { "audit:\n  otlp: https://u:secret@host/",
          "audit.otlp holds a name or password; these belong into otlp_headers_file" },
        { "audit:\n  otlp: 'https://host/#a'", "audit.otlp has a fragment" },
        { "audit:\n  otlp: \"https://ho st/\"", "audit.otlp is not a URL" },
    };

    FOR_EACH_CASE(c, cases) {
        struct config_problem problem;
        struct settings *settings = load(c->yaml, NULL, &problem);

        CHECK(settings == NULL);
        CHECK_STR(str_of(problem.message), str_of(c->what));
        CHECK_INT(problem.mark.line, 2);
        settings_unref(settings);
    }
}

/* A folder with a file of headers. */
static void write_headers(char folder[static 32], const char *text, mode_t mode)
{
    char path[64];
    int fd;

    (void)snprintf(folder, 32, "/tmp/test_export.XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof(path), "%s/headers", folder);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK_INT(write(fd, text, strlen(text)), strlen(text));
    CHECK_INT(fchmod(fd, mode), 0);
    (void)close(fd);
}

static void remove_headers(const char *folder)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "%s/headers", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

#define WITH_HEADERS "audit:\n  otlp: https://host/v1/logs\n  otlp_headers_file: headers"

TEST(headers_come_from_a_file_and_are_never_printed)
{
    char folder[32];
    struct config_problem problem;
    struct settings *settings;
    struct buf out;

    write_headers(folder, "# comment\n\nAuthorization: Bearer s3cret\r\nX-Scope: a b\n",
                  0600);
    settings = load(WITH_HEADERS, folder, &problem);
    CHECK_STR(str_of(problem.message), S(""));
    if (settings) {
        const struct otlp_target *otlp = &settings->exports.otlp;

        CHECK_STR(str_of(otlp->url), S("https://host/v1/logs"));
        CHECK_INT(otlp->field_count, 3);
        CHECK_STR(str_of(otlp->fields[0]), S("Content-Type: application/json"));
        CHECK_STR(str_of(otlp->fields[1]), S("Authorization: Bearer s3cret"));
        CHECK_STR(str_of(otlp->fields[2]), S("X-Scope: a b"));
        CHECK_INT(settings->config->warnings.count, 0);
        buf_init(&out, 1 << 20);
        config_print(settings->config, &out);
        CHECK(!strstr(buf_cstr(&out), "s3cret"));
        CHECK(strstr(buf_cstr(&out), "headers") != NULL);
        buf_done(&out);
    }
    settings_unref(settings);
    remove_headers(folder);
}

TEST(a_file_of_headers_that_others_can_read_is_warned_of)
{
    char folder[32];
    struct config_problem problem;
    struct settings *settings;

    write_headers(folder, "A: b", 0644);
    settings = load(WITH_HEADERS, folder, &problem);
    CHECK(settings && settings->config->warnings.count == 1);
    settings_unref(settings);
    remove_headers(folder);
}

TEST(bad_headers_are_refused_without_being_shown)
{
    static const struct {
        const char *text;
        const char *what;
    } cases[] = {
        { "A: b\nsecret",
          "otlp_headers_file: line 2 is no \"Name: value\" that may be set" },
        { ": secret", "otlp_headers_file: line 1 is no \"Name: value\" that may be set" },
        { "A b: secret",
          "otlp_headers_file: line 1 is no \"Name: value\" that may be set" },
        { "A: sec\x01ret",
          "otlp_headers_file: line 1 is no \"Name: value\" that may be set" },
        { "Content-Length: 0",
          "otlp_headers_file: line 1 is no \"Name: value\" that may be set" },
        { "hOST: a", "otlp_headers_file: line 1 is no \"Name: value\" that may be set" },
    };

    FOR_EACH_CASE(c, cases) {
        char folder[32];
        struct config_problem problem;

        write_headers(folder, c->text, 0600);
        CHECK(load(WITH_HEADERS, folder, &problem) == NULL);
        CHECK_STR(str_of(problem.message), str_of(c->what));
        remove_headers(folder);
    }
}

TEST(headers_need_a_collector_and_a_file)
{
    struct config_problem problem;

    CHECK(load("audit:\n  otlp_headers_file: headers", "/nonexistent", &problem) == NULL);
    CHECK_STR(str_of(problem.message), S("otlp_headers_file is given without otlp"));
    CHECK(load(WITH_HEADERS, "/nonexistent", &problem) == NULL);
    CHECK_STR(str_of(problem.message),
              S("otlp_headers_file \"/nonexistent/headers\": No such file or directory"));
    CHECK(load(WITH_HEADERS, NULL, &problem) == NULL);
}

TEST(a_target_that_stays_is_recognised)
{
    struct config_problem problem;
    struct settings *a =
        load("audit: { syslog: 'udp://a:1', otlp: 'http://a/' }", NULL, &problem);
    struct settings *b =
        load("audit: { syslog: 'udp://a:1', otlp: 'http://a/' }", NULL, &problem);
    struct settings *c =
        load("audit: { syslog: 'tcp://a:1', otlp: 'http://b/' }", NULL, &problem);
    struct settings *none = load("log: info", NULL, &problem);

    CHECK(syslog_target_equals(&a->exports.syslog, &b->exports.syslog));
    CHECK(otlp_target_equals(&a->exports.otlp, &b->exports.otlp));
    CHECK(!syslog_target_equals(&a->exports.syslog, &c->exports.syslog));
    CHECK(!otlp_target_equals(&a->exports.otlp, &c->exports.otlp));
    CHECK(!syslog_target_equals(&a->exports.syslog, &none->exports.syslog));
    CHECK(!otlp_target_equals(&a->exports.otlp, &none->exports.otlp));
    CHECK(otlp_target_equals(&none->exports.otlp, &none->exports.otlp));
    settings_unref(a);
    settings_unref(b);
    settings_unref(c);
    settings_unref(none);
}
