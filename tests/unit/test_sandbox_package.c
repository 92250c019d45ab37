/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that fetch what they run: which package they mean, how it is installed, and
 * what runs it then; and what is known of packages that many people use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harness.h"
#include "sandbox/package.h"
#include "sandbox/profile.h"

enum { MAX_WORDS = 8, MAX_BYTES = 1 << 20 };

/* Splits at spaces; the words are the caller's. */
static struct sandbox_command command_of(const char *line, struct str words[MAX_WORDS])
{
    struct str rest = str_of(line);
    struct sandbox_command command = { .words = words, .folder = S("") };

    while (rest.ptr && command.count < MAX_WORDS)
        words[command.count++] = str_cut(&rest, ' ');
    return command;
}

TEST(a_command_that_runs_a_package_is_understood)
{
    static const struct {
        const char *line;
        enum package_source source;
        struct str name, version, program;
        size_t used;
    } cases[] = {
        { "npx thing", PACKAGE_NPM, S("thing"), S(""), S(""), 2 },
        { "npx -y @a/b@1.2.3 /x", PACKAGE_NPM, S("@a/b"), S("1.2.3"), S(""), 3 },
        { "/usr/bin/npx --yes -- @a/b", PACKAGE_NPM, S("@a/b"), S(""), S(""), 4 },
        { "npx thing@latest", PACKAGE_NPM, S("thing"), S(""), S(""), 2 },
        { "npx -p thing@2 other -y", PACKAGE_NPM, S("thing"), S("2"), S("other"), 4 },
        { "npx --package=@a/b prog", PACKAGE_NPM, S("@a/b"), S(""), S("prog"), 3 },
        { "npm exec -y thing", PACKAGE_NPM, S("thing"), S(""), S(""), 4 },
        { "uvx mcp-server-git --repository", PACKAGE_PYPI, S("mcp-server-git"), S(""),
          S(""), 2 },
        { "uvx thing==1.0", PACKAGE_PYPI, S("thing"), S("1.0"), S(""), 2 },
        { "uvx thing@1.0", PACKAGE_PYPI, S("thing"), S("1.0"), S(""), 2 },
        { "uvx --from thing==1.0 prog", PACKAGE_PYPI, S("thing"), S("1.0"), S("prog"),
          4 },
        { "uv tool run thing", PACKAGE_PYPI, S("thing"), S(""), S(""), 4 },
    };

    FOR_EACH_CASE(c, cases) {
        struct str words[MAX_WORDS];
        struct sandbox_command command = command_of(c->line, words);
        struct package package = {};

        CHECK(package_of(&command, &package));
        CHECK_INT(package.source, c->source);
        CHECK_STR(package.name, c->name);
        CHECK_STR(package.version, c->version);
        CHECK_STR(package.program, c->program);
        CHECK_INT(package.used, c->used);
    }
}

TEST(what_is_surely_no_package_is_not_taken_for_one)
{
    static const char *const cases[] = {
        "node server.js",  "npx",
        "npx -y",          "npx ./local",
        "npx /abs/path",   "npx https://example.org/x.tgz",
        "npx a/b",         "npx github:a/b",
        "npx -c echo",     "npx ../up",
        "npx @a",          "npx @a/b/c",
        "npx thing@>=1",   "npx thing@--x",
        "npx --unknown x", "npx -p a -p b c",
        "npm install x",   "uvx thing[extra]",
        "uvx git+https:x", "uvx thing=1",
        "uv run thing",    "npx .hidden",
    };

    FOR_EACH_CASE(c, cases) {
        struct str words[MAX_WORDS];
        struct sandbox_command command = command_of(*c, words);
        struct package package = {};

        CHECK(!package_of(&command, &package));
    }
}

static bool has_word(const struct sandbox_command *command, struct str word)
{
    for (size_t i = 0; i < command->count; i++)
        if (str_eq(command->words[i], word))
            return true;
    return false;
}

