//! A plan to start from, with every field explained.

use super::{PlanItem, PrivacyLevel, usual_colluders};
use fedirt_model::statistics::Mode;

/// A commented plan for a study, some sites and some items; a private one at the strictest level.
pub fn template(study: &str, mode: Mode, sites: &[String], items: &[PlanItem], students: u64) -> String {
    template_at(study, (mode, PrivacyLevel::default()), sites, items, students)
}

/// The same at a level, which counts in a private study.
pub fn template_at(
    study: &str,
    (mode, level): (Mode, PrivacyLevel),
    sites: &[String],
    items: &[PlanItem],
    students: u64,
) -> String {
    let quoted: Vec<String> = sites.iter().map(|site| text(site)).collect();
    let secure = mode == Mode::Secure;
    let mut out = format!(
        r#"# Study plan. Everyone approves this text: its SHA-256 is part of every signature.
# Change it before the first site is invited; afterwards it is another study.
format = "fedirt.plan/2"
study = {study}
# Why the study is done, in words that every site's officer understands.
purpose = "Calibrate a common item bank."
# Who asks: officers see it first. Without the signs # it becomes part of the plan, and can then stand anywhere below.
# [contact]
# organisation = "…"
# person = "…"
# telephone = "…"
# email = "…"
# legal_basis = "…"
# retention = "…"

# Who learns what:
#   "private"  the coordinator sees sums with noise that the sites make: each student is protected by
#              (epsilon, delta), whatever the coordinator does. The only mode that protects students.
#   "plain"    the coordinator sees each site's sums, from which answers can be rebuilt: for coordinators that
#              could hold the data themselves.
#   "secure"   the coordinator is sent sums over all sites only. People who read them do not see a site's numbers; a
#              coordinator that computes may rebuild answers from them, and with site effects group them by site.
mode = "{mode}"

[cohort]
sites = [{sites}]
# About how many students all sites have together.
expected_students = {students}
# Fewest sites that may share a sum (secure): at least 3, and 2 more than colluders.
n_min = 3
# Sites that may work with the coordinator: every site whose key it could hold. At least 1: whoever takes part knows its
# own numbers and its own noise. (private: the others' noise makes up for theirs.)
colluders = {colluders}
# masking = "sparse": from 100 sites on each shares masks with about 90 others at most, and not with all. It costs less and holds
# against a third of the plan's sites (risks: masks_need_two_thirds_honest = true).
# If a site vanishes after sums were released: "wait", "end", or "reveal_lost_site", which lets the coordinator
# compute what that site sent.
on_loss = "wait"

[model]
# "none": all sites draw from one population; "fixed": an effect for each site; "random": drawn from a normal.
effects = "fixed"
# "newton" or "em"; in plain mode also "bfgs", "fedsgd", "fedavg", "meta".
algorithm = "newton"
tolerance = 1e-6
# Most rounds of estimation. When they are used up, the study ends with the estimates it has, marked as not converged.
# Up to three exchanges that close a study come on top, and one for diagnostics.
max_rounds = 40
# secure: whether the round after the first may ask about two sets of starting values, and not about one. A test that
# measures two things may need it; each further set tells more of the answers.
compare_starts = false
nodes = 61
range = 6.0
quadrature = "density"
# How ability is distributed: "normal", or with parameters that are estimated in the same rounds: "mixture:2" (to 4) normals,
# or "davidian:2" (to 8), a smooth curve.
population = "normal"
# Whether sites are compared item by item (plain; secure with six sites or more that do not work with the coordinator).
compare_sites = false
{diagnostics}
{privacy}[deadlines]
# Seconds. Left out, join_seconds means: as long as it takes.
# join_seconds = 604800
hello_seconds = 86400
upload_seconds = 86400

# Items can be compared between groups of students (plain, secure); each site says which of its columns has them:
# [groups]
# question = "Sex in the school's register"
# names = ["girl", "boy"]

[publish]
# secure: whether each site's effect is published by name; otherwise each site learns its own. (private: effects are
# estimated from noisy sums, and published; effects = "none" estimates none.)
effects_by_name = false

# Risks that this plan brings and that everyone consents to, by name. A plan that brings a risk and does not
# name it is refused.
[risks]
coordinator_sees_each_sites_sums = {plain}
rows_and_sites_may_be_inferred = {inferred}
each_site_sees_the_sum_of_the_other_two = {three}
lost_site_is_revealed = false

# The codebook: every item with its categories' codes. model: rasch, 1pl, 2pl, pcm, gpcm or grm
# (left out: 2pl for two categories, gpcm for more). An item with known parameters anchors the scale:
# fixed = {{ a = 1.2, d = [0.3] }}
# merged = [{{ code = 4, into = 3 }}]: sites turn answers 4 into 3 before anything else; 4 is then no category.
"#,
        study = text(study),
        diagnostics = if mode == Mode::Private { "" } else { DIAGNOSTICS },
        privacy = if mode == Mode::Private { privacy(level) } else { String::new() },
        mode = mode.name(),
        sites = quoted.join(", "),
        colluders = usual_colluders(sites.len()),
        plain = mode == Mode::Plain,
        inferred = secure,
        three = secure && sites.len() == 3,
    );
    for item in items {
        let model = item.model.as_ref().map_or(String::new(), |model| format!("model = {}\n", text(model)));
        let merged: Vec<String> =
            item.merged.iter().map(|m| format!("{{ code = {}, into = {} }}", m.code, m.into)).collect();
        let merged =
            if merged.is_empty() { String::new() } else { format!("merged = [{}]\n", merged.join(", ")) };
        let fixed = item.fixed.as_ref().map_or(String::new(), |known| {
            let d: Vec<String> = known.d.iter().map(|d| format!("{d:?}")).collect();
            format!("fixed = {{ a = {:?}, d = [{}] }}\n", known.a, d.join(", "))
        });
        out.push_str(&format!(
            "[[item]]\nname = {}\ncategories = {:?}\n{merged}{model}{fixed}\n",
            text(&item.name),
            item.categories
        ));
    }
    out
}

