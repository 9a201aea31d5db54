//! Rate limit for failed log-ins.

use std::collections::BTreeMap;
use std::net::IpAddr;

/// Length of the time window in which failures are counted, in milliseconds.
const WINDOW: u64 = 15 * 60_000;
/// Failures that one address may have within the window.
const PER_ADDRESS: u32 = 10;
/// Failures that all addresses together may have within the window.
const GLOBAL: u32 = 200;
/// Maximum number of addresses that are remembered.
const MOST: usize = 10_000;

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    since: u64,
    failures: u32,
}

impl Count {
    fn add(&mut self, now: u64) {
        if self.failures == 0 || now.saturating_sub(self.since) >= WINDOW {
            *self = Self { since: now, failures: 0 };
        }
        self.failures = self.failures.saturating_add(1);
    }

    fn wait(&self, now: u64, most: u32) -> u64 {
        let left = (self.since + WINDOW).saturating_sub(now);
        if self.failures >= most { left.div_ceil(1000) } else { 0 }
    }
}

/// The failed attempts of the last window, by address.
#[derive(Debug, Default)]
pub struct Attempts {
    all: Count,
    by_address: BTreeMap<IpAddr, Count>,
}

impl Attempts {
    /// Seconds that an address must wait before its next attempt, or 0 if it need not wait.
    pub fn wait(&self, now: u64, address: IpAddr) -> u64 {
        let own = self.by_address.get(&network(address)).map_or(0, |count| count.wait(now, PER_ADDRESS));
        own.max(self.all.wait(now, GLOBAL))
    }

    /// Records a failed attempt.
    pub fn failed(&mut self, now: u64, address: IpAddr) {
        self.all.add(now);
        if self.by_address.len() >= MOST {
            self.by_address.retain(|_, count| now.saturating_sub(count.since) < WINDOW);
        }
        if self.by_address.len() < MOST {
            self.by_address.entry(network(address)).or_default().add(now);
        }
    }
}

/// The address by which attempts are counted. An IPv6 household or office has a whole /64 network, which counts as one.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_address_and_in_all() {
        let mut attempts = Attempts::default();
        let (one, other) = (IpAddr::from([1, 2, 3, 4]), IpAddr::from([1, 2, 3, 5]));
        for _ in 0..PER_ADDRESS {
            assert_eq!(attempts.wait(1000, one), 0);
            attempts.failed(1000, one);
        }
        assert_eq!(attempts.wait(1000, one), WINDOW / 1000);
        assert_eq!(attempts.wait(1000, other), 0);
        assert_eq!(attempts.wait(1000 + WINDOW, one), 0);
        for n in 0..GLOBAL {
            attempts.failed(1000, IpAddr::from([9, 9, (n / 200) as u8, (n % 200) as u8]));
        }
        assert!(attempts.wait(1000, other) > 0);
        let near = |last| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]);
        assert_eq!(network(near(1)), network(near(2)));
    }
}
