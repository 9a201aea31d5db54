//! Certificates: an authority that the coordinator makes itself, and what a server shows.
//!
//! The authority's certificate goes to sites inside their invitations, so no other is trusted for this coordinator.
//! The server's own certificate is signed anew at every start, for the hosts that the settings name at that time.

use crate::settings::TlsFiles;
use crate::{Error, Folder, Settings};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;
use time::{Duration, OffsetDateTime};

/// Days that a server's certificate is good for.
const SERVER_DAYS: i64 = 825;
/// Days that the authority is good for.
const AUTHORITY_DAYS: i64 = 7300;

fn tls(error: impl std::fmt::Display) -> Error {
    Error::Tls(error.to_string())
}

/// What the authority is called; with its key, that is all a signature needs to know of it.
fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, "fedirt coordinator authority");
    params.distinguished_name = name;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.not_before = OffsetDateTime::now_utc() - Duration::days(1);
    params.not_after = OffsetDateTime::now_utc() + Duration::days(AUTHORITY_DAYS);
    params
}

/// A new authority: certificate and key, both PEM.
pub fn make() -> Result<(String, String), Error> {
    let key = KeyPair::generate().map_err(tls)?;
    let certificate = authority_params().self_signed(&key).map_err(tls)?;
    Ok((certificate.pem(), key.serialize_pem()))
}

/// The authority that sites must be told of, if any.
pub fn certificate(folder: &Folder, settings: &Settings) -> Result<Option<CertificateDer<'static>>, Error> {
    let path = match &settings.tls {
        None => folder.authority(),
        Some(TlsFiles { authority: Some(path), .. }) => folder.resolve(path),
        Some(TlsFiles { authority: None, .. }) => return Ok(None),
    };
    CertificateDer::from_pem_file(&path).map(Some).map_err(|e| unreadable(&path, &e))
}

fn unreadable(path: &Path, error: &impl std::fmt::Display) -> Error {
    Error::content(path, format!("{error}; a PEM file is needed here (`fedirt coordinator init` makes one)"))
}

/// What a person compares: SHA-256 of a certificate, in groups.
pub fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    let bytes = Sha256::digest(certificate.as_ref());
    bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}

/// What the server needs for its handshakes. TLS 1.2 and 1.3, HTTP/1.1.
pub fn server_config(folder: &Folder, settings: &Settings) -> Result<Arc<ServerConfig>, Error> {
    let (chain, key) = match &settings.tls {
        Some(files) => read(folder, files)?,
        None => sign(folder, settings)?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(tls)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(tls)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

type Chain = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn read(folder: &Folder, files: &TlsFiles) -> Result<Chain, Error> {
    let (path, key) = (folder.resolve(&files.certificate), folder.resolve(&files.key));
    let chain = CertificateDer::pem_file_iter(&path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|e| unreadable(&path, &e))?;
    Ok((chain, PrivateKeyDer::from_pem_file(&key).map_err(|e| unreadable(&key, &e))?))
}

/// A certificate for today's hosts, signed by the folder's authority.
fn sign(folder: &Folder, settings: &Settings) -> Result<Chain, Error> {
    let path = folder.authority_key();
    let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
    let issuer =
        Issuer::new(authority_params(), KeyPair::from_pem(&text).map_err(|e| unreadable(&path, &e))?);
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec();
    hosts.extend(settings.hosts.iter().filter(|h| h.parse() != Ok(std::net::Ipv6Addr::LOCALHOST)).cloned());
    hosts.extend(settings.address.as_deref().and_then(host_of));
    let ip = settings.listen.ip();
    if !ip.is_unspecified() {
        hosts.push(ip.to_string());
    }
    let mut seen = std::collections::BTreeSet::new();
    hosts.retain(|host| seen.insert(host.clone()));
    let mut params = CertificateParams::new(hosts).map_err(tls)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "fedirt coordinator");
    params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    params.not_before = OffsetDateTime::now_utc() - Duration::days(1);
    params.not_after = OffsetDateTime::now_utc() + Duration::days(SERVER_DAYS);
    let key = KeyPair::generate().map_err(tls)?;
    let certificate = params.signed_by(&key, &issuer).map_err(tls)?;
    let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(tls)?;
    Ok((vec![certificate.der().clone()], key))
}

/// The host of an address.
pub fn host_of(address: &str) -> Option<String> {
    let rest = address.strip_prefix("https://")?.split('/').next()?;
    let host = match rest.strip_prefix('[') {
        Some(v6) => v6.split(']').next()?,
        None => rest.split(':').next()?,
    };
    (!host.is_empty()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_addresses() {
        assert_eq!(host_of("https://a.example:8443/x").as_deref(), Some("a.example"));
        assert_eq!(host_of("https://[::1]:8443").as_deref(), Some("::1"));
        assert_eq!(host_of("https://"), None);
    }
}
