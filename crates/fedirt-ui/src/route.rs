//! Routes, each with the right that it needs.

use crate::gate::Gate;
use crate::guard::{Takes, guard};
use crate::role::Right;
use crate::{assets, headers, login};
use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use std::sync::Arc;

/// A page: its method, its path, the right that it needs, and its handler, which takes this method only.
#[derive(Debug)]
pub struct Route<S> {
    /// `get` or `post`, for lists and tests.
    pub method: &'static str,
    /// Path.
    pub path: &'static str,
    /// The right that a visitor needs.
    pub right: Right,
    /// Handler.
    pub handler: MethodRouter<S>,
    takes: Takes,
}

impl<S: Clone + Send + Sync + 'static> Route<S> {
    /// A page that is read.
    pub fn get(path: &'static str, right: Right, handler: MethodRouter<S>) -> Self {
        Self { method: "get", path, right, handler, takes: Takes::Form }
    }

    /// A form that is submitted.
    pub fn post(path: &'static str, right: Right, handler: MethodRouter<S>) -> Self {
        Self { method: "post", path, right, handler, takes: Takes::Form }
    }

    /// A file that is uploaded. The handler reads it from the body of the request.
    pub fn file(path: &'static str, right: Right, handler: MethodRouter<S>) -> Self {
        Self { takes: Takes::File, ..Self::post(path, right, handler) }
    }
}

/// The router of all pages behind their access control, with the log-in page, the stylesheet and the scripts.
pub fn router<S: Clone + Send + Sync + 'static>(gate: &Arc<Gate>, routes: Vec<Route<S>>, state: S) -> Router {
    let guarded = |right: Option<Right>, takes| from_fn_with_state((gate.clone(), right, takes), guard);
    let mut router = Router::new();
    for route in routes {
        router = router.route(route.path, route.handler.layer(guarded(Some(route.right), route.takes)));
    }
    let login_routes: Router = Router::new()
        .route("/login", get(login::show).post(login::enter).layer(guarded(None, Takes::Form)))
        .route("/logout", post(login::leave).layer(guarded(Some(Right::Read), Takes::Form)))
        .route("/assets/{name}", get(assets::serve))
        .with_state(gate.clone());
    router
        .with_state(state)
        .merge(login_routes)
        .fallback(page_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn(around))
}

async fn around(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    headers::add(response.headers_mut());
    response
}

async fn page_not_found() -> Response {
    crate::PageError::not_found("The address is wrong, or the page no longer exists.").into_response()
}

async fn method_not_allowed() -> Response {
    let text = "This address accepts a form. Open the page with the form.";
    let status = axum::http::StatusCode::METHOD_NOT_ALLOWED;
    crate::PageError::new(status, "Not a page", text).into_response()
}
