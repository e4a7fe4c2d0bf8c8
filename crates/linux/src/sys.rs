//! All unsafe code: system calls without a safe wrapper. Every function takes and returns plain values; no pointer
//! leaves this file.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_int};
use std::io;
#[cfg(feature = "ebpf")]
use std::os::fd::FromRawFd;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::LinkNameSpaceType;

fn checked(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Reads a socket option into `value`; returns how many bytes the kernel wrote.
pub(crate) fn socket_option(fd: BorrowedFd<'_>, level: c_int, name: c_int, value: &mut [u8]) -> io::Result<usize> {
    let mut length = value.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `value`, which is that long, and the new length to `length`.
    checked(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, value.as_mut_ptr().cast(), &raw mut length) })?;
    Ok(length as usize)
}

/// Sets a socket option to the bytes of `value`.
pub(crate) fn set_socket_option(fd: BorrowedFd<'_>, level: c_int, name: c_int, value: &[u8]) -> io::Result<()> {
    let length = value.len() as libc::socklen_t;
    // SAFETY: the kernel reads at most `length` bytes of `value`, which is that long.
    checked(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value.as_ptr().cast(), length) })?;
    Ok(())
}

/// Bytes in the send queue of a stream socket, sent or not, that are not acknowledged (SIOCOUTQ).
pub(crate) fn unacknowledged(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut bytes: c_int = 0;
    // SAFETY: TIOCOUTQ, which is SIOCOUTQ for sockets, writes an int, which `bytes` is.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) })?;
    Ok(bytes.max(0) as u64)
}

/// Creates the TUN device `name` on `fd`, an open `/dev/net/tun`, for IP packets, each after a
/// `virtio_net_hdr` if `with_header`.
pub(crate) fn make_tun(fd: BorrowedFd<'_>, name: &str, with_header: bool) -> io::Result<()> {
    make_device(fd, name, libc::IFF_TUN | if with_header { libc::IFF_VNET_HDR } else { 0 })
}

/// Creates the TAP device `name` on `fd`, an open `/dev/net/tun`, for Ethernet frames without an additional header.
pub(crate) fn make_tap(fd: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    make_device(fd, name, libc::IFF_TAP)
}

