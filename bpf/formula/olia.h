/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * OLIA: opportunistic linked increases (Khalili, Gast, Popovic, Le Boudec, CoNEXT 2012;
 * draft-khalili-mptcp-congestion-control-05), in packets.
 *
 *   per packet acknowledged:  w_i += (w_i / rtt_i^2) / (sum_p w_p / rtt_p)^2 + alpha_i / w_i
 *
 * R are the established subflows, M those with the largest window, B those with the largest l / rtt^2 (l: bytes
 * acknowledged between the last two losses or since the last one, whichever is more), C = B \ M.
 *
 *   alpha_i = +1 / (|R| |C|) in C;  -1 / (|R| |M|) in M where C is not empty;  else 0
 *
 * It takes two passes over the subflows: the first finds the largest, the second counts who they are.
 */
#ifndef SUBFLOW_FORMULA_OLIA_H
#define SUBFLOW_FORMULA_OLIA_H

#include "real.h"

/* Growth is kept in units of 2^-40 packet. */
#define OLIA_FRACTION 40
/* Credit that lacks less than this counts as a whole packet: what rounding may take from a thousand increases. */
#define OLIA_TOLERANCE (1ULL << 24)
/* More than any increase for a packet acknowledged: two packets, where the window is one. */
#define OLIA_MOST (1LL << 42)

/* What OLIA remembers of a subflow. */
struct olia {
	/* Bytes acknowledged when the last two losses were found. */
	__u64 loss_before_last;
	__u64 last_loss;
	/* Growth not yet given to the window; negative where the window is to shrink. */
	__s64 credit;
};

/* l / rtt^2 as a fraction, so that equality is exact; the RTT in microseconds. */
struct olia_quality {
	__u64 inter_loss;
	__u64 rtt_squared;
};

struct olia_sums {
	/* After the first pass. */
	__u32 established;
	__u32 largest;            /* window */
	struct real rate;         /* sum of w / rtt */
	struct olia_quality best; /* largest l / rtt^2 */
	/* After the second pass. */
	__u32 maximal;   /* |M| */
	__u32 collected; /* |C| */
};

/* a * b < c * d, in 128 bits. */
static __always_inline int olia_product_less(__u64 a, __u64 b, __u64 c, __u64 d, int *equal)
{
	__u64 high[2], low[2], factors[2][2] = { { a, b }, { c, d } };
	int i;

	for (i = 0; i < 2; i++) {
		__u64 x = factors[i][0], y = factors[i][1];
		__u64 bottom = (x & ~0U) * (y & ~0U), top = (x >> 32) * (y >> 32);
		__u64 middle = (x >> 32) * (y & ~0U) + (bottom >> 32);
		__u64 other = (x & ~0U) * (y >> 32) + (middle & ~0U);

		low[i] = (other << 32) | (bottom & ~0U);
		high[i] = top + (middle >> 32) + (other >> 32);
	}
	*equal = high[0] == high[1] && low[0] == low[1];
	return high[0] < high[1] || (high[0] == high[1] && low[0] < low[1]);
}

/* l: the bytes acknowledged between the last two losses or since the last one, `acked` having been acknowledged so far. */
static __always_inline __u64 olia_inter_loss(const struct olia *state, __u64 acked)
{
	__u64 since = acked - state->last_loss, between = state->last_loss - state->loss_before_last;

	return since > between ? since : between;
}

static __always_inline struct olia_quality olia_quality(__u64 inter_loss, __u32 srtt)
{
	__u64 rtt = srtt >> 3 ? srtt >> 3 : 1;
	struct olia_quality quality = { inter_loss, rtt * rtt };

	return quality;
}

/* Whether a < b; `equal` tells whether they are the same. */
static __always_inline int olia_is_worse(struct olia_quality a, struct olia_quality b, int *equal)
{
	return olia_product_less(a.inter_loss, b.rtt_squared, b.inter_loss, a.rtt_squared, equal);
}

static __always_inline int olia_is_best(const struct olia_sums *sums, __u64 inter_loss, __u32 srtt)
{
	int equal;

	olia_is_worse(sums->best, olia_quality(inter_loss, srtt), &equal);
	return equal;
}

