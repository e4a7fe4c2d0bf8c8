// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* OLIA for the subflows of MPTCP; a plain TCP connection is Reno. The formula: formula/olia.h. */
#include "kernel.h"
#include "siblings.h"
#include "formula/olia.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* Functions of their own: the verifier looks into them once, not once for every sibling. */
__noinline int add_sibling(struct olia_sums *sums, __u32 window, __u32 srtt, __u64 inter_loss)
{
	if (sums)
		olia_add(sums, window, srtt, inter_loss);
	return 0;
}

__noinline int count_sibling(struct olia_sums *sums, __u32 window, __u32 srtt, __u64 inter_loss)
{
	if (sums)
		olia_count(sums, window, srtt, inter_loss);
	return 0;
}

static __always_inline struct olia *own_state(struct sock *sk)
{
	return (struct olia *)inet_csk(sk)->icsk_ca_priv;
}

/* 0 where the sibling has another algorithm, which does not count bytes between losses. */
static __always_inline __u64 inter_loss_of(struct sock *sk, const struct tcp_sock *sibling)
{
	const struct olia *state = state_of(sk, sibling);

	return state ? olia_inter_loss(state, sibling->bytes_acked) : 0;
}

/*
 * After the first pass. The subflow itself counts first, and also where the walk does not meet it, behind SUBFLOWS_MAX
 * others or when it is being closed: the formula divides by a sum that it is part of.
 */
static __always_inline struct olia_sums sums_of(struct sock *sk)
{
	const struct tcp_sock *own = tcp_sk(sk), *sibling;
	struct siblings walk = siblings_of(sk);
	struct olia_sums sums = {};

	add_sibling(&sums, settled_cwnd(own), own->srtt_us, olia_inter_loss(own_state(sk), own->bytes_acked));
	for_each_sibling(walk, sibling) {
		if (!is_same(sk, sibling))
			add_sibling(&sums, settled_cwnd(sibling), sibling->srtt_us, inter_loss_of(sk, sibling));
	}
	return sums;
}

/* The second pass, over the same subflows. */
static __always_inline void count_siblings(struct sock *sk, struct olia_sums *sums)
{
	const struct tcp_sock *own = tcp_sk(sk), *sibling;
	struct siblings walk = siblings_of(sk);

	count_sibling(sums, settled_cwnd(own), own->srtt_us, olia_inter_loss(own_state(sk), own->bytes_acked));
	for_each_sibling(walk, sibling) {
		if (!is_same(sk, sibling))
			count_sibling(sums, settled_cwnd(sibling), sibling->srtt_us, inter_loss_of(sk, sibling));
	}
}

SEC("struct_ops")
void BPF_PROG(olia_init, struct sock *sk)
{
	__u64 acked = tcp_sk(sk)->bytes_acked;
	struct olia *state = own_state(sk);

	state->loss_before_last = acked;
	state->last_loss = acked;
	state->credit = 0;
}

SEC("struct_ops")
void BPF_PROG(olia_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct olia_sums sums;
	struct olia state;
	__s64 increase;

	if (!is_subflow(sk) || !tp->srtt_us) {
		tcp_reno_cong_avoid(sk, ack, acked);
		return;
	}
	if (!tcp_is_cwnd_limited(tp))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	sums = sums_of(sk);
	count_siblings(sk, &sums);
	state = *own_state(sk);
	increase = olia_increase(&sums, tp->snd_cwnd, tp->srtt_us, olia_inter_loss(&state, tp->bytes_acked));
	tcp_set_cwnd(tp, olia_grow(&state, tp->snd_cwnd, acked, increase));
	own_state(sk)->credit = state.credit;
}

/* 1 where the subflow is the only one; more than two count as two. */
static __always_inline __u32 established_subflows(struct sock *sk)
{
	struct siblings walk = siblings_of(sk);
	const struct tcp_sock *sibling;

	for_each_sibling(walk, sibling) {
		if (!is_same(sk, sibling))
			return 2;
	}
	return 1;
}

SEC("struct_ops")
__u32 BPF_PROG(olia_ssthresh, struct sock *sk)
{
	return olia_ssthresh_of(is_subflow(sk) ? established_subflows(sk) : 1, tcp_sk(sk)->snd_cwnd);
}

/* A loss, or congestion that ECN tells of, ends an interval; a second timeout in a row does not. */
SEC("struct_ops")
void BPF_PROG(olia_set_state, struct sock *sk, __u8 state)
{
	__u8 before = BPF_CORE_READ_BITFIELD(inet_csk(sk), icsk_ca_state);
	struct olia own = *own_state(sk);

	if (state < TCP_CA_CWR || (state == TCP_CA_LOSS && before == TCP_CA_LOSS))
		return;
	olia_lost(&own, tcp_sk(sk)->bytes_acked);
	own_state(sk)->loss_before_last = own.loss_before_last;
	own_state(sk)->last_loss = own.last_loss;
}

SEC("struct_ops")
__u32 BPF_PROG(olia_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops olia = {
	.init = (void *)olia_init,
	.ssthresh = (void *)olia_ssthresh,
	.cong_avoid = (void *)olia_cong_avoid,
	.set_state = (void *)olia_set_state,
	.undo_cwnd = (void *)olia_undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "olia",
};
