//! Seeds that once broke a rule, with what was wrong.
