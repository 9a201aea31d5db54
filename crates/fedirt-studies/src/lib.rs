//! Simulated data, and studies that compare algorithms on them.
