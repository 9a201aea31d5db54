//! A machine's input as bytes: every program around a machine stores the same.

use super::Input;
use crate::message::ToCoordinator;
use crate::{SiteId, codec};
use serde::{Deserialize, Serialize};

/// An input with names as text. New kinds are added at the end: the place is the encoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum StoredInput {
    /// A site's message.
    Message {
        /// From whom.
        from: String,
        /// What.
        message: ToCoordinator,
    },
    /// A deadline passed.
    Deadline,
    /// The operator began.
    Begin,
    /// The operator left sites out.
    Drop {
        /// Which.
        sites: Vec<String>,
    },
    /// The operator ended the study.
    End {
        /// Why.
        reason: String,
    },
}

/// Why a stored event is none.
#[derive(Debug, thiserror::Error)]
pub enum StoredInputError {
    /// Its bytes.
    #[error(transparent)]
    Codec(#[from] codec::CodecError),
    /// A name in it.
    #[error(transparent)]
    Name(#[from] fedirt_privacy::secure::NameError),
}

impl StoredInput {
    /// An input, to be stored.
    pub fn of(input: Input) -> Self {
        match input {
            Input::Message { from, message } => Self::Message { from: from.to_string(), message },
            Input::Deadline => Self::Deadline,
            Input::Begin => Self::Begin,
            Input::Drop { sites } => Self::Drop { sites: sites.iter().map(SiteId::to_string).collect() },
            Input::End { reason } => Self::End { reason },
        }
    }

    /// The input again.
    pub fn input(self) -> Result<Input, StoredInputError> {
        Ok(match self {
            Self::Message { from, message } => {
                Input::Message { from: SiteId::try_from(from.as_str())?, message }
            }
            Self::Deadline => Input::Deadline,
            Self::Begin => Input::Begin,
            Self::Drop { sites } => {
                let sites: Result<_, _> = sites.iter().map(|s| SiteId::try_from(s.as_str())).collect();
                Input::Drop { sites: sites? }
            }
            Self::End { reason } => Input::End { reason },
        })
    }

    /// Its bytes.
    pub fn encode(&self) -> Result<Vec<u8>, StoredInputError> {
        Ok(codec::encode(self)?)
    }

    /// From its bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, StoredInputError> {
        Ok(codec::decode(bytes)?)
    }

    /// What kind of input it is, for people.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Message { message, .. } => message.kind(),
            Self::Deadline => "deadline",
            Self::Begin => "begin",
            Self::Drop { .. } => "drop",
            Self::End { .. } => "end",
        }
    }

    /// Which site it comes from.
    pub fn site(&self) -> Option<&str> {
        if let Self::Message { from, .. } = self { Some(from) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_come_back_as_they_were() {
        let site = |name| SiteId::try_from(name).unwrap();
        for input in [
            Input::Message { from: site("Nord"), message: ToCoordinator::Hello(vec![1, 2]) },
            Input::Deadline,
            Input::Begin,
            Input::Drop { sites: [site("a"), site("b")].into() },
            Input::End { reason: "x".into() },
        ] {
            let bytes = StoredInput::of(input.clone()).encode().unwrap();
            assert_eq!(StoredInput::decode(&bytes).unwrap().input().unwrap(), input);
        }
        assert!(StoredInput::decode(b"nothing of ours").is_err());
    }
}
