//! Connections: accepted by a loop of ours, so that slow and many clients meet limits before anything is read.

use crate::metrics::Metrics;
use crate::settings::Limits;
use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// How long open requests have when the server stops.
const FAREWELL: Duration = Duration::from_secs(10);
/// How long to wait when the system has no room for another connection.
const BREATH: Duration = Duration::from_millis(100);

/// A port, and what is served there.
#[derive(Debug)]
pub struct Listening {
    /// The port.
    pub listener: TcpListener,
    /// For handshakes; none on loopback alone.
    pub tls: Option<Arc<ServerConfig>>,
    /// Routes.
    pub router: Router,
    /// Limits of connections.
    pub limits: Limits,
    /// Numbers for operators.
    pub metrics: Arc<Metrics>,
}

impl Listening {
    /// Serves connections until it is told to stop, then lets open requests finish.
    pub async fn serve(self, mut stopping: watch::Receiver<bool>) {
        let Self { listener, tls, router, limits, metrics } = self;
        let acceptor = tls.map(TlsAcceptor::from);
        let places = Arc::new(Semaphore::new(limits.connections));
        // Dropping the set ends its connections.
        let mut connections = JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            let accept = async {
                let place = places.clone().acquire_owned().await;
                (place, listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                accepted = accept => accepted,
                _ = stopping.wait_for(|stopping| *stopping) => break,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    sleep(BREATH).await;
                    continue;
                }
            };
            let (acceptor, limits, metrics) = (acceptor.clone(), limits.clone(), metrics.clone());
            let service = TowerToHyperService::new(router.clone().layer(Extension(ConnectInfo(peer))));
            let stopping = stopping.clone();
            connections.spawn(async move {
                metrics.connection(1);
                let counted = Counted(metrics);
                let _ = stream.set_nodelay(true);
                match acceptor {
                    None => connection(stream, service, &limits, stopping).await,
                    Some(acceptor) => {
                        let wait = Duration::from_secs(limits.handshake_seconds);
                        // Whoever does not speak TLS, or not in time, is not worth a line.
                        if let Ok(Ok(stream)) = timeout(wait, acceptor.accept(stream)).await {
                            connection(stream, service, &limits, stopping).await;
                        }
                    }
                }
                drop((counted, place));
            });
        }
        drop(listener);
        let _ = timeout(FAREWELL, async { while connections.join_next().await.is_some() {} }).await;
    }
}

/// Counts a connection down however it ends.
struct Counted(Arc<Metrics>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.connection(-1);
    }
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    service: TowerToHyperService<Router>,
    limits: &Limits,
    mut stopping: watch::Receiver<bool>,
) {
    let seconds = Duration::from_secs;
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(seconds(limits.header_seconds))
        .max_buf_size(64 << 10);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        _ = connection.as_mut() => true,
        () = sleep(seconds(limits.connection_seconds)) => false,
        _ = stopping.wait_for(|stopping| *stopping) => false,
    };
    if !ended {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(seconds(limits.body_seconds), connection).await;
    }
}
