//! Figures as PNG.
//!
//! The letters come with the program, never from the machine, so that fonts installed there change nothing. The
//! renderer has code of its own for each kind of processor: between those, the last bit of a pixel may differ.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{self, fontdb};

use crate::figure::Figure;

/// Why a figure has no PNG.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// The figure has no drawing, and why.
    #[error("there is no drawing: {0}")]
    NoDrawing(String),
    /// The scale makes a picture of no pixels, or of more than a program can hold.
    #[error("a picture of this size cannot be drawn: choose a scale between 0.1 and 20")]
    Size,
    /// The drawing cannot be read or written; a mistake of this program.
    #[error("the drawing cannot be turned into a picture: {0}")]
    Drawing(String),
}

/// The family that stands for every other. The condensed cut is about as wide as the letters of most browsers.
const FAMILY: &str = "DejaVu Sans";

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    for cut in [dejavu::sans_condensed::regular(), dejavu::sans_condensed::bold()] {
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(cut)));
    }
    fonts.set_sans_serif_family(FAMILY);
    fonts.set_serif_family(FAMILY);
    fonts.set_monospace_family(FAMILY);
    Arc::new(fonts)
});

impl Figure {
    /// The wide drawing as PNG on white; a scale of 2 gives two pixels for each of the drawing.
    ///
    /// # Errors
    ///
    /// If the figure has no drawing, or `scale` is not between 0.1 and 20.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, PictureError> {
        if self.svg.is_empty() {
            return Err(PictureError::NoDrawing(self.missing.clone().unwrap_or_default()));
        }
        if !(0.1..=20.0).contains(&scale) {
            return Err(PictureError::Size);
        }
        let options = usvg::Options {
            fontdb: FONTS.clone(),
            font_family: FAMILY.to_owned(),
            ..usvg::Options::default()
        };
        let tree = usvg::Tree::from_str(&self.standalone(), &options)
            .map_err(|error| PictureError::Drawing(error.to_string()))?;
        let pixels = |side: f32| (side * scale).ceil() as u32;
        let size = tree.size();
        let mut map = Pixmap::new(pixels(size.width()), pixels(size.height())).ok_or(PictureError::Size)?;
        map.fill(Color::WHITE);
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut map.as_mut());
        map.encode_png().map_err(|error| PictureError::Drawing(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::{Anchor, Canvas, Ink};

    fn figure(letters: &str) -> Figure {
        Figure::drawn("t".into(), "d".into(), |width| {
            let mut canvas = Canvas::new(width.pixels(), 40.0);
            canvas.text((10.0, 25.0), Anchor::Start, Ink::Text, letters);
            canvas.finish("d")
        })
    }

    fn dark(png: &[u8]) -> usize {
        let map = Pixmap::decode_png(png).unwrap();
        map.pixels().iter().filter(|p| p.red() < 128).count()
    }

    #[test]
    fn pictures_have_their_size_and_hold_letters() {
        let png = figure("Bias and RMSE").png(2.0).unwrap();
        let map = Pixmap::decode_png(&png).unwrap();
        assert_eq!((map.width(), map.height()), (1200, 80));
        assert!(dark(&png) > 200, "{}", dark(&png));
        assert_eq!(dark(&figure("").png(2.0).unwrap()), 0);
        assert_eq!(png, figure("Bias and RMSE").png(2.0).unwrap());
    }

    #[test]
    fn every_letter_that_we_write_is_there() {
        // A letter that the font lacks is left out or drawn as an empty box: both would be the same for two.
        let letters = "εθμαβδσ×–−±√²≤≥ₖ⁻⁴…·≈é";
        let each: Vec<Vec<u8>> = letters.chars().map(|c| figure(&c.to_string()).png(6.0).unwrap()).collect();
        for (i, png) in each.iter().enumerate() {
            assert!(dark(png) > 0 && !each[..i].contains(png), "{:?}", letters.chars().nth(i));
        }
    }

    #[test]
    fn no_drawing_and_no_size_are_errors() {
        let none = Figure::without("t".into(), "Nothing to see.".into());
        assert_eq!(none.png(1.0), Err(PictureError::NoDrawing("Nothing to see.".into())));
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e6] {
            assert_eq!(figure("x").png(scale), Err(PictureError::Size));
        }
    }
}
