//! Connections: accepted by a loop of ours, so that slow and many clients meet limits before anything is read.

use super::{App, router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// How long open requests have when the server stops.
const FAREWELL: Duration = Duration::from_secs(10);
/// How long to wait when the system has no room for another connection.
const BREATH: Duration = Duration::from_millis(100);

/// Serves connections until it is told to stop, then lets open requests finish.
pub async fn serve(
    listener: TcpListener,
    tls: Arc<ServerConfig>,
    app: Arc<App>,
    mut stopping: watch::Receiver<bool>,
) {
    let acceptor = TlsAcceptor::from(tls);
    let places = Arc::new(Semaphore::new(app.limits.connections));
    let service = TowerToHyperService::new(router(app.clone()));
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
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                sleep(BREATH).await;
                continue;
            }
        };
        let (acceptor, service, app) = (acceptor.clone(), service.clone(), app.clone());
        let stopping = stopping.clone();
        connections.spawn(async move {
            app.metrics.connection(1);
            let counted = Counted(app.clone());
            connection(stream, acceptor, service, &app, stopping).await;
            drop((counted, place));
        });
    }
    drop(listener);
    let _ = timeout(FAREWELL, async { while connections.join_next().await.is_some() {} }).await;
}

/// Counts a connection down however it ends.
struct Counted(Arc<App>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.metrics.connection(-1);
    }
}

async fn connection(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    service: TowerToHyperService<axum::Router>,
    app: &App,
    mut stopping: watch::Receiver<bool>,
) {
    let seconds = Duration::from_secs;
    let limits = &app.limits;
    let _ = stream.set_nodelay(true);
    let shaken = timeout(seconds(limits.handshake_seconds), acceptor.accept(stream)).await;
    // Whoever does not speak TLS, or not in time, is not worth a line.
    let Ok(Ok(stream)) = shaken else { return };
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
