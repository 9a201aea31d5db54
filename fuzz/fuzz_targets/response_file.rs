//! Response files.
#![no_main]

use fedirt_data::{Input, ReadOptions, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = read([Input::new("answers.csv", bytes)], &ReadOptions::default());
});
