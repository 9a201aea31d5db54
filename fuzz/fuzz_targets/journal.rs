//! A site's journal on disk.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::io::Write::write_all(&mut file, bytes).expect("a temporary file can be written");
    let _ = fedirt_agent::Journal::read(file.path());
});
