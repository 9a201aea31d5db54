//! The value that a cause is about, for programs that show it apart from the sentence.

use crate::cause::Cause;

impl Cause {
    /// The text of the cell that is at fault, where there is one.
    ///
    /// ```
    /// use fedirt_data::{Input, ReadOptions, read};
    ///
    /// let answers = Input::new("a.csv", "I1,I2\n0,x\n1,1\n".as_bytes());
    /// let problems = read([answers], &ReadOptions::default()).expect_err("x is no code");
    /// assert_eq!(problems.iter().next().and_then(|problem| problem.cause.value()), Some("x"));
    /// ```
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::NotAScore(value)
            | Self::Fraction(value)
            | Self::Negative(value)
            | Self::TooLarge(value)
            | Self::Unlisted(value)
            | Self::StrangeOption(value)
            | Self::RareOption { option: value, .. }
            | Self::BadWeight(value)
            | Self::WeightChanges { value, .. }
            | Self::GroupChanges { value, .. }
            | Self::UnknownModel(value)
            | Self::BadCategoryCount(value)
            | Self::LevelTwice(value)
            | Self::BadKey(value)
            | Self::NotYesOrNo(value)
            | Self::BadLowestCode(value)
            | Self::BadNumber(value)
            | Self::DuplicateId { id: value, .. }
            | Self::DuplicateAnswer { id: value, .. }
            | Self::LevelWithoutCode(value)
            | Self::BadCollapse(value) => Some(value),
            Self::NoFiles
            | Self::NoSuchFile(_)
            | Self::Directory
            | Self::Unreadable(_)
            | Self::NotText(_)
            | Self::NotBuilt { .. }
            | Self::BadWorkbook(_)
            | Self::SeveralSheets(_)
            | Self::BadParquet(_)
            | Self::BadSav(_)
            | Self::DeclaredWeight
            | Self::SameFileTwice(_)
            | Self::SameSiteName { .. }
            | Self::EmptyFile
            | Self::NoRows
            | Self::UnclosedQuote
            | Self::LineTooLong
            | Self::NoHeader
            | Self::UnnamedColumn(_)
            | Self::DuplicateColumn(..)
            | Self::UnknownColumn { .. }
            | Self::UnknownIgnored(_)
            | Self::TwoRoles(..)
            | Self::TooFewItems { .. }
            | Self::LongWithoutId
            | Self::FieldCount { .. }
            | Self::NoColumns
            | Self::ColumnLength { .. }
            | Self::NulByte(_)
            | Self::NotUtf8 { .. }
            | Self::MixedEncodings(_)
            | Self::Texts(_)
            | Self::NotAnItem { .. }
            | Self::GapCodes { .. }
            | Self::RareCodes { .. }
            | Self::NamesAlike { .. }
            | Self::TwoColumnsOfOneItem(_)
            | Self::UnknownItem { .. }
            | Self::LooksLong(_)
            | Self::KeyNeverChosen(_)
            | Self::Unkeyed
            | Self::TwoRules
            | Self::SumOfItems(_)
            | Self::Demographic(_)
            | Self::CopyOfItem(_)
            | Self::GoesWithNothing { .. }
            | Self::NothingSelected(_)
            | Self::NothingAnswered
            | Self::EmptySite
            | Self::EmptyId
            | Self::TooSparse { .. }
            | Self::EmptyItem
            | Self::MissingColumn { .. }
            | Self::DuplicateItem { .. }
            | Self::CategoriesAndRule { .. }
            | Self::LevelCount(_)
            | Self::ScoresAndLevels { .. }
            | Self::KeyAndLevels
            | Self::NoKey
            | Self::ReverseWithoutCategories
            | Self::NameOfTwoItems { .. }
            | Self::ZeroSlope(_)
            | Self::NoSteps(_)
            | Self::StepsTwice { .. }
            | Self::StepGap(_)
            | Self::Asymptote(_) => None,
        }
    }
}
