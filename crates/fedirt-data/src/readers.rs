/// Who may read a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Whoever the system lets read new files.
    Usual,
    /// The user alone who runs the program (mode 0600, folders 0700).
    Owner,
}
