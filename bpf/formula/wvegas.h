/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * wVegas: weighted Vegas (Cao, Xu, Fu, ICNP 2012), in packets, once a round.
 *
 *   base = smallest RTT seen      avg = mean RTT of the round      diff = w (avg - base) / avg
 *
 *   slow start:            diff > gamma = 1:  w = min(w, w base/avg + 1), ssthresh = min(ssthresh, w - 1)
 *   congestion avoidance:  diff >= alpha_i:   x_i = w/avg, omega_i = x_i / sum x, alpha_i = max(2, 10 omega_i)
 *                          diff > alpha_i:    w -= 1, ssthresh = min(ssthresh, w - 1)
 *                          diff < alpha_i:    w += 1
 *                          avg - base >= 2 q_i:  w = w base / (2 avg), forget q_i  (q_i: smallest avg - base seen)
 *
 * Times are in nanoseconds, so that a mean keeps its fraction of a microsecond. Windows count up to 2^22 packets.
 */
#ifndef SUBFLOW_FORMULA_WVEGAS_H
#define SUBFLOW_FORMULA_WVEGAS_H

#include "real.h"

#define WVEGAS_INITIAL_ALPHA 2
#define WVEGAS_TOTAL_ALPHA 10
#define WVEGAS_GAMMA 1
/* RTT samples that make a round meaningful. */
#define WVEGAS_MIN_SAMPLES 3
/* Smallest window after a round. */
#define WVEGAS_MIN_WINDOW 2
#define WVEGAS_UNKNOWN (~0ULL)

/* What wVegas remembers of a subflow. */
struct wvegas {
	__u64 base;        /* smallest RTT seen, or WVEGAS_UNKNOWN */
	__u64 sum;         /* of the round's RTT samples */
	__u64 queue_delay; /* smallest avg - base seen, or WVEGAS_UNKNOWN */
	struct real rate;   /* w / avg at the last congestion, 0 where unknown */
	struct real weight; /* the subflow's part of the connection's rate */
	__u32 samples;
	__u32 round_end; /* the round ends when SND.UNA passes this */
	__u32 alpha;
	__u32 active; /* whether delay governs; outside the Open state it does not */
};

/* A finished round: window and diff in packets. */
struct wvegas_round {
	__u32 cwnd;
	__u32 diff;
	__u64 average;
	__u64 base;
};

/* Forgets everything but `base`; the next round ends when what is sent until now is acknowledged. */
static __always_inline void wvegas_start(struct wvegas *state, __u64 base, __u32 snd_nxt)
{
	state->base = base;
	state->sum = 0;
	state->queue_delay = WVEGAS_UNKNOWN;
	state->rate = real_zero();
	state->weight = real_of(1);
	state->samples = 0;
	state->round_end = snd_nxt;
	state->alpha = WVEGAS_INITIAL_ALPHA;
	state->active = 1;
}

/* An RTT sample in microseconds; the kernel gives -1 where an acknowledgment has none. */
static __always_inline void wvegas_sample(struct wvegas *state, __s32 rtt_us)
{
	__u64 rtt = rtt_us > 0 ? (__u64)rtt_us * 1000 : 1;

	if (rtt_us < 0)
		return;
	if (rtt < state->base)
		state->base = rtt;
	state->samples++;
	state->sum += rtt;
}

/* packets * numerator / denominator, rounded down. */
static __always_inline __u32 wvegas_scale(__u32 packets, __u64 numerator, __u64 denominator)
{
	if (packets > 1U << 22)
		packets = 1U << 22;
	return packets * numerator / denominator;
}

/* What the round says, given that it has samples. */
static __always_inline struct wvegas_round wvegas_finish(const struct wvegas *state, __u32 cwnd)
{
	__u32 samples = state->samples ? state->samples : 1;
	struct wvegas_round round;

	round.cwnd = cwnd;
	round.average = state->sum / samples;
	if (!round.average)
		round.average = 1;
	round.base = state->base < round.average ? state->base : round.average;
	round.diff = wvegas_scale(cwnd, round.average - round.base, round.average);
	return round;
}

static __always_inline void wvegas_begin_round(struct wvegas *state, __u32 snd_nxt)
{
	state->round_end = snd_nxt;
	state->samples = 0;
	state->sum = 0;
}

/* Keeps the subflow out of slow start at window `cwnd`. */
static __always_inline void wvegas_lower_threshold(__u32 cwnd, __u32 *ssthresh)
{
	__u32 below = cwnd ? cwnd - 1 : 0;

	if (*ssthresh > below)
		*ssthresh = below;
}

/* The window and threshold at the end of slow start. */
static __always_inline __u32 wvegas_leave_slow_start(const struct wvegas_round *round, __u32 *ssthresh)
{
	__u32 target = wvegas_scale(round->cwnd, round->base, round->average) + 1;
	__u32 cwnd = target < round->cwnd ? target : round->cwnd;

	wvegas_lower_threshold(cwnd, ssthresh);
	return cwnd;
}

/* Notes the rate at which the path is congested. */
static __always_inline void wvegas_note_rate(struct wvegas *state, const struct wvegas_round *round)
{
	state->rate = real_divide(real_of(round->cwnd), real_of(round->average));
}

/* alpha by the subflow's part of `total`: the rates of all established subflows that have samples in their round. */
static __always_inline void wvegas_share_alpha(struct wvegas *state, struct real total)
{
	__u32 alpha;

	if (!real_is_zero(total) && !real_is_zero(state->rate))
		state->weight = real_divide(state->rate, total);
	alpha = real_floor(real_multiply(state->weight, real_of(WVEGAS_TOTAL_ALPHA)));
	state->alpha = alpha > WVEGAS_INITIAL_ALPHA ? alpha : WVEGAS_INITIAL_ALPHA;
}

/* Whether draining the queue is due at queueing delay `delay`; notes the smallest. */
static __always_inline int wvegas_should_drain(struct wvegas *state, __u64 delay)
{
	if (!delay)
		return 0;
	if (delay < state->queue_delay)
		state->queue_delay = delay;
	return delay >= 2 * state->queue_delay;
}

/* The window and threshold after a round of congestion avoidance, given alpha. */
static __always_inline __u32 wvegas_avoid(struct wvegas *state, const struct wvegas_round *round, __u32 *ssthresh)
{
	__u32 cwnd = round->cwnd;

	if (round->diff > state->alpha) {
		cwnd--;
		wvegas_lower_threshold(cwnd, ssthresh);
	} else if (round->diff < state->alpha) {
		cwnd++;
	}
	if (wvegas_should_drain(state, round->average - round->base)) {
		cwnd = wvegas_scale(cwnd, round->base, 2 * round->average);
		state->queue_delay = WVEGAS_UNKNOWN;
	}
	return cwnd;
}

/* The smallest window and threshold that a round leaves: a drained path slow-starts back to where it was. */
static __always_inline void wvegas_bound(__u32 *cwnd, __u32 *ssthresh)
{
	__u32 least;

	if (*cwnd < WVEGAS_MIN_WINDOW)
		*cwnd = WVEGAS_MIN_WINDOW;
	least = *cwnd / 2 + *cwnd / 4;
	if (*ssthresh < least)
		*ssthresh = least;
}

/* A new recovery state (TCP_CA_Open is 0, TCP_CA_Loss 4). */
static __always_inline void wvegas_recovery_state(struct wvegas *state, __u8 recovery, __u32 snd_nxt)
{
	if (recovery == 0) {
		wvegas_start(state, state->base, snd_nxt);
		return;
	}
	state->active = 0;
	if (recovery == 4)
		state->rate = real_zero();
}

#endif
