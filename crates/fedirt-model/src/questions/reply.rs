//! Typed replies: the site fills in named fields, the centre reads the same fields, and nobody counts positions.

use super::tensor::{Bound, Shape, SiteTerm, Tensor};
use crate::exchange::Request;
use crate::statistics::Statistic;
use std::collections::VecDeque;

/// Why numbers are not a reply to the question that was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// A statistic is not there.
    #[error("the reply has no {0}")]
    Missing(&'static str),
    /// A statistic was not asked for.
    #[error("the reply has {0}, which was not asked for")]
    Unexpected(&'static str),
    /// A statistic has another number of entries.
    #[error("the reply has {got} numbers of {statistic}, and {want} were asked for")]
    Length {
        /// Name of the statistic.
        statistic: &'static str,
        /// Numbers given.
        got: usize,
        /// Numbers asked for.
        want: usize,
    },
}

/// Numbers under the names of their statistics, in the order in which the question declares them.
pub type Named = Vec<(Statistic, Vec<f64>)>;

/// What a site answers: the numbers of each declared tensor. It can only be built from a reply that has exactly the
/// tensors of its question.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary(Vec<(Tensor, Vec<f64>)>);

impl Summary {
    /// The fields of a reply, checked against what the question declares.
    pub(crate) fn new(declared: Vec<Tensor>, reply: impl Reply) -> Result<Self, ReplyError> {
        let mut fields = VecDeque::from(reply.into_named());
        let mut filled = Vec::with_capacity(declared.len());
        for tensor in declared {
            let name = tensor.statistic.name;
            let (given, numbers) = fields.pop_front().ok_or(ReplyError::Missing(name))?;
            if given != tensor.statistic {
                return Err(ReplyError::Missing(name));
            }
            if numbers.len() != tensor.len() {
                return Err(ReplyError::Length { statistic: name, got: numbers.len(), want: tensor.len() });
            }
            filled.push((tensor, numbers));
        }
        match fields.front() {
            Some((statistic, _)) => Err(ReplyError::Unexpected(statistic.name)),
            None => Ok(Self(filled)),
        }
    }

    /// The tensors with their numbers, in the order of the question's declaration.
    pub fn tensors(&self) -> impl Iterator<Item = (&Tensor, &[f64])> {
        self.0.iter().map(|(tensor, numbers)| (tensor, numbers.as_slice()))
    }
}

/// All sites' answers to a question, combined: sums over sites, and what is kept by site.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    sums: Named,
    by_site: Vec<Named>,
}

impl Aggregate {
    /// An aggregate from sums, in the order of the declaration, and what is kept by site, in the order of the cohort.
    pub fn new(sums: Named, by_site: Vec<Named>) -> Self {
        Self { sums, by_site }
    }

    /// A statistic of which some sum is not finite, if there is one.
    pub fn not_finite(&self) -> Option<Statistic> {
        self.sums.iter().find(|(_, v)| v.iter().any(|x| !x.is_finite())).map(|(statistic, _)| *statistic)
    }

    /// The typed reply.
    pub(crate) fn read<R: Reply>(self) -> Result<R, ReplyError> {
        let mut fields = Fields {
            sums: self.sums.into(),
            by_site: self.by_site.into_iter().map(VecDeque::from).collect(),
        };
        let reply = R::read(&mut fields)?;
        let left = fields.sums.front().or_else(|| fields.by_site.iter().find_map(VecDeque::front));
        match left {
            Some((statistic, _)) => Err(ReplyError::Unexpected(statistic.name)),
            None => Ok(reply),
        }
    }
}

/// The numbers of an aggregate that have not been read yet.
pub(crate) struct Fields {
    pub(super) sums: VecDeque<(Statistic, Vec<f64>)>,
    by_site: Vec<VecDeque<(Statistic, Vec<f64>)>>,
}

/// The reply to a question: a struct with one field per tensor, made by the macro `reply!`.
pub(crate) trait Reply: Sized {
    /// The question that it answers.
    type Question;

    /// The tensors that a question asks for, in order.
    fn tensors(question: &Self::Question, request: &Request) -> Vec<Tensor>;

    /// Reads the fields in their order.
    fn read(from: &mut Fields) -> Result<Self, ReplyError>;

    /// The fields under their names, in their order.
    fn into_named(self) -> Named;

    /// Every statistic that can be part of the reply.
    fn statistics() -> Vec<Statistic>;
}

/// The type of a reply's field.
pub(crate) trait Field: Sized {
    /// Takes the field from what is left.
    fn read(statistic: Statistic, from: &mut Fields) -> Result<Self, ReplyError>;

    /// The numbers; none where the field was not asked for.
    fn into_numbers(self) -> Option<Vec<f64>>;
}

impl Field for Vec<f64> {
    fn read(statistic: Statistic, from: &mut Fields) -> Result<Self, ReplyError> {
        match from.sums.pop_front() {
            Some((given, numbers)) if given == statistic => Ok(numbers),
            Some(_) | None => Err(ReplyError::Missing(statistic.name)),
        }
    }

    fn into_numbers(self) -> Option<Vec<f64>> {
        Some(self)
    }
}

