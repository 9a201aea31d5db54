//! `policy.toml`: the site's own rules, every one explained.

use super::AgentError;
use fedirt_protocol::policy::Policy;

/// The text that `fedirt site init` writes: the default policy, field by field.
pub const TEMPLATE: &str = r#"# The rules of this site. They win over any study plan: what they forbid is refused, whatever was agreed.
# Lines may be left out; the values here are then used. Unknown names are refused.

# Modes in which this site takes part:
#   "secure"   the coordinator sees sums over all sites only
#   "private"  the coordinator sees sums with noise
#   "plain"    the coordinator sees this site's own sums, from which answers can be rebuilt
modes = ["secure", "private"]

# Item models that this site calibrates.
models = ["2pl", "1pl", "rasch", "rasch-sd1", "pcm", "gpcm", "grm", "nrm"]

# Statistics that this site never sends, by the names that the preview shows. Example: ["ability_histogram"]
refused_statistics = []

# Fewest students with whom this site takes part.
minimum_students = 10

# Fewest sites that must share an exact sum (mode secure; at least 3). In private, noise hides each student, however many
# sites there are.
n_min = 3

# Sites that this site believes may work with the coordinator; a plan that assumes fewer is refused. With 0, a plan is
# accepted in which each other site could remove its own part of the noise (private) from what it learns.
colluders = 1

# Most rounds of estimation of a study: a plan that allows more is refused. A few closing rounds come on top.
max_rounds = 60

# Limits on the parameters that a coordinator may ask about. Beyond them, sums would be answers of single items.
largest_slope = 8.0
flat_slope = 0.05
flat_share = 0.25
largest_step_intercept = 12.0
largest_change = 1.5

# Whether this site's exact effect may be published by name (mode secure). In private, effects are estimated from noisy
# sums, and published by name.
publish_effects = false

# Whether a study may go on without a lost site, which lets the coordinator compute what that site sent.
allow_reveal_lost_site = false

# Whether a study in mode secure may have so few items (12 or fewer) or students (fewer than 1000) that the answers of
# all sites taken together may be inferred from its exact sums. Say true only knowing that; mode private
# needs no such consent.
allow_pooled_rows_inferred = false

# Fewest rows of a booklet of a private plan, where there are any: how many rows each has is told exactly.
fewest_booklet_rows = 10

# Where a study compares groups of students (sex, language): fewest students of a group of which sums are told. Students of
# rarer groups are left out. Tables by sum score of fewer complete rows, of a group or of the whole site, are zero.
fewest_in_group = 10

# Whether exact sums (plain, secure) and private releases may be about the same students. Exact sums undo what an epsilon
# promised before, and an epsilon says nothing beside exact sums that have left.
allow_exact_and_private = false

# Smallest part of the noise of a private study that this site makes itself (0.02: one of fifty). It is what protects its
# students even if all other sites work with the coordinator.
least_own_noise = 0.02

# Largest epsilon of a private study. Beyond about 10 it promises a student next to nothing.
largest_epsilon = 10.0

# "once": joining a study approves its rounds, within the limits above. "each_round": every round waits for you.
approval = "once"

# Whether the list of sites and keys is believed on the coordinator's word, without calling the other sites' officers.
# With false, all other sites but those that may work with the coordinator (colluders in the plan) must be verified, one by
# one; a site keeps its key, so one call counts in later studies too. With true, a dishonest coordinator could play all
# other sites and read this site's sums.
trust_roster_from_coordinator = false
"#;

/// Reads a policy from the content of its file. Unknown names are refused, with their line.
pub(super) fn read(content: Option<Vec<u8>>, location: String) -> Result<Policy, AgentError> {
    let bad = |reason: String| AgentError::Settings { location, reason };
    let Some(content) = content else {
        return Err(bad("the policy is missing; `fedirt site init` writes one to start from".into()));
    };
    let Ok(text) = String::from_utf8(content) else { return Err(bad("this is no UTF-8 text".into())) };
    toml::from_str(&text)
        .map_err(|error| bad(format!("{}. Correct this line, or remove it", error.to_string().trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_the_default() {
        assert_eq!(toml::from_str::<Policy>(TEMPLATE).unwrap(), Policy::default());
    }

    #[test]
    fn unknown_names_are_refused_with_their_line() {
        let content = b"n_min = 4\nn_max = 5\n".to_vec();
        let error = read(Some(content), "policy.toml".into()).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("n_max"), "{error}");
    }
}
