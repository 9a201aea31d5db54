//! `fedirt study scale`: what masks cost at a site and at the coordinator, by the number of sites, with masks shared by all and
//! by neighbours.
//!
//! One attempt of a round: hellos, the opening that each site is shown, masked answers, the sum. Statistics, journals and TLS are
//! left out (`fedirt study load` has them), and so is the roster, which is checked once in a study.

use super::error::StudyFailure;
use super::real::load::cpu;
use crate::args::ScaleArgs;
use crate::error::CliError;
use crate::output::stdout;
use fedirt_privacy::fixed_point;
use fedirt_privacy::secure::{
    BoundCohort, Cohort, Hello, Identity, Neighbourhoods, Protection, Roster, RoundId, RoundKey, Shown,
    SignedHello, SiteId, Sparse, StudyId, Thresholds, Upload,
};
use fedirt_protocol::codec;
use fedirt_protocol::message::{Notice, SparseView, ToCoordinator, ToSite, Turn};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;
use std::process::ExitCode;

/// Most masks that are made, counted at both ends; beyond, some sites are measured for all.
const MOST_MASKS: usize = 1_100_000;

/// CPU time is counted in hundredths of a second, so whatever takes less than these is done again.
const LEAST_SECONDS: f64 = 0.5;

/// Bytes of the question, beside the names of the sites: about those of an evaluation of 20 items.
const QUESTION: [u8; 1024] = [7; 1024];

pub(super) fn run(args: &ScaleArgs) -> Result<ExitCode, CliError> {
    let numbers = args.numbers as usize;
    stdout::print(&format!(
        "One attempt of a round in which each site sends {numbers} masked numbers. Bytes of messages, CPU time:\n\n{:>7} {:>7} {:>6} {:>11} {:>11} {:>12} {:>15} {:>16} {:>9}\n",
        "sites",
        "masks",
        "with",
        "to a site",
        "from a site",
        "a site's CPU",
        "coordinator out",
        "coordinator CPU",
        "sum"
    ))?;
    for &sites in &args.sites {
        let sites = sites as usize;
        let round = Round::new(sites, numbers)?;
        for graph in [None, Sparse::of(sites, 1)].into_iter().enumerate() {
            if let (1, None) = graph {
                continue;
            }
            let cost = round.cost(graph.1, args.sample as usize)?;
            stdout::print(&format!(
                "{sites:>7} {:>7} {:>6} {:>8.1} kB {:>8.1} kB {:>9.2} ms {:>12.1} MB {:>14.1} ms {:>9}\n",
                if graph.0 == 0 { "full" } else { "sparse" },
                graph.1.map_or(sites - 1, |graph| graph.degree()),
                cost.to_site / 1e3,
                cost.from_site / 1e3,
                1e3 * cost.site,
                cost.to_site * sites as f64 / 1e6,
                1e3 * cost.coordinator,
                if cost.whole { "exact" } else { "–" }
            ))?;
        }
    }
    stdout::print(
        "\nexact: all sites answered, and the sum was that of their numbers. –: so many masks that some sites were measured for all.\n",
    )?;
    Ok(ExitCode::SUCCESS)
}

/// A site with its keys.
struct Member {
    name: SiteId,
    identity: Identity,
    secret: [u8; 32],
    numbers: Vec<u64>,
}

/// A round that all sites have said hello to.
struct Round {
    id: RoundId,
    roster: Roster,
    members: Vec<Member>,
    hellos: Vec<SignedHello>,
    protection: Protection,
    numbers: usize,
}

/// Bytes, and seconds of CPU.
struct Cost {
    to_site: f64,
    from_site: f64,
    site: f64,
    coordinator: f64,
    /// Whether all sites were run, and their sum compared.
    whole: bool,
}

/// A cohort at the coordinator.
struct Opened {
    bound: BoundCohort,
    near: Option<Neighbourhoods>,
}

impl Round {
    fn new(sites: usize, numbers: usize) -> Result<Self, CliError> {
        let mut random = ChaCha20Rng::seed_from_u64(1);
        let study = StudyId::try_from("scale").map_err(CliError::because)?;
        let id = RoundId { study: study.clone(), plan: [1; 32], round: 1, attempt: 1 };
        let members = (0..sites)
            .map(|k| {
                let name = SiteId::try_from(format!("site{k:06}").as_str()).map_err(CliError::because)?;
                let identity = Identity::generate(&mut random);
                let secret = *RoundKey::generate(&mut random).secret();
                let numbers = (0..numbers).map(|_| random.next_u64() >> 20).collect();
                Ok(Member { name, identity, secret, numbers })
            })
            .collect::<Result<Vec<_>, CliError>>()?;
        let entries = members.iter().map(|member| (member.name.clone(), member.identity.public()));
        let roster = Roster::of(study, 1, entries).map_err(CliError::because)?;
        let hello = |member: &Member| {
            let key = RoundKey::from_secret(&member.secret).public();
            Hello { round: id.clone(), site: member.name.clone(), key }.sign(&member.identity)
        };
        let hellos = members.par_iter().map(hello).collect();
        let thresholds = Thresholds::new(3, 1).map_err(CliError::because)?;
        Ok(Self { id, roster, members, hellos, protection: Protection::Sums(thresholds), numbers })
    }

    /// What the coordinator does with the hellos.
    fn open(&self, graph: Option<Sparse>) -> Result<Opened, CliError> {
        let cohort = Cohort::open(&self.id, &self.roster, &self.hellos, &self.protection)
            .map_err(CliError::because)?;
        Ok(match graph {
            None => Opened { bound: cohort.bind(&QUESTION), near: None },
            Some(graph) => {
                let (bound, near) = cohort.bind_sparse(&QUESTION, graph);
                Opened { bound, near: Some(near) }
            }
        })
    }