static bool has_variable(const struct permit *permit, struct str name, struct str value)
{
    for (size_t i = 0; i < permit->variable_count; i++)
        if (str_eq(permit->variables[i].name, name) &&
            str_eq(permit->variables[i].value, value))
            return true;
    return false;
}

static const struct registries public_ones = {
    .npm = { .url = S("https://registry.npmjs.org/"),
             .hosts = { S("registry.npmjs.org:443") } },
    .pypi = { .url = S("https://pypi.org/simple/"),
              .hosts = { S("pypi.org:443"), S("files.pythonhosted.org:443") } },
};

TEST(a_package_is_installed_without_running_any_of_it)
{
    struct package npm = { PACKAGE_NPM, S("@a/b"), S("1.2.3"), S(""), 2 };
    struct package newest = { PACKAGE_NPM, S("c"), S(""), S(""), 2 };
    struct sandbox_command command;
    struct permit permit;
    struct arena arena;

    arena_init(&arena, MAX_BYTES);
    package_install(&npm, S("/cache/x"), &public_ones, &arena, &command, &permit);
    CHECK_STR(command.words[0], S("npm"));
    CHECK(has_word(&command, S("--ignore-scripts")));
    CHECK(has_word(&command, S("https://registry.npmjs.org/")));
    CHECK(has_word(&command, S("@a/b@1.2.3")));
    CHECK_INT(permit.level, SANDBOX_STRICT);
    CHECK_INT(permit.network, NETWORK_HOSTS);
    CHECK_INT(permit.host_count, 1);
    CHECK_STR(permit.hosts[0], S("registry.npmjs.org:443"));
    CHECK_INT(permit.write_count, 1);
    CHECK_STR(permit.write[0], S("/cache/x"));
    CHECK_INT(permit.read_count, 0);
    CHECK_INT(permit.variable_count, 0);
    package_install(&newest, S("/cache/x"), &public_ones, &arena, &command, &permit);
    CHECK(has_word(&command, S("c@latest")));
    arena_done(&arena);
}

TEST(tools_of_python_are_installed_by_uv_or_else_by_pip)
{
    struct package pypi = { PACKAGE_PYPI, S("d"), S("1.0"), S(""), 2 };
    char folder[] = "/tmp/moot-path-XXXXXX", uv[64];
    struct sandbox_command command;
    struct permit permit;
    struct arena arena;
    FILE *file;

    arena_init(&arena, MAX_BYTES);
    CHECK(mkdtemp(folder) != NULL);
    CHECK_INT(setenv("PATH", folder, 1), 0);
    package_install(&pypi, S("/cache/x"), &public_ones, &arena, &command, &permit);
    CHECK(has_word(&command, S("pip")));
    CHECK(has_word(&command, S("--only-binary=:all:")));
    CHECK(has_word(&command, S("d==1.0")));
    CHECK_INT(permit.host_count, 2);
    CHECK_STR(permit.hosts[1], S("files.pythonhosted.org:443"));
    (void)snprintf(uv, sizeof(uv), "%s/uv", folder);
    file = fopen(uv, "w");
    CHECK(file && fchmod(fileno(file), 0755) == 0 && fclose(file) == 0);
    package_install(&pypi, S("/cache/x"), &public_ones, &arena, &command, &permit);
    CHECK_STR(command.words[0], S("uv"));
    CHECK(has_word(&command, S("--no-build")));
    CHECK(has_word(&command, S("https://pypi.org/simple/")));
    CHECK(has_word(&command, S("d==1.0")));
    CHECK_INT(unlink(uv), 0);
    CHECK_INT(rmdir(folder), 0);
    CHECK_INT(setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1), 0);
    arena_done(&arena);
}

TEST(certificates_of_the_operator_are_seen_and_trusted)
{
    struct package npm = { PACKAGE_NPM, S("a"), S(""), S(""), 2 };
    struct registries own = public_ones;
    struct sandbox_command command;
    struct permit permit;
    struct arena arena;

    own.ca = S("/etc/own.pem");
    arena_init(&arena, MAX_BYTES);
    package_install(&npm, S("/cache/x"), &own, &arena, &command, &permit);
    CHECK_INT(permit.read_count, 1);
    CHECK_STR(permit.read[0], S("/etc/own.pem"));
    CHECK(has_variable(&permit, S("NODE_EXTRA_CA_CERTS"), S("/etc/own.pem")));
    arena_done(&arena);
}

