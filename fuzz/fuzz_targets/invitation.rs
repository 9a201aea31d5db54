//! Invitations that people paste.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    use fedirt_protocol::invitation::Invitation;
    if let Ok(invitation) = Invitation::from_text(text) {
        let text = invitation.to_text().expect("what was read can be written");
        assert_eq!(Invitation::from_text(&text), Ok(invitation));
    }
});
