//! Rosters, enrolments, hellos, uploads and statements: one encoding each.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    use fedirt_privacy::secure::{Enrolment, Roster, SignedHello, SignedStatement, Upload};
    if let Ok(roster) = Roster::decode(bytes) {
        assert_eq!(roster.encode(), bytes);
    }
    if let Ok(enrolment) = Enrolment::decode(bytes) {
        assert_eq!(enrolment.encode(), bytes);
    }
    if let Ok(hello) = SignedHello::decode(bytes) {
        assert_eq!(hello.encode(), bytes);
    }
    if let Ok(upload) = Upload::decode(bytes) {
        assert_eq!(upload.encode(), bytes);
    }
    if let Ok(statement) = SignedStatement::decode(bytes) {
        assert_eq!(statement.encode(), bytes);
    }
});