/* A folder as npm leaves it. */
struct installed {
    char folder[64];
    struct arena arena;
};

static void put_file(const struct installed *at, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", at->folder, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
    file = fopen(path, "w");
    if (file) {
        (void)fputs(text, file);
        (void)fchmod(fileno(file), 0755);
        (void)fclose(file);
    }
}

static void installed_init(struct installed *at)
{
    arena_init(&at->arena, MAX_BYTES);
    (void)snprintf(at->folder, sizeof(at->folder), "/tmp/moot-package-XXXXXX");
    CHECK(mkdtemp(at->folder) != NULL);
}

static void installed_done(struct installed *at)
{
    char line[128];

    arena_done(&at->arena);
    (void)snprintf(line, sizeof(line), "rm -r %s", at->folder);
    CHECK_INT(system(line), 0); /* NOLINT(cert-env33-c): a folder of this test */
}

static const char lock[] = "{\"packages\":{\"node_modules/@a/b\":{\"version\":\"1.2.3\","
                           "\"integrity\":\"sha512-x\"}}}";

TEST(what_runs_an_installed_package_is_read_from_it)
{
    static const struct {
        const char *bin;
        struct str program;
        const char *file; /* NULL: there is none */
    } cases[] = {
        { "\"dist/i.js\"", S(""), "dist/i.js" },
        { "{\"only\":\"dist/i.js\"}", S(""), "dist/i.js" },
        { "{\"x\":\"dist/x.js\",\"b\":\"dist/i.js\"}", S(""), "dist/i.js" },
        { "{\"x\":\"dist/x.js\",\"y\":\"dist/i.js\"}", S("y"), "dist/i.js" },
        { "{\"x\":\"dist/x.js\",\"y\":\"dist/i.js\"}", S(""), NULL },
        { "\"../../../i.js\"", S(""), NULL },
        { "\"/etc/passwd\"", S(""), NULL },
        { "\"gone.js\"", S(""), NULL },
        { "7", S(""), NULL },
    };

    FOR_EACH_CASE(c, cases) {
        struct package package = { PACKAGE_NPM, S("@a/b"), S(""), c->program, 2 };
        struct sandbox_command command = {};
        struct str pin = S("");
        const char *why = NULL;
        struct installed at;
        char text[256], want[256];
        enum err err;

        installed_init(&at);
        (void)snprintf(text, sizeof(text), "{\"bin\":%s}", c->bin);
        put_file(&at, "package-lock.json", lock);
        put_file(&at, "node_modules/@a/b/package.json", text);
        put_file(&at, "node_modules/@a/b/dist/i.js", "");
        (void)snprintf(want, sizeof(want), "%s/node_modules/@a/b/%s", at.folder,
                       c->file ? c->file : "");
        err = package_command(&package, str_of(at.folder), S(""), &at.arena, &command,
                              &pin, &why);
        CHECK_INT(err, c->file ? OK : ERR_NOT_FOUND);
        CHECK_INT(why == NULL, c->file != NULL);
        if (!err) {
            CHECK_INT(command.count, 2);
            CHECK_STR(command.words[0], S("node"));
            CHECK_STR(command.words[1], str_of(want));
            CHECK_STR(pin, S("@a/b@1.2.3 sha512-x"));
        }
        installed_done(&at);
    }
}

