/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * CMT/RPv1: resource pooling by slow-start thresholds (Dreibholz, Becke, Pulinthanath, Rathgeb, AINA 2010), in packets.
 *
 *   share:  ssthresh_p / sum_k ssthresh_k; a subflow without loss counts with its window
 *   loss:   ssthresh_p = max(w_p - (sum_k w_k) / 2, 1)
 */
#ifndef SUBFLOW_FORMULA_CMT_RPV1_H
#define SUBFLOW_FORMULA_CMT_RPV1_H

#include "pooled_growth.h"

/* The threshold of a subflow that has seen no loss (TCP_INFINITE_SSTHRESH). */
#define CMT_RPV1_INFINITE 0x7fffffffU

struct cmt_rpv1_sums {
	__u64 windows;    /* of the other subflows */
	__u64 thresholds; /* likewise */
};

/* What a subflow's threshold counts, at least one packet. */
static __always_inline __u32 cmt_rpv1_threshold(__u32 cwnd, __u32 ssthresh)
{
	__u32 threshold = ssthresh >= CMT_RPV1_INFINITE ? cwnd : ssthresh;

	return threshold ? threshold : 1;
}

/* Adds another established subflow with an RTT estimate; `window` is its settled window. */
static __always_inline void cmt_rpv1_add(struct cmt_rpv1_sums *sums, __u32 window, __u32 cwnd, __u32 ssthresh)
{
	sums->windows += window;
	sums->thresholds += cmt_rpv1_threshold(cwnd, ssthresh);
}

/* The subflow's share, in units of 2^-32, rounded up so that n shares of 1/n make a whole. */
static __always_inline __u64 cmt_rpv1_share(const struct cmt_rpv1_sums *sums, __u32 cwnd, __u32 ssthresh)
{
	__u64 own = cmt_rpv1_threshold(cwnd, ssthresh), all = sums->thresholds + own;

	return ((own << 32) + all - 1) / all;
}

/* The slow-start threshold after a loss. */
static __always_inline __u32 cmt_rpv1_ssthresh_of(const struct cmt_rpv1_sums *sums, __u32 cwnd)
{
	__u64 half = (cwnd + sums->windows + 1) / 2;

	return cwnd > half + 1 ? cwnd - (__u32)half : 1;
}

#endif