    /// The opening as it goes to a site.
    fn message(&self, opened: &Opened, member: &Member) -> Result<Notice, CliError> {
        let turn = Turn { round: 1, attempt: 1 };
        let Some(near) = opened.near.as_ref().and_then(|near| near.of(&member.name)) else {
            let hellos = self.hellos.iter().map(SignedHello::encode).collect();
            let names: Vec<String> = self.members.iter().map(|member| member.name.to_string()).collect();
            let broadcast = codec::encode(&(names, QUESTION.as_slice())).map_err(CliError::because)?;
            return Ok(Notice::Open { turn, hellos, broadcast });
        };
        let cohort = opened.bound.cohort().sites();
        let hellos = self.hellos.iter().filter(|hello| near.sites.contains(hello.site()));
        let view = SparseView {
            members: SparseView::members_of(&self.roster, &cohort),
            root: near.root,
            path: near.path,
            hellos: hellos.map(SignedHello::encode).collect(),
        };
        Ok(Notice::OpenSparse { turn, view, broadcast: QUESTION.to_vec() })
    }

    /// What a site does with an opening: checks, masks, signs.
    fn answer(&self, member: &Member, graph: Option<Sparse>, notice: &Notice) -> Result<Upload, CliError> {
        let decoded = |hellos: &[Vec<u8>]| {
            hellos.iter().map(|bytes| SignedHello::decode(bytes)).collect::<Result<Vec<_>, _>>()
        };
        let bound = match (notice, graph) {
            (Notice::OpenSparse { view, .. }, Some(graph)) => {
                let hellos = decoded(&view.hellos).map_err(CliError::because)?;
                let sites = view.cohort(&self.roster).unwrap_or_default();
                let shown = Shown { sites: &sites, root: &view.root, path: &view.path, hellos: &hellos };
                let (id, protection) = (&self.id, &self.protection);
                Cohort::open_sparse(id, &QUESTION, &self.roster, &member.name, shown, protection, graph)
            }
            (Notice::Open { hellos, .. }, _) => {
                let hellos = decoded(hellos).map_err(CliError::because)?;
                Cohort::open(&self.id, &self.roster, &hellos, &self.protection).map(|c| c.bind(&QUESTION))
            }
            (notice, _) => return Err(StudyFailure::AnotherSum { what: notice.kind() }.into()),
        };
        let bound = bound.map_err(CliError::because)?;
        let masked = RoundKey::from_secret(&member.secret).mask(&member.name, &bound, member.numbers.clone());
        Ok(masked.map_err(CliError::because)?.sign(&member.identity))
    }

    fn cost(&self, graph: Option<Sparse>, sample: usize) -> Result<Cost, CliError> {
        let sites = self.members.len();
        let whole = sites * graph.map_or(sites - 1, |graph| graph.degree()) <= MOST_MASKS;
        let (opened, opening) = timed(|| self.open(graph))?;
        let asked = &self.members[..if whole { sites } else { sample.min(sites) }];
        let mut bytes = 0;
        let mut notices = Vec::with_capacity(asked.len());
        // In the full graph all get the same bytes.
        let of_all = if graph.is_none() { Some(self.message(&opened, &self.members[0])?) } else { None };
        for member in asked {
            let own = if of_all.is_none() { Some(self.message(&opened, member)?) } else { None };
            notices.extend(own);
        }
        for notice in of_all.iter().chain(&notices) {
            let message = ToSite { step: 1, notice: notice.clone() };
            bytes += codec::encode(&message).map_err(CliError::because)?.len();
        }
        let to_site = bytes as f64 / of_all.iter().chain(&notices).count() as f64;
        let (uploads, answering) = timed(|| {
            let answer = |(k, member): (usize, &Member)| {
                let notice = of_all.as_ref().unwrap_or_else(|| &notices[k]);
                self.answer(member, graph, notice)
            };
            asked.par_iter().enumerate().map(answer).collect::<Result<Vec<_>, CliError>>()
        })?;
        let (total, adding) = timed(|| {
            let mut total = vec![0; self.numbers];
            for upload in &uploads {
                upload.verify(&opened.bound, self.numbers).map_err(CliError::because)?;
                fixed_point::add(&mut total, upload.words());
            }
            Ok(total)
        })?;
        if whole {
            let mut plain = vec![0; self.numbers];
            self.members.iter().for_each(|member| fixed_point::add(&mut plain, &member.numbers));
            if plain != total {
                return Err(StudyFailure::AnotherSum { what: "sum" }.into());
            }
        }
        let upload = ToCoordinator::Upload {
            turn: Turn { round: 1, attempt: 1 },
            sums: fedirt_protocol::message::Sums::Masked(uploads[0].encode()),
            by_name: Vec::new(),
        };
        let from_site =
            codec::encode(&upload).map_err(CliError::because)?.len() + self.hellos[0].encode().len();
        let asked = asked.len() as f64;
        Ok(Cost {
            to_site,
            from_site: from_site as f64,
            site: answering / asked,
            coordinator: opening + adding * sites as f64 / asked,
            whole,
        })
    }
}

/// The value, and CPU seconds of a run; what is quick is run again.
fn timed<T>(run: impl Fn() -> Result<T, CliError>) -> Result<(T, f64), CliError> {
    let own = std::process::id();
    let before = cpu(own)?;
    let mut times = 1.0;
    let mut value = run()?;
    while cpu(own)? - before < LEAST_SECONDS {
        value = run()?;
        times += 1.0;
    }
    Ok((value, (cpu(own)? - before) / times))
}