const DIAGNOSTICS: &str = r#"# Sums that sites send once, at the estimates, to see whether the model is right: "reliability" of ability estimates,
# "item_fit" (infit and outfit), "scores" (S-X² and sum scores), "q3" and "pairs" (items that depend on each other,
# dimensions, and global fit), "latent" (how ability is distributed), "influence" (what would change without single
# sites: how many change much, and in plain which). [] asks for none.
diagnostics = ["reliability", "item_fit", "q3", "scores", "pairs", "latent"]
"#;

fn privacy(level: PrivacyLevel) -> String {
    let named: Vec<String> =
        PrivacyLevel::ALL.iter().map(|l| format!("{} ({})", l.epsilon(), l.name())).collect();
    format!(
        "[privacy]\n# What may be learned about any one student: {}, or another number.\n",
        named.join(", ")
    ) + &format!(
        "# `fedirt privacy plan` tells which standard errors to expect.\nepsilon = {:?}\n",
        level.epsilon()
    ) + PRIVACY
}

const PRIVACY: &str = r#"# Smaller than one in ten times the number of students.
delta = 1e-6
# Model rows that are all wrong or all right apart (students who gave up, or copied).
mixture = false
# A row that lacks an answer: "counted" (the row counts for nothing), or "wrong" (the answer counts as wrong).
missing_answers = "counted"
# With effects = "none": SD of ability between sites.
site_sd = 0.0
# What is summed: "optimal" (scores bounded so that the error is smallest) or "score2" (whitened scores that are cut). Both
# cost the same epsilon and delta.
mechanism = "optimal"
# Difficulties are thought to lie around 0 with this SD before any data. Very easy and hard items lean on it: results
# name them. (Plans that do not say it are older, and mean 1.)
difficulty_sd = 2.0
# Where students were given different items, list the booklets:
# [[booklet]]
# name = "A"
# items = ["i01", "i02"]

"#;

/// A TOML string.
fn text(value: &str) -> String {
    toml::Value::String(value.to_owned()).to_string()
}
