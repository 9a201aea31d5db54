//! The elements of cases, eight bytes each, whether or not they are compressed.

use std::borrow::Cow;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::SavError;
use super::bytes::Cursor;
use super::dictionary::{Compression, Dictionary};

/// Most bytes that a block may become: SPSS writes 4 MB.
const MOST_BLOCK: usize = 64 << 20;
/// Most bytes that all blocks may become.
const MOST_BYTES: usize = 4 << 30;

/// The elements of a file's cases, one after the other.
pub(super) struct Elements<'a> {
    bytes: Cow<'a, [u8]>,
    at: usize,
    codes: [u8; 8],
    /// The next of the codes; 8: all were used.
    next_code: usize,
    compressed: bool,
    ended: bool,
    dictionary: &'a Dictionary,
}

impl<'a> Elements<'a> {
    pub(super) fn new(cases: &'a [u8], dictionary: &'a Dictionary) -> Result<Self, SavError> {
        let bytes = match dictionary.compression {
            Compression::No | Compression::Bytecode => Cow::Borrowed(cases),
            Compression::Zlib => Cow::Owned(inflated(Cursor { rest: cases, order: dictionary.order })?),
        };
        let compressed = dictionary.compression != Compression::No;
        Ok(Self { bytes, at: 0, codes: [0; 8], next_code: 8, compressed, ended: false, dictionary })
    }

    /// The next element; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<[u8; 8]>, SavError> {
        if !self.compressed {
            return self.eight();
        }
        while !self.ended {
            if self.next_code == 8 {
                let Some(codes) = self.eight()? else { break };
                (self.codes, self.next_code) = (codes, 0);
            }
            let code = self.codes[self.next_code];
            self.next_code += 1;
            match code {
                0 => {}
                252 => self.ended = true,
                253 => return self.eight()?.ok_or(SavError::Truncated).map(Some),
                254 => return Ok(Some(*b"        ")),
                255 => return Ok(Some(self.dictionary.order.bytes(self.dictionary.system_missing))),
                code => {
                    let number = f64::from(code) - self.dictionary.bias;
                    return Ok(Some(self.dictionary.order.bytes(number)));
                }
            }
        }
        Ok(None)
    }

    fn eight(&mut self) -> Result<Option<[u8; 8]>, SavError> {
        let rest = &self.bytes[self.at..];
        match rest.first_chunk() {
            Some(eight) => {
                self.at += 8;
                Ok(Some(*eight))
            }
            None if rest.is_empty() => Ok(None),
            None => Err(SavError::Truncated),
        }
    }
}

/// The blocks of a .zsav file one after the other. Its header says where they stand in the file, and the trailer how long
/// they are; they follow one another from the header to the trailer.
fn inflated(mut cases: Cursor<'_>) -> Result<Vec<u8>, SavError> {
    let whole = cases.rest;
    let (header, trailer) = (cases.place()?, cases.place()?);
    let from_header = trailer.checked_sub(header).ok_or(SavError::Damaged("its compressed blocks"))?;
    let mut blocks = cases;
    blocks.rest = whole.get(24..from_header).ok_or(SavError::Truncated)?;
    let mut trailer =
        Cursor { rest: whole.get(from_header..).ok_or(SavError::Truncated)?, order: cases.order };
    trailer.take(20)?;
    let mut out = Vec::new();
    for _ in 0..trailer.count()? {
        trailer.take(16)?;
        let (uncompressed, compressed) = (trailer.count()?, trailer.count()?);
        if uncompressed > MOST_BLOCK || out.len() + uncompressed > MOST_BYTES {
            return Err(SavError::TooLarge);
        }
        let block = decompress_to_vec_zlib_with_limit(blocks.take(compressed)?, uncompressed);
        out.extend(block.map_err(|_| SavError::Damaged("its compressed blocks"))?);
    }
    Ok(out)
}
