//! Who asks: whom a data officer calls, and on what grounds data may be used.

use serde::{Deserialize, Serialize};

/// Who runs the study. Every line may be empty, but an officer needs somebody to call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Contact {
    /// The organisation.
    pub organisation: String,
    /// Whom to call.
    pub person: String,
    /// Their telephone number, at which words of the roster are compared too.
    pub telephone: String,
    /// Their address for mail.
    pub email: String,
    /// On what grounds data may be used: a law, a contract, an approval with its number.
    pub legal_basis: String,
    /// How long results are kept, and what happens to them then.
    pub retention: String,
}

impl Contact {
    /// Each part with its name.
    pub fn parts(&self) -> [(&'static str, &str); 6] {
        [
            ("Organisation", &self.organisation),
            ("Contact", &self.person),
            ("Telephone", &self.telephone),
            ("E-mail", &self.email),
            ("Legal basis", &self.legal_basis),
            ("Results are kept", &self.retention),
        ]
        .map(|(name, value)| (name, value.trim()))
    }

    /// What is given, line by line.
    pub fn lines(&self) -> Vec<String> {
        let given = self.parts().into_iter().filter(|(_, value)| !value.is_empty());
        given.map(|(name, value)| format!("{name}: {value}")).collect()
    }

    /// Whether an officer can reach somebody.
    pub(super) fn can_be_reached(&self) -> bool {
        let [_, person, telephone, email, ..] = self.parts().map(|(_, value)| !value.is_empty());
        person && (telephone || email)
    }
}
