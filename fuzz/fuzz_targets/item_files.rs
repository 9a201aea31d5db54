//! Codebooks and fixed items.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::with_suffix(".csv").expect("a temporary file");
    std::io::Write::write_all(&mut file, bytes).expect("a temporary file can be written");
    let _ = fedirt_site::read_codebook(file.path());
    let _ = fedirt_site::read_fixed_items(file.path());
});
