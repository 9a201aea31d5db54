//! A site ledger.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = fedirt_privacy::ledger::Ledger::read(bytes);
});
