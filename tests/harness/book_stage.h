/* SPDX-License-Identifier: Apache-2.0 */
/* A book of rules of the topic room, in which the agent bot proposes, the service finder
 * suggests and uses rules, and ann decides. */
#pragma once

#include "rules/rulebook.h"

#define DAY_MS  86'400'000ULL
#define HOUR_MS 3'600'000ULL
#define NOW     1'800'000'000'000ULL /* 2027-01-15T08:00:00Z */

struct book_stage {
    struct rulebook *book;
    struct arena arena;
    struct rulebook_problem problem; /* of what was judged last */
};

void book_stage_open(struct book_stage *s);
void book_stage_close(struct book_stage *s);
/* Of the proposer bot; the arguments as shapes, for example {"n":{"exactly":1}}. */
struct rule *make_rule(struct book_stage *s, const char *arguments);
struct rule *rule_number(struct book_stage *s, unsigned number);
const struct shape *make_shape(struct book_stage *s, const char *arguments);
struct rule_change change_of(enum rule_verb verb, struct str id);
struct rule_change whole(enum rule_verb verb, const struct rule *rule);
enum err judge(struct book_stage *s, const struct rule_change *change);
const struct held_rule *apply(struct book_stage *s, const struct rule_change *change);
void put_held(struct buf *out, const struct held_rule *held);
/* Everything the book says, the order included. */
struct str written(struct book_stage *s);
/* As a gateway does: everything is kept, and read back into a new book. */
void restart(struct book_stage *s);
/* Brings a rule into a state, by ways that people have. */
struct str put_in(struct book_stage *s, const struct rule *rule, enum rule_state state);
struct rule_proposal proposal_of(struct book_stage *s, const char *arguments);
enum err may_use(struct book_stage *s, struct str id, const char *arguments,
                 uint64_t at_ms);
/* Uses it, where that is allowed. */
bool use(struct book_stage *s, struct str id, uint64_t at_ms);

/* Arguments, and fewer of them. */
#define PATHS                                                                   \
    "{\"p\":{\"under\":\"/srv/app\",\"characters\":\"a-z .\",\"max_bytes\":60," \
    "\"depth\":3}}"
#define FEWER                                                                     \
    "{\"p\":{\"under\":\"/srv/app/lib\",\"characters\":\"a-z\",\"max_bytes\":40," \
    "\"depth\":2}}"
