/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "harness.h"
#include "loop/loop.h"

enum { SENDERS = 4, LETTERS = 5000 };

struct office {
    struct loop *loop;
    int next[SENDERS]; /* the letter expected from each */
    int disordered;
    int received;
};

struct letter {
    struct loop_mail mail;
    struct office *office;
    int sender;
    int number;
};

static void deliver(struct loop_mail *mail)
{
    struct letter *letter = CONTAINER_OF(mail, struct letter, mail);
    struct office *office = letter->office;

    office->received++;
    if (office->next[letter->sender]++ != letter->number)
        office->disordered++;
    if (office->received == SENDERS * LETTERS)
        loop_stop(office->loop);
    free(letter);
}

static void post(struct office *office, int sender, int number)
{
    struct letter *letter = xmalloc(sizeof(*letter));

    *letter = (struct letter){ { NULL, deliver }, office, sender, number };
    loop_post(office->loop, &letter->mail);
}

struct sender {
    struct office *office;
    int number;
};

static void *send_all(void *user)
{
    const struct sender *sender = user;

    for (int i = 0; i < LETTERS; i++)
        post(sender->office, sender->number, i);
    return NULL;
}

TEST(letters_of_each_thread_arrive_all_and_in_order)
{
    struct office office = { .loop = loop_new() };
    struct sender senders[SENDERS];
    pthread_t threads[SENDERS];

    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){ &office, i };
        CHECK_INT(pthread_create(&threads[i], NULL, send_all, &senders[i]), 0);
    }
    loop_run(office.loop);
    for (int i = 0; i < SENDERS; i++)
        (void)pthread_join(threads[i], NULL);
    CHECK_INT(office.received, SENDERS * LETTERS);
    CHECK_INT(office.disordered, 0);
    loop_free(office.loop);
}

TEST(a_loop_may_write_to_itself)
{
    struct office office = { .loop = loop_new() };

    post(&office, 0, 0);
    post(&office, 0, 1);
    loop_turn(office.loop, -1);
    CHECK_INT(office.received, 2);
    post(&office, 0, 2);
    loop_turn(office.loop, -1);
    CHECK_INT(office.received, 3);
    CHECK_INT(office.disordered, 0);
    loop_free(office.loop);
}

/* Two loops that answer each other: no ring may be lost, however the turns meet. */
struct player {
    struct loop *loop;
    struct player *partner;
    struct loop_mail ball;
    int left;
};

static void deliver_ball(struct loop_mail *mail)
{
    struct player *from = CONTAINER_OF(mail, struct player, ball);
    struct player *to = from->partner;

    if (to->left-- > 0)
        loop_post(from->loop, &to->ball);
    if (to->left <= 0)
        loop_stop(to->loop);
}

static void *play(void *user)
{
    loop_run(((struct player *)user)->loop);
    return NULL;
}

TEST(two_loops_wake_each_other_every_time)
{
    struct player a = { .loop = loop_new(), .left = 2000 };
    struct player b = { .loop = loop_new(), .left = 2000 };
    pthread_t thread;

    a.partner = &b;
    b.partner = &a;
    a.ball.deliver = deliver_ball;
    b.ball.deliver = deliver_ball;
    CHECK_INT(pthread_create(&thread, NULL, play, &b), 0);
    loop_post(b.loop, &a.ball);
    loop_run(a.loop);
    (void)pthread_join(thread, NULL);
    CHECK(a.left <= 0 && b.left <= 0);
    loop_free(a.loop);
    loop_free(b.loop);
}
