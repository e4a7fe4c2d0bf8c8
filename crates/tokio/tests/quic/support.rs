//! A server and a client on loopback addresses, their certificates, and data.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use subflow_tokio::quic::{Connection, Endpoint, Options, ReceiveStream, SendStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// The name in certificates.
pub(crate) const NAME: &str = "server.example";
/// No test takes longer.
const LONGEST: Duration = Duration::from_secs(60);

/// A server with its certificate, and where it is.
pub(crate) struct Server {
    pub(crate) endpoint: Endpoint,
    pub(crate) address: SocketAddr,
    pub(crate) certificate: CertificateDer<'static>,
}

/// Addresses of loopback, with any free port.
pub(crate) fn locals(addresses: &[&str]) -> Vec<SocketAddr> {
    let address = |text: &&str| SocketAddr::new(text.parse().expect("an address"), 0);
    addresses.iter().map(address).collect()
}

pub(crate) fn server(addresses: &[&str], options: &Options) -> Server {
    let signed = rcgen::generate_simple_self_signed([NAME.to_owned()]).expect("a name of DNS");
    let key = PrivatePkcs8KeyDer::from(signed.signing_key.serialize_der());
    server_with(addresses, options, signed.cert.der().clone(), key)
}

/// A server with this certificate.
pub(crate) fn server_with(
    addresses: &[&str],
    options: &Options,
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
) -> Server {
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("TLS 1.3").with_no_client_auth();
    let mut tls = builder.with_single_cert(vec![certificate.clone()], key.into()).expect("key and certificate");
    tls.alpn_protocols = vec![b"test".to_vec()];
    let endpoint = Endpoint::server(tls, &locals(addresses), options).expect("loopback addresses");
    let address = endpoint.local_addrs()[0];
    Server { endpoint, address, certificate }
}

/// TLS of a client that trusts this certificate.
pub(crate) fn client_tls(certificate: &CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).expect("a certificate");
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("TLS 1.3");
    let mut tls = builder.with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec![b"test".to_vec()];
    tls
}

impl Server {
    pub(crate) fn client(&self, addresses: &[&str], options: &Options) -> Endpoint {
        let tls = client_tls(&self.certificate);
        Endpoint::client(tls, &locals(addresses), options).expect("loopback addresses")
    }

    /// Both ends of a new connection.
    pub(crate) async fn connected(&self, client: &Endpoint) -> (Connection, Connection) {
        let both = async { tokio::join!(client.connect(self.address, NAME), self.endpoint.accept()) };
        let (connected, accepted) = within(both).await;
        (connected.expect("a connection"), accepted)
    }
}

/// The outcome of what must not take long.
pub(crate) async fn within<T>(outcome: impl Future<Output = T>) -> T {
    timeout(LONGEST, outcome).await.expect("it ends in time")
}

/// Byte `offset` of data with this number.
fn byte(offset: u64, number: u64) -> u8 {
    ((offset % 8191).wrapping_mul(31) ^ (offset >> 13) ^ number.wrapping_mul(97)) as u8
}

/// Writes `length` bytes of data `number`, and ends the stream.
pub(crate) async fn send(mut stream: SendStream, length: u64, number: u64) {
    let mut offset = 0;
    while offset < length {
        let end = length.min(offset + 30_000);
        let part: Vec<u8> = (offset..end).map(|at| byte(at, number)).collect();
        stream.write_all(&part).await.expect("the peer takes it");
        offset = end;
    }
    stream.shutdown().await.expect("the stream is open");
    stream.acknowledged().await.expect("the peer gets everything");
}

/// Reads a stream to its end, compares every byte with data `number`, and returns how many it were.
pub(crate) async fn receive(mut stream: ReceiveStream, number: u64) -> u64 {
    let (mut offset, mut part) = (0, vec![0; 64 << 10]);
    loop {
        let length = stream.read(&mut part).await.expect("data, or the end");
        if length == 0 {
            return offset;
        }
        for (at, &found) in (offset..).zip(&part[..length]) {
            assert_eq!(found, byte(at, number), "byte {at} of data {number}");
        }
        offset += length as u64;
    }
}
