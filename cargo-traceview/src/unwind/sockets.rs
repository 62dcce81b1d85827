//! Names of sockets: protocol and peer, from the kernel's tables in `/proc/PID/net`.
//!
//! A table lists all sockets of a network namespace, thousands on a server, so it is kept, and not read for each that a
//! thread sleeps on, but as often as there is time for.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use rustc_hash::FxHashMap;

use crate::sampler::ptrace::sys::{self, Tid};

/// Reading tables takes at most one of so many parts of the time,
const PARTS_OF_TIME: i64 = 50;

/// but for so long at once if it was not read for a while.
const MOST_AT_ONCE_NS: i64 = 20_000_000;

/// Sockets without a peer are looked up again after this long: most never get one.
const LOOK_AGAIN_NS: i64 = 1_000_000_000;

/// The kernel's number of the state "listening".
const LISTENING: u8 = 0x0a;

/// The flag of a Unix socket that listens.
const ACCEPTS: u32 = 1 << 16;

/// All that is known of sockets, by network namespace.
#[derive(Default)]
pub(super) struct Sockets {
    namespaces: FxHashMap<PathBuf, Tables>,
    time: Allowance,
}

/// How much time there is for reading.
struct Allowance {
    left_ns: i64,
    as_of: i64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { left_ns: MOST_AT_ONCE_NS, as_of: 0 }
    }
}

impl Allowance {
    /// Whether there is time at `now`.
    fn has_time(&mut self, now: i64) -> bool {
        let earned = (now - self.as_of) / PARTS_OF_TIME;
        *self = Self { left_ns: self.left_ns.saturating_add(earned).min(MOST_AT_ONCE_NS), as_of: now };
        self.left_ns > 0
    }
}

/// The sockets of a namespace by inode, when they were read.
#[derive(Default)]
struct Tables {
    sockets: FxHashMap<u64, Socket>,
    read_at: i64,
}

/// A socket.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Socket {
    Internet {
        /// `tcp` or `udp`.
        protocol: &'static str,
        local: SocketAddr,
        remote: SocketAddr,
        state: u8,
    },
    Unix {
        path: String,
        listens: bool,
    },
}

impl Sockets {
    /// What the socket with this inode is, `socket tcp 10.0.0.1:443` for example; `None` if it was not found by now. `tid` is
    /// a thread that has it.
    pub(super) fn name(&mut self, inode: u64, tid: Tid) -> Option<String> {
        // Of a thread that is gone: it can be in the table that we have, or in our own namespace.
        let namespace = std::fs::read_link(format!("/proc/{tid}/ns/net")).unwrap_or_default();
        let tables = self.namespaces.entry(namespace).or_default();
        let now = sys::monotonic_ns();
        let is_wanted = tables.sockets.get(&inode).is_none_or(|socket| {
            // Whoever has no peer can get one.
            !socket.is_settled() && now >= tables.read_at + LOOK_AGAIN_NS
        });
        if is_wanted && self.time.has_time(now) {
            tables.sockets = read(tid);
            tables.read_at = sys::monotonic_ns();
            self.time.left_ns -= tables.read_at - now;
        }
        tables.sockets.get(&inode).map(Socket::name)
    }
}

impl Socket {
    /// Whether it stays as it is.
    fn is_settled(&self) -> bool {
        match self {
            Self::Internet { remote, state, .. } => remote.port() != 0 || *state == LISTENING,
            Self::Unix { path, .. } => !path.is_empty(),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Internet { protocol, local, state: LISTENING, .. } if *protocol == "tcp" => {
                format!("socket tcp listening on {local}")
            }
            Self::Internet { protocol, remote, .. } if remote.port() != 0 => format!("socket {protocol} {remote}"),
            Self::Internet { protocol, local, .. } if local.port() != 0 => format!("socket {protocol} on {local}"),
            Self::Internet { protocol, .. } => format!("socket {protocol}"),
            Self::Unix { path, .. } if path.is_empty() => "socket unix".to_owned(),
            Self::Unix { path, listens: true } => format!("socket unix listening on {path}"),
            Self::Unix { path, listens: false } => format!("socket unix {path}"),
        }
    }
}

