// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* wVegas for the subflows of MPTCP; a plain TCP connection has all of alpha to itself. The formula: formula/wvegas.h. */
#include "kernel.h"
#include "siblings.h"
#include "formula/wvegas.h"

char _license[] SEC("license") = "Dual MIT/GPL";

static __always_inline struct wvegas *own_state(struct sock *sk)
{
	return (struct wvegas *)inet_csk(sk)->icsk_ca_priv;
}

/* A function of its own: the verifier looks into it once, not once for every sibling. */
__noinline int add_sibling(struct real *total, __u32 mantissa, __s32 exponent)
{
	struct real rate = { mantissa, exponent };

	if (total)
		*total = real_add(*total, rate);
	return 0;
}

/*
 * The sum of the rates of all subflows that are in the middle of a round. The subflow itself counts also behind SUBFLOWS_MAX
 * others: its weight is its part of this sum.
 */
static __always_inline struct real total_rate(struct sock *sk, struct real own)
{
	const struct tcp_sock *sibling;
	const struct wvegas *state;
	struct real total = {};
	struct siblings walk;

	if (!is_subflow(sk))
		return own;
	if (is_established(tcp_sk(sk)))
		total = own;
	walk = siblings_of(sk);
	for_each_sibling(walk, sibling) {
		state = state_of(sk, sibling);
		if (state && state->samples && !is_same(sk, sibling))
			add_sibling(&total, state->rate.mantissa, state->rate.exponent);
	}
	return total;
}

static __always_inline void finish_round(struct sock *sk, __u32 acked)
{
	struct wvegas *state = own_state(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct wvegas_round round = wvegas_finish(state, tp->snd_cwnd);
	__u32 cwnd, ssthresh = tp->snd_ssthresh;

	if (!tcp_in_slow_start(tp)) {
		if (round.diff >= state->alpha) {
			wvegas_note_rate(state, &round);
			wvegas_share_alpha(state, total_rate(sk, state->rate));
		}
		cwnd = wvegas_avoid(state, &round, &ssthresh);
	} else if (round.diff > WVEGAS_GAMMA) {
		cwnd = wvegas_leave_slow_start(&round, &ssthresh);
	} else {
		tcp_slow_start(tp, acked);
		cwnd = tp->snd_cwnd;
	}
	wvegas_bound(&cwnd, &ssthresh);
	tcp_set_cwnd(tp, cwnd);
	tp->snd_ssthresh = ssthresh;
}

SEC("struct_ops")
void BPF_PROG(wvegas_init, struct sock *sk)
{
	wvegas_start(own_state(sk), WVEGAS_UNKNOWN, tcp_sk(sk)->snd_nxt);
}

SEC("struct_ops")
void BPF_PROG(wvegas_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	wvegas_sample(own_state(sk), sample->rtt_us);
}

SEC("struct_ops")
void BPF_PROG(wvegas_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct wvegas *state = own_state(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!state->active) {
		tcp_reno_cong_avoid(sk, ack, acked);
		return;
	}
	if (!tcp_is_cwnd_limited(tp))
		return;
	if ((__s32)(ack - state->round_end) <= 0) {
		if (tcp_in_slow_start(tp))
			tcp_slow_start(tp, acked);
		return;
	}
	if (state->samples < WVEGAS_MIN_SAMPLES)
		tcp_reno_cong_avoid(sk, ack, acked);
	else
		finish_round(sk, acked);
	wvegas_begin_round(state, tp->snd_nxt);
}

SEC("struct_ops")
__u32 BPF_PROG(wvegas_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops")
void BPF_PROG(wvegas_set_state, struct sock *sk, __u8 state)
{
	wvegas_recovery_state(own_state(sk), state, tcp_sk(sk)->snd_nxt);
}

SEC("struct_ops")
void BPF_PROG(wvegas_cwnd_event, struct sock *sk, int event)
{
	if (event == CA_EVENT_CWND_RESTART)
		wvegas_start(own_state(sk), WVEGAS_UNKNOWN, tcp_sk(sk)->snd_nxt);
}

SEC("struct_ops")
__u32 BPF_PROG(wvegas_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops wvegas = {
	.init = (void *)wvegas_init,
	.ssthresh = (void *)wvegas_ssthresh,
	.cong_avoid = (void *)wvegas_cong_avoid,
	.set_state = (void *)wvegas_set_state,
	.cwnd_event = (void *)wvegas_cwnd_event,
	.pkts_acked = (void *)wvegas_pkts_acked,
	.undo_cwnd = (void *)wvegas_undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "wvegas",
};