fn make_device(fd: BorrowedFd<'_>, name: &str, kind: c_int) -> io::Result<()> {
    let mut request = interface_request(name)?;
    request.ifr_ifru.ifru_flags = (kind | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes an `ifreq`, which `request` is.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    Ok(())
}

/// Has the kernel leave checksums and the segmentation of TCP packets to the reader of the TUN device `fd`.
pub(crate) fn leave_segmentation(fd: BorrowedFd<'_>) -> io::Result<()> {
    /// TUNSETOFFLOAD, an `_IOW('T', 208, unsigned int)`, and its bits (Linux `include/uapi/linux/if_tun.h`).
    const TUNSETOFFLOAD: libc::Ioctl = 0x4004_54d0;
    const CHECKSUM_TSO4_TSO6: std::ffi::c_ulong = 1 | 2 | 4;
    // SAFETY: TUNSETOFFLOAD takes a number, and reads and writes no memory.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), TUNSETOFFLOAD, CHECKSUM_TSO4_TSO6) })?;
    Ok(())
}

/// Plugs the cable of the TUN or TAP device on `fd` in, or pulls it.
pub(crate) fn set_carrier(fd: BorrowedFd<'_>, up: bool) -> io::Result<()> {
    // _IOW('T', 226, int)
    const TUNSETCARRIER: libc::Ioctl = 0x4004_54e2;
    let up = c_int::from(up);
    // SAFETY: TUNSETCARRIER reads an int, which `up` is.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), TUNSETCARRIER, &raw const up) })?;
    Ok(())
}

/// Starts `command` in the network namespace `namespace`. It is killed when the calling thread ends, however it ends.
/// With `priority`, all of its threads are scheduled as by [`schedule_first`], if that is permitted.
pub(crate) fn start_in(command: &mut Command, namespace: OwnedFd, priority: Option<i32>) -> io::Result<Child> {
    let enter = move || {
        if let Some(priority) = priority {
            // Without the right to it, the process runs like all others.
            let _ = schedule(priority, libc::SCHED_FIFO);
        }
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        rustix::thread::move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
        Ok(())
    };
    // SAFETY: between fork and exec it makes three system calls and allocates nothing.
    unsafe { command.pre_exec(enter) }.spawn()
}

/// Starts `command` as the first process of a new PID namespace, in the network namespace `network` and a new mount
/// namespace, in which each first file of `replaced` stands for the second, and `/proc` is that of the PID namespace. It
/// is killed when the calling thread ends, however it ends, and reaps processes that have lost their parent.
pub(crate) fn start_init(
    command: &mut Command,
    network: OwnedFd,
    replaced: Vec<(CString, CString)>,
) -> io::Result<Child> {
    let own = std::fs::File::open("/proc/thread-self/ns/pid")?;
    let prepare = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        rustix::thread::move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
        new_mount_namespace()?;
        for (source, target) in &replaced {
            rustix::mount::mount_bind(source.as_c_str(), target.as_c_str())?;
        }
        rustix::mount::mount(c"proc", c"/proc", c"proc", MountFlags::empty(), None::<&CStr>)?;
        // SAFETY: to ignore SIGCHLD takes no handler; exec keeps it, and the kernel then reaps the children.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        rustix::process::setsid()?;
        Ok(())
    };
    // SAFETY: CLONE_NEWPID changes the namespace of the thread's later children, and nothing in memory.
    checked(unsafe { libc::unshare(libc::CLONE_NEWPID) })?;
    // SAFETY: between fork and exec it makes system calls and allocates nothing.
    let started = unsafe { command.pre_exec(prepare) }.spawn();
    // Later children, and threads, are to be in the thread's own namespace again.
    rustix::thread::move_into_link_name_space(own.as_fd(), Some(LinkNameSpaceType::ProcessID))?;
    started
}

/// The descriptor of the process that signals are passed on to; below 0 as long as there is none.
static RECEIVER: AtomicI32 = AtomicI32::new(-1);
/// The signals that are to be passed on, as bits.
static TO_PASS_ON: AtomicU64 = AtomicU64::new(0);

/// Has these signals, if another process sends them to this one, passed on to the process of [`set_receiver`]. What a
/// terminal sends, that process gets itself. Signals that this process ignores stay ignored: a program that it starts
/// inherits that (`nohup`).
pub(crate) fn pass_on(signals: &[c_int]) -> io::Result<()> {
    let handler: extern "C" fn(c_int, *const libc::siginfo_t, *const libc::c_void) = on_signal;
    // SAFETY: `sigaction` is plain data, for which all zeros is a value: an empty mask, and no flags.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    (action.sa_sigaction, action.sa_flags) = (handler as libc::sighandler_t, libc::SA_SIGINFO | libc::SA_RESTART);
    for &signal in signals {
        let mut before = action;
        // SAFETY: without a new action, the kernel writes the current one to `before`.
        checked(unsafe { libc::sigaction(signal, core::ptr::null(), &raw mut before) })?;
        if before.sa_sigaction != libc::SIG_IGN {
            // SAFETY: the handler has the form that SA_SIGINFO asks for, and does what handlers may: it uses atomics, and
            // makes one system call.
            checked(unsafe { libc::sigaction(signal, &raw const action, core::ptr::null_mut()) })?;
        }
    }
    Ok(())
}

extern "C" fn on_signal(signal: c_int, info: *const libc::siginfo_t, _: *const libc::c_void) {
    // SAFETY: with SA_SIGINFO the kernel gives a `siginfo_t`.
    let is_of_process = unsafe { (*info).si_code } <= 0;
    if is_of_process {
        TO_PASS_ON.fetch_or(1 << signal, Ordering::SeqCst);
        deliver();
    }
}

/// Passes signals on to the process behind `receiver`, also those that came before; to none any more without it.
pub(crate) fn set_receiver(receiver: Option<BorrowedFd<'_>>) {
    RECEIVER.store(receiver.map_or(-1, |receiver| receiver.as_raw_fd()), Ordering::SeqCst);
    deliver();
}

