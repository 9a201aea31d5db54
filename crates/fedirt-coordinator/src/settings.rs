//! `coordinator.toml`: where to listen, under which names, with which limits.

use crate::Error;
use fedirt_protocol::codec;
use fedirt_protocol::invitation::Address;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The settings. Unknown keys are refused.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// What sites call it, if not `https://localhost:PORT`.
    pub address: Option<String>,
    /// Host names and addresses of the certificate, beside localhost.
    pub hosts: Vec<String>,
    /// A certificate from elsewhere.
    pub tls: Option<TlsFiles>,
    /// Pages for people.
    pub pages: PagesAt,
    /// Limits.
    pub limits: Limits,
    /// Logs.
    pub log: Log,
}

/// Where pages are served. They have a port of their own, so that a firewall can keep it inside.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PagesAt {
    /// Whether there are pages.
    pub enabled: bool,
    /// Where they listen.
    pub listen: SocketAddr,
    /// Whether they use TLS on loopback too; elsewhere they always do.
    pub tls: bool,
}

impl Default for PagesAt {
    fn default() -> Self {
        Self { enabled: true, listen: PAGES, tls: false }
    }
}

impl PagesAt {
    /// Whether they are served over TLS: always, unless nobody else can be on the line.
    pub fn uses_tls(&self) -> bool {
        self.tls || !self.listen.ip().is_loopback()
    }
}

/// A certificate that an authority elsewhere gave.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The certificate and those between it and the authority (PEM).
    pub certificate: PathBuf,
    /// Its key (PEM).
    pub key: PathBuf,
    /// The authority (PEM), if it is not one that everybody knows.
    pub authority: Option<PathBuf>,
}

/// Limits that keep slow and many clients from harm.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Connections at a time; further ones wait.
    pub connections: usize,
    /// Connections from one address at a time; further ones are closed at once. Behind a proxy all come from one.
    pub connections_per_address: usize,
    /// Seconds for the handshake.
    pub handshake_seconds: u64,
    /// Seconds for a request's head, and for an idle connection.
    pub header_seconds: u64,
    /// Seconds for a request's body.
    pub body_seconds: u64,
    /// Seconds that a connection lives.
    pub connection_seconds: u64,
    /// Bytes of bodies that are read at a time, in mebibytes.
    pub body_megabytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            connections_per_address: 64,
            handshake_seconds: 10,
            header_seconds: 40,
            body_seconds: 120,
            connection_seconds: 900,
            body_megabytes: 512,
        }
    }
}

impl Limits {
    /// What large bodies of one address may take together, in KiB: an eighth of the whole, and enough for the longest message.
    pub(crate) fn address_kibibytes(&self) -> usize {
        (self.body_megabytes << 10).div_ceil(8).max(codec::MAX_BYTES >> 10)
    }
}

/// How logs are written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// `text` or `json`.
    pub format: LogFormat,
    /// `error`, `warn`, `info` or `debug`.
    pub level: LogLevel,
}

/// Form of the logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// What stops something.
    Error,
    /// What someone should look at.
    Warn,
    /// What happens in studies.
    #[default]
    Info,
    /// Each request.
    Debug,
}

/// Where the coordinator listens unless told otherwise.
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8443);

/// Where pages are served unless told otherwise.
const PAGES: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8444);

/// What is wrong with the settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// An address that sites could not call.
    #[error("address {0:?}: write it like https://host.example:8443")]
    Address(String),
    /// A limit that is too low to work with.
    #[error("limits: {limit} is {value}, and must be at least {least}")]
    Limit {
        /// The name of the limit.
        limit: &'static str,
        /// What the file says.
        value: u64,
        /// The least that works.
        least: u64,
    },
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: LISTEN,
            address: None,
            hosts: Vec::new(),
            tls: None,
            pages: PagesAt::default(),
            limits: Limits::default(),
            log: Log::default(),
        }
    }
}

