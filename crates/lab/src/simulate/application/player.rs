//! A video player: its buffer, when it stalls, and which quality it requests.
//!
//! The player requests one chunk after the other. Each chunk that has arrived adds its length to the buffer, which plays in
//! real time. While there is no room for a chunk, none is requested. Playback begins when the buffer holds the
//! `startup`, stalls when it is empty, and goes on with the next chunk.

use subflow_policy::adaptation::PlayerView;
use subflow_quantity::{Duration, Instant};
use subflow_scenario::Video;

use crate::results::VideoResult;

/// The player of one session.
#[derive(Clone, Debug)]
pub(crate) struct Player {
    video: Video,
    /// The content in the buffer at `now`.
    buffered: Duration,
    now: Instant,
    is_playing: bool,
    /// When the first chunk was requested.
    began_at: Option<Instant>,
    /// When playback began.
    started_at: Option<Instant>,
    /// Since when it stalls.
    stalled_at: Option<Instant>,
    stalls: u64,
    stalled: Duration,
    played: Duration,
    requested: u64,
    arrived: u64,
    /// The quality of the latest chunk, as an index into the ladder.
    quality: Option<usize>,
    switches: u64,
    /// The sum of the bit rates of all chunks that have arrived, in bit/s.
    rates: u64,
    /// The throughputs of all chunks in bit/s.
    throughputs: Vec<f64>,
}

/// What a player does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It requests a chunk of so many bytes.
    Request(u64),
    /// It waits until this time for room in its buffer.
    Waits(Instant),
    /// It has requested all chunks.
    Done,
}

/// What a chunk that has arrived does to playback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Playback {
    /// It changes nothing.
    Same,
    /// It begins.
    Begins,
    /// It goes on after a stall since this time.
    Resumes(Instant),
}

impl Player {
    /// A player that has requested nothing.
    pub(super) fn new(video: Video) -> Self {
        Self {
            video,
            buffered: Duration::ZERO,
            now: Instant::ZERO,
            is_playing: false,
            began_at: None,
            started_at: None,
            stalled_at: None,
            stalls: 0,
            stalled: Duration::ZERO,
            played: Duration::ZERO,
            requested: 0,
            arrived: 0,
            quality: None,
            switches: 0,
            rates: 0,
            throughputs: Vec::new(),
        }
    }

    /// The bytes of a request.
    pub(super) fn request_bytes(&self) -> u64 {
        self.video.request
    }

    /// Whether all chunks have arrived.
    pub(super) fn has_all(&self) -> bool {
        self.video.chunks().is_some_and(|chunks| self.arrived >= chunks)
    }

    /// What it does at `now`, when no request is under way.
    pub(super) fn next(&mut self, now: Instant) -> Next {
        self.play_until(now);
        if self.video.chunks().is_some_and(|chunks| self.requested >= chunks) {
            return Next::Done;
        }
        let filled = self.buffered + self.video.chunk;
        if filled > self.video.buffer {
            return Next::Waits(now + (filled - self.video.buffer));
        }
        let quality = self.video.adaptation.choose(&PlayerView {
            ladder: &self.video.ladder,
            chunk: self.video.chunk,
            capacity: self.video.buffer,
            buffered: self.buffered,
            previous: self.quality,
            throughputs: &self.throughputs,
        });
        self.switches += u64::from(self.quality.is_some_and(|before| before != quality));
        self.quality = Some(quality);
        let number = self.requested;
        self.requested += 1;
        self.began_at.get_or_insert(now);
        Next::Request(self.video.bytes(quality, number))
    }

    /// A chunk of `bytes`, which was requested `duration` ago, has arrived.
    pub(super) fn on_chunk(&mut self, now: Instant, bytes: u64, duration: Duration) -> Playback {
        self.play_until(now);
        self.buffered += self.video.chunk;
        self.arrived += 1;
        self.rates += self.quality.map_or(0, |quality| self.video.ladder[quality].bits_per_second());
        self.throughputs.push(bytes as f64 * 8.0 / duration.as_secs_f64().max(1e-9));
        if self.is_playing {
            return Playback::Same;
        }
        // Without room for another chunk the buffer would not get any fuller.
        let is_full = self.buffered + self.video.chunk > self.video.buffer;
        if self.started_at.is_none() && self.buffered < self.video.startup && !is_full && !self.has_all() {
            return Playback::Same;
        }
        self.is_playing = true;
        match self.stalled_at.take() {
            None => {
                self.started_at = Some(now);
                Playback::Begins
            }
            Some(since) => {
                self.stalled += now - since;
                Playback::Resumes(since)
            }
        }
    }

    /// Plays until `now`. The buffer may become empty before that.
    fn play_until(&mut self, now: Instant) {
        let (elapsed, before) = (now - self.now, self.now);
        self.now = now;
        if !self.is_playing {
            return;
        }
        if elapsed <= self.buffered {
            self.buffered -= elapsed;
            self.played += elapsed;
            return;
        }
        let empty_at = before + self.buffered;
        self.played += self.buffered;
        self.buffered = Duration::ZERO;
        self.is_playing = false;
        if !self.has_all() {
            self.stalls += 1;
            self.stalled_at = Some(empty_at);
        }
    }

