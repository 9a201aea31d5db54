//! Response files.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::with_suffix(".csv").expect("a temporary file");
    std::io::Write::write_all(&mut file, bytes).expect("a temporary file can be written");
    let _ = fedirt_site::read(&[file.path().to_owned()], &fedirt_site::ReadOptions::default());
});