/// Reads the tables of the namespace that `tid` is in, or of our own if it is gone: inodes are the same in all.
fn read(tid: Tid) -> FxHashMap<u64, Socket> {
    let table = |name: &str| {
        let bytes = std::fs::read(format!("/proc/{tid}/net/{name}"))
            .or_else(|_gone| std::fs::read(format!("/proc/self/net/{name}")))
            .unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let mut sockets = FxHashMap::default();
    for (name, protocol) in [("tcp", "tcp"), ("tcp6", "tcp"), ("udp", "udp"), ("udp6", "udp")] {
        sockets.extend(table(name).lines().filter_map(|line| internet_socket(protocol, line)));
    }
    sockets.extend(table("unix").lines().filter_map(unix_socket));
    sockets
}

/// A line of `tcp`, `tcp6`, `udp` or `udp6`: inode and socket. The first line is a heading.
fn internet_socket(protocol: &'static str, line: &str) -> Option<(u64, Socket)> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let local = address(words.next()?)?;
    let remote = address(words.next()?)?;
    let state = u8::from_str_radix(words.next()?, 16).ok()?;
    let inode: u64 = words.nth(5)?.parse().ok()?;
    // Sockets that nobody has any more keep their rows for a while, without an inode.
    (inode != 0).then_some((inode, Socket::Internet { protocol, local, remote, state }))
}

/// `0100007F:1F90`: address as the machine's words, in hexadecimal digits, and port.
fn address(text: &str) -> Option<SocketAddr> {
    let (digits, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |from: usize| u32::from_str_radix(digits.get(from..from + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip = match digits.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (index, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(8 * index)?);
            }
            // IPv4 through a socket of IPv6.
            Ipv6Addr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// A line of `unix`: inode and socket. A path can hold blanks; abstract ones begin with `@`.
fn unix_socket(line: &str) -> Option<(u64, Socket)> {
    let mut rest = line;
    let mut words = [""; 7];
    for word in &mut words {
        rest = rest.trim_start_matches(' ');
        let end = rest.find(' ').unwrap_or(rest.len());
        (*word, rest) = rest.split_at(end);
    }
    let [.., flags, _, _, inode] = words;
    let flags = u32::from_str_radix(flags, 16).ok()?;
    let path = rest.strip_prefix(' ').unwrap_or(rest).to_owned();
    Some((inode.parse().ok()?, Socket::Unix { path, listens: flags & ACCEPTS != 0 }))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    use super::*;

    fn name(socket: Option<(u64, Socket)>) -> Option<(u64, String)> {
        socket.map(|(inode, socket)| (inode, socket.name()))
    }

    #[test]
    fn internet_sockets_are_read() {
        let tcp = |line| name(internet_socket("tcp", line));
        let listening =
            "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 7001 1 x 100";
        assert_eq!(tcp(listening), Some((7001, "socket tcp listening on 127.0.0.1:8080".to_owned())));
        let connected =
            "  12: 0200000A:D431 0100000A:01BB 01 00000000:00000000 00:00000000 00000000  1000        0 7002 1 x 20";
        assert_eq!(tcp(connected), Some((7002, "socket tcp 10.0.0.1:443".to_owned())));
        let mapped =
            "   1: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:C350 01 0:0 0:0 0 0 0 7003 1";
        assert_eq!(tcp(mapped), Some((7003, "socket tcp 127.0.0.1:50000".to_owned())));
        let six =
            "   1: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 7004 1";
        assert_eq!(tcp(six), Some((7004, "socket tcp listening on [::1]:22".to_owned())));
        let unconnected = "  0: 00000000:0035 00000000:0000 07 0:0 0:0 0 0 0 7005 2 x 0";
        assert_eq!(name(internet_socket("udp", unconnected)), Some((7005, "socket udp on 0.0.0.0:53".to_owned())));
        let left = "   3: 0100007F:1F90 0100007F:C350 06 0:0 0:0 0 0 0 0 1";
        for odd in ["", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when", left, "0: 1:2 3:4 5"] {
            assert_eq!(tcp(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn unix_sockets_are_read() {
        let unix = |line: &str| name(unix_socket(line));
        let at = |rest: &str| format!("0000000000000000: 00000002 00000000 {rest}");
        let listening = at("00010000 0001 01 20001 /run/my server.sock");
        assert_eq!(unix(&listening), Some((20_001, "socket unix listening on /run/my server.sock".to_owned())));
        let accepted = at("00000000 0001 03 20002 @hidden");
        assert_eq!(unix(&accepted), Some((20_002, "socket unix @hidden".to_owned())));
        assert_eq!(unix(&at("00000000 0001 03   345")), Some((345, "socket unix".to_owned())));
        assert_eq!(unix("Num       RefCount Protocol Flags    Type St Inode Path"), None);
        assert_eq!(unix(""), None);
    }

    #[test]
    fn reading_takes_a_small_part_of_the_time() {
        let mut time = Allowance::default();
        let now = 1_000_000_000;
        assert!(time.has_time(now));
        time.left_ns -= MOST_AT_ONCE_NS + 1_000;
        assert!(!time.has_time(now + 1_000 * PARTS_OF_TIME) && time.has_time(now + 1_001 * PARTS_OF_TIME));
        assert!(time.has_time(100 * now), "what was not used is not kept for ever");
        assert_eq!(time.left_ns, MOST_AT_ONCE_NS);
    }

    #[test]
    fn a_socket_of_our_own_is_found_and_its_peer_too() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = TcpStream::connect(address).unwrap();
        let tid = Tid::try_from(std::process::id()).unwrap();
        let mut sockets = Sockets::default();
        let mut name = |fd: i32| {
            let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap();
            let inode = link.to_str().unwrap().trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
            sockets.name(inode, tid)
        };
        assert_eq!(name(client.as_raw_fd()), Some(format!("socket tcp {address}")));
        assert_eq!(name(listener.as_raw_fd()), Some(format!("socket tcp listening on {address}")));
        assert_eq!(sockets.name(u64::MAX, tid), None);
    }
}
