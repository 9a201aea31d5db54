//! Requests and answers of mailboxes as bytes.

use fedirt_protocol::mailbox::{Parcel, ParcelError, PartKind, ToCoordinatorMailbox};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn parcel() -> Parcel<ToCoordinatorMailbox> {
    let header = ToCoordinatorMailbox::Take { kind: PartKind::Poll };
    Parcel { header, parts: vec![vec![1, 2, 3], Vec::new()] }
}

fn written<H: Serialize + DeserializeOwned>(parcel: &Parcel<H>) -> Vec<u8> {
    let mut bytes = Vec::new();
    parcel.write(&mut bytes).expect("a sound test");
    bytes
}

fn read(bytes: &[u8]) -> Result<Parcel<ToCoordinatorMailbox>, ParcelError> {
    Parcel::read(&mut &bytes[..])
}

#[test]
fn parcels_come_back_as_they_were() {
    let bytes = written(&parcel());
    assert_eq!(read(&bytes).expect("a sound test"), parcel());
    let header = br#"{"ask":"take","kind":"poll"}"#;
    let mut by_hand = b"FIRTBOX1\0\0\0\x1c\0\0\0\x02\0\0\0\x03\0\0\0\0".to_vec();
    by_hand.extend_from_slice(header);
    by_hand.extend_from_slice(&[1, 2, 3]);
    assert_eq!(bytes, by_hand, "as docs/flower.md has it");
    for length in 0..bytes.len() {
        assert!(matches!(read(&bytes[..length]), Err(ParcelError::Broken(_))), "{length}");
    }
}

#[test]
fn what_is_announced_too_long_is_not_read() {
    let with = |at: usize, number: u32| {
        let mut bytes = written(&parcel());
        bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
        bytes
    };
    for (at, number, what) in
        [(8, 16_385, "header"), (12, 9, "number of parts"), (16, u32::MAX, "bytes"), (16, 66 << 20, "bytes")]
    {
        let error = read(&with(at, number));
        assert!(matches!(&error, Err(ParcelError::TooLong { what: w, .. }) if *w == what), "{error:?}");
    }
    assert!(matches!(read(b"GET / HTTP/1.1\r\n"), Err(ParcelError::NotOurs)));
    assert!(matches!(read(&with(16, 2 << 20)), Err(ParcelError::Broken(_))));
    let many = Parcel { parts: vec![Vec::new(); 9], ..parcel() };
    assert!(many.write(&mut Vec::new()).is_err());
}

#[test]
fn unknown_headers_are_refused() {
    for header in ["{}", "[]", r#"{"ask":"shell"}"#, r#"{"ask":"status","more":1}"#, "\u{0}"] {
        let mut bytes = b"FIRTBOX1".to_vec();
        bytes.extend_from_slice(&u32::try_from(header.len()).expect("a sound test").to_be_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(header.as_bytes());
        let error = read(&bytes);
        assert!(matches!(error, Err(ParcelError::Header(_))), "{header}: {error:?}");
    }
}
