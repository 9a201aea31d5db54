//! The cookie that identifies a session.

use crate::secret::Secret;
use axum::http::{HeaderMap, HeaderValue, header};

/// The name of the session cookie and whether it is sent over TLS only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cookie {
    name: String,
    secure: bool,
}

impl Cookie {
    /// A cookie for the pages of this name. Over TLS the prefix `__Host-` binds it to this host.
    pub fn new(name: &str, secure: bool) -> Self {
        let prefix = if secure { "__Host-" } else { "" };
        Self { name: format!("{prefix}{name}"), secure }
    }

    /// The cookie's value as the browser sent it, before it is checked.
    pub fn find<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = all.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(name, _)| *name == self.name).map(|(_, value)| value)
    }

    fn attributes(&self) -> &'static str {
        if self.secure {
            "; Path=/; HttpOnly; SameSite=Strict; Secure"
        } else {
            "; Path=/; HttpOnly; SameSite=Strict"
        }
    }

    /// The header that sets the cookie. The browser deletes it when it closes; the session at the server may expire
    /// earlier.
    pub fn set(&self, secret: &Secret) -> Option<HeaderValue> {
        let mut value =
            HeaderValue::try_from(format!("{}={}{}", self.name, secret.reveal(), self.attributes())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The header that deletes the cookie.
    pub fn clear(&self) -> Option<HeaderValue> {
        HeaderValue::try_from(format!("{}=; Max-Age=0{}", self.name, self.attributes())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_set_and_found() {
        let cookie = Cookie::new("fedirt", true);
        let secret = Secret::from_bytes([1; 32]);
        let set = cookie.set(&secret).unwrap();
        let text = set.to_str().unwrap();
        assert!(text.starts_with("__Host-fedirt=") && text.contains("Secure") && text.contains("HttpOnly"));
        assert!(text.contains("SameSite=Strict") && !format!("{set:?}").contains(&secret.reveal()));
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, format!("a=b; __Host-fedirt={}; c", secret.reveal()).parse().unwrap());
        assert_eq!(cookie.find(&headers), Some(secret.reveal().as_str()));
        assert_eq!(Cookie::new("other", true).find(&headers), None);
        assert!(!Cookie::new("fedirt", false).set(&secret).unwrap().to_str().unwrap().contains("Secure"));
    }
}
