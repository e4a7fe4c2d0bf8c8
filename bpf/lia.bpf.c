// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* LIA (RFC 6356) for the subflows of MPTCP; a plain TCP connection is Reno. The formula: formula/lia.h. */
#include "kernel.h"
#include "siblings.h"
#include "formula/lia.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* A function of its own: the verifier looks into it once, not once for every sibling. */
__noinline int add_sibling(struct lia_sums *sums, __u32 window, __u32 srtt)
{
	if (sums)
		lia_add(sums, window, srtt);
	return 0;
}

static __always_inline __u32 window_of(struct sock *sk)
{
	struct siblings walk = siblings_of(sk);
	const struct tcp_sock *sibling;
	struct lia_sums sums = {};

	for_each_sibling(walk, sibling)
		add_sibling(&sums, settled_cwnd(sibling), sibling->srtt_us);
	return lia_window(&sums, tcp_sk(sk)->snd_cwnd);
}

SEC("struct_ops")
void BPF_PROG(lia_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

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
	grow_by_window(tp, window_of(sk), acked);
}

SEC("struct_ops")
__u32 BPF_PROG(lia_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops")
__u32 BPF_PROG(lia_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops lia = {
	.ssthresh = (void *)lia_ssthresh,
	.cong_avoid = (void *)lia_cong_avoid,
	.undo_cwnd = (void *)lia_undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "lia",
};
