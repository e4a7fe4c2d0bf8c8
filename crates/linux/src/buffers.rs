//! Sizes of sockets' buffers.

use std::os::fd::AsFd;

use rustix::net::sockopt;

use crate::error::{Result, While};

/// Gives a socket a receive buffer of `bytes`. Who is not root of the whole machine (a user namespace) gets as much as
/// `net.core.rmem_max` permits.
pub(crate) fn set_receive_buffer(socket: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_recv_buffer_size_force(&socket, bytes)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, bytes))
        .during(|| format!("cannot make a receive buffer of {bytes} bytes"))
}

/// The same of its send buffer, and `net.core.wmem_max`.
pub(crate) fn set_send_buffer(socket: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_send_buffer_size_force(&socket, bytes)
        .or_else(|_| sockopt::set_socket_send_buffer_size(&socket, bytes))
        .during(|| format!("cannot make a send buffer of {bytes} bytes"))
}