fn deliver() {
    let receiver = RECEIVER.load(Ordering::SeqCst);
    if receiver < 0 {
        return;
    }
    let signals = TO_PASS_ON.swap(0, Ordering::SeqCst);
    for signal in (1..64).filter(|signal| signals >> signal & 1 == 1) {
        let none = core::ptr::null::<libc::siginfo_t>();
        // SAFETY: it takes numbers, and no information on the signal. It fails only if the process has ended.
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, receiver, signal, none, 0) };
    }
}

/// Gives the calling thread a working directory and root of its own, without which it cannot enter mount namespaces.
pub(crate) fn separate_file_system_state() -> io::Result<()> {
    // SAFETY: CLONE_FS separates the thread's working directory, root and umask from others, and nothing in memory.
    checked(unsafe { libc::unshare(libc::CLONE_FS) })?;
    Ok(())
}

/// Makes the standard stream `number` the open file `file`.
pub(crate) fn replace_stream(number: c_int, file: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: a standard stream stays open, and changes what it refers to.
    checked(unsafe { libc::dup2(file.as_raw_fd(), number) })?;
    Ok(())
}

/// An offload: work that the kernel leaves to a network device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offload {
    /// Segmentation of large TCP packets (TSO).
    TcpSegmentation,
    /// Segmentation of other large packets (GSO).
    Segmentation,
    /// Merging of received packets (GRO).
    Coalescing,
    /// Checksums of sent packets.
    Checksums,
}

impl Offload {
    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TcpSegmentation => "the segmentation of TCP",
            Self::Segmentation => "segmentation",
            Self::Coalescing => "the merging of received packets",
            Self::Checksums => "checksums",
        }
    }

    pub(crate) const ALL: [Self; 4] = [Self::TcpSegmentation, Self::Segmentation, Self::Coalescing, Self::Checksums];

    /// The command that sets it (Linux `include/uapi/linux/ethtool.h`).
    fn command(self) -> u32 {
        match self {
            Self::TcpSegmentation => 0x1f,
            Self::Segmentation => 0x24,
            Self::Coalescing => 0x2c,
            Self::Checksums => 0x17,
        }
    }
}

/// Switches `offload` of the interface `name` off, in the calling thread's network namespace.
pub(crate) fn switch_off(name: &str, offload: Offload) -> io::Result<()> {
    /// struct ethtool_value.
    #[repr(C)]
    struct Value {
        command: u32,
        data: u32,
    }
    const SIOCETHTOOL: libc::Ioctl = 0x8946;
    let socket = std::net::UdpSocket::bind((std::net::Ipv4Addr::UNSPECIFIED, 0))?;
    let mut value = Value { command: offload.command(), data: 0 };
    let mut request = interface_request(name)?;
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: SIOCETHTOOL reads an `ifreq`, which `request` is, and through its data pointer, for these commands, an
    // `ethtool_value`, which `value` is and which lives until the call returns.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) })?;
    Ok(())
}

/// The number that stands for all interfaces of a network namespace.
pub(crate) const ALL_INTERFACES: u32 = 0;

/// Has a packet socket receive no copies of what this host sends.
pub(crate) fn ignore_outgoing(fd: BorrowedFd<'_>) -> io::Result<()> {
    const PACKET_IGNORE_OUTGOING: c_int = 23;
    set_socket_option(fd, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1i32.to_ne_bytes())
}

/// A step of a socket's filter (Linux `struct sock_filter`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterStep {
    pub(crate) code: u16,
    /// How many steps to go over after this one where a condition holds, and where it does not.
    pub(crate) if_true: u8,
    pub(crate) if_false: u8,
    pub(crate) value: u32,
}

