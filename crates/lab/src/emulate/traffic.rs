//! What applications send and receive on kernel sockets: bulk transfers, requests and responses, datagrams at a rate.

use std::io;
use std::net::UdpSocket;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use subflow_linux::{Error, Pattern, Result, Stream, udp};
use subflow_quantity::{Duration, Pacing};
use subflow_scenario::{Exchange, Period, Traffic};

use super::kernel_flow::{Side, locked};
use crate::simulate::application::{Pace, Turn, Writer};

/// Number of bytes per read or write.
pub(super) const CHUNK: usize = 1 << 16;

impl Side<'_> {
    pub(super) fn write_bulk(&self, stream: &Stream, bytes: u64) -> io::Result<()> {
        let (mut written, mut buffer) = (0, vec![0; CHUNK]);
        let mut writer = self.flow.flow.write.clone().map(|writing| Writer::new(writing, self.clock.now()));
        while written < bytes && !self.stop_is_due() {
            let Some(end) = self.wait_to_write(writer.as_mut(), written, bytes) else { break };
            match self.write_some(stream, written, end, &mut buffer)? {
                Some(more) => written += more,
                None => break,
            }
        }
        Ok(())
    }

    /// Waits for a burst if all earlier ones are `written`. Returns the end of what may be written, at most `end`; `None`
    /// if the run is stopped before.
    fn wait_to_write(&self, writer: Option<&mut Writer>, written: u64, end: u64) -> Option<u64> {
        let Some(writer) = writer else { return Some(end) };
        loop {
            writer.advance(self.clock.now(), &mut locked(&self.flow.rng));
            let due = writer.due().min(end);
            if due > written {
                return Some(due);
            }
            if !self.sleep_until(writer.next_at()) {
                return None;
            }
        }
    }

    /// Writes as many bytes of the stream from `written` to `end` as the socket takes.
    fn write_some(&self, stream: &Stream, written: u64, end: u64, buffer: &mut [u8]) -> io::Result<Option<u64>> {
        let length = (end - written).min(buffer.len() as u64) as usize;
        Pattern.fill(written, &mut buffer[..length]);
        Ok(stream.write(&buffer[..length])?.map(|more| more as u64))
    }

    /// Reads the available data, up to `limit` bytes. Returns `None` at the end of the stream or of the run.
    fn read_some(&self, stream: &Stream, limit: u64, buffer: &mut [u8]) -> io::Result<Option<u64>> {
        let Some(room) = self.wait_to_read(limit.min(buffer.len() as u64)) else { return Ok(None) };
        let room = room as usize;
        let Some(length) = stream.read(&mut buffer[..room])?.filter(|&length| length > 0) else { return Ok(None) };
        let offset = self.end.delivered.load(Ordering::Relaxed);
        if self.flow.checks_bytes
            && let Some(position) = Pattern.first_difference(offset, &buffer[..length])
        {
            let message = format!("byte {} arrived that was not sent", offset + position as u64);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.end.delivered.store(offset + length as u64, Ordering::Relaxed);
        if let Some(pace) = self.pace() {
            locked(pace).on_read(length as u64, self.clock.now());
        }
        Ok(Some(length as u64))
    }

    /// The pace of this end, if it is the one that reads the flow's data, and not at once.
    fn pace(&self) -> Option<&Mutex<Pace>> {
        let reads = self.flow.receiver().is_some_and(|end| core::ptr::eq(end, self.end));
        self.flow.pace.as_ref().filter(|_| reads)
    }

    /// Waits until this end may read. Returns how many bytes, up to `most`; `None` if the run is stopped before.
    fn wait_to_read(&self, most: u64) -> Option<u64> {
        let Some(pace) = self.pace() else { return Some(most) };
        loop {
            let turn = locked(pace).turn(self.end.delivered.load(Ordering::Relaxed), most, self.clock.now());
            match turn {
                Turn::Reads(bytes) => return Some(bytes),
                Turn::Waits(until) | Turn::Pauses(until) if self.sleep_until(until) => {}
                Turn::Waits(_) | Turn::Pauses(_) => return None,
            }
        }
    }

    pub(super) fn read_bulk(&self, stream: &Stream, bytes: Option<u64>) -> io::Result<()> {
        let (mut received, mut buffer) = (0, vec![0; CHUNK]);
        while let Some(more) = self.read_some(stream, u64::MAX, &mut buffer)? {
            received += more;
            // With data that a middlebox has made longer, the end may be within what was read.
            if bytes.is_some_and(|bytes| received >= bytes && received - more < bytes) {
                *locked(&self.flow.completed_at) = Some(self.clock.now());
                self.end.watch();
            }
        }
        Ok(())
    }

    pub(super) fn send_requests(&self, stream: &Stream, count: Option<u64>, think: Period) -> io::Result<()> {
        let (mut asked, mut buffer) = (0, vec![0; CHUNK]);
        let Some(mut sizes) = self.flow.exchange_sizes.clone() else { return Ok(()) };
        for number in 0..count.unwrap_or(u64::MAX) {
            if self.stop_is_due() {
                break;
            }
            let exchange = sizes.draw();
            let Exchange { request, response } = exchange;
            locked(&self.flow.exchanges).ask(self.clock.now(), exchange);
            let end = asked + request;
            while asked < end {
                let Some(more) = self.write_some(stream, asked, end, &mut buffer)? else { return Ok(()) };
                asked += more;
            }
            let mut left = response;
            while left > 0 {
                let Some(more) = self.read_some(stream, left, &mut buffer)? else { return Ok(()) };
                if left == response {
                    locked(&self.flow.exchanges).on_first_byte(self.clock.now());
                }
                left -= more;
            }
            let now = self.clock.now();
            locked(&self.flow.exchanges).complete(now);
            if count == Some(number + 1) {
                *locked(&self.flow.completed_at) = Some(now);
            } else if !self.sleep_until(now + think.draw(&mut locked(&self.flow.rng))) {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn send_responses(&self, stream: &Stream) -> io::Result<()> {
        let (mut answered, mut buffer) = (0, vec![0; CHUNK]);
        let Some(mut sizes) = self.flow.exchange_sizes.clone() else { return Ok(()) };
        loop {
            let Exchange { request, response } = sizes.draw();
            let mut left = request;
            while left > 0 {
                let Some(more) = self.read_some(stream, left, &mut buffer)? else { return Ok(()) };
                left -= more;
            }
            let end = answered + response;
            while answered < end {
                let Some(more) = self.write_some(stream, answered, end, &mut buffer)? else { return Ok(()) };
                answered += more;
            }
        }
    }

    pub(super) fn send_datagrams(&self) -> Result<()> {
        let Traffic::OnOff { rate, packet, on, off } = self.flow.flow.traffic else { return Ok(()) };
        let failed = |source| Error::System { action: format!("cannot send to {}", self.flow.remote), source };
        let socket = udp(self.flow.local, self.flow.flow.dscp)?;
        socket.connect(self.flow.remote).map_err(failed)?;
        let mut payload = vec![0; packet as usize];
        Pattern.fill(0, &mut payload);
        let draw = |period: Period| period.draw(&mut locked(&self.flow.rng));
        let mut pacing = Pacing::new(rate);
        let mut next = self.clock.now();
        let mut on_until = next + draw(on);
        while self.sleep_until(next) && !self.stop_is_due() {
            // The receiver may have closed its socket already.
            if socket.send(&payload).is_ok() {
                self.end.datagrams[0].fetch_add(1, Ordering::Relaxed);
            }
            next += pacing.time_of(u64::from(packet));
            while next >= on_until {
                let (pause, burst) = (draw(off), draw(on));
                next = next.max(on_until) + pause;
                on_until = next + burst.max(Duration::from_nanos(1));
                if pause.is_zero() && burst.is_zero() {
                    break;
                }
            }
        }
        Ok(())
    }

    pub(super) fn receive_datagrams(&self, socket: &UdpSocket) -> Result<()> {
        let mut buffer = vec![0; CHUNK];
        while !self.stop.is_raised() {
            if let Ok(length) = socket.recv(&mut buffer) {
                self.end.datagrams[1].fetch_add(1, Ordering::Relaxed);
                self.end.delivered.fetch_add(length as u64, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}
