//! Study plans.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(plan) = fedirt_protocol::plan::StudyPlan::parse(text) {
        let _ = plan.terms(text);
        let _ = plan.in_words();
    }
});
