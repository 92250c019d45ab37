/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mailbox: a stack that any thread pushes to and the loop takes as a whole, then
 * turns over, so that the letters of one sender keep their order. Only the letter that
 * finds the box empty rings: later ones are taken along with it.
 *
 * The eventfd is watched edge-triggered and never read: each write is an edge of its own,
 * and mail is taken after the wait that reports it, so no ring is lost.
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include "loop/loop.h"
#include "loop/loop_priv.h"

static void on_ring(struct loop_fd *, uint32_t)
{
}

enum err loop_mail_open(struct loop *loop)
{
    loop->wake = (struct loop_fd){
        .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
        .events = EPOLLIN | EPOLLET,
        .on_ready = on_ring,
    };
    return loop->wake.fd < 0 ? ERR_IO : loop_fd_add(loop, &loop->wake);
}

void loop_post(struct loop *loop, struct loop_mail *mail)
{
    struct loop_mail *top = atomic_load_explicit(&loop->mail, memory_order_relaxed);
    const uint64_t one = 1;

    do
        mail->next = top;
    while (!atomic_compare_exchange_weak_explicit(
        &loop->mail, &top, mail, memory_order_release, memory_order_relaxed));
    if (!top)
        (void)!write(loop->wake.fd, &one, sizeof(one));
}

static struct loop_mail *turn_over(struct loop_mail *mail)
{
    struct loop_mail *oldest = NULL;

    while (mail) {
        struct loop_mail *next = mail->next;

        mail->next = oldest;
        oldest = mail;
        mail = next;
    }
    return oldest;
}

void loop_mail_deliver(struct loop *loop)
{
    struct loop_mail *mail;

    if (!atomic_load_explicit(&loop->mail, memory_order_relaxed))
        return;
    mail = turn_over(atomic_exchange_explicit(&loop->mail, NULL, memory_order_acquire));
    while (mail) {
        struct loop_mail *next = mail->next;

        mail->deliver(mail);
        mail = next;
    }
}
