/* SPDX-License-Identifier: Apache-2.0 */
/* Where packages come from: what is said, what npm and pip are told, and the public ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harness.h"
#include "sandbox/registry.h"

enum { MAX_BYTES = 1 << 20 };

/* A home with nothing in it, and none of the variables. */
struct machine {
    char home[64];
    struct arena arena;
    struct registries found;
};

static void machine_init(struct machine *m)
{
    static const char *const names[] = {
        "npm_config_registry", "NPM_CONFIG_REGISTRY", "UV_DEFAULT_INDEX",  "UV_INDEX_URL",
        "PIP_INDEX_URL",       "NODE_EXTRA_CA_CERTS", "npm_config_cafile", "PIP_CERT",
        "SSL_CERT_FILE",
    };

    for (size_t i = 0; i < COUNT(names); i++)
        CHECK_INT(unsetenv(names[i]), 0);
    arena_init(&m->arena, MAX_BYTES);
    (void)snprintf(m->home, sizeof(m->home), "/tmp/moot-home-XXXXXX");
    CHECK(mkdtemp(m->home) != NULL);
    CHECK_INT(setenv("HOME", m->home, 1), 0);
}

static void put(const struct machine *m, const char *name, const char *text, char path[])
{
    FILE *file;

    (void)snprintf(path, 128, "%s/%s", m->home, name);
    file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fchmod(fileno(file), 0644) == 0 &&
          fclose(file) == 0);
}

static void machine_done(struct machine *m)
{
    char line[128];

    arena_done(&m->arena);
    (void)snprintf(line, sizeof(line), "rm -r %s", m->home);
    CHECK_INT(system(line), 0); /* NOLINT(cert-env33-c): a folder of this test */
}

static void find(struct machine *m, struct str npm, struct str pypi)
{
    registries_find(&(struct registry_words){ npm, pypi, S("") }, &m->arena, &m->found);
}

TEST(what_is_said_comes_first_then_variables_then_files)
{
    struct machine m;
    char path[128];

    machine_init(&m);
    put(&m, ".npmrc",
        "cafile=/nowhere\n# registry=x\n registry = \"http://file:4873/\"\n", path);
    find(&m, S(""), S(""));
    CHECK_STR(m.found.npm.url, S("http://file:4873/"));
    CHECK_STR(m.found.npm.hosts[0], S("file:4873"));
    CHECK_STR(m.found.npm.from, S("~/.npmrc"));
    CHECK_STR(m.found.ca, S("")); /* it is not there */
    CHECK_INT(setenv("NPM_CONFIG_REGISTRY", "https://variable/npm", 1), 0);
    find(&m, S(""), S(""));
    CHECK_STR(m.found.npm.hosts[0], S("variable:443"));
    CHECK_STR(m.found.npm.from, S("NPM_CONFIG_REGISTRY"));
    find(&m, S("http://[fd00::1]/npm"), S("https://index.corp/simple"));
    CHECK_STR(m.found.npm.hosts[0], S("[fd00::1]:80"));
    CHECK_STR(m.found.npm.hosts[1], S(""));
    CHECK_STR(m.found.pypi.hosts[0], S("index.corp:443"));
    CHECK_STR(m.found.pypi.hosts[1], S(""));
    CHECK_STR(m.found.npm.from, S("the settings"));
    machine_done(&m);
}

TEST(certificates_that_are_there_are_found)
{
    struct machine m;
    char path[128];

    machine_init(&m);
    put(&m, "own.pem", "", path);
    CHECK_INT(setenv("NODE_EXTRA_CA_CERTS", path, 1), 0);
    find(&m, S(""), S(""));
    CHECK_STR(m.found.ca, str_of(path));
    CHECK(registry_ca_fault(path) == NULL);
    CHECK(registry_ca_fault(m.home) != NULL);
    CHECK(registry_ca_fault("/nowhere") != NULL);
    machine_done(&m);
}

TEST(a_registry_with_a_password_is_refused_when_it_is_needed)
{
    struct machine m;

    machine_init(&m);
    CHECK_INT(setenv("PIP_INDEX_URL", "https://me:secret@index.corp/simple", 1), 0);
    find(&m, S(""), S(""));
    CHECK(m.found.pypi.fault && strstr(m.found.pypi.fault, "password"));
    CHECK_STR(m.found.pypi.from, S("PIP_INDEX_URL"));
    machine_done(&m);
}

TEST(a_registry_is_a_url_with_a_host)
{
    static const struct {
        const char *url, *why; /* a part of it; NULL: it is fine */
    } cases[] = {
        { "https://a.org", NULL },
        { "https://a.org:8443/x/y/", NULL },
        { "http://[::1]:4873/", NULL },
        { "", "https://HOST" },
        { "a.org", "https://HOST" },
        { "ftp://a.org/", "https://HOST" },
        { "https:///x", "names a host" },
        { "https://a.org:x/", "names a host" },
        { "https://a.org:0/", "names a host" },
        { "https://*.org/", "names a host" },
        { "https://a b/", "spaces" },
        { "https://a.org/\n", "spaces" },
        { "https://u:p@a.org/", "password" },
        { "https://a.org/?x", "no ?" },
    };

    FOR_EACH_CASE(c, cases) {
        const char *why = registry_url_fault(str_of(c->url));

        CHECK_INT(why == NULL, c->why == NULL);
        CHECK(!c->why || (why && strstr(why, c->why)));
    }
}