TEST(another_package_than_the_pinned_one_is_not_run)
{
    struct package package = { PACKAGE_NPM, S("@a/b"), S(""), S(""), 2 };
    struct sandbox_command command = {};
    struct str pin = S("");
    const char *why = NULL;
    struct installed at;

    installed_init(&at);
    put_file(&at, "package-lock.json", lock);
    put_file(&at, "node_modules/@a/b/package.json", "{\"bin\":\"i.js\"}");
    put_file(&at, "node_modules/@a/b/i.js", "");
    CHECK_INT(package_command(&package, str_of(at.folder), S("@a/b@1.2.3 sha512-x"),
                              &at.arena, &command, &pin, &why),
              OK);
    CHECK_INT(package_command(&package, str_of(at.folder), S("@a/b@1.2.3 sha512-y"),
                              &at.arena, &command, &pin, &why),
              ERR_CONFLICT);
    CHECK(why != NULL);
    installed_done(&at);
}

TEST(a_tool_of_python_is_found_whatever_its_name_looks_like)
{
    struct package package = { PACKAGE_PYPI, S("mcp-server-git"), S(""), S(""), 2 };
    struct sandbox_command command = {};
    struct str pin = S("");
    const char *why = NULL;
    struct installed at;

    installed_init(&at);
    put_file(&at, "bin/mcp-server-git", "#!/bin/sh\n");
    put_file(&at,
             "tools/mcp-server-git/lib/python3.11/site-packages/"
             "mcp_server_git-0.6.2.dist-info/RECORD",
             "");
    CHECK_INT(package_command(&package, str_of(at.folder), S(""), &at.arena, &command,
                              &pin, &why),
              OK);
    CHECK_STR(pin, S("mcp-server-git@0.6.2 -"));
    CHECK(command.count == 1 && str_ends(command.words[0], S("/bin/mcp-server-git")));
    installed_done(&at);
}

TEST(what_pip_installed_is_run_with_its_own_packages_and_pinned_by_its_digest)
{
    struct package package = { PACKAGE_PYPI, S("mcp-server-git"), S(""), S(""), 2 };
    struct sandbox_command command = {};
    struct str pin = S("");
    const char *why = NULL;
    struct installed at;

    installed_init(&at);
    put_file(&at, "site/bin/mcp-server-git", "");
    CHECK_INT(package_command(&package, str_of(at.folder), S(""), &at.arena, &command,
                              &pin, &why),
              ERR_NOT_FOUND);
    put_file(&at, "report.json",
             "{\"install\":[{\"metadata\":{\"name\":\"other\",\"version\":\"9\"}},"
             "{\"metadata\":{\"name\":\"MCP_server.git\",\"version\":\"0.6.2\"},"
             "\"download_info\":{\"archive_info\":{\"hash\":\"sha256=ab\"}}}]}");
    CHECK_INT(package_command(&package, str_of(at.folder), S(""), &at.arena, &command,
                              &pin, &why),
              OK);
    CHECK_STR(pin, S("mcp-server-git@0.6.2 sha256=ab"));
    CHECK_INT(command.count, 4);
    CHECK(str_starts(command.words[1], S("PYTHONPATH=/tmp/")));
    CHECK(str_ends(command.words[3], S("/site/bin/mcp-server-git")));
    installed_done(&at);
}

TEST(known_servers_have_their_profile)
{
    static const struct {
        const char *line, *name;
    } cases[] = {
        { "npx -y @modelcontextprotocol/server-filesystem /srv", "filesystem" },
        { "npx @modelcontextprotocol/server-memory@1.0.0", "memory" },
        { "uvx mcp-server-time", "time" },
        { "node /x/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
          "everything" },
        { "node /x/node_modules/@modelcontextprotocol/server-everything-else/i.js",
          NULL },
        { "npx -y @evil/server-filesystem", NULL },
        { "node server.js", NULL },
    };

    FOR_EACH_CASE(c, cases) {
        struct str words[MAX_WORDS];
        struct sandbox_command command = command_of(c->line, words);
        const struct sandbox_profile *profile = sandbox_profile_guess(&command);

        CHECK_STR(profile ? profile->name : S(""), str_of(c->name));
    }
    CHECK(sandbox_profile_find(S("filesystem"))->writes_arguments);
    CHECK_STR(sandbox_profile_find(S("github"))->hosts[0], S("api.github.com"));
    CHECK(sandbox_profile_find(S("nobody")) == NULL);
}
