/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * CMT/RPv2: resource pooling by rates (Dreibholz, Becke, Adhari, Rathgeb, ConTEL 2011; Lugowski 2017, section 3.3), in
 * packets.
 *
 *   share:  x_p / sum_k x_k,  x = w / rtt
 *   loss:   ssthresh_p = max(w_p - ceil(d_p w_p), 1),  d_p = max(1/2, (sum_k x_k) / (2 x_p))
 */
#ifndef SUBFLOW_FORMULA_CMT_RPV2_H
#define SUBFLOW_FORMULA_CMT_RPV2_H

#include "pooled_growth.h"
#include "real.h"

struct cmt_rpv2_sums {
	struct real own;   /* rate of the subflow that it is about; 0 where it does not count */
	struct real total; /* sum of rates */
};

/* Adds an established subflow; srtt is 0 before the first sample, in any unit that is the same for all. */
static __always_inline void cmt_rpv2_add(struct cmt_rpv2_sums *sums, __u32 window, __u32 srtt, int own)
{
	struct real rate = real_divide(real_of(window), real_of(srtt));

	sums->total = real_add(sums->total, rate);
	if (own)
		sums->own = rate;
}

/* The subflow's share, in units of 2^-32, rounded up so that n shares of 1/n make a whole. */
static __always_inline __u64 cmt_rpv2_share(const struct cmt_rpv2_sums *sums)
{
	__u64 share;

	if (real_is_zero(sums->own))
		return POOLED_WHOLE;
	share = real_fixed(real_divide(sums->own, sums->total), 32) + 1;
	return share < POOLED_WHOLE ? share : POOLED_WHOLE;
}

/* The slow-start threshold after a loss. */
static __always_inline __u32 cmt_rpv2_ssthresh_of(const struct cmt_rpv2_sums *sums, __u32 cwnd)
{
	struct real ratio = real_divide(sums->total, sums->own);
	__u32 lost;

	if (real_is_zero(sums->own))
		return cwnd / 2 > 1 ? cwnd / 2 : 1;
	lost = real_ceil(real_scale(real_multiply(real_of(cwnd), ratio), -1));
	return cwnd > lost && cwnd - lost > 1 ? cwnd - lost : 1;
}

#endif
