//! Requests and answers.

mod bearer;
mod body;
mod layer;
mod listen;
mod openapi;
mod problem;
mod routes;

pub use bearer::MetricsKey;
pub(crate) use bearer::new_key;
pub use listen::Listening;
pub use openapi::document;
pub use problem::HttpProblem;

use crate::metrics::Metrics;
use crate::settings::Limits;
use crate::store::StoreClient;
use crate::studies::Studies;
use axum::Router;
use axum::routing::{MethodRouter, get, post};
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// What requests may use.
#[derive(Debug)]
pub struct App {
    /// The studies by name.
    pub studies: Arc<Studies>,
    /// The store.
    pub store: StoreClient,
    /// Numbers for operators.
    pub metrics: Arc<Metrics>,
    /// What opens them.
    pub metrics_key: MetricsKey,
    /// Limits.
    pub limits: Limits,
    /// Kibibytes of bodies that may still be read at the same time.
    pub body_budget: Arc<Semaphore>,
    /// Memory for small bodies that may be read at once, in KiB.
    pub small_bodies: Arc<Semaphore>,
    /// Whether the server is stopping: nobody waits then.
    pub stopping: watch::Receiver<bool>,
}

type Route = (&'static str, &'static str, fn() -> MethodRouter<Arc<App>>);

/// Every route: method, path, handler. The OpenAPI document is checked against this list.
pub(crate) const ROUTES: [Route; 7] = [
    ("post", "/v1/enrol", || post(routes::enrol)),
    ("get", "/v1/studies/{study}/plan", || get(routes::plan)),
    ("post", "/v1/studies/{study}/messages", || post(routes::message)),
    ("post", "/v1/studies/{study}/poll", || post(routes::poll)),
    ("get", "/health", || get(routes::health)),
    ("get", "/metrics", || get(routes::metrics)),
    ("get", "/openapi.json", || get(routes::openapi)),
];

/// All routes with what is around them.
pub fn router(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for (_, path, handler) in ROUTES {
        router = router.route(path, handler());
    }
    router
        .fallback(routes::nothing_here)
        .method_not_allowed_fallback(routes::another_method)
        .layer(axum::middleware::from_fn_with_state(app.clone(), layer::around))
        .with_state(app)
}
