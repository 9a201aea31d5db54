//! What sites declare.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = fedirt_protocol::codec::decode::<fedirt_protocol::declaration::Declaration>(bytes);
});
