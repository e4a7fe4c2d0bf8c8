// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* CMT/RPv1 (cmt-rpv1) for the subflows of MPTCP. The formulas: formula/cmt_rpv1.h, formula/pooled_growth.h. */
#include "kernel.h"
#include "cmt_rp.h"
#include "siblings.h"
#include "formula/cmt_rpv1.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* A function of its own: the verifier looks into it once, not once for every sibling. */
__noinline int add_sibling(struct cmt_rpv1_sums *sums, __u32 window, __u32 cwnd, __u32 ssthresh)
{
	if (sums)
		cmt_rpv1_add(sums, window, cwnd, ssthresh);
	return 0;
}

static __always_inline struct cmt_rpv1_sums sums_of(struct sock *sk)
{
	struct cmt_rpv1_sums sums = {};
	const struct tcp_sock *sibling;
	struct siblings walk;

	if (!is_subflow(sk))
		return sums;
	walk = siblings_of(sk);
	for_each_sibling(walk, sibling) {
		if (sibling->srtt_us && !is_same(sk, sibling))
			add_sibling(&sums, settled_cwnd(sibling), sibling->snd_cwnd, sibling->snd_ssthresh);
	}
	return sums;
}

SEC("struct_ops")
void BPF_PROG(cmt_rpv1_init, struct sock *sk)
{
	own_growth(sk)->buffer = 0;
}

SEC("struct_ops")
void BPF_PROG(cmt_rpv1_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct cmt_rpv1_sums sums;
	__u64 share;

	if (!tcp_is_cwnd_limited(tp))
		return;
	sums = sums_of(sk);
	share = cmt_rpv1_share(&sums, tp->snd_cwnd, tp->snd_ssthresh);
	give_share(sk, share, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(cmt_rpv1_ssthresh, struct sock *sk)
{
	struct cmt_rpv1_sums sums = sums_of(sk);

	return cmt_rpv1_ssthresh_of(&sums, tcp_sk(sk)->snd_cwnd);
}

SEC("struct_ops")
__u32 BPF_PROG(cmt_rpv1_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops cmt_rpv1 = {
	.init = (void *)cmt_rpv1_init,
	.ssthresh = (void *)cmt_rpv1_ssthresh,
	.cong_avoid = (void *)cmt_rpv1_cong_avoid,
	.undo_cwnd = (void *)cmt_rpv1_undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "cmt_rpv1",
};
