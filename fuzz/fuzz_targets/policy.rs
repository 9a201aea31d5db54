//! Site policies.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = toml::from_str::<fedirt_protocol::policy::Policy>(text);
});
