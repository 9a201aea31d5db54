//! Outbound HTTPS: the only way in which an agent talks.

use super::AgentError;
use super::transport::{Delivery, Transport, TransportError};
use data_encoding::BASE64URL_NOPAD;
use fedirt_protocol::invitation::{Address, Invitation};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::http::Response;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// To find the host and shake hands.
const CONNECT: Duration = Duration::from_secs(20);
/// For a message of the largest size on a slow line.
const CALL: Duration = Duration::from_secs(600);
/// What a poll may take beyond the time that it waits.
const SLACK: Duration = Duration::from_secs(120);

/// A coordinator behind HTTPS.
#[derive(Debug)]
pub struct Https {
    agent: Agent,
    address: String,
}

/// An error as the coordinator writes it (RFC 9457).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    code: String,
    title: String,
    detail: String,
}

impl Https {
    /// A coordinator at an address. Its certificate must come from this authority (DER), or, where none is given, from
    /// one that the operating system trusts.
    pub fn new(address: &Address, authority: Option<&[u8]>) -> Result<Self, AgentError> {
        let address = match address {
            Address::Https(address) => address.clone(),
            Address::Mailbox => return Err(AgentError::ByMailbox),
        };
        let roots = match authority {
            Some(der) => vec![Certificate::from_der(der).to_owned()],
            None => trusted_by_the_system()?,
        };
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(roots)))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .https_only(true)
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_resolve(Some(CONNECT))
            .timeout_connect(Some(CONNECT))
            .user_agent(concat!("fedirt/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls)
            .build();
        Ok(Self { agent: config.into(), address })
    }

    fn post(&self, path: &str, body: &[u8], limit: Duration) -> Result<Response<ureq::Body>, TransportError> {
        let request = self
            .agent
            .post(format!("{}{path}", self.address))
            .header("content-type", "application/octet-stream")
            .config()
            .timeout_global(Some(limit))
            .build();
        request.send(body).map_err(unreachable)
    }
}

fn trusted_by_the_system() -> Result<Vec<Certificate<'static>>, AgentError> {
    let found = rustls_native_certs::load_native_certs();
    let certificates: Vec<_> =
        found.certs.iter().map(|c| Certificate::from_der(c.as_ref()).to_owned()).collect();
    if certificates.is_empty() {
        return Err(AgentError::Mismatch(
            "this system trusts no authorities (no certificates found); install its package of CA certificates".into(),
        ));
    }
    Ok(certificates)
}

fn unreachable(error: ureq::Error) -> TransportError {
    TransportError::Unreachable(match error {
        ureq::Error::HostNotFound => {
            "there is no such host; is the address right, and is there a network?".into()
        }
        ureq::Error::Timeout(_) => "it did not answer in time".into(),
        other => other.to_string(),
    })
}

/// The answer, or why there is none.
fn accept(mut response: Response<ureq::Body>) -> Result<Response<ureq::Body>, TransportError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let text = response.body_mut().with_config().limit(64 << 10).read_to_string().unwrap_or_default();
    let problem: Problem = serde_json::from_str(&text).unwrap_or_default();
    let clean = |text: String| text.chars().filter(|c| !c.is_control()).take(2000).collect::<String>();
    let title = if problem.title.is_empty() { status.to_string() } else { clean(problem.title) };
    Err(TransportError::Refused {
        status: status.as_u16(),
        code: clean(problem.code),
        title,
        detail: clean(problem.detail),
    })
}

fn bytes(mut response: Response<ureq::Body>, limit: usize) -> Result<Vec<u8>, TransportError> {
    response.body_mut().with_config().limit(limit as u64).read_to_vec().map_err(unreachable)
}

impl Transport for Https {
    fn plan(&mut self, invitation: &Invitation) -> Result<String, TransportError> {
        let token = format!("Bearer {}", BASE64URL_NOPAD.encode(&invitation.secret));
        let request = self.agent.get(format!("{}/v1/studies/{}/plan", self.address, invitation.study));
        let request = request.header("authorization", token);
        let response = request.config().timeout_global(Some(CALL)).build().call().map_err(unreachable)?;
        let text = bytes(accept(response)?, fedirt_protocol::plan::MAX_BYTES)?;
        String::from_utf8(text).map_err(|_| TransportError::Refused {
            status: 200,
            code: "no_text".into(),
            title: "what it calls a plan is no text".into(),
            detail: String::new(),
        })
    }

    fn enrol(&mut self, request: &[u8]) -> Result<Delivery, TransportError> {
        accept(self.post("/v1/enrol", request, CALL)?).map(|_| Delivery::Acknowledged)
    }

    fn send(&mut self, study: &str, envelope: &[u8]) -> Result<Delivery, TransportError> {
        let answer = self.post(&format!("/v1/studies/{study}/messages"), envelope, CALL)?;
        accept(answer).map(|_| Delivery::Acknowledged)
    }

    fn poll(
        &mut self,
        study: &str,
        envelope: &[u8],
        wait: Duration,
    ) -> Result<Option<Vec<u8>>, TransportError> {
        let response = self.post(&format!("/v1/studies/{study}/poll"), envelope, wait + SLACK)?;
        let response = accept(response)?;
        if response.status().as_u16() == 204 {
            return Ok(None);
        }
        bytes(response, fedirt_protocol::codec::MAX_BYTES).map(Some)
    }

    fn pause(&mut self, duration: Duration) {
        std::thread::sleep(duration);
    }
}
