/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The established subflows of an MPTCP connection, seen from one of them.
 *
 * From a subflow's socket its context leads to the connection (`conn`), whose list (`conn_list`) has the contexts of all
 * subflows. A program runs under the lock of its own subflow, not of the connection: subflows may come, go and change while
 * it reads. It reads only, faults read as 0, contexts are freed after a grace period that the program holds off, and the walk
 * ends after SUBFLOWS_MAX: a race makes one decision with a sibling too few, or with its window of a moment ago.
 *
 * What counts as established is what may send: ESTABLISHED and CLOSE_WAIT, as in the kernel's own MPTCP.
 */
#ifndef SUBFLOW_SIBLINGS_H
#define SUBFLOW_SIBLINGS_H

#include "kernel.h"

/*
 * Subflows that are looked at: as many as path managers here open. Further ones do not count; where a formula divides by
 * what its own subflow is part of, the program counts that one in any case.
 */
#ifndef SUBFLOWS_MAX
#define SUBFLOWS_MAX 64
#endif

struct siblings {
	const struct list_head *head;
	const struct list_head *next;
};

/* For every established subflow, `sibling`, that `walk` still has before it. */
#define for_each_sibling(walk, sibling) \
	for (int subflow_index = 0; subflow_index < SUBFLOWS_MAX && (walk).next && (walk).next != (walk).head; \
	     subflow_index++) \
		if (((sibling) = next_sibling(&(walk))) && is_established(sibling))

/* Whether the socket is a subflow of an MPTCP connection; else it has no siblings. */
static __always_inline int is_subflow(struct sock *sk)
{
	return tcp_sk(sk)->is_mptcp && inet_csk(sk)->icsk_ulp_data;
}

/* Before the first subflow of the connection of `sk`, which is a subflow. */
static __always_inline struct siblings siblings_of(struct sock *sk)
{
	const struct mptcp_subflow_context *own = READ_ONLY(inet_csk(sk)->icsk_ulp_data, struct mptcp_subflow_context);
	const struct mptcp_sock *connection = READ_ONLY(own->conn, struct mptcp_sock);
	struct siblings walk = { &connection->conn_list, connection->conn_list.next };

	return walk;
}

static __always_inline const struct tcp_sock *next_sibling(struct siblings *walk)
{
	/* `node` is the first member. */
	const struct mptcp_subflow_context *context = READ_ONLY(walk->next, struct mptcp_subflow_context);

	walk->next = context->node.next;
	return READ_ONLY(context->tcp_sock, struct tcp_sock);
}

static __always_inline int is_established(const struct tcp_sock *tp)
{
	__u8 state = tp->inet_conn.icsk_inet.sk.__sk_common.skc_state;

	return state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT;
}

static __always_inline int is_same(const struct sock *sk, const struct tcp_sock *sibling)
{
	return (unsigned long)sk == (unsigned long)sibling;
}

/* The window that counts in sums: in recovery the threshold, not the momentary window. */
static __always_inline __u32 settled_cwnd(const struct tcp_sock *tp)
{
	__u8 state = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);
	__u32 cwnd = tp->snd_cwnd ? tp->snd_cwnd : 1, ssthresh = tp->snd_ssthresh;

	if (state == TCP_CA_CWR || state == TCP_CA_RECOVERY)
		return ssthresh < cwnd ? ssthresh : cwnd;
	return tp->snd_cwnd;
}

/* What the algorithm of `sk` remembers of a sibling; NULL where the sibling has another algorithm. */
static __always_inline const void *state_of(struct sock *sk, const struct tcp_sock *sibling)
{
	if (sibling->inet_conn.icsk_ca_ops != inet_csk(sk)->icsk_ca_ops)
		return 0;
	return sibling->inet_conn.icsk_ca_priv;
}

#endif
