// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* BALIA for the subflows of MPTCP; a plain TCP connection is Reno. The formula: formula/balia.h. */
#include "kernel.h"
#include "siblings.h"
#include "formula/balia.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* A function of its own: the verifier looks into it once, not once for every sibling. */
__noinline int add_sibling(struct balia_sums *sums, __u32 window, __u32 srtt, int own)
{
	if (sums)
		balia_add(sums, window, srtt, own);
	return 0;
}

static __always_inline struct balia_sums sums_of(struct sock *sk)
{
	struct siblings walk = siblings_of(sk);
	const struct tcp_sock *sibling;
	struct balia_sums sums = {};

	for_each_sibling(walk, sibling)
		add_sibling(&sums, settled_cwnd(sibling), sibling->srtt_us, is_same(sk, sibling));
	return sums;
}

SEC("struct_ops")
void BPF_PROG(balia_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct balia_sums sums;

	if (!is_subflow(sk)) {
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
	grow_by_window(tp, balia_window(&sums, tp->snd_cwnd), acked);
}

SEC("struct_ops")
__u32 BPF_PROG(balia_ssthresh, struct sock *sk)
{
	struct balia_sums sums;

	if (!is_subflow(sk))
		return tcp_reno_ssthresh(sk);
	sums = sums_of(sk);
	return balia_ssthresh_of(&sums, tcp_sk(sk)->snd_cwnd);
}

SEC("struct_ops")
__u32 BPF_PROG(balia_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops balia = {
	.ssthresh = (void *)balia_ssthresh,
	.cong_avoid = (void *)balia_cong_avoid,
	.undo_cwnd = (void *)balia_undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "balia",
};
