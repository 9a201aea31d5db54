//! Numbers and texts from the bytes of a file, in its byte order.

use super::SavError;

/// Which byte of a number comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    pub(super) fn number(self, bytes: [u8; 8]) -> f64 {
        match self {
            Self::Little => f64::from_le_bytes(bytes),
            Self::Big => f64::from_be_bytes(bytes),
        }
    }

    pub(super) fn bytes(self, number: f64) -> [u8; 8] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }

    fn int(self, bytes: [u8; 4]) -> i32 {
        match self {
            Self::Little => i32::from_le_bytes(bytes),
            Self::Big => i32::from_be_bytes(bytes),
        }
    }
}

/// Bytes that are taken from the front.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a [u8],
    pub(super) order: Order,
}

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], SavError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(SavError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn eight(&mut self) -> Result<[u8; 8], SavError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(SavError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(super) fn int(&mut self) -> Result<i32, SavError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(SavError::Truncated)?;
        self.rest = rest;
        Ok(self.order.int(*taken))
    }

    /// A number of things, which is not negative.
    pub(super) fn count(&mut self) -> Result<usize, SavError> {
        usize::try_from(self.int()?).map_err(|_| SavError::Damaged("a negative count"))
    }

    /// A place in the file.
    pub(super) fn place(&mut self) -> Result<usize, SavError> {
        let bytes = self.eight()?;
        let place = match self.order {
            Order::Little => u64::from_le_bytes(bytes),
            Order::Big => u64::from_be_bytes(bytes),
        };
        usize::try_from(place).map_err(|_| SavError::Damaged("a place in it"))
    }

    pub(super) fn number(&mut self) -> Result<f64, SavError> {
        Ok(self.order.number(self.eight()?))
    }
}
