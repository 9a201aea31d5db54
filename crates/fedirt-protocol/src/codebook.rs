//! The codebook as all sites must understand it, and its hash.

use fedirt_model::fit::FitItem;
use sha2::{Digest, Sha256};

/// SHA-256 over item names, models and category codes, hexadecimal. Names are preceded by their length, so no
/// two codebooks share a text.
pub fn hash(items: &[FitItem]) -> String {
    let mut digest = Sha256::new();
    for item in items {
        let codes: Vec<String> = item.codes.iter().map(u8::to_string).collect();
        digest.update(format!("{}:{}\t{}\t{}", item.name.len(), item.name, item.model, codes.join(",")));
        for merged in &item.merged {
            digest.update(format!("\t{}={}", merged.code, merged.into));
        }
        digest.update("\n");
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
