/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of system calls, run by an interpreter of the same language: what the kernel
 * would answer to each call. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "harness.h"
#include "sandbox/filter.h"

#ifdef __x86_64__
#define HERE      AUDIT_ARCH_X86_64
#define ELSEWHERE AUDIT_ARCH_I386
#else
#define HERE      AUDIT_ARCH_AARCH64
#define ELSEWHERE AUDIT_ARCH_ARM
#endif

enum { DENIED = SECCOMP_RET_ERRNO | EPERM, UNKNOWN = SECCOMP_RET_ERRNO | ENOSYS };

static bool compares(uint16_t comparison, uint32_t value, uint32_t k)
{
    switch (comparison) {
    case BPF_JEQ: return value == k;
    case BPF_JGE: return value >= k;
    case BPF_JGT: return value > k;
    case BPF_JSET: return value & k;
    }
    return false;
}

/* 0, which means to kill the thread: the program does what it must not. */
static uint32_t run(const struct sock_filter *program, size_t count,
                    const struct seccomp_data *call)
{
    uint32_t value = 0;

    for (size_t at = 0; at < count; at++) {
        const struct sock_filter *step = &program[at];

        if (BPF_CLASS(step->code) == BPF_RET)
            return step->k;
        if (BPF_CLASS(step->code) == BPF_LD && step->k + sizeof(value) <= sizeof(*call))
            memcpy(&value, (const char *)call + step->k, sizeof(value));
        else if (BPF_CLASS(step->code) == BPF_JMP)
            at += compares(BPF_OP(step->code), value, step->k) ? step->jt : step->jf;
        else
            return 0;
    }
    return 0;
}

static uint32_t answer(const struct filter_rules *rules, struct seccomp_data call)
{
    struct sock_filter program[FILTER_MAX];
    size_t count = filter_make(rules, program);

    return run(program, count, &call);
}

static const struct filter_rules local = { FILTER_LOCAL_SOCKETS, true };

TEST(what_no_server_needs_is_denied_and_the_rest_allowed)
{
    static const struct {
        int number;
        uint32_t answer;
    } cases[] = {
        { SYS_read, SECCOMP_RET_ALLOW },
        { SYS_openat, SECCOMP_RET_ALLOW },
        { SYS_execve, SECCOMP_RET_ALLOW },
        { SYS_mmap, SECCOMP_RET_ALLOW },
        { SYS_prctl, SECCOMP_RET_ALLOW },
        { SYS_seccomp, SECCOMP_RET_ALLOW },
        { SYS_connect, SECCOMP_RET_ALLOW },
        { SYS_ptrace, DENIED },
        { SYS_mount, DENIED },
        { SYS_setns, DENIED },
        { SYS_bpf, DENIED },
        { SYS_io_uring_setup, DENIED },
        { SYS_userfaultfd, DENIED },
        { SYS_keyctl, DENIED },
        { SYS_init_module, DENIED },
        { SYS_kexec_load, DENIED },
        { SYS_personality, DENIED },
        { SYS_process_vm_writev, DENIED },
        { SYS_pidfd_getfd, DENIED },
        { SYS_open_by_handle_at, DENIED },
        { SYS_perf_event_open, DENIED },
        { SYS_fsopen, DENIED },
        { SYS_clone3, UNKNOWN },
        { 462, SECCOMP_RET_ALLOW },
        { 463, UNKNOWN },
        { 100'000, UNKNOWN },
        { 0x3fffffff, UNKNOWN },
        { 0x40000000, SECCOMP_RET_KILL_PROCESS },
        { -1, SECCOMP_RET_KILL_PROCESS },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(answer(&local, (struct seccomp_data){ .nr = c->number, .arch = HERE }),
                  c->answer);
}

TEST(calls_of_another_architecture_end_the_process)
{
    CHECK_INT(answer(&local, (struct seccomp_data){ .nr = SYS_read, .arch = ELSEWHERE }),
              SECCOMP_RET_KILL_PROCESS);
}

TEST(arguments_are_judged_by_the_bits_that_the_kernel_reads)
{
    static const struct {
        int number;
        uint64_t first, second;
        uint32_t answer;
    } cases[] = {
        { SYS_clone, 17, 0, SECCOMP_RET_ALLOW },
        { SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, 0, SECCOMP_RET_ALLOW },
        { SYS_clone, CLONE_NEWUSER | 17, 0, DENIED },
        { SYS_clone, CLONE_NEWNS, 0, DENIED },
        { SYS_clone, CLONE_NEWNET | 1ULL << 40, 0, DENIED },
        { SYS_unshare, CLONE_FILES, 0, SECCOMP_RET_ALLOW },
        { SYS_unshare, CLONE_NEWUSER, 0, DENIED },
        { SYS_unshare, CLONE_NEWTIME, 0, DENIED },
        { SYS_ioctl, 0, TCGETS, SECCOMP_RET_ALLOW },
        { SYS_ioctl, 0, TIOCSTI, DENIED },
        { SYS_ioctl, 0, TIOCSTI | 1ULL << 32, DENIED },
        { SYS_ioctl, 0, 0x541c, DENIED },
        { SYS_socket, AF_UNIX, 0, SECCOMP_RET_ALLOW },
        { SYS_socket, AF_INET, 0, DENIED },
        { SYS_socket, AF_UNIX | 1ULL << 32, 0, SECCOMP_RET_ALLOW },
        { SYS_socket, AF_NETLINK, 0, DENIED },
        { SYS_socketpair, AF_UNIX, 0, SECCOMP_RET_ALLOW },
        { SYS_socketpair, AF_INET, 0, DENIED },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(
            answer(&local, (struct seccomp_data){ .nr = c->number,
                                                  .arch = HERE,
                                                  .args = { c->first, c->second } }),
            c->answer);
}

TEST(rules_say_which_sockets_there_are)
{
    static const struct {
        enum filter_sockets sockets;
        uint64_t family;
        uint32_t answer;
    } cases[] = {
        { FILTER_NO_SOCKETS, AF_UNIX, DENIED },
        { FILTER_NO_SOCKETS, AF_INET, DENIED },
        { FILTER_LOCAL_SOCKETS, AF_INET6, DENIED },
        { FILTER_INTERNET_SOCKETS, AF_UNIX, SECCOMP_RET_ALLOW },
        { FILTER_INTERNET_SOCKETS, AF_INET, SECCOMP_RET_ALLOW },
        { FILTER_INTERNET_SOCKETS, AF_INET6, SECCOMP_RET_ALLOW },
        { FILTER_INTERNET_SOCKETS, AF_NETLINK, DENIED },
        { FILTER_INTERNET_SOCKETS, AF_PACKET, DENIED },
        { FILTER_INTERNET_SOCKETS, AF_VSOCK, DENIED },
    };

    FOR_EACH_CASE(c, cases) {
        struct filter_rules rules = { .sockets = c->sockets };

        CHECK_INT(answer(&rules, (struct seccomp_data){ .nr = SYS_socket,
                                                        .arch = HERE,
                                                        .args = { c->family } }),
                  c->answer);
    }
}

TEST(memory_that_nobody_would_see_is_denied_where_it_is_watched)
{
    static const int calls[] = { SYS_memfd_create, SYS_shmget, SYS_msgget };
    struct filter_rules limited = { FILTER_LOCAL_SOCKETS, false };

    FOR_EACH_CASE(c, calls) {
        struct seccomp_data call = { .nr = *c, .arch = HERE };

        CHECK_INT(answer(&local, call), DENIED);
        CHECK_INT(answer(&limited, call), SECCOMP_RET_ALLOW);
    }
}
