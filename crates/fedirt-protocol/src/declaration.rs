//! What each site declares about its data before the first round, signed, and what follows from all of them.

use crate::codec;
use crate::private::rows_by_booklet;
use crate::terms::Terms;
use fedirt_model::centre::{Enrolled, total_weight};
use fedirt_model::code_set::CodeSet;
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{Identity, Roster, SignedStatement, SiteId, Statement};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

const TOPIC: &str = "declaration";

/// Most students of a site, and most answers of a weight: beyond them sums would lose digits.
const MOST_STUDENTS: u64 = 100_000_000;

/// What a site tells about itself before the first round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Declaration {
    /// Students whose answers count: weight above zero.
    pub students: u64,
    /// For each item of the codebook its codes: those that occur (`plain`), or all of the codebook's if the site gives the
    /// item; none where it does not.
    pub codes: Vec<CodeSet>,
    /// Rows by booklet of the plan (`private` only): public, like all of this.
    pub booklets: Vec<u64>,
    /// The groups of students that it has, as a bit mask in the plan's order; 0 where the plan compares none.
    pub groups: u64,
    /// Whether its students carry weights.
    pub weighted: bool,
    /// Sum of the weights (the number of students without them).
    pub total_weight: f64,
    /// A bound on the weights: the next power of two.
    pub largest_weight: f64,
}

/// What a site declares that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// Rows by booklet that add up to more than a study can have, or more booklets than there are.
    #[error("booklets with more rows than there can be")]
    Booklets,
    /// Another number of items than the codebook has.
    #[error("{declared} items, and the codebook has {codebook}")]
    Items {
        /// Items that it declares.
        declared: usize,
        /// Items of the codebook.
        codebook: usize,
    },
    /// More students than a study can have.
    #[error("{0} students; {MOST_STUDENTS} is the most")]
    Students(u64),
    /// Weights that are negative, enormous or no numbers.
    #[error("weights that are no finite numbers")]
    Weights,
}

/// Why a declaration is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeclarationError {
    /// Not signed by the site, or for another study.
    #[error("the declaration of {site} is refused: {reason}")]
    Signature {
        /// Site.
        site: String,
        /// Why.
        reason: String,
    },
    /// It does not fit the plan.
    #[error("{site} declares what cannot be: {reason}")]
    Content {
        /// Site.
        site: String,
        /// What.
        reason: Impossible,
    },
}

impl Declaration {
    /// What a table amounts to under a plan's terms.
    pub fn of(table: &ResponseTable, terms: &Terms) -> Self {
        let counted: Vec<usize> = (0..table.students()).filter(|i| table.counts(*i)).collect();
        let (students, total, largest) = match table.weights() {
            None => {
                let students = counted.len();
                (students, students as f64, 1.0)
            }
            Some(weights) => {
                let own = || counted.iter().map(|i| weights[*i]);
                (counted.len(), own().sum(), own().fold(0.0, f64::max))
            }
        };
        let groups = table.groups().map_or(0, |groups| {
            counted.iter().map(|i| groups[*i]).filter(|g| *g < 64).fold(0, |mask, g| mask | 1 << g)
        });
        if terms.mode == Mode::Private {
            // Nothing here depends on an answer.
            let codes = terms.plan.items.iter().map(|item| all_codes(item.codes.as_deref())).collect();
            let booklets = rows_by_booklet(terms.private.as_ref().map_or(&[], |p| &p.booklets), table);
            let rows = table.students();
            let weighted = table.weights().is_some();
            let (students, total_weight) = (rows as u64, rows as f64);
            return Self {
                students,
                codes,
                booklets,
                groups: 0,
                weighted,
                total_weight,
                largest_weight: 1.0,
            };
        }
        let mut codes = codes_used(table);
        if terms.mode != Mode::Plain {
            // Which categories occur here is nobody's business: the codebook's stand for all.
            for (codes, item) in codes.iter_mut().zip(&terms.plan.items) {
                if !codes.is_empty() && item.codes.is_some() {
                    *codes = all_codes(item.codes.as_deref());
                }
            }
        }
        Self {
            students: students as u64,
            codes,
            booklets: Vec::new(),
            groups,
            weighted: table.weights().is_some(),
            total_weight: total,
            largest_weight: if largest > 0.0 { largest.log2().ceil().exp2() } else { 0.0 },
        }
    }

