//! Bearer tokens (RFC 6750): the secret of an invitation opens its study's plan, the key of `metrics.key` the metrics.

use crate::{Error, Folder, folder};
use axum::http::{HeaderMap, header};
use data_encoding::BASE64URL_NOPAD;
use rand::TryRng;
use rand::rngs::SysRng;
use sha2::{Digest, Sha256};

/// Fewer characters than this could be guessed.
const SHORTEST_KEY: usize = 20;

/// The token of a request.
pub(super) fn token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The secret of an invitation that a request shows.
pub(super) fn invitation(headers: &HeaderMap) -> Option<[u8; 32]> {
    BASE64URL_NOPAD.decode(token(headers)?.as_bytes()).ok()?.try_into().ok()
}

/// What `metrics.key` holds, as a hash: comparing hashes takes the same time however much of a guess is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricsKey([u8; 32]);

impl MetricsKey {
    /// Of a text; blanks around it do not count.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.trim()).into())
    }

    /// Reads the folder's key, and makes one where there is none.
    pub fn read_or_make(folder: &Folder) -> Result<Self, Error> {
        let path = folder.metrics_key();
        if !path.exists() {
            folder::create(&path, &new_key()?).map_err(Error::file(&path))?;
        }
        let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
        if text.trim().len() < SHORTEST_KEY {
            let reason = format!(
                "a key has {SHORTEST_KEY} characters at least; delete this file, and the next start makes a new key"
            );
            return Err(Error::content(&path, reason));
        }
        Ok(Self::of(&text))
    }

    pub(super) fn opens(&self, headers: &HeaderMap) -> bool {
        token(headers).is_some_and(|shown| Self::of(shown) == *self)
    }
}

/// A key of 32 random bytes, as a line of text.
pub(crate) fn new_key() -> Result<String, Error> {
    let mut bytes = [0; 32];
    SysRng.try_fill_bytes(&mut bytes).map_err(|e| Error::Told(format!("no randomness: {e}")))?;
    Ok(BASE64URL_NOPAD.encode(&bytes) + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn with(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn tokens_are_read_as_the_standard_says() {
        assert_eq!(token(&with("Bearer abc")), Some("abc"));
        assert_eq!(token(&with("bearer  abc ")), Some("abc"));
        assert_eq!(token(&with("Basic abc")), None);
        assert_eq!(token(&with("Bearer")), None);
        assert_eq!(token(&HeaderMap::new()), None);
        let secret = BASE64URL_NOPAD.encode(&[7; 32]);
        assert_eq!(invitation(&with(&format!("Bearer {secret}"))), Some([7; 32]));
        assert_eq!(invitation(&with(&format!("Bearer {}", &secret[..42]))), None);
    }

    #[test]
    fn the_key_of_a_folder_is_made_once_and_is_its_owners() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, made) = Folder::init(dir.path(), None, &[]).unwrap();
        assert!(made.contains(&folder.metrics_key()));
        let text = std::fs::read_to_string(folder.metrics_key()).unwrap();
        let key = MetricsKey::read_or_make(&folder).unwrap();
        assert!(key.opens(&with(&format!("Bearer {}", text.trim()))));
        assert!(!key.opens(&with(&format!("Bearer {}", &text[1..].trim()))));
        assert!(!key.opens(&HeaderMap::new()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(folder.metrics_key()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        // A folder of an earlier release has none.
        std::fs::remove_file(folder.metrics_key()).unwrap();
        let other = MetricsKey::read_or_make(&folder).unwrap();
        assert_ne!(other, key);
        assert_eq!(MetricsKey::read_or_make(&folder).unwrap(), other);
        std::fs::write(folder.metrics_key(), "\n").unwrap();
        let error = MetricsKey::read_or_make(&folder).unwrap_err().to_string();
        assert!(error.contains("metrics.key") && error.contains("delete this file"), "{error}");
    }
}