/// Has a socket receive only what `filter` passes. The kernel refuses a filter that might read or jump out of bounds.
pub(crate) fn attach_filter(fd: BorrowedFd<'_>, filter: &[FilterStep]) -> io::Result<()> {
    let Ok(len) = u16::try_from(filter.len()) else { return Err(io::ErrorKind::InvalidInput.into()) };
    let program = libc::sock_fprog { len, filter: filter.as_ptr().cast_mut().cast() };
    let length = size_of_val(&program) as libc::socklen_t;
    let value = (&raw const program).cast();
    // SAFETY: the kernel reads a `sock_fprog`, which `program` is, and the `len` steps that it points to, which have the
    // layout of `sock_filter`; it copies them before the call returns.
    checked(unsafe { libc::setsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, value, length) })?;
    Ok(())
}

/// Binds a packet socket to an interface, for frames of all protocols.
pub(crate) fn bind_to_interface(fd: BorrowedFd<'_>, interface: u32) -> io::Result<()> {
    // SAFETY: `sockaddr_ll` is plain data, for which all zeros is a value.
    let mut address: libc::sockaddr_ll = unsafe { core::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = interface as c_int;
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes of `address`, which is that long.
    checked(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(())
}

/// A request about the interface `name`.
fn interface_request(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: `ifreq` is plain data, for which all zeros is a value.
    let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "an interface name has at most 15 bytes"));
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte as libc::c_char;
    }
    Ok(request)
}

/// Opens the eBPF link with this number. Whoever has it open keeps what it attaches attached.
#[cfg(feature = "ebpf")]
pub(crate) fn link_by_id(id: u32) -> io::Result<OwnedFd> {
    // SAFETY: it takes a number and gives a descriptor, or a negative error.
    let fd = checked(unsafe { libbpf_sys::bpf_link_get_fd_by_id(id) })?;
    // SAFETY: the descriptor is new, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The tag of the eBPF program behind `fd`: a hash of its instructions.
#[cfg(feature = "ebpf")]
pub(crate) fn program_tag(fd: BorrowedFd<'_>) -> io::Result<[u8; 8]> {
    let mut info = libbpf_sys::bpf_prog_info::default();
    let mut length = size_of::<libbpf_sys::bpf_prog_info>() as u32;
    // SAFETY: the kernel writes at most `length` bytes of `info`, and, its pointers being 0, nothing else.
    checked(unsafe { libbpf_sys::bpf_prog_get_info_by_fd(fd.as_raw_fd(), &mut info, &mut length) })?;
    Ok(info.tag)
}

/// Gives the eBPF link behind `fd` a name in the bpf file system, which keeps it when `fd` is closed.
#[cfg(feature = "ebpf")]
pub(crate) fn pin(fd: &OwnedFd, path: &std::path::Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the kernel reads the path, which ends with a zero, until the call returns.
    checked(unsafe { libbpf_sys::bpf_obj_pin(fd.as_raw_fd(), path.as_ptr()) })?;
    Ok(())
}

/// Moves the calling thread into a new network namespace.
pub(crate) fn new_network_namespace() -> io::Result<()> {
    // SAFETY: CLONE_NEWNET changes the namespace of the thread's later sockets, and nothing in memory.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
    Ok(())
}

/// Moves the calling thread into a new mount namespace, which no mount leaves or enters.
pub(crate) fn new_mount_namespace() -> io::Result<()> {
    // SAFETY: CLONE_NEWNS gives the thread its own mounts and working directory, and changes nothing in memory.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    rustix::mount::mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    Ok(())
}

/// Schedules the calling thread before all others (SCHED_FIFO) except such threads with a higher `priority`.
pub(crate) fn schedule_first(priority: i32) -> io::Result<()> {
    schedule(priority, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK)
}

fn schedule(priority: i32, policy: c_int) -> io::Result<()> {
    // SAFETY: `sched_param` is plain data, for which all zeros is a value.
    let mut parameters: libc::sched_param = unsafe { core::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: the kernel reads a `sched_param`, which `parameters` is; 0 is the calling thread.
    checked(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) })?;
    Ok(())
}

/// CPU seconds used by all threads of the process.
pub(crate) fn process_cpu_seconds() -> f64 {
    // SAFETY: `rusage` is plain data, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    // SAFETY: the kernel writes a `rusage`, which `usage` is.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) } != 0 {
        return 0.0;
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