impl Settings {
    /// Reads and checks them.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
        let settings: Self = toml::from_str(&text).map_err(|e| Error::content(path, e.to_string()))?;
        settings.check().map_err(|e| Error::content(path, e.to_string()))?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), SettingsError> {
        if let Some(address) = &self.address
            && !matches!(address.parse(), Ok(Address::Https(_)))
        {
            return Err(SettingsError::Address(address.clone()));
        }
        let Limits {
            connections,
            connections_per_address,
            handshake_seconds,
            header_seconds,
            body_seconds,
            connection_seconds,
            body_megabytes,
        } = self.limits;
        for (limit, value, least) in [
            ("connections", connections as u64, 1),
            ("connections_per_address", connections_per_address as u64, 1),
            ("handshake_seconds", handshake_seconds, 1),
            ("header_seconds", header_seconds, 1),
            ("body_seconds", body_seconds, 1),
            ("connection_seconds", connection_seconds, 60),
            ("body_megabytes", body_megabytes as u64, 128),
        ] {
            if value < least {
                return Err(SettingsError::Limit { limit, value, least });
            }
        }
        Ok(())
    }

    /// What sites call the coordinator when it listens at a port.
    pub fn public_address(&self, port: u16) -> String {
        let own = || match self.hosts.first() {
            Some(host) if host.contains(':') => format!("https://[{host}]:{port}"),
            Some(host) => format!("https://{host}:{port}"),
            None => format!("https://localhost:{port}"),
        };
        self.address.as_ref().map_or_else(own, |address| address.trim_end_matches('/').to_owned())
    }
}

/// A file to start from, with everything explained.
pub fn template(listen: Option<SocketAddr>, hosts: &[String]) -> String {
    let listen = listen.unwrap_or(LISTEN);
    let hosts: Vec<String> = hosts.iter().map(|h| toml::Value::String(h.clone()).to_string()).collect();
    let hosts = hosts.join(", ");
    let Limits {
        connections,
        connections_per_address,
        handshake_seconds,
        header_seconds,
        body_seconds,
        connection_seconds,
        body_megabytes,
    } = Limits::default();
    format!(
        r#"# Settings of a fedirt coordinator. Restart it after changes.

# Where it listens. 0.0.0.0:8443 is every network of this machine.
listen = "{listen}"

# What sites call it, as invitations tell them.
# Left out: https:// with the first of hosts (or localhost) and the port of listen.
# address = "https://calibration.example.org:8443"

# Names and addresses of this machine that the certificate is good for, beside localhost.
hosts = [{hosts}]

# A certificate from an authority of yours, instead of the one that the coordinator makes itself.
# [tls]
# certificate = "/etc/ssl/coordinator.pem"
# key = "/etc/ssl/coordinator.key"
# # Only if sites do not know the authority anyway:
# authority = "/etc/ssl/authority.pem"

# Pages for people, at a port of their own: sites never need it. On loopback without TLS (a tunnel leads there from
# elsewhere: ssh -L 8444:localhost:8444 THIS_MACHINE); at any other address with the certificate from above.
[pages]
enabled = true
listen = "{PAGES}"
tls = false

[limits]
connections = {connections}
# From one address (of IPv6: one network of 64 bits). Behind a proxy all sites have the proxy's.
connections_per_address = {connections_per_address}
handshake_seconds = {handshake_seconds}
# For a request's head, and for a connection that says nothing; long polls take 30.
header_seconds = {header_seconds}
body_seconds = {body_seconds}
connection_seconds = {connection_seconds}
# Bodies that are being read, of all connections together.
body_megabytes = {body_megabytes}

[log]
# "text" or "json", on standard error; "error", "warn", "info" or "debug".
format = "text"
level = "info"
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_says_the_defaults() {
        assert_eq!(toml::from_str::<Settings>(&template(None, &[])).unwrap(), Settings::default());
    }

    #[test]
    fn unknown_keys_are_refused() {
        let error = toml::from_str::<Settings>("listn = \"127.0.0.1:1\"").unwrap_err().to_string();
        assert!(error.contains("listn") && error.contains("listen"), "{error}");
    }

    #[test]
    fn addresses() {
        let mut settings = Settings::default();
        assert_eq!(settings.public_address(1), "https://localhost:1");
        settings.hosts = vec!["fd00::1".into()];
        assert_eq!(settings.public_address(1), "https://[fd00::1]:1");
        settings.address = Some("https://a.example/".into());
        assert_eq!(settings.public_address(1), "https://a.example");
        for address in ["http://a", "https://", "mailbox:"] {
            settings.address = Some(address.into());
            assert_eq!(settings.check(), Err(SettingsError::Address(address.into())));
        }
    }
}
