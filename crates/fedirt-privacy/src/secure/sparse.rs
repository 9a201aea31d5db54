//! Who masks with whom in a large cohort: not everybody with everybody.
//!
//! The n sites of a cohort stand in a circle, in an order that is drawn for each attempt, and each masks with the m sites before
//! and the m after it: the circulant graph of Harary (1962, PNAS 48:1142), in the drawn order of Bell et al. (2020, "Secure
//! single-server aggregation with (poly)logarithmic overhead", CCS'20, section 3).
//!
//! **Why that hides.** A sum over some honest sites stays hidden as long as one of them shares a mask with an honest site outside.
//! So the honest sites must be connected among themselves. Two that follow one another in the circle, with fewer than m colluders
//! between them, share a mask. They are therefore connected unless colluders fill two disjoint arcs of m places. There are fewer
//! than n²/2 pairs of such arcs, and c colluders whose places are drawn fill a given pair with probability ∏ (c − i)/(n − i) over
//! i < 2m:
//!
//! ```text
//! P(honest sites not connected) ≤ n²/2 · ∏_{i < 2m} (c − i)/(n − i)
//! ```
//!
//! It is zero where c < 2m. [`Sparse::of`] takes the smallest m with which it is at most 2⁻¹²⁰: a coordinator may try out parameters,
//! cohorts and its own sites' keys until the order suits it, and after 2⁸⁰ tries 2⁻⁴⁰ is left.
//!
//! **The order** is that of SHA-256(context, name). The context has the root of a hash tree over the names and keys of all hellos, and
//! a site checks that its own fresh key is in it: nobody can know the order before this site has said hello. Of the other hellos
//! a site sees those of its neighbours. More is not needed: see [`Cohort::open_sparse`].

use super::cohort::{BoundCohort, Cohort, CohortError, Context};
use super::encoding::Fields;
use super::hello::{Hello, HelloError, RoundId, SignedHello};
use super::name::SiteId;
use super::roster::Roster;
use super::round_key::RoundPublicKey;
use super::thresholds::Protection;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

const CONTEXT: &str = "fedirt sparse context";
const ORDER: &str = "fedirt order of sites";
const LEAF: &str = "fedirt hello leaf";
const NODE: &str = "fedirt hello node";

/// Fewest sites that do not all mask with one another.
const FEWEST: usize = 100;

/// One in so many sites is reckoned to work with the coordinator, where the plan's c is less.
const ONE_IN: usize = 3;

/// log₂ of what the bound on the probability may be.
const BITS: i32 = -120;

/// A circulant graph: each site masks with so many on either side of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sparse {
    reach: usize,
}

impl Sparse {
    /// The graph for a cohort of a plan with c colluders. None: everybody masks with everybody, as there are fewer than 100 sites, or
    /// too many colluders for less.
    pub fn of(sites: usize, colluders: usize) -> Option<Self> {
        let colluders = colluders.max(sites / ONE_IN);
        if sites < FEWEST || colluders >= sites {
            return None;
        }
        // Products and quotients alone, which every processor rounds in the same way.
        let (n, c) = (sites as f64, colluders as f64);
        let mut bound = n * n / 2.0;
        let mut degree = 0;
        while bound > 2f64.powi(BITS) || degree % 2 == 1 {
            let filled = degree as f64;
            bound *= (c - filled).max(0.0) / (n - filled);
            degree += 1;
        }
        (degree < sites - 1).then_some(Self { reach: degree / 2 })
    }

    /// With how many others a site masks.
    pub fn degree(&self) -> usize {
        2 * self.reach
    }

    #[cfg(test)]
    pub(super) fn with_reach(reach: usize) -> Self {
        Self { reach }
    }

    /// The sites that stand near a place of the circle.
    pub(super) fn near<'a>(&self, circle: &'a [SiteId], place: usize) -> impl Iterator<Item = &'a SiteId> {
        let (n, reach) = (circle.len(), self.reach);
        (1..=reach).flat_map(move |step| [&circle[(place + step) % n], &circle[(place + n - step) % n]])
    }
}

