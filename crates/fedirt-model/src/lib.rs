//! Item response models for federated calibration: the mathematics, and nothing else.
//!
//! A site turns its rows into sums ([`site`]); the centre turns sums into estimates ([`centre`]). This crate
//! knows no files, clocks, networks, and draws no randomness of its own.

pub mod centre;
pub mod code_set;
pub mod comparison;
pub mod design;
pub mod diagnostics;
pub mod exchange;
pub mod fit;
pub mod items;
mod kernel;
pub mod population;
pub mod private;
pub mod quadrature;
pub mod questions;
pub mod responses;
pub mod scoring;
pub mod simulate;
pub mod site;
pub mod statistics;