    /// The figures of the session in a run that ended at `end`.
    pub(crate) fn result(&self, end: Instant) -> VideoResult {
        let mut whole = self.clone();
        whole.play_until(end.max(self.now));
        let under_way = whole.stalled_at.map_or(Duration::ZERO, |since| end.since(since));
        let startup = self.began_at.zip(self.started_at).map(|(began, started)| started - began);
        VideoResult {
            startup_s: startup.map(Duration::as_secs_f64),
            stalls: whole.stalls,
            stalled_s: (whole.stalled + under_way).as_secs_f64(),
            quality_mbps: (self.arrived > 0).then(|| self.rates as f64 / 1e6 / self.arrived as f64),
            switches: self.switches,
            played_s: whole.played.as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use subflow_policy::adaptation::Adaptation;
    use subflow_quantity::Rate;

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn video(adaptation: Adaptation, chunks: u64) -> Video {
        Video {
            chunk: Duration::from_secs(2),
            ladder: [1, 2, 4].map(Rate::from_mbit).to_vec(),
            buffer: Duration::from_secs(6),
            adaptation,
            startup: Duration::from_secs(2),
            length: Some(Duration::from_secs(2 * chunks)),
            request: 500,
            sizes: Vec::new(),
        }
    }

    #[test]
    fn chunks_of_listed_sizes_are_requested_in_their_order_and_no_more_of_them() {
        let sizes = vec![vec![100, 200], vec![1000, 2000], vec![3000, 4000]];
        let mut player = Player::new(Video { sizes, length: None, ..video(Adaptation::Rate, 1) });
        assert_eq!(player.next(at(0)), Next::Request(100));
        player.on_chunk(at(10), 100, Duration::from_millis(10));
        // 80 kbit/s is below all bit rates: the lowest quality again.
        assert_eq!(player.next(at(10)), Next::Request(200));
        player.on_chunk(at(20), 200, Duration::from_millis(10));
        assert!(player.has_all() && player.next(at(20)) == Next::Done);
    }

    /// Chunks of 2 s, a buffer of 6 s, and a path of 4 Mbit/s that stands still for 9 s.
    #[test]
    fn a_session_is_computed_by_hand() {
        let mut player = Player::new(video(Adaptation::Rate, 4));
        // The first chunk: 1 Mbit/s, 250 kB. It takes 500 ms, and playback begins with it.
        assert_eq!(player.next(at(100)), Next::Request(250_000));
        assert_eq!(player.on_chunk(at(600), 250_000, Duration::from_millis(500)), Playback::Begins);
        // 4 Mbit/s: the highest quality, 1 MB, which takes 2 s until 2.6 s. The buffer becomes empty just then.
        assert_eq!(player.next(at(600)), Next::Request(1_000_000));
        assert_eq!(player.on_chunk(at(2600), 1_000_000, Duration::from_secs(2)), Playback::Same);
        // The third one takes 11 s, until 13.6 s: a stall from 4.6 s on, of 9 s.
        assert_eq!(player.next(at(2600)), Next::Request(1_000_000));
        assert_eq!(player.on_chunk(at(13_600), 1_000_000, Duration::from_secs(11)), Playback::Resumes(at(4600)));
        // 3 / (1/4 + 1/4 + 11/8) = 1.6 Mbit/s: the lowest quality.
        assert_eq!(player.next(at(13_600)), Next::Request(250_000));
        assert_eq!(player.on_chunk(at(14_100), 250_000, Duration::from_millis(500)), Playback::Same);
        assert!(player.has_all() && player.next(at(14_100)) == Next::Done);
        let result = player.result(at(30_000));
        assert_eq!((result.startup_s, result.stalls, result.stalled_s), (Some(0.5), 1, 9.0));
        assert_eq!((result.quality_mbps, result.switches, result.played_s), (Some(2.5), 2, 8.0));
        assert_eq!(player.result(at(14_600)).played_s, 5.0, "4 s before the stall, 1 s after it");
    }

    #[test]
    fn a_full_buffer_waits_for_room() {
        let mut player = Player::new(video(Adaptation::Buffer, 10));
        for _ in 0..3 {
            assert!(matches!(player.next(at(0)), Next::Request(_)));
            player.on_chunk(at(0), 1000, Duration::from_millis(1));
        }
        assert_eq!(player.next(at(500)), Next::Waits(at(2000)), "5.5 s are there, and 2 s more need 1.5 s");
        assert!(matches!(player.next(at(2000)), Next::Request(_)));
    }

    proptest! {
        /// Whatever the path does: the buffer never holds more than it may, the time of the session is what was played,
        /// what was stalled and the startup, and a stall begins only where the buffer is empty.
        #[test]
        fn the_buffer_is_bounded_and_every_moment_is_played_or_stalled(
            times in proptest::collection::vec(1_u64..12_000, 1..60),
            kind in 0_usize..3,
        ) {
            let mut player = Player::new(video(Adaptation::ALL[kind].value, 1000));
            let mut now = 0;
            for duration in times {
                let bytes = loop {
                    match player.next(at(now)) {
                        Next::Request(bytes) => break bytes,
                        Next::Waits(until) => now = until.as_nanos().div_ceil(1_000_000),
                        Next::Done => unreachable!("there are a thousand chunks"),
                    }
                };
                let before = player.clone();
                now += duration;
                let playback = player.on_chunk(at(now), bytes, Duration::from_millis(duration));
                prop_assert!(player.buffered <= player.video.buffer);
                if let Playback::Resumes(since) = playback {
                    prop_assert_eq!(player.buffered, player.video.chunk);
                    let is_empty_at = if before.is_playing { Some(before.now + before.buffered) } else { before.stalled_at };
                    prop_assert_eq!(Some(since), is_empty_at);
                }
                let result = player.result(at(now));
                let startup = result.startup_s.unwrap_or(0.0);
                let sum = startup + result.stalled_s + result.played_s;
                let since_begin = now as f64 / 1e3;
                prop_assert!(result.startup_s.is_none() || (sum - since_begin).abs() < 1e-6, "{} of {}", sum, since_begin);
            }
        }
    }
}
