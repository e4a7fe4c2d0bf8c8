/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * LIA: linked increases (RFC 6356, section 3), in packets.
 *
 *   on an ACK of b:  w_i += min(alpha b / w_total, b / w_i)
 *   alpha = w_total * max_i(w_i / rtt_i^2) / (sum_i w_i / rtt_i)^2
 *
 * w_total cancels: the window grows by one packet for every max(w_i, (sum w/rtt)^2 / max(w/rtt^2)) acknowledged.
 */
#ifndef SUBFLOW_FORMULA_LIA_H
#define SUBFLOW_FORMULA_LIA_H

#include "real.h"

struct lia_sums {
	__u32 established; /* subflows, with an RTT estimate or without */
	struct real rate;  /* sum of w / rtt */
	struct real best;  /* largest w / rtt^2 */
};

/* Adds an established subflow; srtt is 0 before the first sample, in any unit that is the same for all. */
static __always_inline void lia_add(struct lia_sums *sums, __u32 window, __u32 srtt)
{
	struct real rtt = real_of(srtt);
	struct real rate = real_divide(real_of(window), rtt);

	sums->established++;
	sums->rate = real_add(sums->rate, rate);
	sums->best = real_max(sums->best, real_divide(rate, rtt));
}

/* How many packets must be acknowledged for one of growth. */
static __always_inline __u32 lia_window(const struct lia_sums *sums, __u32 cwnd)
{
	__u32 coupled;

	if (sums->established <= 1 || real_is_zero(sums->best))
		return cwnd;
	coupled = real_floor(real_divide(real_multiply(sums->rate, sums->rate), sums->best));
	return coupled > cwnd ? coupled : cwnd;
}

#endif
