/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the programs read of the kernel and call in it: only the fields that they use, found in the running kernel's own
 * layout when a program is loaded (CO-RE). So one binary serves all kernels, and no header of a kernel is needed to build it.
 *
 * The first member of each socket type is the one it extends, as in the kernel: a `struct sock *` may be cast to the others.
 *
 * Compiled for the machine itself, as the tests do, the same text reads plain structures (`native.h` of the tests).
 */
#ifndef SUBFLOW_KERNEL_H
#define SUBFLOW_KERNEL_H

#ifdef __bpf__
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

enum { BPF_MAP_TYPE_UNUSED };

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#else
#include "native.h"
#endif

/* States of a socket (include/net/tcp_states.h) and of loss recovery (enum tcp_ca_state of uapi/linux/tcp.h). */
#define TCP_ESTABLISHED 1
#define TCP_CLOSE_WAIT 8
#define TCP_CA_CWR 2
#define TCP_CA_RECOVERY 3
#define TCP_CA_LOSS 4
/* enum tcp_ca_event of include/net/tcp.h. */
#define CA_EVENT_CWND_RESTART 1
/* Sockets of every network namespace may use it, without privileges (include/net/tcp.h). */
#define TCP_CONG_NON_RESTRICTED 1

#ifdef __bpf__
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

struct list_head {
	struct list_head *next;
};

struct sock_common {
	volatile unsigned char skc_state;
};

struct sock {
	struct sock_common __sk_common;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	void *icsk_ulp_data;
	__u8 icsk_ca_state : 5;
	__u64 icsk_ca_priv[13];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 snd_cwnd;
	__u32 snd_cwnd_cnt;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 srtt_us; /* in eighths of a microsecond */
	__u32 max_packets_out;
	__u64 bytes_acked;
	__u8 is_cwnd_limited : 1;
	bool is_mptcp;
};

struct mptcp_sock {
	struct list_head conn_list;
};

struct mptcp_subflow_context {
	struct list_head node;
	struct sock *tcp_sock;
	struct sock *conn;
};

struct ack_sample {
	__s32 rtt_us; /* negative where there is none */
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 state);
	void (*cwnd_event)(struct sock *sk, int event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
	__u32 flags;
};

#ifdef __bpf__
#pragma clang attribute pop
#endif

extern __u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;
extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
/* Grows the window up to the threshold; returns what is left of `acked`. */
extern __u32 tcp_slow_start(struct tcp_sock *tp, __u32 acked) __ksym;
/* Grows the window by a packet for every `w` acknowledged; it divides by `w`. */
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, __u32 w, __u32 acked) __ksym;

#ifdef __bpf__
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym;

/* Reads through such a pointer never fault; what is not there reads as 0. */
#define READ_ONLY(pointer, type) ((type *)bpf_rdonly_cast((pointer), bpf_core_type_id_kernel(type)))
#endif

static __always_inline struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline struct inet_connection_sock *inet_csk(struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

static __always_inline int tcp_in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

/* Whether the window is what holds the sender back; in slow start it may grow to twice what was in flight. */
static __always_inline int tcp_is_cwnd_limited(const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tcp_in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* Sets the window: what the route allows, but never 0. */
static __always_inline void tcp_set_cwnd(struct tcp_sock *tp, __u32 cwnd)
{
	__u32 most = tp->snd_cwnd_clamp;

	if (cwnd > most)
		cwnd = most;
	tp->snd_cwnd = cwnd ? cwnd : 1;
}

/* Grows the window by a packet for every `window` acknowledged. */
static __always_inline void grow_by_window(struct tcp_sock *tp, __u32 window, __u32 acked)
{
	tcp_cong_avoid_ai(tp, window ? window : 1, acked);
}

#endif
