//! Messages from a site.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    use fedirt_protocol::{codec, message::ToCoordinator};
    if let Ok(message) = codec::decode::<ToCoordinator>(bytes) {
        assert_eq!(codec::encode(&message).and_then(|b| codec::decode(&b)), Ok(message));
    }
});
