/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * How a window grows under CMT/RP, in packets: by a share (0 to 1) of what it would grow alone.
 *
 *   slow start:            share * min(b, 1)  per ACK of b
 *   congestion avoidance:  share              per window acknowledged
 *
 * The window takes whole packets; fractions wait in a buffer (Lugowski 2017, section 3.3.2).
 *
 * Where the window fell and the packets acknowledged for the larger one stayed (tcp_cwnd_restart leaves them), they count
 * as one window, as in tcp_cong_avoid_ai. The simulator forgets them wherever the window of a TCP subflow falls.
 */
#ifndef SUBFLOW_FORMULA_POOLED_GROWTH_H
#define SUBFLOW_FORMULA_POOLED_GROWTH_H

/* A share of 1. */
#define POOLED_WHOLE (1ULL << 32)

/* What CMT/RP remembers of a subflow: growth earned and not given, in units of 2^-32 packet. */
struct pooled_growth {
	__u32 buffer;
};

struct pooled_window {
	__u32 cwnd;
	__u32 ssthresh;
	/* Packets acknowledged and not yet turned into window (snd_cwnd_cnt). */
	__u32 credit;
};

/* Grows the window for an acknowledgment of `acked` packets; `share` is in units of 2^-32. */
static __always_inline void pooled_grow(struct pooled_growth *growth, struct pooled_window *window, __u64 share,
					__u32 acked)
{
	__u64 earned;

	if (window->cwnd < window->ssthresh) {
		earned = acked ? 1 : 0;
	} else {
		__u32 cwnd = window->cwnd ? window->cwnd : 1;

		earned = 0;
		if (window->credit >= cwnd) {
			window->credit = 0;
			earned = 1;
		}
		window->credit += acked;
		earned += window->credit / cwnd;
		window->credit %= cwnd;
	}
	earned = growth->buffer + share * earned;
	growth->buffer = (__u32)earned;
	window->cwnd += (__u32)(earned >> 32);
}

#endif
