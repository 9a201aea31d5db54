//! What a file says about its columns beside their names and answers. Files of SPSS do; CSV and workbooks do not.

/// What a file says about its columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileFacts {
    /// The column of weights.
    pub(crate) weight: Option<String>,
    /// Values that are declared missing.
    pub(crate) missing: Vec<ColumnMissing>,
    /// What values stand for.
    pub(crate) labels: Vec<ValueLabels>,
}

/// Values of a column that the file declares missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMissing {
    /// The column.
    pub column: String,
    /// The values: `9`, `97 to 99`.
    pub declared: String,
    /// How often they occur.
    pub count: u64,
}

/// What the values of a column stand for: `1` is `never`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueLabels {
    pub(crate) column: String,
    pub(crate) labels: Vec<(String, String)>,
}