/* First pass: adds an established subflow; srtt is in eighths of a microsecond, 0 before the first sample. */
static __always_inline void olia_add(struct olia_sums *sums, __u32 window, __u32 srtt, __u64 inter_loss)
{
	struct olia_quality quality = olia_quality(inter_loss, srtt);
	int equal;

	sums->established++;
	if (!srtt)
		return;
	sums->rate = real_add(sums->rate, real_divide(real_of(window), real_of(srtt)));
	if (window > sums->largest)
		sums->largest = window;
	if (!sums->best.rtt_squared || olia_is_worse(sums->best, quality, &equal))
		sums->best = quality;
}

/* Second pass, over the same subflows. */
static __always_inline void olia_count(struct olia_sums *sums, __u32 window, __u32 srtt, __u64 inter_loss)
{
	if (!srtt)
		return;
	if (window == sums->largest)
		sums->maximal++;
	else if (olia_is_best(sums, inter_loss, srtt))
		sums->collected++;
}

/*
 * Growth for each packet acknowledged, in units of 2^-40 packet; srtt is not 0. The subflow is one of those in the sums, so
 * that the first term is 1 / w_i at most. That bounds it here, too: what was read of a sibling may be of two moments.
 */
static __always_inline __s64 olia_increase(const struct olia_sums *sums, __u32 window, __u32 srtt, __u64 inter_loss)
{
	struct real rtt = real_of(srtt);
	struct real growth = real_divide(real_divide(real_of(window), rtt), rtt);
	__u64 most = (1ULL << OLIA_FRACTION) / (window ? window : 1) + 1;
	__u64 coupled = real_fixed(real_divide(growth, real_multiply(sums->rate, sums->rate)), OLIA_FRACTION);
	__s64 increase = (__s64)(coupled < most ? coupled : most);
	__u64 share = (__u64)sums->established * window;

	if (!sums->collected || !share)
		return increase;
	if (window == sums->largest && sums->maximal)
		return increase - (__s64)((1ULL << OLIA_FRACTION) / (share * sums->maximal));
	if (window != sums->largest && olia_is_best(sums, inter_loss, srtt))
		return increase + (__s64)((1ULL << OLIA_FRACTION) / (share * sums->collected));
	return increase;
}

/* The window after `acked` packets, each worth `increase`; whole packets of the credit go to it. */
static __always_inline __u32 olia_grow(struct olia *state, __u32 cwnd, __u32 acked, __s64 increase)
{
	__u64 whole;

	/* No acknowledgment covers a million packets. The product of the bounds is 2^62: it fits. */
	if (acked > 1U << 20)
		acked = 1U << 20;
	if (increase > OLIA_MOST)
		increase = OLIA_MOST;
	if (increase < -OLIA_MOST)
		increase = -OLIA_MOST;
	state->credit += increase * (__s64)acked;
	if (state->credit >= 0) {
		whole = ((__u64)state->credit + OLIA_TOLERANCE) >> OLIA_FRACTION;
		state->credit -= (__s64)(whole << OLIA_FRACTION);
		return cwnd + (__u32)whole;
	}
	whole = ((__u64)-state->credit + OLIA_TOLERANCE) >> OLIA_FRACTION;
	state->credit += (__s64)(whole << OLIA_FRACTION);
	return cwnd > whole + 1 ? cwnd - (__u32)whole : 1;
}

/* The slow-start threshold after a loss. */
static __always_inline __u32 olia_ssthresh_of(__u32 established, __u32 cwnd)
{
	__u32 floor = established > 1 ? 1 : 2;

	return cwnd / 2 > floor ? cwnd / 2 : floor;
}

/* A loss was found with `acked` bytes acknowledged; the second at the same place does not end an interval. */
static __always_inline void olia_lost(struct olia *state, __u64 acked)
{
	if (acked == state->last_loss)
		return;
	state->loss_before_last = state->last_loss;
	state->last_loss = acked;
}

#endif
