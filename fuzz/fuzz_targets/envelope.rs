//! Envelopes and what is in them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    use fedirt_protocol::{codec, envelope};
    let _ = envelope::sender(bytes);
    let _ = codec::decode::<envelope::Poll>(bytes);
    let _ = codec::decode::<envelope::EnrolRequest>(bytes);
});
