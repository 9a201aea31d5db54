//! Buffers that start on a cache line: a row of eight doubles then never straddles two.

/// Bytes of a cache line, and of the widest vector register.
const LINE: usize = 64;

/// Doubles, zeroed, the first of them on a cache line.
#[derive(Debug)]
pub(crate) struct Aligned {
    data: Vec<f64>,
    start: usize,
    len: usize,
}

impl Aligned {
    pub(crate) fn zeros(len: usize) -> Self {
        let data = vec![0.0; len + LINE / size_of::<f64>()];
        // Where the offset cannot be told the buffer works all the same, only slower.
        let start = data.as_ptr().align_offset(LINE).min(LINE / size_of::<f64>());
        Self { data, start, len }
    }
}

impl std::ops::Deref for Aligned {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.data[self.start..self.start + self.len]
    }
}

impl std::ops::DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.data[self.start..self.start + self.len]
    }
}
