/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a ledger, and a ledger made from what was kept. */
#include <stdio.h>
#include <string.h>

#include "approval/ledger.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "harness.h"

enum { START = 1'000'000, EXPIRY = 300'000, SHELF = 8 };

/* What a keeper has, one proposal in each place. */
struct kept {
    uint64_t order, created_ms, expires_ms;
    enum proposal_state state;
    char id[16], proposer[16], kind[64], envelope[256];
};

struct book {
    struct ledger ledger;
    struct arena arena;
    struct kept shelf[SHELF];
    size_t count;
    size_t room;
    uint64_t wall_ms;
};

static const struct ledger_settings settings = { .mode = PROPOSALS_ONCE,
                                                 .expiry_ms = EXPIRY,
                                                 .max_expiry_ms = EXPIRY,
                                                 .max_proposals = 3,
                                                 .max_requests = 10 };

static struct book *book_of(struct ledger *ledger)
{
    return CONTAINER_OF(ledger, struct book, ledger);
}

static size_t find_kept(const struct book *book, uint64_t order)
{
    size_t at = 0;

    while (at < book->count && book->shelf[at].order != order)
        at++;
    return at;
}

static void copy(char *to, size_t size, struct str from)
{
    CHECK(from.len < size);
    memcpy(to, from.ptr, from.len);
    to[from.len] = '\0';
}

static void changed(struct ledger *ledger, const struct proposal *p)
{
    struct book *book = book_of(ledger);
    size_t at = find_kept(book, p->order);
    struct kept kept = { .order = p->order,
                         .created_ms = p->created_ms,
                         .expires_ms = p->expires_ms,
                         .state = (enum proposal_state)p->state };

    copy(kept.id, sizeof(kept.id), p->id);
    copy(kept.proposer, sizeof(kept.proposer), p->proposer);
    copy(kept.kind, sizeof(kept.kind), p->kind.text);
    if (p->envelope)
        copy(kept.envelope, sizeof(kept.envelope),
             (struct str){ p->envelope, p->envelope_bytes });
    CHECK(at < SHELF);
    book->shelf[at] = kept;
    book->count += at == book->count;
}

static void forgotten(struct ledger *ledger, const struct proposal *p)
{
    struct book *book = book_of(ledger);
    size_t at = find_kept(book, p->order);

    CHECK(at < book->count);
    memmove(&book->shelf[at], &book->shelf[at + 1],
            (--book->count - at) * sizeof(book->shelf[0]));
}

static bool has_room(const struct ledger *ledger, struct str proposer [[maybe_unused]],
                     size_t bytes)
{
    return bytes <= CONTAINER_OF((uintptr_t)ledger, struct book, ledger)->room;
}

static const struct ledger_keeper keeper = { .has_room = has_room,
                                             .changed = changed,
                                             .forgotten = forgotten };

static void book_init(struct book *book)
{
    *book = (struct book){ .wall_ms = START, .room = SIZE_MAX };
    ledger_init(&book->ledger, &settings);
    book->ledger.keeper = &keeper;
    arena_init(&book->arena, 1 << 20);
}

static void book_done(struct book *book)
{
    ledger_done(&book->ledger);
    arena_done(&book->arena);
}

static void scan(struct book *book, struct str text, struct envelope *ret)
{
    CHECK_INT(envelope_scan(arena_str(&book->arena, text), JSON_MAX_DEPTH, DIALECT_SLASH,
                            &book->arena, ret, NULL),
              OK);
    CHECK_INT(kind_parse(ret->kind_text, &ret->kind), OK);
}

/* Judges, and enters what is allowed. */
static enum err say(struct book *book, const char *from, const char *kind, const char *id,
                    const char *about)
{
    struct ledger_problem problem;
    struct ledger_effect effect;
    struct envelope env;
    char text[256];
    enum err err;

    (void)snprintf(text, sizeof(text),
                   "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"%s\",\"kind\":"
                   "\"%s\"%s%s%s,\"payload\":{}}",
                   id, from, kind, about ? ",\"correlation_id\":\"" : "",
                   about ? about : "", about ? "\"" : "");
    scan(book, str_of(text), &env);
    err = ledger_judge(&book->ledger, &env, book->wall_ms, &effect, &problem);
    if (!err)
        ledger_enter(&book->ledger, &env, env.text, &effect, book->wall_ms);
    return err;
}

static enum err propose(struct book *book, const char *id)
{
    return say(book, "bot", "mcp/proposal:tools/call:x", id, NULL);
}

static enum err fulfil(struct book *book, const char *id, const char *about)
{
    return say(book, "ann", "mcp/request:tools/call:x", id, about);
}

static enum err put_back(struct book *book, const struct kept *kept)
{
    struct proposal_past past = { .order = kept->order,
                                  .created_ms = kept->created_ms,
                                  .expires_ms = kept->expires_ms,
                                  .state = kept->state,
                                  .id = str_of(kept->id),
                                  .proposer = str_of(kept->proposer),
                                  .kind = str_of(kept->kind) };
    struct envelope env;

