//! What an attack rebuilds: a square for every student, filled where the whole row of answers came out.

use crate::canvas::{Anchor, Canvas, Ink, TEXT};
use crate::figure::{Figure, Table, Width};
use crate::text;

/// How many students' answers were rebuilt under several protocols.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RebuiltRows {
    /// What it shows, as a heading.
    pub title: String,
    /// What it shows, as sentences.
    pub description: String,
    /// One block for each protocol, from the top.
    pub blocks: Vec<Block>,
    /// How to read it: sentences to stand under the drawing.
    pub notes: Vec<String>,
}

/// One protocol.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// The protocol, as a heading: what is sent.
    pub heading: String,
    /// What the attacker sees; may be empty.
    pub sentence: String,
    /// Students whose whole row of answers was rebuilt.
    pub rebuilt: usize,
    /// Students whose row could be guessed from the published result alone, without any attack.
    pub guessed: usize,
    /// Students of the school.
    pub of: usize,
}

/// Draws one block of squares for each protocol.
pub fn rebuilt_rows(rebuilt: &RebuiltRows) -> Figure {
    let blocks: Vec<&Block> = rebuilt.blocks.iter().filter(|block| block.of > 0).collect();
    if blocks.is_empty() {
        return Figure::without(rebuilt.title.clone(), "There are no students to show.".to_owned());
    }
    let mut table =
        Table::new(&rebuilt.title, &["Protocol", "Students", "Rebuilt", "Guessed from the published result"]);
    for block in &blocks {
        let numbers = [block.of, block.rebuilt, block.guessed].map(|n| n.to_string());
        table.rows.push(std::iter::once(block.heading.clone()).chain(numbers).collect());
    }
    let mut figure = Figure::drawn(rebuilt.title.clone(), rebuilt.description.clone(), |width| {
        draw(&blocks, width, &rebuilt.description)
    });
    figure.notes = rebuilt.notes.clone();
    let each = blocks.iter().map(|block| together(block.of)).max().unwrap_or(1);
    let square = match each {
        1 => "Each square is a student".to_owned(),
        n => format!("A square stands for up to {n} students"),
    };
    figure
        .note(format!("{square}: filled where all of a student's answers were rebuilt without a mistake."))
        .table(table)
}

/// More squares than this cannot be told apart.
const MOST: usize = 1000;

/// Students that one square stands for.
fn together(of: usize) -> usize {
    of.div_ceil(MOST).max(1)
}

/// Distance of the squares, and how many stand in a line.
fn grid(squares: usize, room: f64) -> (f64, usize) {
    let pitch = match squares {
        0..=60 => 17.0,
        61..=120 => 14.0,
        121..=400 => 11.0,
        _ => 8.0,
    };
    // Lines of whole tens can be counted at a glance.
    let fit = (room / pitch) as usize;
    (pitch, (fit.min(50) / 10 * 10).max(10))
}

const LINE: f64 = 17.0;

fn draw(blocks: &[&Block], width: Width, description: &str) -> String {
    let w = width.pixels();
    let room = w - 8.0;
    let drawn: Vec<Drawn> = blocks.iter().map(|block| Drawn::new(block, room)).collect();
    let height = drawn.iter().map(|d| d.height).sum::<f64>() + 28.0 * (drawn.len() - 1) as f64 + 10.0;
    let mut canvas = Canvas::new(w, height);
    let mut y = 2.0;
    for (i, block) in drawn.iter().enumerate() {
        if i > 0 {
            canvas.line((4.0, y - 14.0), (w - 4.0, y - 14.0), Ink::Rule, 1.0);
        }
        block.draw(&mut canvas, 4.0, y);
        y += block.height + 28.0;
    }
    canvas.finish(description)
}

/// A block with its words broken into lines.
struct Drawn {
    heading: Vec<String>,
    sentence: Vec<String>,
    outcome: Vec<String>,
    beneath: Vec<String>,
    filled: usize,
    squares: usize,
    pitch: f64,
    per_line: usize,
    guessed: f64,
    alarming: bool,
    height: f64,
}

