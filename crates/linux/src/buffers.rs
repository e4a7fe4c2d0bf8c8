//! Socket buffer sizes.

use std::os::fd::AsFd;

use rustix::net::sockopt;

use crate::error::{Result, While};

/// Sets the receive buffer of a socket to `bytes`. Without root rights on the machine (in a user namespace) the limit
/// is `net.core.rmem_max`.
pub(crate) fn set_receive_buffer(socket: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_recv_buffer_size_force(&socket, bytes)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, bytes))
        .during(|| format!("cannot set a receive buffer of {bytes} bytes"))
}

/// Sets the send buffer in the same way; the limit is `net.core.wmem_max`.
pub(crate) fn set_send_buffer(socket: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_send_buffer_size_force(&socket, bytes)
        .or_else(|_| sockopt::set_socket_send_buffer_size(&socket, bytes))
        .during(|| format!("cannot set a send buffer of {bytes} bytes"))
}