    if (kept->state != PROPOSAL_OPEN)
        return ledger_restore(&book->ledger, &past, NULL);
    scan(book, str_of(kept->envelope), &env);
    return ledger_restore(&book->ledger, &past, &env);
}

/* Another process. */
static void restart(struct book *book)
{
    struct kept shelf[SHELF];
    size_t count = book->count;

    memcpy(shelf, book->shelf, sizeof(shelf));
    book_done(book);
    book_init(book);
    for (size_t i = 0; i < count; i++)
        CHECK_INT(put_back(book, &shelf[i]), OK);
    memcpy(book->shelf, shelf, sizeof(shelf));
    book->count = count;
}

TEST(open_proposals_are_open_again_in_their_order_and_fulfilled_once)
{
    const struct proposal *p = NULL;
    struct book book;

    book_init(&book);
    CHECK_INT(propose(&book, "p2"), OK);
    CHECK_INT(propose(&book, "p1"), OK);
    restart(&book);
    CHECK_INT(book.ledger.open_count, 2);
    p = ledger_next_open(&book.ledger, NULL, book.wall_ms);
    CHECK_STR(p->id, S("p2"));
    CHECK_STR(p->proposer, S("bot"));
    CHECK_INT(p->created_ms, START);
    CHECK_INT(p->expires_ms, START + EXPIRY);
    CHECK_STR(((struct str){ p->envelope, p->envelope_bytes }),
              str_of(book.shelf[0].envelope));
    p = ledger_next_open(&book.ledger, p, book.wall_ms);
    CHECK_STR(p->id, S("p1"));
    CHECK(ledger_knows(&book.ledger, S("p2"), book.wall_ms));
    CHECK_INT(fulfil(&book, "r1", "p2"), OK);
    CHECK_INT(fulfil(&book, "r2", "p2"), ERR_PROPOSAL_STATE);
    CHECK_INT(propose(&book, "p3"), OK);
    CHECK(book.shelf[2].order > book.shelf[1].order);
    book_done(&book);
}

TEST(what_was_closed_is_closed_after_a_restart)
{
    struct book book;

    book_init(&book);
    CHECK_INT(propose(&book, "p1"), OK);
    CHECK_INT(propose(&book, "p2"), OK);
    CHECK_INT(propose(&book, "p3"), OK);
    CHECK_INT(fulfil(&book, "r1", "p1"), OK);
    CHECK_INT(say(&book, "bot", "mcp/withdraw", "w1", "p2"), OK);
    CHECK_INT(say(&book, "ann", "mcp/reject", "n1", "p3"), OK);
    CHECK_INT(book.count, 3);
    CHECK_STR(str_of(book.shelf[0].envelope), S(""));
    restart(&book);
    CHECK_INT(book.ledger.open_count, 0);
    CHECK(!ledger_next_open(&book.ledger, NULL, book.wall_ms));
    CHECK_INT(fulfil(&book, "r2", "p1"), ERR_PROPOSAL_STATE);
    CHECK_INT(fulfil(&book, "r3", "p2"), ERR_PROPOSAL_STATE);
    CHECK_INT(fulfil(&book, "r4", "p3"), ERR_PROPOSAL_STATE);
    book_done(&book);
}

TEST(what_makes_room_or_is_over_is_kept_no_more)
{
    struct book book;

    book_init(&book);
    CHECK_INT(propose(&book, "p1"), OK);
    CHECK_INT(propose(&book, "p2"), OK);
    CHECK_INT(propose(&book, "p3"), OK);
    CHECK_INT(fulfil(&book, "r1", "p2"), OK);
    CHECK_INT(propose(&book, "p4"), OK); /* the closed one gives way */
    CHECK_INT(book.count, 3);
    CHECK_INT(find_kept(&book, 2), 3);
    CHECK(!ledger_sweep(&book.ledger, book.wall_ms));
    CHECK_INT(book.count, 3);
    book.wall_ms += EXPIRY;
    CHECK(ledger_sweep(&book.ledger, book.wall_ms));
    CHECK_INT(book.count, 0);
    book_done(&book);
}

TEST(an_expiry_is_told_when_it_is_noticed_and_before_the_id_is_used_again)
{
    struct book book;

    book_init(&book);
    CHECK_INT(propose(&book, "p1"), OK);
    book.wall_ms += EXPIRY;
    CHECK_INT(propose(&book, "p1"), OK);
    CHECK_INT(book.count, 1);
    CHECK_INT(book.shelf[0].order, 2);
    CHECK_INT(book.shelf[0].state, PROPOSAL_OPEN);
    CHECK_INT(book.ledger.open_count, 1);
    book.wall_ms += EXPIRY;
    CHECK(!ledger_next_open(&book.ledger, NULL, book.wall_ms));
    CHECK_INT(book.shelf[0].state, PROPOSAL_EXPIRED);
    CHECK_INT(book.ledger.open_count, 0);
    book_done(&book);
}

TEST(the_end_of_a_ledger_ends_nothing_that_is_kept)
{
    struct book book;

    book_init(&book);
    CHECK_INT(propose(&book, "p1"), OK);
    book_done(&book);
    CHECK_INT(book.count, 1);
}

TEST(where_the_keeper_has_no_room_nothing_is_proposed)
{
    struct book book;

    book_init(&book);
    book.room = 10;
    CHECK_INT(propose(&book, "p1"), ERR_UNAVAILABLE);
    CHECK_INT(book.count, 0);
    book_done(&book);
}

TEST(what_cannot_have_been_kept_is_refused)
{
    struct proposal_past past = { .order = 5,
                                  .state = PROPOSAL_WITHDRAWN,
                                  .id = S("p"),
                                  .proposer = S("bot"),
                                  .kind = S("mcp/proposal:x") };
    struct envelope env;
    struct book book;

    book_init(&book);
    CHECK_INT(ledger_restore(&book.ledger, &past, NULL), OK);
    past.order = 6;
    CHECK_INT(ledger_restore(&book.ledger, &past, NULL), ERR_CONFLICT);
    past.id = S("q");
    past.order = 5;
    CHECK_INT(ledger_restore(&book.ledger, &past, NULL), ERR_CONFLICT);
    past.order = 7;
    past.kind = S("chat");
    CHECK_INT(ledger_restore(&book.ledger, &past, NULL), ERR_INVALID);
    past.kind = S("mcp/proposal:x");
    past.state = PROPOSAL_OPEN;
    CHECK_INT(ledger_restore(&book.ledger, &past, NULL), ERR_INVALID);
    scan(&book,
         S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"q\",\"from\":\"a\",\"kind\":\"chat\","
           "\"payload\":{}}"),
         &env);
    CHECK_INT(ledger_restore(&book.ledger, &past, &env), ERR_INVALID);
    CHECK_INT(book.ledger.open_count, 0);
    CHECK_INT(book.ledger.proposals.count, 1);
    book_done(&book);
}
