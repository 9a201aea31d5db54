//! SPSS files: what follows their first bytes.
#![no_main]

use fedirt_data::{Input, ReadOptions, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let file = [&b"$FL2"[..], bytes].concat();
    let _ = read([Input::new("answers", &file[..])], &ReadOptions::default());
});