    /// What signed bytes declare. The signature is not checked.
    pub fn read(signed: &[u8]) -> Result<Self, DeclarationError> {
        let wrong = |reason: String| DeclarationError::Signature { site: "a site".into(), reason };
        let statement = SignedStatement::decode(signed).map_err(|e| wrong(e.to_string()))?;
        codec::decode(statement.unverified()).map_err(|e| wrong(e.to_string()))
    }

    /// Signs it.
    pub fn sign(
        &self,
        terms: &Terms,
        site: &SiteId,
        identity: &Identity,
    ) -> Result<Vec<u8>, codec::CodecError> {
        let bytes = codec::encode(self)?;
        let statement =
            Statement { study: terms.study.clone(), site: site.clone(), topic: TOPIC.into(), bytes };
        Ok(statement.sign(identity).encode())
    }

    fn check(&self, items: usize) -> Result<(), Impossible> {
        let rows = self.booklets.iter().try_fold(0u64, |sum, n| sum.checked_add(*n));
        if rows.is_none_or(|rows| rows > MOST_STUDENTS) || self.booklets.len() > items.max(1) * 64 {
            return Err(Impossible::Booklets);
        }
        let finite = |x: f64| x.is_finite() && (0.0..=1e15).contains(&x);
        if self.codes.len() != items {
            return Err(Impossible::Items { declared: self.codes.len(), codebook: items });
        }
        if self.students > MOST_STUDENTS {
            return Err(Impossible::Students(self.students));
        }
        if !finite(self.total_weight) || !finite(self.largest_weight) {
            return Err(Impossible::Weights);
        }
        Ok(())
    }
}

/// What bounds the numbers of a round, so that everyone encodes alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Students of the cohort.
    pub students: u64,
    /// Sites of the cohort.
    pub sites: u64,
    /// Largest weight of a student when weights add up to the number of students, rounded up.
    pub largest_weight: u64,
}

/// The declarations of all sites on the roster.
#[derive(Debug, Clone, PartialEq)]
pub struct Declarations {
    by_site: BTreeMap<SiteId, Declaration>,
    hash: [u8; 32],
}

impl Declarations {
    /// Verifies the signed declarations against the roster: one for each site on it.
    pub fn verify(roster: &Roster, signed: &[Vec<u8>], items: usize) -> Result<Self, DeclarationError> {
        let mut by_site = BTreeMap::new();
        let mut digest = Sha256::new();
        let refuse = |site: String, reason: String| DeclarationError::Signature { site, reason };
        for bytes in signed {
            let statement =
                SignedStatement::decode(bytes).map_err(|e| refuse("a site".into(), e.to_string()))?;
            let site = statement.site().clone();
            let content =
                statement.verify(roster, TOPIC).map_err(|e| refuse(site.to_string(), e.to_string()))?;
            let declaration: Declaration =
                codec::decode(&content.bytes).map_err(|e| refuse(site.to_string(), e.to_string()))?;
            declaration
                .check(items)
                .map_err(|reason| DeclarationError::Content { site: site.to_string(), reason })?;
            digest.update(Sha256::digest(bytes));
            if by_site.insert(site.clone(), declaration).is_some() {
                return Err(refuse(site.to_string(), "there are two".into()));
            }
        }
        if let Some(site) = roster.entries().keys().find(|site| !by_site.contains_key(*site)) {
            return Err(refuse(site.to_string(), "there is none".into()));
        }
        Ok(Self { by_site, hash: digest.finalize().into() })
    }

