//! For whom a sentence is: the same remedy is a flag on the command line, a field on a page, an option in a program.

use std::fmt;

use crate::text::argument;

/// What a caller can say about the columns of a file: the fields of [`ReadOptions`](crate::ReadOptions).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOption {
    /// The column that names the site.
    Site,
    /// The column that identifies a row.
    Id,
    /// The column of weights.
    Weight,
    /// The column of groups.
    Group,
    /// Columns that are left out.
    Ignore,
    /// Codes that mean "no answer".
    Missing,
    /// The columns that are items, by name or pattern.
    Items,
    /// The columns of a long file.
    Long,
    /// Names that files have for items.
    Map,
    /// The codebook.
    Codebook,
    /// The answer key.
    Key,
}

impl fmt::Display for ReadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Site => "site",
            Self::Id => "id",
            Self::Weight => "weight",
            Self::Group => "group",
            Self::Ignore => "ignore",
            Self::Missing => "missing",
            Self::Items => "items",
            Self::Long => "long",
            Self::Map => "map",
            Self::Codebook => "codebook",
            Self::Key => "key",
        })
    }
}

/// Who reads a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Somebody who types flags.
    CommandLine,
    /// An officer at the pages of a site, who chooses columns and codes there.
    Page,
    /// Somebody who calls a library.
    Library,
}

impl Audience {
    /// What an option is called: `--ignore`, or a field of the page.
    pub(crate) fn option(self, option: ReadOption) -> String {
        match self {
            Self::CommandLine => format!("--{option}"),
            Self::Library if option == ReadOption::Map => "`renamed`".to_owned(),
            Self::Library => format!("`{option}`"),
            Self::Page => match option {
                ReadOption::Site => "the site",
                ReadOption::Id => "“Column that identifies a student”",
                ReadOption::Weight => "“Column of weights”",
                ReadOption::Group => "“Column of groups”",
                ReadOption::Ignore => "the columns that are left out",
                ReadOption::Missing => "“Codes that mean no answer”",
                ReadOption::Items => "the items of the study",
                ReadOption::Long => "“The file has a line for each answer”",
                ReadOption::Map => "“All columns” on the page of columns",
                ReadOption::Codebook => "“What answers are” on the page of columns",
                ReadOption::Key => "“Answer key” on the page of columns",
            }
            .to_owned(),
        }
    }

    /// An option that takes a table, with the columns of the table: `--key FILE (CSV: item, key)`.
    pub fn table(self, option: ReadOption, columns: &str) -> String {
        match self {
            Self::CommandLine => format!("{} FILE (CSV: {columns})", self.option(option)),
            Self::Library | Self::Page => self.option(option),
        }
    }

    /// An option with a value: `--ignore I3`, `ignore = I3`.
    pub fn with(self, option: ReadOption, value: &str) -> String {
        let name = self.option(option);
        match (self, option) {
            // With `=`, because a code such as -9 would be taken for a flag.
            (Self::CommandLine, ReadOption::Missing) if value.starts_with('-') => {
                format!("{name}={}", argument(value))
            }
            (Self::CommandLine, _) => format!("{name} {}", argument(value)),
            (Self::Library, _) => format!("{name} = {value:?}"),
            (Self::Page, ReadOption::Ignore) => {
                format!("“no column” instead of {value} on the page of columns")
            }
            (Self::Page, _) => format!("{value} under {name} on the page of columns"),
        }
    }
}
