/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of participant_probe share: lines of JSON, and what happens. */
#pragma once

#include <moot.h>

/* {"KEY":"NAME" … } and a new line; between the two, members. */
void line_begin(const char *key, const char *name);
void line_end(void);

void put_key(const char *key);
void put_quoted(const char *text);
void put_text(const char *key, const char *text); /* NULL: null */
void put_number(const char *key, double number);
void put_bool(const char *key, bool value);
void put_json(const char *key, struct moot_str json); /* "": null */
void put_tag(const char *tag);                        /* JSON, or NULL: nothing */
void put_value(const struct moot_json *json);

/* A list of objects. */
void list_begin(const char *key);
void item_begin(void);
void item_end(void);
void list_end(void);

void put_participant(const struct moot_participant *who);
void put_proposal(const struct moot_proposal *proposal);

extern const char *const probe_errors[];
extern const char *const probe_states[];

/* Print their event. `user` of the last two is the tag. */
extern const struct moot_handlers probe_handlers; /* without on_message */
void probe_on_message(struct moot *m, void *user, const struct moot_message *message);
void probe_on_done(struct moot *m, void *user, const struct moot_outcome *outcome);
void probe_on_progress(struct moot *m, void *user, const struct moot_progress *progress);

/* Answers with the text that `user` is, or numbers the call. */
void probe_on_call(struct moot *m, void *user, struct moot_call *call);
struct moot_call *probe_find_call(size_t number); /* or NULL */
struct moot_call *probe_take_call(size_t number); /* an answer ends it */
void probe_forget_calls(void);
