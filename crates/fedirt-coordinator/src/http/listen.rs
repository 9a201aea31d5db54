//! Connections: accepted by a loop of ours, so that slow and many clients meet limits before anything is read.

use crate::metrics::Metrics;
use crate::settings::Limits;
use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
        let addresses = Addresses::new(limits.address_kibibytes());
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
            // One address cannot take everybody's places.
            let Some(own) = addresses.enter(peer.ip(), limits.connections_per_address) else { continue };
            let (acceptor, limits, metrics) = (acceptor.clone(), limits.clone(), metrics.clone());
            let router = router.clone().layer(Extension(ConnectInfo(peer))).layer(Extension(own.memory()));
            let service = TowerToHyperService::new(router);
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
                drop((counted, own, place));
            });
        }
        drop(listener);
        let _ = timeout(FAREWELL, async { while connections.join_next().await.is_some() {} }).await;
    }
}

/// The memory that large bodies of one address may take together, in KiB: nobody's slow messages keep those of others waiting.
#[derive(Debug, Clone)]
pub(super) struct AddressMemory(pub(super) Arc<Semaphore>);

/// What an address has at the moment.
#[derive(Debug)]
struct Share {
    connections: usize,
    memory: AddressMemory,
}

/// What each address that is connected has.
#[derive(Debug, Clone)]
struct Addresses {
    shares: Arc<Mutex<HashMap<IpAddr, Share>>>,
    kibibytes: usize,
}

/// A connection of an address; counted down however it ends.
struct OfAddress(Addresses, IpAddr, AddressMemory);

impl OfAddress {
    fn memory(&self) -> AddressMemory {
        self.2.clone()
    }
}

impl Addresses {
    fn new(kibibytes: usize) -> Self {
        Self { shares: Arc::default(), kibibytes }
    }

    fn shares(&self) -> MutexGuard<'_, HashMap<IpAddr, Share>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more connection, unless the address has its share.
    fn enter(&self, address: IpAddr, most: usize) -> Option<OfAddress> {
        let address = one_host(address);
        let memory = || AddressMemory(Arc::new(Semaphore::new(self.kibibytes)));
        let mut shares = self.shares();
        let share = shares.entry(address).or_insert_with(|| Share { connections: 0, memory: memory() });
        if share.connections >= most {
            return None;
        }
        share.connections += 1;
        Some(OfAddress(self.clone(), address, share.memory.clone()))
    }
}

impl Drop for OfAddress {
    fn drop(&mut self) {
        let mut shares = self.0.shares();
        if let Some(share) = shares.get_mut(&self.1) {
            share.connections -= 1;
            if share.connections == 0 {
                shares.remove(&self.1);
            }
        }
    }
}

/// A host of IPv6 has a network of 64 bits to itself, as a rule.
fn one_host(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 64 << 64)),
        four => four,
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

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::io::{Read, Write};
    use std::net::SocketAddr;
    use std::net::TcpStream;
    use std::time::Instant;
    use tokio::net::TcpSocket;

    async fn from(source: [u8; 4], to: SocketAddr) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((source, 0))).unwrap();
        let stream = socket.connect(to).await.unwrap().into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        stream
    }

    /// 1,024 slow connections from one address: the others go on.
    #[cfg(target_os = "linux")]
    #[tokio::test(flavor = "multi_thread")]
    async fn one_address_does_not_stop_the_others() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = listener.local_addr().unwrap();
        let router = Router::new().route("/health", get(|| async { "ok" }));
        let metrics = Arc::new(Metrics::new().unwrap());
        let serving = Listening { listener, tls: None, router, limits: Limits::default(), metrics };
        let (stop, stopping) = watch::channel(false);
        let server = tokio::spawn(serving.serve(stopping));
        let mut slow = Vec::new();
        for _ in 0..1024 {
            let mut stream = from([127, 0, 0, 1], to).await;
            // The head of a request that never ends; a connection that was closed may refuse it.
            let _ = stream.write_all(b"GET /health HTTP/1.1\r\n");
            slow.push(stream);
        }
        let start = Instant::now();
        let mut site = from([127, 0, 0, 2], to).await;
        site.write_all(b"GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        tokio::task::block_in_place(|| site.read_to_string(&mut answer)).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        drop(slow);
        stop.send_replace(true);
        server.await.unwrap();
    }

    #[test]
    fn hosts_are_counted_and_forgotten() {
        let addresses = Addresses::new(1);
        let (one, other) = ("2001:db8::1".parse().unwrap(), "2001:db8::2:1".parse().unwrap());
        let first = addresses.enter(one, 2);
        let second = addresses.enter(other, 2);
        assert!(first.is_some() && second.is_some());
        assert!(addresses.enter(one, 2).is_none(), "both are of one network");
        assert!(addresses.enter("192.0.2.1".parse().unwrap(), 2).is_some());
        drop(first);
        assert!(addresses.enter("2001:db8::3".parse().unwrap(), 2).is_some());
        drop(second);
        assert!(addresses.shares().is_empty());
    }
}