/// The circle of an attempt.
fn circle<'a>(context: &Context, sites: impl IntoIterator<Item = &'a SiteId>) -> Vec<SiteId> {
    let place =
        |site: &SiteId| Fields::new(ORDER).bytes(context.as_bytes()).bytes(site.as_str().as_bytes()).hash();
    let mut placed: Vec<([u8; 32], &SiteId)> = sites.into_iter().map(|site| (place(site), site)).collect();
    placed.sort_unstable();
    placed.into_iter().map(|(_, site)| site.clone()).collect()
}

fn context<'a>(
    round: &RoundId,
    broadcast: &[u8],
    sites: impl ExactSizeIterator<Item = &'a SiteId>,
    root: &[u8; 32],
) -> Context {
    let broadcast: [u8; 32] = Sha256::digest(broadcast).into();
    let mut fields = Fields::new(CONTEXT);
    round.write(&mut fields);
    fields.bytes(&broadcast).bytes(root).number(sites.len() as u64);
    sites.for_each(|site| {
        fields.bytes(site.as_str().as_bytes());
    });
    Context::from_bytes(fields.hash())
}

fn leaf(site: &SiteId, key: &RoundPublicKey) -> [u8; 32] {
    Fields::new(LEAF).bytes(site.as_str().as_bytes()).bytes(key.as_bytes()).hash()
}

fn node(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    Fields::new(NODE).bytes(left).bytes(right).hash()
}

/// The levels of a hash tree from its leaves to its root; a last node without a partner stands a level higher as it is.
fn tree(leaves: Vec<[u8; 32]>) -> Vec<Vec<[u8; 32]>> {
    let mut levels = vec![leaves];
    while let Some(last) = levels.last().filter(|level| level.len() > 1) {
        let above = last.chunks(2).map(|pair| match pair {
            [left, right] => node(left, right),
            alone => alone[0],
        });
        levels.push(above.collect());
    }
    levels
}

/// The partners on the way from a leaf to the root.
fn path(levels: &[Vec<[u8; 32]>], mut at: usize) -> Vec<[u8; 32]> {
    let mut partners = Vec::new();
    for level in levels {
        partners.extend(level.get(at ^ 1));
        at /= 2;
    }
    partners
}

/// The root to which a leaf at a place among so many leads, if the path has the length that it must have.
fn root_from(leaf: [u8; 32], mut at: usize, mut width: usize, path: &[[u8; 32]]) -> Option<[u8; 32]> {
    let (mut hash, mut partners) = (leaf, path.iter());
    while width > 1 {
        if at ^ 1 < width {
            let partner = partners.next()?;
            hash = if at.is_multiple_of(2) { node(&hash, partner) } else { node(partner, &hash) };
        }
        (at, width) = (at / 2, width.div_ceil(2));
    }
    partners.next().is_none().then_some(hash)
}

/// A large cohort as a site is shown it.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// All of its sites.
    pub sites: &'a BTreeSet<SiteId>,
    /// Root of the hash tree over all hellos.
    pub root: &'a [u8; 32],
    /// From this site's hello to the root.
    pub path: &'a [[u8; 32]],
    /// The hellos of this site and of those with which it masks.
    pub hellos: &'a [SignedHello],
}

/// What the coordinator shows to a site of a large cohort, beside all names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbourhood {
    /// Root of the hash tree over all hellos.
    pub root: [u8; 32],
    /// From the site's own hello to the root.
    pub path: Vec<[u8; 32]>,
    /// The site and those with which it masks.
    pub sites: BTreeSet<SiteId>,
}

