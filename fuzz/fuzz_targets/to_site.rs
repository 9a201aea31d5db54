//! Messages from the coordinator: what decodes is encoded again to the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    use fedirt_protocol::{codec, message::ToSite};
    if let Ok(message) = codec::decode::<ToSite>(bytes) {
        let again = codec::encode(&message).and_then(|bytes| codec::decode::<ToSite>(&bytes));
        assert!(again.is_ok());
    }
});
