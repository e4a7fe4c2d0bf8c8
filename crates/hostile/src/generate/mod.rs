//! Generates cases from bytes, with probabilities such that most cases run long and many reach edge cases.
//!
//! Where the bytes end, the rest of a value is its first choice, and the case ends: any bytes make a case, and fewer
//! bytes a smaller one.

mod actions;
mod chunks;
mod frames;
mod mutate;
mod segments;

use arbitrary::{Result, Unstructured};
use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use subflow_policy::congestion::Algorithm;
use subflow_policy::path_manager::PathManagement;
use subflow_policy::scheduler::Scheduling;

use crate::case::Case;
use crate::setup::{End, Setup};
use crate::stack::Stack;

/// Most actions of a case.
const MOST_ACTIONS: usize = 60;

/// Bytes that a seed becomes: enough for some dozens of actions.
const MOST_BYTES: usize = 3000;

impl Case {
    /// The case of this seed.
    pub fn from_seed(stack: Stack, seed: u64) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let length = rng.next_u64() as usize % MOST_BYTES;
        let mut bytes = vec![0; length];
        rng.fill_bytes(&mut bytes);
        Self::from_bytes(stack, &bytes)
    }

    /// The case that these bytes stand for, as a fuzzer makes them. Any bytes make one.
    pub fn from_bytes(stack: Stack, bytes: &[u8]) -> Self {
        case(stack, &mut Unstructured::new(bytes))
    }
}

/// The case that the bytes of `u` stand for.
fn case(stack: Stack, u: &mut Unstructured<'_>) -> Case {
    let seed = u.arbitrary().unwrap_or(0);
    let setup = setup(stack, u).unwrap_or_else(|_| plain_setup());
    let mood = Mood::arbitrary(u).unwrap_or_default();
    // Nothing happens without a connection.
    let mut actions = vec![actions::connect(u).unwrap_or_else(|_| actions::first_connect())];
    while !u.is_empty() && actions.len() < MOST_ACTIONS {
        match actions::action(stack, mood, u) {
            Ok(action) => actions.push(action),
            Err(_) => break,
        }
    }
    Case { stack, seed, setup, actions }
}

/// What may happen in a case. In a rough one a connection has many excuses, and little is asked of it in the end; so
/// not all are.
#[derive(Clone, Copy, Debug, Default)]
struct Mood {
    /// Attackers may know the connections that they attack.
    informed: bool,
    /// Applications crash, addresses come and go, middleboxes rewrite and strip.
    rough: bool,
}

impl Mood {
    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Self> {
        Ok(Self { informed: chance(u, 2, 3)?, rough: u.arbitrary()? })
    }
}

fn plain_setup() -> Setup {
    Setup { ipv6: false, addresses: [1, 1], delays_ms: Vec::new(), ends: [End::default(), End::default()] }
}

fn setup(stack: Stack, u: &mut Unstructured<'_>) -> Result<Setup> {
    let addresses = if stack.is_multipath() { [u.int_in_range(1..=3)?, u.int_in_range(1..=3)?] } else { [1, 1] };
    let ipv6 = chance(u, 1, 5)?;
    let delays_ms = (0..9).map(|_| u.int_in_range(1..=120)).collect::<Result<_>>()?;
    Ok(Setup { ipv6, addresses, delays_ms, ends: [end(u)?, end(u)?] })
}

fn end(u: &mut Unstructured<'_>) -> Result<End> {
    // As they are by default, in half of the cases: most hosts are.
    if u.arbitrary()? {
        return Ok(End::default());
    }
    Ok(End {
        congestion: (*u.choose(Algorithm::NAMES)?).into(),
        scheduler: (*u.choose(Scheduling::NAMES)?).into(),
        path_manager: (*u.choose(PathManagement::NAMES)?).into(),
        plain: chance(u, 1, 8)?,
        mtu: *u.choose(&[1500, 1500, 576, 1280, 9000])?,
        receive_buffer: *u.choose(&[None, None, Some(3000), Some(20_000), Some(200_000)])?,
        send_buffer: *u.choose(&[256 << 10, 256 << 10, 4000, 30_000, 1 << 20])?,
        sack: chance(u, 3, 4)?,
        timestamps: chance(u, 3, 4)?,
        rack: chance(u, 3, 4)?,
        every_segment: chance(u, 1, 4)?,
        checksum: u.arbitrary()?,
        opportunistic: u.arbitrary()?,
        stale_loss_count: *u.choose(&[0, 4, 1])?,
        deny_join: chance(u, 1, 8)?,
        linux: u.arbitrary()?,
        cmt: u.arbitrary()?,
        nr_sack: u.arbitrary()?,
        message_size: *u.choose(&[1452, 40, 5000, 30_000])?,
        unordered: chance(u, 1, 4)?,
        give_up_after: *u.choose(&[None, None, None, Some(0), Some(2)])?,
        black_hole_detection: chance(u, 1, 4)?,
    })
}

/// True in `numerator` of `denominator` cases; false where there are no more bytes.
fn chance(u: &mut Unstructured<'_>, numerator: u8, denominator: u8) -> Result<bool> {
    Ok(u.int_in_range(0..=denominator - 1)? >= denominator - numerator)
}

/// A number between 0 and `most`, whose magnitude is as likely to be small as to be large.
fn magnitude(u: &mut Unstructured<'_>, most: u64) -> Result<u64> {
    let bits = u.int_in_range(0..=u64::BITS - most.leading_zeros())?;
    let highest = if bits == u64::BITS { u64::MAX } else { (1 << bits) - 1 };
    Ok(u.int_in_range(0..=highest)?.min(most))
}

/// A distance from what is expected: most often 0, or near an edge.
fn near(u: &mut Unstructured<'_>) -> Result<i64> {
    Ok(match u.int_in_range(0..=15)? {
        0..=6 => 0,
        7..=9 => u.int_in_range(-3..=3)?,
        10 | 11 => u.int_in_range(-4..=4)? * 1448,
        12 | 13 => u.int_in_range(-70_000..=70_000)?,
        14 => u.arbitrary::<i32>()?.into(),
        _ => u.arbitrary()?,
    })
}

/// Nothing, or something: in `numerator` of `denominator` cases.
fn optional<'a, T>(
    u: &mut Unstructured<'a>,
    (numerator, denominator): (u8, u8),
    make: impl FnOnce(&mut Unstructured<'a>) -> Result<T>,
) -> Result<Option<T>> {
    if chance(u, numerator, denominator)? { make(u).map(Some) } else { Ok(None) }
}

/// Up to `most` of something.
fn several<'a, T>(
    u: &mut Unstructured<'a>,
    most: usize,
    mut make: impl FnMut(&mut Unstructured<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    let number = u.int_in_range(0..=most)?;
    (0..number).map(|_| make(u)).collect()
}
