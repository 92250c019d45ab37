/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program first looks at the architecture, then walks the table. Arguments of which
 * the kernel reads 32 bits are compared by those 32 bits alone: with more of them a value
 * that the kernel takes for a forbidden one would pass.
 */
#include "sandbox/filter.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/cleanup.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the filter of system calls knows x86-64 and aarch64"
#endif

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "the low half of an argument is first");

/* From 424 on numbers are the same everywhere; headers may not know the newest. */
enum {
    NR_STATMOUNT = 457,
    NR_LISTMOUNT = 458,
    NR_LSM_SET_SELF_ATTR = 460,
    NR_LAST = 462, /* mseal: the last one that was looked at */
    NR_X32 = 0x40000000,
};

/* clang-format off */
static const uint16_t denied[] = {
    /* other processes */
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_getfd,
    SYS_process_madvise, SYS_move_pages, SYS_migrate_pages,
    /* what the kernel is most often broken by */
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter,
    SYS_io_uring_register, SYS_personality, SYS_memfd_secret, SYS_lookup_dcookie,
    /* keys of the session */
    SYS_add_key, SYS_request_key, SYS_keyctl,
    /* file systems and namespaces */
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_open_tree,
    SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr,
    NR_STATMOUNT, NR_LISTMOUNT, SYS_name_to_handle_at, SYS_open_by_handle_at,
    SYS_quotactl, SYS_quotactl_fd, SYS_fanotify_init, SYS_fanotify_mark,
    /* the machine */
    SYS_reboot, SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module,
    SYS_delete_module, SYS_swapon, SYS_swapoff, SYS_acct, SYS_syslog, SYS_vhangup,
    SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex,
    SYS_sethostname, SYS_setdomainname, NR_LSM_SET_SELF_ATTR, SYS_nfsservctl,
#ifdef __x86_64__
    SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS_sysfs, SYS__sysctl,
    SYS_create_module, SYS_get_kernel_syms, SYS_query_module, SYS_tuxcall, SYS_security,
#endif
};

static const uint16_t denied_where_watched[] = {
    SYS_memfd_create, SYS_shmget, SYS_msgget,
};
/* clang-format on */

static const uint32_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                   CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                   CLONE_NEWNET | CLONE_NEWTIME;

/* A bit of clone's flags is also the lowest byte, the signal: CLONE_NEWTIME is none. */
static const uint32_t clone_namespaces = namespaces & ~(uint32_t)0xff;

struct emitter {
    struct sock_filter *out;
    size_t count;
};

static void emit(struct emitter *e, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
    assert(e->count < FILTER_MAX);
    e->out[e->count++] = (struct sock_filter){ code, yes, no, k };
}

static void load(struct emitter *e, size_t offset)
{
    emit(e, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(struct emitter *e, uint32_t action)
{
    emit(e, BPF_RET | BPF_K, action, 0, 0);
}

static void fail_with(struct emitter *e, int code)
{
    answer(e, SECCOMP_RET_ERRNO | (uint32_t)code);
}

/* The next instruction is passed over unless the value compares so. */
static void only_if(struct emitter *e, uint16_t comparison, uint32_t value)
{
    emit(e, BPF_JMP | comparison | BPF_K, value, 0, 1);
}

static void deny(struct emitter *e, const uint16_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        only_if(e, BPF_JEQ, numbers[i]);
        fail_with(e, EPERM);
    }
}

/* What follows, up to end_call(), is about one system call and one of its arguments. */
static size_t begin_call(struct emitter *e, uint32_t number, size_t argument)
{
    size_t at = e->count;

    emit(e, BPF_JMP | BPF_JEQ | BPF_K, number, 0, 0);
    load(e, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
    return at;
}

static void end_call(struct emitter *e, size_t at, uint32_t action)
{
    answer(e, action);
    e->out[at].jf = (uint8_t)(e->count - at - 1);
}

static void deny_flags(struct emitter *e, uint32_t number, uint32_t flags)
{
    size_t at = begin_call(e, number, 0);

    only_if(e, BPF_JSET, flags);
    fail_with(e, EPERM);
    end_call(e, at, SECCOMP_RET_ALLOW);
}

/* Both put text into a terminal as if it was typed there. */
static void deny_typing(struct emitter *e)
{
    enum { TIOCLINUX_REQUEST = 0x541c };
    size_t at = begin_call(e, SYS_ioctl, 1);

    only_if(e, BPF_JEQ, TIOCSTI);
    fail_with(e, EPERM);
    only_if(e, BPF_JEQ, TIOCLINUX_REQUEST);
    fail_with(e, EPERM);
    end_call(e, at, SECCOMP_RET_ALLOW);
}

static const uint32_t families[] = { AF_UNIX, AF_INET, AF_INET6 };

/* Only the first so many families. */
static void allow_families(struct emitter *e, uint32_t number, size_t count)
{
    size_t at = begin_call(e, number, 0);

    for (size_t i = 0; i < count && i < COUNT(families); i++) {
        only_if(e, BPF_JEQ, families[i]);
        answer(e, SECCOMP_RET_ALLOW);
    }
    end_call(e, at, SECCOMP_RET_ERRNO | EPERM);
}

static void filter_sockets(struct emitter *e, enum filter_sockets sockets)
{
    static const size_t counts[] = {
        [FILTER_NO_SOCKETS] = 0,
        [FILTER_LOCAL_SOCKETS] = 1,
        [FILTER_INTERNET_SOCKETS] = COUNT(families),
    };

    allow_families(e, SYS_socket, counts[sockets]);
    allow_families(e, SYS_socketpair, 1);
}

size_t filter_make(const struct filter_rules *rules,
                   struct sock_filter ret[static FILTER_MAX])
{
    struct emitter e = { .out = ret };

    load(&e, offsetof(struct seccomp_data, arch));
    emit(&e, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    answer(&e, SECCOMP_RET_KILL_PROCESS);
    load(&e, offsetof(struct seccomp_data, nr));
    only_if(&e, BPF_JGE, NR_X32);
    answer(&e, SECCOMP_RET_KILL_PROCESS);
    only_if(&e, BPF_JGT, NR_LAST);
    fail_with(&e, ENOSYS);
    /* Its flags lie in memory, out of sight; libraries then use clone. */
    only_if(&e, BPF_JEQ, SYS_clone3);
    fail_with(&e, ENOSYS);
    deny(&e, denied, COUNT(denied));
    if (rules->counts_memory)
        deny(&e, denied_where_watched, COUNT(denied_where_watched));
    deny_flags(&e, SYS_clone, clone_namespaces);
    deny_flags(&e, SYS_unshare, namespaces);
    deny_typing(&e);
    filter_sockets(&e, rules->sockets);
    answer(&e, SECCOMP_RET_ALLOW);
    return e.count;
}
