//! A socket of the kernel whose calls never wait, for a program that decides step by step what its application does.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt;

use crate::error::{Result, While};
use crate::socket::{StreamOptions, bound};

/// Bytes that are read or written at once.
const PIECE: usize = 1 << 16;

/// Something that happened to a [`SteppedSocket`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteppedEvent {
    /// It is connected, or has accepted a connection.
    Established,
    /// The peer has ended its stream.
    PeerFinished,
    /// The connection has failed.
    Failed(ErrorKind),
}

/// A listener and the latest connection it accepted, or a connection that was opened. What it is told to do happens as
/// far as possible at once, and the rest in later calls of [`pump`](Self::pump).
#[derive(Debug)]
pub struct SteppedSocket {
    listener: Option<TcpListener>,
    stream: Option<TcpStream>,
    /// Connections accepted before, which stay open.
    former: Vec<TcpStream>,
    connecting: bool,
    over: bool,
    peer_finished: bool,
    /// Bytes that may still be read; `None`: all.
    may_read: Option<u64>,
    to_write: u64,
    finishes: bool,
    written: u64,
    received: u64,
}

impl SteppedSocket {
    fn new(listener: Option<TcpListener>, stream: Option<TcpStream>, connecting: bool) -> Self {
        Self {
            listener,
            stream,
            former: Vec::new(),
            connecting,
            over: false,
            peer_finished: false,
            may_read: None,
            to_write: 0,
            finishes: false,
            written: 0,
            received: 0,
        }
    }

    /// Listens on the port of `address` on all addresses of the calling thread's namespace.
    pub fn listen(options: &StreamOptions, address: SocketAddr) -> Result<Self> {
        let listener = crate::listen(options, address)?;
        Ok(Self::new(Some(listener), None, false))
    }

    /// Begins to connect `local` to `remote`.
    pub fn connect(options: &StreamOptions, local: SocketAddr, remote: SocketAddr) -> Result<Self> {
        let socket = bound(options, local, remote)?;
        match rustix::net::connect(&socket, &options.on_socket(remote)) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(Self::new(None, Some(socket.into()), true)),
            Err(error) => Err(error).during(|| format!("cannot connect {local} to {remote}")),
        }
    }

    /// Accepts no further connections.
    pub fn stop_listening(&mut self) {
        self.listener = None;
    }

    /// Writes `bytes` zeros.
    pub fn write(&mut self, bytes: u64) {
        self.to_write += bytes;
        self.written += bytes;
    }

    /// Ends the stream after what was written.
    pub fn finish(&mut self) {
        self.finishes = true;
    }

    /// Closes the connection with a reset; with MPTCP, a fast close.
    pub fn abort(&mut self) -> Result<()> {
        if let Some(stream) = self.stream.take() {
            sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).during(|| "cannot set SO_LINGER".into())?;
        }
        self.over = true;
        Ok(())
    }

    /// Whether what arrives is read at once.
    pub fn set_reading(&mut self, reading: bool) {
        self.may_read = (!reading).then_some(0);
    }

    /// Reads `bytes` of what has arrived, and from now on only when it is told to.
    pub fn read(&mut self, bytes: u64) {
        self.may_read = Some(self.may_read.unwrap_or(0).saturating_add(bytes));
    }

    /// Switches Nagle's algorithm.
    pub fn set_nagle(&self, on: bool) -> io::Result<()> {
        self.stream.as_ref().map_or(Ok(()), |stream| stream.set_nodelay(!on))
    }

    /// Whether there is a connection, or was one.
    pub fn has_connection(&self) -> bool {
        self.stream.is_some() || self.over
    }

    /// Bytes that the application has read.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Bytes that were written, sent or not.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Bytes that the peer has acknowledged.
    pub fn acknowledged(&self) -> io::Result<u64> {
        let outstanding = match &self.stream {
            Some(stream) => crate::sys::unacknowledged(stream.as_fd())?,
            None => 0,
        };
        Ok(self.written - self.to_write - outstanding)
    }

    /// Does what is possible by now. `on_event` gets what happened.
    pub fn pump(&mut self, mut on_event: impl FnMut(SteppedEvent)) {
        if let Some(Ok((stream, _))) = self.listener.as_ref().map(TcpListener::accept)
            && stream.set_nonblocking(true).is_ok()
        {
            self.former.extend(self.stream.replace(stream));
            (self.over, self.peer_finished, self.finishes) = (false, false, false);
            (self.to_write, self.written, self.received, self.may_read) = (0, 0, 0, None);
            on_event(SteppedEvent::Established);
        }
        let outcome = self.advance(&mut on_event);
        if let (Err(error), false) = (outcome, self.over) {
            self.over = true;
            on_event(SteppedEvent::Failed(error.kind()));
        }
    }

    fn advance(&mut self, on_event: &mut impl FnMut(SteppedEvent)) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        if self.over {
            return Ok(());
        }
        if self.connecting {
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            if poll(&mut [PollFd::from_borrowed_fd(stream.as_fd(), PollFlags::OUT)], Some(&now))? == 0 {
                return Ok(());
            }
            sockopt::socket_error(&*stream)??;
            self.connecting = false;
            on_event(SteppedEvent::Established);
        }
        while self.to_write > 0 {
            match stream.write(&[0; PIECE][..self.to_write.min(PIECE as u64) as usize]) {
                Ok(bytes) => self.to_write -= bytes as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        if self.to_write == 0 && core::mem::take(&mut self.finishes) {
            stream.shutdown(Shutdown::Write)?;
        }
        let mut buffer = [0; PIECE];
        while !self.peer_finished && self.may_read != Some(0) {
            let most = self.may_read.map_or(PIECE, |most| most.min(PIECE as u64) as usize);
            match stream.read(&mut buffer[..most]) {
                Ok(0) => {
                    self.peer_finished = true;
                    on_event(SteppedEvent::PeerFinished);
                }
                Ok(bytes) => {
                    self.received += bytes as u64;
                    self.may_read = self.may_read.map(|most| most - bytes as u64);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        match stream.take_error()? {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}