impl Drawn {
    fn new(block: &Block, room: f64) -> Self {
        let (rebuilt, guessed) = (block.rebuilt.min(block.of), block.guessed.min(block.of));
        let each = together(block.of);
        let squares = block.of.div_ceil(each);
        let (pitch, per_line) = grid(squares, room);
        // Fonts differ between machines, and headings are bold: some room to spare.
        let lines = |words: &str, spare: f64| text::wrapped(words, TEXT, room / spare);
        let [of, shown, chance] = [block.of, rebuilt, guessed].map(|n| text::count(n as u64));
        let outcome = match rebuilt {
            0 => format!("None of {of} students' answers rebuilt"),
            _ if rebuilt <= guessed => {
                format!("{shown} of {of} students' answers right, by guessing: the attack adds nothing")
            }
            _ => format!("{shown} of {of} students' answers rebuilt"),
        };
        let mut drawn = Self {
            heading: lines(&block.heading, 1.15),
            sentence: lines(&block.sentence, 1.08),
            outcome: lines(&outcome, 1.15),
            beneath: lines(&format!("The published result alone lets one guess {chance} of {of}."), 1.08),
            // One rebuilt row is seen even where a square stands for several.
            filled: rebuilt.div_ceil(each),
            squares,
            pitch,
            per_line,
            guessed: guessed as f64 / block.of.max(1) as f64,
            // What anyone can guess is no find.
            alarming: rebuilt > guessed,
            height: 0.0,
        };
        let words = drawn.heading.len() + drawn.sentence.len() + drawn.outcome.len() + drawn.beneath.len();
        drawn.height = LINE * words as f64 + 8.0 + pitch * squares.div_ceil(per_line) as f64 + 12.0;
        drawn
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let mut y = top;
        for line in &self.heading {
            y += LINE;
            canvas.heading((left, y - 4.0), Anchor::Start, Ink::Text, line);
        }
        for line in &self.sentence {
            y += LINE;
            canvas.text((left, y - 4.0), Anchor::Start, Ink::Muted, line);
        }
        y += 8.0;
        let corner = |i: usize| {
            let (line, column) = (i / self.per_line, i % self.per_line);
            (left + self.pitch * column as f64, y + self.pitch * line as f64)
        };
        let size = (self.pitch * 0.78).round();
        let corners: Vec<(f64, f64)> = (0..self.squares).map(corner).collect();
        let (filled, hollow) = corners.split_at(self.filled.min(corners.len()));
        canvas.squares(filled, size, if self.alarming { Ink::Alarm } else { Ink::Muted }, true);
        canvas.squares(hollow, size, Ink::Muted, false);
        let across = self.pitch * self.per_line.min(self.squares) as f64 - (self.pitch - size);
        y += self.pitch * self.squares.div_ceil(self.per_line) as f64;
        for line in &self.outcome {
            y += LINE;
            let ink = if self.alarming { Ink::Alarm } else { Ink::Text };
            canvas.heading((left, y - 2.0), Anchor::Start, ink, line);
        }
        // A thin line as long as the share that needs no attack at all.
        y += 6.0;
        canvas.line((left, y), (left + across, y), Ink::Rule, 2.0);
        if self.guessed > 0.0 {
            canvas.line((left, y), (left + across * self.guessed, y), Ink::Muted, 2.0);
        }
        for line in &self.beneath {
            y += LINE;
            canvas.text((left, y - 2.0), Anchor::Start, Ink::Muted, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attack(of: usize, rebuilt: usize, guessed: usize) -> RebuiltRows {
        let block = |heading: &str, rebuilt, guessed| Block {
            heading: heading.into(),
            sentence: "What the coordinator <sees>.".into(),
            rebuilt,
            guessed,
            of,
        };
        RebuiltRows {
            title: "Answers rebuilt".into(),
            description: "An attack.".into(),
            blocks: vec![block("As published", rebuilt, guessed), block("Secure", 0, guessed)],
            notes: vec!["A note.".into()],
        }
    }

    #[test]
    fn every_student_has_a_square() {
        for of in [1, 50, 100, 300, 1000] {
            let figure = rebuilt_rows(&attack(of, of, of / 4));
            for svg in [&figure.svg, &figure.narrow] {
                assert!(!svg.contains("NaN") && !svg.contains("<sees>"));
                assert_eq!(svg.matches("h-").count(), 2 * of, "{of}");
                assert!(svg.contains(&format!("{of} of {of} students&#39; answers rebuilt")));
                assert!(svg.contains(&format!("None of {of} students&#39; answers rebuilt")));
            }
            assert!(figure.notes[1].starts_with("Each square is a student"));
        }
    }

    #[test]
    fn thousands_share_squares_and_none_is_lost() {
        let figure = rebuilt_rows(&attack(2500, 1, 0));
        assert_eq!(figure.svg.matches("h-").count(), 2 * 834);
        assert!(figure.svg.contains("1 of 2500") && figure.notes[1].contains("up to 3 students"));
        assert_eq!(figure.svg.matches(Ink::Alarm.css()).count(), 2, "a square and the words");
    }

    #[test]
    fn what_anyone_can_guess_is_no_alarm() {
        let figure = rebuilt_rows(&attack(50, 13, 13));
        assert!(figure.svg.contains("the attack adds nothing") && !figure.svg.contains(Ink::Alarm.css()));
        assert!(rebuilt_rows(&attack(50, 14, 13)).svg.contains(Ink::Alarm.css()));
    }

    #[test]
    fn more_than_all_and_nobody() {
        let figure = rebuilt_rows(&attack(10, 99, 2));
        assert!(figure.svg.contains("10 of 10"));
        assert!(rebuilt_rows(&attack(0, 0, 0)).missing.is_some());
        assert!(rebuilt_rows(&RebuiltRows::default()).missing.is_some());
    }
}
