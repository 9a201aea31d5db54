//! What operators watch: numbers about requests, commits and studies, never about answers.

use fedirt_protocol::coordinator::Phase;
use prometheus::{
    Encoder, Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    TextEncoder,
};
use std::time::Duration;

/// The numbers.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    messages: IntCounterVec,
    rounds: IntCounter,
    studies: IntGaugeVec,
    batch: Histogram,
    seconds: Histogram,
    events: IntCounter,
    connected: IntGauge,
    connections: IntGauge,
}

impl Metrics {
    /// All at zero.
    pub fn new() -> prometheus::Result<Self> {
        let registry = Registry::new();
        let requests = IntCounterVec::new(
            Opts::new("fedirt_requests_total", "Requests by route and status"),
            &["route", "status"],
        )?;
        let messages =
            IntCounterVec::new(Opts::new("fedirt_messages_total", "Messages taken, by kind"), &["kind"])?;
        let rounds = IntCounter::new("fedirt_rounds_total", "Rounds completed since the start")?;
        let studies = IntGaugeVec::new(Opts::new("fedirt_studies", "Studies by phase"), &["phase"])?;
        let batch = Histogram::with_opts(
            HistogramOpts::new("fedirt_commit_effects", "Rows of one transaction")
                .buckets(vec![1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0, 1024.0]),
        )?;
        let seconds = Histogram::with_opts(
            HistogramOpts::new("fedirt_commit_seconds", "Seconds of one transaction")
                .buckets(vec![0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0]),
        )?;
        let events = IntCounter::new("fedirt_events_total", "Events in the store")?;
        let connected = IntGauge::new("fedirt_connected_sites", "Sites heard of in the last minute")?;
        let connections = IntGauge::new("fedirt_connections", "Open connections")?;
        registry.register(Box::new(requests.clone()))?;
        registry.register(Box::new(messages.clone()))?;
        registry.register(Box::new(rounds.clone()))?;
        registry.register(Box::new(studies.clone()))?;
        registry.register(Box::new(batch.clone()))?;
        registry.register(Box::new(seconds.clone()))?;
        registry.register(Box::new(events.clone()))?;
        registry.register(Box::new(connected.clone()))?;
        registry.register(Box::new(connections.clone()))?;
        Ok(Self {
            registry,
            requests,
            messages,
            rounds,
            studies,
            batch,
            seconds,
            events,
            connected,
            connections,
        })
    }

    /// A request was answered.
    pub fn request(&self, route: &str, status: u16) {
        self.requests.with_label_values(&[route, &status.to_string()]).inc();
    }

    /// A site's message was taken.
    pub fn message(&self, kind: &str) {
        self.messages.with_label_values(&[kind]).inc();
    }

    /// A round is complete.
    pub fn round(&self) {
        self.rounds.inc();
    }

    /// A transaction is on the disk.
    pub fn committed(&self, effects: usize, events: u64, took: Duration) {
        self.batch.observe(effects as f64);
        self.seconds.observe(took.as_secs_f64());
        self.events.inc_by(events);
    }

    /// Events that were there at the start.
    pub fn events_found(&self, count: u64) {
        self.events.inc_by(count);
    }

    /// How many studies are in which phase, and how many sites were heard of lately.
    pub fn studies(&self, phases: impl IntoIterator<Item = Phase>, connected: usize) {
        let phases: Vec<Phase> = phases.into_iter().collect();
        for phase in Phase::ALL {
            let count = phases.iter().filter(|one| **one == phase).count();
            self.studies.with_label_values(&[phase.name()]).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        self.connected.set(i64::try_from(connected).unwrap_or(i64::MAX));
    }

    /// A connection was opened or closed.
    pub fn connection(&self, change: i64) {
        self.connections.add(change);
    }

    /// The text that Prometheus reads.
    pub fn text(&self) -> String {
        let mut bytes = Vec::new();
        // Only writing can fail, and memory takes everything.
        let _ = TextEncoder::new().encode(&self.registry.gather(), &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
