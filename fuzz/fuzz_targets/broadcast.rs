//! A round question: whatever decodes can be checked without panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    use fedirt_protocol::codec;
    use fedirt_protocol::message::{Broadcast, Question};
    if let Ok(told) = codec::decode::<Broadcast>(bytes) {
        match &told.question {
            Question::Sums(request) => {
                if request.check(64).is_ok() {
                    assert_eq!(request.needs().len(), told.question.summed_len());
                }
            }
            Question::Scores { request, .. } => drop(request.width()),
        }
    }
});
