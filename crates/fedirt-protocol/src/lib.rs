//! How a calibration is carried out between a coordinator and sites: messages and two machines.
//!
//! The machines are plain values. They are handed messages, and give back what to persist, what to send, and
//! when they have finished; time comes as an argument. The same two machines run in one process, over a
//! network and in tests.

pub mod codebook;
pub mod coordinator;
pub mod encoding;
pub mod in_process;
pub mod message;
pub mod site;

pub use coordinator::Coordinator;
pub use site::SiteMachine;

/// Milliseconds since an epoch of the shell's choosing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub u64);
