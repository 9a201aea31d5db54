//! How a calibration is carried out between a coordinator and sites: the plan, messages, and two machines.
//!
//! The machines are plain values. They are handed messages, and give back what to persist, what to send, and
//! when they have finished; time and randomness come as arguments. The same two machines run in one process,
//! over a network and in the fault simulator.

mod answerable;
pub mod audit;
pub mod codebook;
pub mod codec;
pub mod coordinator;
pub mod coverage;
pub mod declaration;
pub mod encoding;
pub mod envelope;
pub mod forecast;
pub mod in_process;
pub mod invitation;
pub mod message;
pub mod plan;
pub mod policy;
pub mod preview;
pub mod private;
pub mod simulation;
pub mod site;
pub mod statement;
pub mod terms;

pub use coordinator::Coordinator;
pub use fedirt_privacy::secure::{SiteId, StudyId};
pub use site::SiteMachine;
pub use terms::Terms;

/// Milliseconds since an epoch of the shell's choosing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Some milliseconds later.
    pub fn after(self, milliseconds: u64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }
}
