/* SPDX-License-Identifier: Apache-2.0 */
/* What readers and the writer of the index share: whether it can be trusted. */
#include "store/search.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

void search_boot(char ret[static SEARCH_BOOT])
{
    CLEANUP(fd_closep)
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    /* Without a name every boot is another one: an index that was not closed is built
     * again then. */
    memset(ret, '?', SEARCH_BOOT);
    if (fd >= 0 && read(fd, ret, SEARCH_BOOT) != SEARCH_BOOT)
        memset(ret, '?', SEARCH_BOOT);
}

static bool is_fixed(sqlite3_stmt *row, int at, void *ret, size_t size)
{
    const void *bytes = sqlite3_column_blob(row, at);

    if (!bytes || (size_t)sqlite3_column_bytes(row, at) != size)
        return false;
    memcpy(ret, bytes, size);
    return true;
}

/* In the order of the statement below. */
static bool read_row(sqlite3_stmt *row, struct search_state *ret)
{
    char boot[SEARCH_BOOT], now[SEARCH_BOOT];
    int64_t part_records = sqlite3_column_int64(row, 2);
    int64_t seq = sqlite3_column_int64(row, 3);
    bool is_closed = sqlite3_column_int64(row, 6);

    if (sqlite3_column_int64(row, 0) != SEARCH_VERSION || part_records <= 0 || seq < 0 ||
        !is_fixed(row, 1, ret->installation, AUDIT_INSTALLATION) ||
        !is_fixed(row, 4, ret->hash, SHA256_BYTES) ||
        !is_fixed(row, 5, boot, SEARCH_BOOT))
        return false;
    search_boot(now);
    ret->part_records = (uint64_t)part_records;
    ret->seq = (uint64_t)seq;
    return is_closed || (now[0] != '?' && memcmp(boot, now, SEARCH_BOOT) == 0);
}

enum err search_state_read(sqlite3 *db, struct search_state *ret)
{
    static const char sql[] = "SELECT version, installation, part_records, seq, hash,"
                              " boot, is_closed FROM state";
    struct search_state state = {};
    sqlite3_stmt *select = NULL;
    enum err err = ERR_INVALID;
    int result;

    if (sqlite3_prepare_v2(db, sql, -1, &select, NULL) == SQLITE_OK) {
        result = sqlite3_step(select);
        if (result == SQLITE_DONE)
            err = ERR_NOT_FOUND;
        else if (result == SQLITE_ROW && read_row(select, &state))
            err = OK;
    }
    (void)sqlite3_finalize(select);
    if (!err)
        *ret = state;
    return err;
}