/// A large cohort at the coordinator, which knows all of it.
#[derive(Debug, Clone)]
pub struct Neighbourhoods {
    graph: Sparse,
    levels: Vec<Vec<[u8; 32]>>,
    /// Every site's place in the order of names, and in the circle.
    places: BTreeMap<SiteId, (usize, usize)>,
    circle: Vec<SiteId>,
}

impl Neighbourhoods {
    fn root(&self) -> [u8; 32] {
        self.levels.last().and_then(|level| level.first()).copied().unwrap_or_default()
    }

    /// What a site of the cohort is shown.
    pub fn of(&self, site: &SiteId) -> Option<Neighbourhood> {
        let (leaf, place) = *self.places.get(site)?;
        let sites = self.graph.near(&self.circle, place).chain([site]).cloned().collect();
        Some(Neighbourhood { root: self.root(), path: path(&self.levels, leaf), sites })
    }
}

impl Cohort {
    /// [`Cohort::bind`] with masks between neighbours alone, and who they are.
    pub fn bind_sparse(self, broadcast: &[u8], graph: Sparse) -> (BoundCohort, Neighbourhoods) {
        let members = self.members();
        let levels = tree(members.iter().map(|(site, member)| leaf(site, &member.key)).collect());
        let mut all = Neighbourhoods { graph, levels, places: BTreeMap::new(), circle: Vec::new() };
        let context = context(self.round(), broadcast, members.keys(), &all.root());
        all.circle = circle(&context, members.keys());
        let leaves: BTreeMap<&SiteId, usize> = members.keys().enumerate().map(|(at, s)| (s, at)).collect();
        all.places = (all.circle.iter().enumerate())
            .filter_map(|(place, site)| Some((site.clone(), (*leaves.get(site)?, place))))
            .collect();
        (self.bound(context), all)
    }

    /// A site's view of a large cohort. The cohort that is bound has this site and its neighbours alone, which are the ones to
    /// mask with.
    ///
    /// Checks that all sites are on the roster and enough, that this site's hello is under the root, and that the hellos
    /// are those of its neighbours, each signed for this attempt. Nobody else's hello is needed. Honest sites that are shown
    /// different things have different contexts, and no mask between them cancels. Among those with one context, an honest
    /// site that is said to be there and is not, or under another key, has honest neighbours, as the honest are connected. They
    /// are shown no such hello with its signature, and refuse, so that their own masks with others stay in the sum.
    pub fn open_sparse(
        round: &RoundId,
        broadcast: &[u8],
        roster: &Roster,
        own: &SiteId,
        shown: Shown<'_>,
        protection: &Protection,
        graph: Sparse,
    ) -> Result<BoundCohort, CohortError> {
        let Shown { sites, root, path, hellos } = shown;
        protection.check_size(sites.len())?;
        if let Some(site) = sites.iter().find(|site| roster.key(site).is_none()) {
            return Err(HelloError::UnknownSite { site: site.clone() }.into());
        }
        let absent = || CohortError::NotUnderRoot { site: own.clone() };
        let at = sites.iter().position(|site| site == own).ok_or_else(absent)?;
        let context = context(round, broadcast, sites.iter(), root);
        let circle = circle(&context, sites);
        let place = circle.iter().position(|site| site == own).ok_or_else(absent)?;
        let neighbours: BTreeSet<&SiteId> = graph.near(&circle, place).chain([own]).collect();
        let verified: Vec<_> = hellos.par_iter().map(|signed| signed.verify(round, roster)).collect();
        let verified = verified.into_iter().collect::<Result<Vec<&Hello>, HelloError>>()?;
        let cohort = Self::gathered(round, roster, verified)?;
        if !cohort.members().keys().eq(neighbours.iter().copied()) {
            return Err(CohortError::OtherNeighbours { site: own.clone() });
        }
        let key = &cohort.members().get(own).ok_or_else(absent)?.key;
        if root_from(leaf(own, key), at, sites.len(), path) != Some(*root) {
            return Err(absent());
        }
        Ok(cohort.bound(context))
    }
}
