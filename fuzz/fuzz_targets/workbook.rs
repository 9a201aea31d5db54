//! Workbooks: what follows the first bytes of a ZIP file.
#![no_main]

use fedirt_data::{Input, ReadOptions, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let file = [&b"PK\x03\x04"[..], bytes].concat();
    let _ = read([Input::new("answers", &file[..])], &ReadOptions::default());
});
