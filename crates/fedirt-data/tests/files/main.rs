//! Files as people have them: what is read, what is refused, and in which words.

mod common;
mod complaints;
mod description;
mod formats;
mod item_files;
mod questions;
