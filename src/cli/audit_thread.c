/* SPDX-License-Identifier: Apache-2.0 */
/* moot audit thread: a whole conversation along correlation_id. */
#include <stdio.h>

#include "base/cleanup.h"
#include "cli/audit_source.h"
#include "cli/audit_tree.h"

enum { OUT_BYTES = 1 << 30, MOST = 10'000, TREE_BYTES = 512 << 20 };

struct thread_options {
    struct audit_place place;
    bool json;
};

#define OPT(member) CLI_AT(struct thread_options, member)

/* clang-format off */
static const struct cli_option options[] = {
    { "--json", NULL, "a line for each record: depth, parent, times, and the record", OPT(json) },
    CLI_AUDIT_PLACE(struct thread_options),
};
/* clang-format on */

static bool on_record(void *user, const struct audit_record *record)
{
    struct audit_tree *tree = user;

    audit_tree_add(tree, record);
    return tree->records.bytes.len < TREE_BYTES;
}

static void print(const struct audit_tree *tree, bool is_json)
{
    struct audit_tree_look look = { .ink = palette_for(stdout),
                                    .is_utf8 = palette_is_utf8() };
    struct buf out;

    buf_init(&out, OUT_BYTES);
    if (is_json)
        audit_tree_put_json(&out, tree);
    else
        audit_tree_put(&out, tree, &look);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_done(&out);
    if (tree->count == MOST || tree->records.bytes.len >= TREE_BYTES)
        fputs("moot: there is more of it than is shown\n", stderr);
}

static int thread(void *fields, char **arguments, size_t count [[maybe_unused]])
{
    const struct thread_options *o = fields;
    struct audit_query query = { .thread = str_of(arguments[0]),
                                 .order = AUDIT_OLDEST_FIRST,
                                 .limit = MOST };
    struct audit_source *source;
    struct audit_tree tree;
    int code = audit_source_open(&o->place, &source);

    if (code)
        return code;
    audit_tree_init(&tree);
    if (audit_source_records(source, &query, on_record, &tree))
        code = audit_source_fail(source);
    audit_tree_build(&tree);
    if (!code && tree.count == 0)
        code = cli_fail("the record has no envelope \"%s\"", arguments[0]);
    else
        print(&tree, o->json);
    audit_tree_done(&tree);
    audit_source_close(source);
    return code;
}

const struct cli_command cli_audit_thread = {
    .name = "audit thread",
    .usage = "ID",
    .summary = "print a conversation as a tree: proposal, decision, request, response",
    .more =
        "ID is that of any envelope in it; `moot audit search --ids` shows them. Times\n"
        "are since the first; behind \"after\" stands how long the answer took.\n\n"
        "  moot audit thread 8f14e45f\n",
    .options = options,
    .option_count = COUNT(options),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = thread,
    .options_size = sizeof(struct thread_options),
};
