//! Codebooks, answer keys, lists of names, fixed items and booklets.
#![no_main]

use fedirt_data::{Input, read_booklets, read_codebook, read_fixed_items, read_key, read_map};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_codebook(Input::new("codebook.csv", bytes));
    let _ = read_key(Input::new("key.csv", bytes));
    let _ = read_map(Input::new("names.csv", bytes));
    let _ = read_fixed_items(Input::new("items.csv", bytes));
    let _ = read_booklets(Input::new("booklets.csv", bytes));
});
