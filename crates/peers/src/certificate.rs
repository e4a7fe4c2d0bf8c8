//! The certificate of the servers, and configurations of rustls with it.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{cipher_suite, default_provider};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// The name in the certificate.
pub(crate) const SERVER_NAME: &str = "server.example";
/// The application protocol.
const PROTOCOL: &[u8] = b"subflow-peers";

/// Configurations of both ends. The server prefers ChaCha20 with `chacha`, AES otherwise.
pub(crate) fn configurations(chacha: bool) -> (ClientConfig, ServerConfig) {
    let signed = rcgen::generate_simple_self_signed([SERVER_NAME.to_owned()]).expect("the name is one of DNS");
    let key = PrivatePkcs8KeyDer::from(signed.signing_key.serialize_der());
    let mut roots = RootCertStore::empty();
    roots.add(signed.cert.der().clone()).expect("it was made for that");
    let client =
        ClientConfig::builder_with_provider(provider(false)).with_protocol_versions(&[&rustls::version::TLS13]);
    let client = client.expect("the provider has TLS 1.3");
    let mut client = client.with_root_certificates(roots).with_no_client_auth();
    let server =
        ServerConfig::builder_with_provider(provider(chacha)).with_protocol_versions(&[&rustls::version::TLS13]);
    let server = server.expect("the provider has TLS 1.3").with_no_client_auth();
    let chain = vec![signed.cert.der().clone()];
    let mut server = server.with_single_cert(chain, key.into()).expect("the key is that of the certificate");
    server.ignore_client_order = true;
    client.alpn_protocols = vec![PROTOCOL.to_vec()];
    server.alpn_protocols = vec![PROTOCOL.to_vec()];
    (client, server)
}

fn provider(chacha: bool) -> Arc<CryptoProvider> {
    let mut provider = default_provider();
    if chacha {
        provider.cipher_suites =
            vec![cipher_suite::TLS13_CHACHA20_POLY1305_SHA256, cipher_suite::TLS13_AES_128_GCM_SHA256];
    }
    provider.into()
}