    /// Declarations that nobody signed, because sites and coordinator are in the same hands.
    pub(crate) fn unsigned(
        declared: impl IntoIterator<Item = (SiteId, Declaration)>,
        items: usize,
    ) -> Result<Self, DeclarationError> {
        let by_site: BTreeMap<SiteId, Declaration> = declared.into_iter().collect();
        for (site, declaration) in &by_site {
            let wrong = |reason| DeclarationError::Content { site: site.to_string(), reason };
            declaration.check(items).map_err(wrong)?;
        }
        Ok(Self { by_site, hash: [0; 32] })
    }

    /// SHA-256 of all of them, in the order they came: what a broadcast quotes.
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// A site's declaration.
    pub fn get(&self, site: &SiteId) -> Option<&Declaration> {
        self.by_site.get(site)
    }

    /// The sites of a cohort as the centre knows them.
    pub fn enrolled(&self, terms: &Terms, cohort: &BTreeSet<SiteId>) -> Vec<Enrolled> {
        self.of(cohort)
            .map(|(site, d)| Enrolled {
                name: terms.label(site),
                students: d.students,
                codes: d.codes.clone(),
                groups: d.groups,
                weighted: d.weighted,
                total_weight: d.total_weight,
            })
            .collect()
    }

    /// Bounds of a cohort's sums.
    pub fn bounds(&self, cohort: &BTreeSet<SiteId>) -> Bounds {
        let students: u64 = self.of(cohort).map(|(_, d)| d.students).sum();
        let largest = self.of(cohort).map(|(_, d)| d.largest_weight).fold(0.0, f64::max);
        let total = total_weight(self.of(cohort).map(|(_, d)| d.total_weight));
        let scaled = largest * students as f64 / total.max(f64::MIN_POSITIVE);
        // Rows without an answer are left out after the opening: a little room for the scale to move.
        let largest_weight = (2.0 * scaled).ceil().clamp(1.0, 1e12) as u64;
        Bounds { students, sites: cohort.len() as u64, largest_weight }
    }

    /// Students of the cohort's sites without as many others as may work with the coordinator, the largest first: these may have
    /// declared any number.
    pub fn students_without(&self, colluders: usize, own: &SiteId, cohort: &BTreeSet<SiteId>) -> u64 {
        let mut others: Vec<u64> =
            self.of(cohort).filter(|(site, _)| *site != own).map(|(_, d)| d.students).collect();
        others.sort_unstable_by(|a, b| b.cmp(a));
        others.iter().skip(colluders).sum::<u64>() + self.get(own).map_or(0, |d| d.students)
    }

    /// Whether a site gives an item of the codebook.
    pub fn gives(&self, site: &SiteId, column: usize) -> bool {
        self.by_site.get(site).and_then(|d| d.codes.get(column)).is_some_and(|codes| !codes.is_empty())
    }

    /// Whether a site has students of a group of the plan.
    pub fn has_group(&self, site: &SiteId, group: usize) -> bool {
        self.by_site.get(site).is_some_and(|d| group < 64 && d.groups >> group & 1 == 1)
    }

    fn of<'a>(&'a self, cohort: &'a BTreeSet<SiteId>) -> impl Iterator<Item = (&'a SiteId, &'a Declaration)> {
        self.by_site.iter().filter(|(site, _)| cohort.contains(*site))
    }
}

/// A codebook's categories.
fn all_codes(codes: Option<&[u8]>) -> CodeSet {
    codes.unwrap_or_default().iter().copied().collect()
}

/// For each column, the codes that occur.
pub(crate) fn codes_used(table: &ResponseTable) -> Vec<CodeSet> {
    let mut used = vec![CodeSet::default(); table.items()];
    for (i, row) in table.rows().enumerate() {
        if !table.counts(i) {
            continue;
        }
        for (codes, &cell) in used.iter_mut().zip(row) {
            if cell != MISSING {
                codes.insert(cell);
            }
        }
    }
    used
}