impl Field for f64 {
    fn read(statistic: Statistic, from: &mut Fields) -> Result<Self, ReplyError> {
        match Vec::read(statistic, from)?[..] {
            [x] => Ok(x),
            ref other => Err(ReplyError::Length { statistic: statistic.name, got: other.len(), want: 1 }),
        }
    }

    fn into_numbers(self) -> Option<Vec<f64>> {
        Some(vec![self])
    }
}

/// A field that only some forms of a question ask for.
impl Field for Option<Vec<f64>> {
    fn read(statistic: Statistic, from: &mut Fields) -> Result<Self, ReplyError> {
        match from.sums.front() {
            Some((given, _)) if *given == statistic => Vec::read(statistic, from).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    fn into_numbers(self) -> Option<Vec<f64>> {
        self
    }
}

/// Numbers that are kept by site, in the order of the cohort. A site fills in its own only.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BySite<const N: usize>(pub Vec<[f64; N]>);

impl<const N: usize> BySite<N> {
    /// One site's numbers.
    pub(crate) fn own(numbers: [f64; N]) -> Self {
        Self(vec![numbers])
    }
}

impl<const N: usize> Field for BySite<N> {
    fn read(statistic: Statistic, from: &mut Fields) -> Result<Self, ReplyError> {
        let of = |site: &mut VecDeque<(Statistic, Vec<f64>)>| match site.pop_front() {
            Some((given, numbers)) if given == statistic => {
                let got = numbers.len();
                let wrong = |_| ReplyError::Length { statistic: statistic.name, got, want: N };
                <[f64; N]>::try_from(numbers).map_err(wrong)
            }
            Some(_) | None => Err(ReplyError::Missing(statistic.name)),
        };
        from.by_site.iter_mut().map(of).collect::<Result<_, _>>().map(Self)
    }

    fn into_numbers(self) -> Option<Vec<f64>> {
        Some(self.0.into_iter().flatten().collect())
    }
}

/// Numbers by site that only some forms of a question ask for.
impl<const N: usize> Field for Option<BySite<N>> {
    fn read(statistic: Statistic, from: &mut Fields) -> Result<Self, ReplyError> {
        let asked =
            from.by_site.iter().any(|site| site.front().is_some_and(|(given, _)| *given == statistic));
        if asked { BySite::read(statistic, from).map(Some) } else { Ok(None) }
    }

    fn into_numbers(self) -> Option<Vec<f64>> {
        self.and_then(BySite::into_numbers)
    }
}

/// What stands on the right of a field in `reply!`: shape and bound, and where needed how it depends on a site as a
/// whole; or an option of these, where only some forms of the question ask for the field.
pub(crate) trait Declares {
    /// The tensor of a statistic.
    fn tensor(self, statistic: Statistic) -> Option<Tensor>;
}

impl Declares for (Shape, Bound) {
    fn tensor(self, statistic: Statistic) -> Option<Tensor> {
        (self.0, self.1, SiteTerm::Plain).tensor(statistic)
    }
}

impl Declares for (Shape, Bound, SiteTerm) {
    fn tensor(self, statistic: Statistic) -> Option<Tensor> {
        let (shape, bound, term) = self;
        Some(Tensor { statistic, shape, bound, term })
    }
}

impl<D: Declares> Declares for Option<D> {
    fn tensor(self, statistic: Statistic) -> Option<Tensor> {
        self.and_then(|declared| declared.tensor(statistic))
    }
}

/// Declares the reply to a question: its fields, and for each the statistic, the shape and the bound of its tensor.
///
/// The struct, the tensors of the question and the reading and writing of the fields all come from this one list, so
/// that they cannot disagree.
macro_rules! reply {
    (
        $(#[$doc:meta])*
        struct $Reply:ident to |$question:ident: $Question:ty, $request:ident| {
            $( $(#[$field_doc:meta])* $field:ident: $Type:ty = $statistic:expr => $declared:expr, )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub(crate) struct $Reply { $( $(#[$field_doc])* pub $field: $Type, )* }

        impl $crate::questions::reply::Reply for $Reply {
            type Question = $Question;

            fn tensors(
                $question: &$Question,
                $request: &$crate::exchange::Request,
            ) -> Vec<$crate::questions::Tensor> {
                use $crate::questions::reply::Declares;
                [ $( $declared.tensor($statistic), )* ].into_iter().flatten().collect()
            }

            fn read(
                from: &mut $crate::questions::reply::Fields,
            ) -> Result<Self, $crate::questions::ReplyError> {
                use $crate::questions::reply::Field;
                Ok(Self { $( $field: Field::read($statistic, from)?, )* })
            }

            fn into_named(self) -> $crate::questions::Named {
                use $crate::questions::reply::Field;
                let fields = [ $( ($statistic, self.$field.into_numbers()), )* ];
                fields.into_iter().filter_map(|(statistic, numbers)| Some((statistic, numbers?))).collect()
            }

            fn statistics() -> Vec<$crate::statistics::Statistic> {
                vec![ $( $statistic, )* ]
            }
        }
    };
}
pub(crate) use reply;
