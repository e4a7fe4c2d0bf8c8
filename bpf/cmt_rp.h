/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the programs of both CMT/RPs do to a socket: the window grows by its share, fractions wait in icsk_ca_priv. */
#ifndef SUBFLOW_CMT_RP_H
#define SUBFLOW_CMT_RP_H

#include "formula/pooled_growth.h"
#include "kernel.h"

static __always_inline struct pooled_growth *own_growth(struct sock *sk)
{
	return (struct pooled_growth *)inet_csk(sk)->icsk_ca_priv;
}

/* Grows the window for `acked` packets by `share`, in units of 2^-32. */
static __always_inline void give_share(struct sock *sk, __u64 share, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct pooled_window window = { tp->snd_cwnd, tp->snd_ssthresh, tp->snd_cwnd_cnt };
	struct pooled_growth growth = *own_growth(sk);

	pooled_grow(&growth, &window, share, acked);
	own_growth(sk)->buffer = growth.buffer;
	tp->snd_cwnd_cnt = window.credit;
	tcp_set_cwnd(tp, window.cwnd);
}

#endif
