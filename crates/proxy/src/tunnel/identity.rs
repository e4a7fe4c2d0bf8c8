//! Who the ends of a tunnel are: certificates, pinned by what they are, and TLS with them.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::version::TLS13;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme};

use crate::error::{Error, Result};

/// The application protocol of tunnels (ALPN); its number changes with what streams begin with.
const PROTOCOL: &[u8] = b"subflow-tunnel/1";

/// The SHA-256 sum of a certificate in DER, as `openssl x509 -fingerprint -sha256` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// That of a certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Self {
        let mut sum = [0; 32];
        sum.copy_from_slice(::ring::digest::digest(&::ring::digest::SHA256, certificate).as_ref());
        Self(sum)
    }

    /// The certificates that are accepted by `text`: a fingerprint, or the name of a PEM file with one or several.
    ///
    /// # Errors
    ///
    /// It is neither.
    pub fn accepted(text: &str) -> Result<Vec<Self>> {
        match text.parse() {
            Ok(fingerprint) => Ok(vec![fingerprint]),
            Err(NoFingerprint) => Ok(certificates(Path::new(text))?.iter().map(Self::of).collect()),
        }
    }
}

/// The text is no fingerprint: 64 hexadecimal digits, maybe with colons between the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoFingerprint;

impl FromStr for Fingerprint {
    type Err = NoFingerprint;

    fn from_str(text: &str) -> core::result::Result<Self, NoFingerprint> {
        let digits: Vec<u8> = text.bytes().filter(|&byte| byte != b':').collect();
        let mut sum = [0; 32];
        if digits.len() != 2 * sum.len() || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(NoFingerprint);
        }
        for (byte, pair) in sum.iter_mut().zip(digits.chunks(2)) {
            let pair = core::str::from_utf8(pair).map_err(|_| NoFingerprint)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| NoFingerprint)?;
        }
        Ok(Self(sum))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, byte) in self.0.iter().enumerate() {
            write!(formatter, "{}{byte:02X}", if place == 0 { "" } else { ":" })?;
        }
        Ok(())
    }
}

/// A certificate with its chain and its private key.
#[derive(Debug)]
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Reads PEM files.
    ///
    /// # Errors
    ///
    /// They cannot be read, or hold something else.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self> {
        let chain = certificates(certificate)?;
        let key = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, "private key", &error))?;
        Ok(Self { chain, key })
    }
}

/// The certificates of a PEM file; at least one.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<core::result::Result<Vec<_>, _>>);
    match found {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(unreadable(file, "certificate", &pem::Error::NoItemsFound)),
        Err(error) => Err(unreadable(file, "certificate", &error)),
    }
}

fn unreadable(file: &Path, what: &str, error: &pem::Error) -> Error {
    let why = match error {
        pem::Error::Io(error) => error.to_string(),
        pem::Error::NoItemsFound => "there is none in it".to_owned(),
        other => other.to_string(),
    };
    let help = "PEM files are read, as openssl writes them; a certificate may also be given by its SHA-256 fingerprint \
                where only the peer's is needed";
    Error::settings(format!("cannot read a {what} from {}: {why}", file.display()), help)
}

/// Accepts certificates that are pinned, and no other. Neither their names, their validity in time nor their issuers count.
#[derive(Debug)]
struct Pinned {
    accepted: BTreeSet<Fingerprint>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    fn new(accepted: &[Fingerprint], provider: &CryptoProvider) -> Arc<Self> {
        let algorithms = provider.signature_verification_algorithms;
        Arc::new(Self { accepted: accepted.iter().copied().collect(), algorithms })
    }

    fn check(&self, certificate: &CertificateDer<'_>) -> core::result::Result<(), rustls::Error> {
        match self.accepted.contains(&Fingerprint::of(certificate)) {
            true => Ok(()),
            false => Err(CertificateError::UnknownIssuer.into()),
        }
    }
}

/// The signature shows that the peer has the key of its certificate. QUIC has TLS 1.3 only.
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> core::result::Result<HandshakeSignatureValid, rustls::Error> {
            Err(rustls::Error::General("QUIC has no TLS 1.2".to_owned()))
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> core::result::Result<HandshakeSignatureValid, rustls::Error> {
            verify_tls13_signature(message, certificate, signed, &self.algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.algorithms.supported_schemes()
        }
    };
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> core::result::Result<ServerCertVerified, rustls::Error> {
        self.check(certificate).map(|()| ServerCertVerified::assertion())
    }

    signatures!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> core::result::Result<ClientCertVerified, rustls::Error> {
        self.check(certificate).map(|()| ClientCertVerified::assertion())
    }

    signatures!();
}

/// TLS of a client with this identity, for a server with one of these certificates.
pub(super) fn client_tls(identity: Identity, accepted: &[Fingerprint]) -> Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let pinned = Pinned::new(accepted, &provider);
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13]).map_err(unfit)?;
    let builder = builder.dangerous().with_custom_certificate_verifier(pinned);
    let mut tls = builder.with_client_auth_cert(identity.chain, identity.key).map_err(unfit)?;
    tls.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(tls)
}

/// TLS of a server with this identity, for clients with one of these certificates: without one a handshake fails.
pub(super) fn server_tls(identity: Identity, accepted: &[Fingerprint]) -> Result<ServerConfig> {
    let provider = Arc::new(ring::default_provider());
    let pinned = Pinned::new(accepted, &provider);
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13]).map_err(unfit)?;
    let builder = builder.with_client_cert_verifier(pinned);
    let mut tls = builder.with_single_cert(identity.chain, identity.key).map_err(unfit)?;
    tls.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(tls)
}

fn unfit(error: rustls::Error) -> Error {
    let help = "the key has to be that of the certificate: ECDSA (P-256, P-384), Ed25519 or RSA";
    Error::settings(format!("certificate and key do not serve: {error}"), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_as_it_is_written_and_anything_else_is_a_file() {
        let certificate = CertificateDer::from(b"abc".to_vec());
        // SHA-256 of "abc" (FIPS 180-2, appendix B.1).
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let fingerprint: Fingerprint = text.parse().expect("64 digits");
        assert_eq!(fingerprint, Fingerprint::of(&certificate));
        assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        assert!(fingerprint.to_string().starts_with("BA:78:16:BF"));
        for bad in ["", "ba78", &text[1..], &format!("{}g", &text[1..]), &text.replace('b', "é")] {
            assert_eq!(bad.parse::<Fingerprint>(), Err(NoFingerprint), "{bad}");
        }
        let error = Fingerprint::accepted("/no/such/file.pem").expect_err("there is none");
        assert!(
            error.to_string().starts_with("cannot read a certificate from /no/such/file.pem: No such file"),
            "{error}"
        );
    }
}
