/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which package a command means. What is not surely a name in the registry (paths, URLs,
 * repositories, options that are not known here) is not taken for one.
 */
#include "sandbox/package.h"

#include "base/cleanup.h"

/* The name of the program itself, without its folder. */
static struct str base_name(struct str path)
{
    for (size_t at = path.len; at > 0; at--)
        if (path.ptr[at - 1] == '/')
            return str_slice(path, at, path.len);
    return path;
}

static bool is_of(struct str text, const char *more)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!is_plain && (!c || !strchr(more, c)))
            return false;
    }
    return text.len > 0 && text.len <= 214; /* what registries take at most */
}

static bool is_package_part(struct str text)
{
    return is_of(text, "._-~") && text.ptr[0] != '.' && text.ptr[0] != '-';
}

/* "newest" has no number: it is pinned when it is known. */
static bool take_version(struct str version, struct package *ret)
{
    if (!version.len || str_eq(version, S("latest")))
        return true;
    if (!is_of(version, "._+~^-") || version.ptr[0] == '-')
        return false;
    ret->version = version;
    return true;
}

/* "@scope/name@1.2.3" */
static bool parse_npm(struct str word, struct package *ret)
{
    bool has_scope = str_starts(word, S("@"));
    size_t at = str_find(word, '@', has_scope ? 1 : 0);
    struct str name = str_slice(word, 0, at);
    struct str rest = has_scope ? str_slice(name, 1, name.len) : name;

    if (has_scope) {
        if (!is_package_part(str_cut(&rest, '/')) || !rest.ptr)
            return false;
    }
    if (!is_package_part(rest))
        return false;
    ret->source = PACKAGE_NPM;
    ret->name = name;
    return take_version(at < word.len ? str_slice(word, at + 1, word.len) : S(""), ret);
}

/* "name==1.2.3", "name@1.2.3" */
static bool parse_pypi(struct str word, struct package *ret)
{
    size_t at = str_find(word, '=', 0);
    struct str version = S("");

    if (at < word.len) {
        if (at + 1 >= word.len || word.ptr[at + 1] != '=')
            return false;
        version = str_slice(word, at + 2, word.len);
    } else {
        at = str_find(word, '@', 0);
        if (at < word.len)
            version = str_slice(word, at + 1, word.len);
    }
    if (!is_package_part(str_slice(word, 0, at)))
        return false;
    ret->source = PACKAGE_PYPI;
    ret->name = str_slice(word, 0, at);
    return take_version(version, ret);
}

/* The words that run a package, and their options: those that mean nothing here, and the
 * one before a package of which a program is named next. */
struct runner {
    struct str words[3];
    struct str quiet[6];
    struct str package[3];
    bool (*parse)(struct str word, struct package *ret);
};

/* clang-format off */
static const struct runner runners[] = {
    { { S("npx") }, { S("-y"), S("--yes"), S("-q"), S("--quiet"), S("--") },
      { S("-p"), S("--package") }, parse_npm },
    { { S("npm"), S("exec") }, { S("-y"), S("--yes"), S("-q"), S("--quiet"), S("--") },
      { S("-p"), S("--package") }, parse_npm },
    { { S("uvx") }, { S("-q"), S("--quiet"), S("--isolated"), S("--no-config") },
      { S("--from") }, parse_pypi },
    { { S("uv"), S("tool"), S("run") },
      { S("-q"), S("--quiet"), S("--isolated"), S("--no-config") },
      { S("--from") }, parse_pypi },
};
/* clang-format on */

static bool is_among(struct str word, const struct str *list, size_t count)
{
    for (size_t i = 0; i < count && list[i].len; i++)
        if (str_eq(list[i], word))
            return true;
    return false;
}

/* How many words of the command say that it is this runner; 0: it is not. */
static size_t runner_words(const struct runner *runner,
                           const struct sandbox_command *command)
{
    size_t i = 0;

    for (; i < COUNT(runner->words) && runner->words[i].len; i++) {
        if (i == command->count)
            return 0;
        if (!str_eq(i ? command->words[i] : base_name(command->words[0]),
                    runner->words[i]))
            return 0;
    }
    return i;
}

/* Reads options up to the package, and the program behind it where it was named so. */
static bool parse_words(const struct runner *runner,
                        const struct sandbox_command *command, size_t at,
                        struct package *ret)
{
    bool is_named = false;

    for (; at < command->count; at++) {
        struct str word = command->words[at];
        struct str name = str_slice(word, 0, str_find(word, '=', 0));

        if (is_among(word, runner->quiet, COUNT(runner->quiet)))
            continue;
        if (!is_among(name, runner->package, COUNT(runner->package)))
            break;
        if (name.len < word.len)
            word = str_slice(word, name.len + 1, word.len);
        else if (++at < command->count)
            word = command->words[at];
        else
            return false;
        if (is_named || !runner->parse(word, ret)) /* several are not one */
            return false;
        is_named = true;
    }
    if (at == command->count)
        return false;
    ret->used = at + 1;
    if (!is_named)
        return runner->parse(command->words[at], ret);
    ret->program = command->words[at];
    return is_package_part(ret->program);
}

bool package_of(const struct sandbox_command *command, struct package *ret)
{
    for (size_t i = 0; i < COUNT(runners) && command->count; i++) {
        struct package found = { .version = S(""), .program = S("") };
        size_t words = runner_words(&runners[i], command);

        if (!words)
            continue;
        if (!parse_words(&runners[i], command, words, &found))
            return false;
        *ret = found;
        return true;
    }
    return false;
}
