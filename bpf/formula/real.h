/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Real numbers, zero or greater, where there is no floating point.
 *
 * A number is mantissa * 2^exponent. Its mantissa has bit 31 set, or the number is 0. Each operation rounds to the nearest
 * mantissa: it is off by at most one part in 2^32. A formula over n subflows takes about n + 6 operations, so up to 64
 * subflows its value is off by less than one part in 2^25, and by much less as a rule: roundings go either way.
 *
 * What becomes an integer in the end (a window, a threshold) is rounded down or up with that much tolerance: 39.9999999
 * is 40. Without it, a value that is an integer by the formula would come out one less half of the time.
 */
#ifndef SUBFLOW_FORMULA_REAL_H
#define SUBFLOW_FORMULA_REAL_H

struct real {
	__u32 mantissa;
	__s32 exponent;
};

/* How far below or above an integer still counts as that integer, in units of the mantissa. */
#define REAL_TOLERANCE 64

static __always_inline struct real real_zero(void)
{
	struct real zero = { 0, 0 };

	return zero;
}

/* A value with bit 62 or 63 set, times 2^exponent. */
static __always_inline struct real real_round(__u64 value, __s32 exponent)
{
	__u64 above = ~value >> 63; /* 1 where bit 63 is clear */
	struct real rounded;
	__u64 mantissa;

	value <<= above;
	mantissa = (value >> 32) + (value >> 31 & 1);
	/* 0xffffffff.8 rounds up to a power of two. */
	rounded.mantissa = mantissa >> (mantissa >> 32);
	rounded.exponent = exponent - (__s32)above + 32 + (__s32)(mantissa >> 32);
	return rounded;
}

/* An integer, exactly where it is below 2^32. */
static __always_inline struct real real_of(__u64 value)
{
	__s32 exponent = 0;
	__u64 shift;

	if (!value)
		return real_zero();
	/* Without a jump: x - 1 has bit 63 set where x is 0, as no x here is 2^63 or more. */
	shift = ((value >> 32) - 1) >> 63 << 5;
	value <<= shift;
	exponent -= (__s32)shift;
	shift = ((value >> 48) - 1) >> 63 << 4;
	value <<= shift;
	exponent -= (__s32)shift;
	shift = ((value >> 56) - 1) >> 63 << 3;
	value <<= shift;
	exponent -= (__s32)shift;
	shift = ((value >> 60) - 1) >> 63 << 2;
	value <<= shift;
	exponent -= (__s32)shift;
	shift = ((value >> 62) - 1) >> 63 << 1;
	value <<= shift;
	exponent -= (__s32)shift;
	return real_round(value, exponent);
}

static __always_inline int real_is_zero(struct real a)
{
	return !a.mantissa;
}

static __always_inline int real_less(struct real a, struct real b)
{
	if (!a.mantissa || !b.mantissa)
		return a.mantissa < b.mantissa;
	return a.exponent < b.exponent || (a.exponent == b.exponent && a.mantissa < b.mantissa);
}

static __always_inline struct real real_max(struct real a, struct real b)
{
	return real_less(a, b) ? b : a;
}

static __always_inline struct real real_add(struct real a, struct real b)
{
	struct real large = a, small = b;
	__u32 apart;

	if (real_less(a, b)) {
		large = b;
		small = a;
	}
	apart = large.exponent - small.exponent;
	if (!small.mantissa || apart > 62)
		return large;
	return real_round(((__u64)large.mantissa << 31) + ((__u64)small.mantissa << 31 >> apart), large.exponent - 31);
}

static __always_inline struct real real_multiply(struct real a, struct real b)
{
	if (!a.mantissa || !b.mantissa)
		return real_zero();
	return real_round((__u64)a.mantissa * b.mantissa, a.exponent + b.exponent);
}

/* a / b; 0 where b is 0, which no formula lets happen but the kernel's verifier and races between subflows may. */
static __always_inline struct real real_divide(struct real a, struct real b)
{
	struct real quotient;
	__u32 shift;

	if (!a.mantissa || !b.mantissa)
		return real_zero();
	/* So that the quotient has exactly 32 bits. */
	shift = a.mantissa < b.mantissa ? 32 : 31;
	quotient.mantissa = (((__u64)a.mantissa << shift) + b.mantissa / 2) / b.mantissa;
	quotient.exponent = a.exponent - b.exponent - (__s32)shift;
	return quotient;
}

/* a * 2^power. */
static __always_inline struct real real_scale(struct real a, __s32 power)
{
	a.exponent += power;
	return a;
}

/* The largest integer that is not above a; at most 2^32 - 1. */
static __always_inline __u32 real_floor(struct real a)
{
	__u64 value = (__u64)a.mantissa + REAL_TOLERANCE;

	if (!a.mantissa || a.exponent < -32)
		return 0;
	if (a.exponent > 0)
		return ~0U;
	value >>= -a.exponent;
	return value >> 32 ? ~0U : value;
}

/* The smallest integer that is not below a; at most 2^32 - 1. */
static __always_inline __u32 real_ceil(struct real a)
{
	__u64 value = (__u64)a.mantissa - REAL_TOLERANCE;

	if (!a.mantissa)
		return 0;
	if (a.exponent < -32)
		return 1;
	if (a.exponent > 0)
		return ~0U;
	value += (1ULL << -a.exponent) - 1;
	value >>= -a.exponent;
	return value >> 32 ? ~0U : value;
}

/* a in units of 2^-bits, to the nearest; 0 where a is less than half of one, 2^63 - 1 where it does not fit. */
static __always_inline __u64 real_fixed(struct real a, __s32 bits)
{
	__s32 shift = a.exponent + bits;

	if (!a.mantissa || shift < -32)
		return 0;
	if (shift > 30)
		return ~0ULL >> 1;
	if (shift >= 0)
		return (__u64)a.mantissa << shift;
	return ((__u64)a.mantissa + (1ULL << (-shift - 1))) >> -shift;
}

#endif
