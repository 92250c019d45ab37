/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strand, who is to be told when its client goes, and the request that waits on it
 * until there is a room to ask.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcpdoor/hall_priv.h"
#include "mcpdoor/house_tools.h"
#include "mcpdoor/room_tools.h"
#include "participant/keep.h"

enum { ENDED = 404 };

/* --- the request, kept --- */

static size_t size_of(const struct serve_post *post)
{
    size_t size = sizeof(*post) + post->param_count * sizeof(*post->params);

    size += post->body.len + post->content_type.len + post->accept.len;
    size += post->version.len + post->method.len + post->name.len + post->agreed.len;
    for (size_t i = 0; i < post->param_count; i++)
        size += post->params[i].name.len + post->params[i].value.len;
    return size;
}

/* What was not sent stays what it is. */
static struct str keep(char **at, struct str s)
{
    return s.ptr ? keep_str(at, s) : s;
}

static struct serve_post *keep_post(const struct serve_post *post)
{
    struct serve_post *kept = xmalloc(size_of(post));
    struct serve_param *params = (struct serve_param *)(kept + 1);
    char *at = (char *)(params + post->param_count);

    *kept = *post;
    kept->params = params;
    for (size_t i = 0; i < post->param_count; i++)
        params[i] = (struct serve_param){ keep(&at, post->params[i].name),
                                          keep(&at, post->params[i].value) };
    kept->body = keep(&at, post->body);
    kept->content_type = keep(&at, post->content_type);
    kept->accept = keep(&at, post->accept);
    kept->version = keep(&at, post->version);
    kept->method = keep(&at, post->method);
    kept->name = keep(&at, post->name);
    kept->agreed = keep(&at, post->agreed);
    return kept;
}

void errand_wait(struct errand *errand, const struct serve_post *post)
{
    struct attendee *a = errand->attendee;

    errand->post = keep_post(post);
    errand->due_ms = a->hall->now.mono_ms + HALL_PATIENCE_MS;
    list_append(&a->waiting, &errand->waiting);
    hall_due(a->hall, errand->due_ms);
}

struct serve_post *errand_go_on(struct errand *errand)
{
    list_remove(&errand->waiting);
    return TAKE(errand->post);
}

/* --- who is told --- */

static struct listening *find_listening(const struct attendee *a,
                                        const struct strand *strand)
{
    struct listening *listening;

    LIST_FOREACH(listening, &a->listenings, link)
        if (listening->strand == strand)
            return listening;
    return NULL;
}

/* Nobody waits for an answer any more. */
static void stop(struct errand *errand)
{
    struct attendee *a = errand->attendee;
    struct wisher *wisher = wish_wisher(a, errand->strand);
    struct listening *listening = find_listening(a, errand->strand);

    free(errand_go_on(errand));
    if (wisher)
        wish_lost(wisher);
    if (listening)
        listening_free(listening);
    room_tools_lost(a->hall, errand->strand);
    house_tools_lost(a->hall, errand->strand);
    attendee_stay(a);
}

static void on_lost(void *user)
{
    stop(user);
}

static void on_freed(void *user)
{
    struct errand *errand = user;

    if (errand->visit && errand->visit->common == errand->strand)
        errand->visit->common = NULL;
    list_remove(&errand->waiting);
    attendee_stay(errand->attendee);
    errand->attendee->hall->counts.strands--;
    free(errand->post);
    free(errand);
}

/* --- life --- */

/* Answers that are kept for who resumes: the oldest go. */
static void trim(struct visit *visit)
{
    size_t count = 0;
    struct link *link, *before;

    for (link = visit->strands.prev; link != &visit->strands; link = before) {
        before = link->prev;
        if (strand_is_answered(strand_of(link)) && ++count >= VISIT_STRANDS)
            strand_free(strand_of(link));
    }
    (void)strands_trim(&visit->strands, VISIT_KEPT);
}

struct errand *errand_new(struct attendee *a, struct visit *visit, struct json_span id,
                          struct strand_terms terms, struct outlet *outlet)
{
    struct errand *errand = xcalloc(1, sizeof(*errand) + span_raw(id).len);
    char *at = (char *)(errand + 1);

    errand->attendee = a;
    errand->visit = visit;
    errand->id = keep_span(&at, id);
    if (visit)
        trim(visit);
    terms.number = a->hall->next_strand++;
    terms.on_lost = on_lost;
    terms.on_freed = on_freed;
    terms.user = errand;
    errand->strand = strand_new(&terms, outlet, a->hall->now.mono_ms);
    list_append(visit ? &visit->strands : &a->strands, strand_link(errand->strand));
    a->hall->counts.strands++;
    hall_strand_due(a->hall, errand->strand);
    return errand;
}

struct errand *errand_of(const struct strand *strand)
{
    return strand_user(strand, on_freed);
}

static void answer_ended(struct errand *errand, struct str why)
{
    CLEANUP(buf_done) struct buf message;
    struct strand *strand = errand->strand;

    buf_init(&message, HALL_MORE + errand->id.text.len);
    serve_put_error(&message, errand->id, SERVE_NO_SESSION, why, S(""));
    strand_answer(strand, ENDED, buf_str(&message), errand->attendee->hall->now.mono_ms);
}

void errand_end_first(struct link *strands, struct str why)
{
    struct strand *strand = strand_of(strands->next);
    struct errand *errand = errand_of(strand);

    if (!errand || strand_is_answered(strand)) {
        strand_free(strand);
        return;
    }
    stop(errand);
    if (errand->id.text.ptr)
        answer_ended(errand, why);
    else
        strand_free(strand);
}

bool errand_cancel(struct attendee *a, const struct visit *visit, struct json_span id)
{
    struct link *link;

    for (link = a->waiting.next; link != &a->waiting; link = link->next) {
        struct errand *errand = CONTAINER_OF(link, struct errand, waiting);

        if (errand->visit != visit || errand->id.type != id.type ||
            !str_eq(errand->id.text, id.text))
            continue;
        strand_free(errand->strand);
        return true;
    }
    return false;
}
