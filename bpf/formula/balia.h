/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * BALIA: balanced linked adaptation (Peng, Walid, Hwang, Low, ToN 2016; draft-walid-mptcp-congestion-control-04), in packets.
 *
 *   x_i = w_i / rtt_i,  alpha_i = max_k x_k / x_i
 *   per packet acknowledged:  w_i += x_i / (rtt_i (sum x)^2) * (1 + alpha_i)/2 * (4 + alpha_i)/5
 *   on loss:                  w_i -= w_i/2 * min(alpha_i, 1.5)
 *
 * The window grows by one packet for every 10 w_i * (sum x)/(x_i + max x) * (sum x)/(4 x_i + max x) acknowledged.
 */
#ifndef SUBFLOW_FORMULA_BALIA_H
#define SUBFLOW_FORMULA_BALIA_H

#include "real.h"

struct balia_sums {
	__u32 established;
	struct real own;   /* rate of the subflow that it is about; 0 where it does not count */
	struct real best;  /* largest rate */
	struct real total; /* sum of rates */
};

/* Adds an established subflow; srtt is 0 before the first sample, in any unit that is the same for all. */
static __always_inline void balia_add(struct balia_sums *sums, __u32 window, __u32 srtt, int own)
{
	struct real rate = real_divide(real_of(window), real_of(srtt));

	sums->established++;
	sums->best = real_max(sums->best, rate);
	sums->total = real_add(sums->total, rate);
	if (own)
		sums->own = rate;
}

/* How many packets must be acknowledged for one of growth. */
static __always_inline __u32 balia_window(const struct balia_sums *sums, __u32 cwnd)
{
	struct real growth, decrease;

	if (real_is_zero(sums->own))
		return cwnd;
	growth = real_divide(sums->total, real_add(sums->own, sums->best));
	decrease = real_divide(sums->total, real_add(real_scale(sums->own, 2), sums->best));
	return real_floor(real_multiply(real_multiply(real_of(10ULL * cwnd), growth), decrease));
}

/* The slow-start threshold after a loss. */
static __always_inline __u32 balia_ssthresh_of(const struct balia_sums *sums, __u32 cwnd)
{
	__u32 half = cwnd / 2, decrease;

	if (sums->established <= 1 || real_is_zero(sums->own))
		return half > 2 ? half : 2;
	decrease = real_floor(real_divide(real_multiply(real_of(half), sums->best), sums->own));
	if (decrease > half + half / 2)
		decrease = half + half / 2;
	return cwnd > decrease + 1 ? cwnd - decrease : 1;
}

#endif
