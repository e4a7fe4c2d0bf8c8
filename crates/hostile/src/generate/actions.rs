//! Actions, by how likely they are.

use arbitrary::{Result, Unstructured};

use super::{Mood, chance, chunks, frames, magnitude, near, optional, segments};
use crate::action::{Action, Call, Forge, Interference, Stride, Strip};
use crate::forgery::{Forgery, Greeting};
use crate::stack::Stack;

/// Longest pause: 60 days, after which timestamps in milliseconds have gone round.
pub(super) const LONGEST_PAUSE_MS: u64 = 60 * 86_400_000;

pub(super) fn first_connect() -> Action {
    Action::Connect { to: 0, times: 1 }
}

pub(super) fn connect(u: &mut Unstructured<'_>) -> Result<Action> {
    let times = match u.int_in_range(0..=999)? {
        0..=899 => 1,
        900..=998 => u.int_in_range(1..=4)?,
        _ => u.int_in_range(1..=200)?,
    };
    Ok(Action::Connect { to: u.arbitrary()?, times })
}

pub(super) fn action(stack: Stack, mood: Mood, u: &mut Unstructured<'_>) -> Result<Action> {
    Ok(match u.int_in_range(0..=99)? {
        0..=19 => Action::Wait { ms: pause(u)? },
        20..=39 => Action::Apply { connection: u.arbitrary()?, side: u.int_in_range(0..=1)?, call: call(mood, u)? },
        40..=42 => connect(u)?,
        43..=45 => Action::Lure(greeting(u)?),
        46..=48 => Action::Intrude(greeting(u)?),
        49 | 50 => Action::Path { client: u.arbitrary()?, server: u.arbitrary()?, up: u.arbitrary()? },
        51 | 52 if mood.rough => {
            Action::Address { side: u.int_in_range(0..=1)?, index: u.int_in_range(0..=3)?, present: u.arbitrary()? }
        }
        53..=62 => Action::Interfere {
            from: u.int_in_range(0..=1)?,
            packets: magnitude(u, 40)? as u8,
            how: interference(mood, u)?,
        },
        63..=66 => Action::Replay { age: magnitude(u, u16::MAX.into())? as u16 },
        _ => Action::Forge(forge(stack, mood, u)?),
    })
}

fn pause(u: &mut Unstructured<'_>) -> Result<u64> {
    match u.int_in_range(0..=31)? {
        0..=23 => magnitude(u, 1000),
        24..=29 => magnitude(u, 300_000),
        _ => magnitude(u, LONGEST_PAUSE_MS),
    }
}

fn call(mood: Mood, u: &mut Unstructured<'_>) -> Result<Call> {
    Ok(match u.int_in_range(0..=31)? {
        0..=19 => Call::Write(magnitude(u, 1_000_000)? as u32),
        20..=22 => Call::Read(false),
        23..=26 => Call::Read(true),
        27 | 28 => Call::Finish,
        29 => Call::Stop,
        30 if mood.rough => Call::Abort,
        31 if mood.rough => Call::Crash,
        _ => Call::Write(1),
    })
}

fn interference(mood: Mood, u: &mut Unstructured<'_>) -> Result<Interference> {
    Ok(match u.int_in_range(0..=9)? {
        0..=2 => Interference::Drop,
        3 | 4 => Interference::Delay(magnitude(u, 120_000)? as u32),
        5 => Interference::Duplicate,
        6 => Interference::Flip(u.arbitrary()?),
        7 if mood.rough => Interference::Rewrite(u.arbitrary()?),
        7 | 8 => Interference::Split(magnitude(u, 1500)? as u16),
        _ if mood.rough => {
            Interference::Strip(*u.choose(&[Strip::MptcpOptions, Strip::Timestamps, Strip::Sack, Strip::All])?)
        }
        _ => Interference::Duplicate,
    })
}

fn greeting(u: &mut Unstructured<'_>) -> Result<Greeting> {
    if u.arbitrary()? {
        return Ok(Greeting::default());
    }
    Ok(Greeting {
        mss: *u.choose(&[Some(1460), None, Some(0), Some(1), Some(88), Some(u16::MAX)])?,
        window_scale: *u.choose(&[Some(7), None, Some(0), Some(14), Some(15), Some(255)])?,
        sack: chance(u, 3, 4)?,
        timestamps: chance(u, 3, 4)?,
        mptcp: chance(u, 3, 4)?,
        checksum: u.arbitrary()?,
        streams: *u.choose(&[(10, 10), (0, 1), (1, 0), (1, 1), (u16::MAX, u16::MAX)])?,
        window: *u.choose(&[1000, 0, 1, 60, u16::MAX])?,
        acknowledges: chance(u, 3, 4)?,
        silent: chance(u, 1, 4)?,
    })
}

fn forge(stack: Stack, mood: Mood, u: &mut Unstructured<'_>) -> Result<Forge> {
    let blind = !mood.informed || u.arbitrary()?;
    let (times, stride, every_us) = repetition(u)?;
    Ok(Forge {
        flow: u.arbitrary()?,
        to: u.int_in_range(0..=1)?,
        blind,
        forgery: match stack {
            Stack::Tcp => Forgery::Tcp(segments::segment(false, u)?),
            Stack::Mptcp => Forgery::Tcp(segments::segment(true, u)?),
            Stack::Sctp => Forgery::Sctp(chunks::packet(u)?),
            Stack::Quic => Forgery::Quic(frames::datagram(false, u)?),
            Stack::Mpquic => Forgery::Quic(frames::datagram(true, u)?),
        },
        times,
        stride,
        every_us,
    })
}

/// Mostly once; sometimes a flood.
fn repetition(u: &mut Unstructured<'_>) -> Result<(u16, Stride, u32)> {
    let times = match u.int_in_range(0..=255)? {
        0..=207 => return Ok((1, Stride::default(), 0)),
        208..=253 => u.int_in_range(2..=40)?,
        _ => magnitude(u, 6000)? as u16,
    };
    let stride = Stride {
        sequence: *u.choose(&[0, 1, 2, 1448, -1, -2])? + near(u)?.clamp(-3000, 3000) as i32,
        data: *u.choose(&[0, 1, 2, 1448, -1])?,
        port: u16::from(chance(u, 1, 3)?),
        address: u16::from(chance(u, 1, 6)?),
        identifier: u8::from(u.arbitrary::<bool>()?),
    };
    let every_us = optional(u, (1, 2), |u| magnitude(u, 1_000_000))?.unwrap_or(0) as u32;
    Ok((times, stride, every_us))
}
