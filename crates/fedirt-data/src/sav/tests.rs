//! System files that the tests write themselves, in both byte orders and all compressions.

use miniz_oxide::deflate::compress_to_vec_zlib;

use super::bytes::Order;
use crate::{Audience, Input, NoteKind, ReadOptions, Responses, codebook_of, questions, read};

/// What a file is to be.
#[derive(Clone, Copy)]
struct Form {
    order: Order,
    compression: i32,
}

struct Writer {
    form: Form,
    out: Vec<u8>,
}

impl Writer {
    fn int(&mut self, value: i32) {
        let bytes = if self.form.order == Order::Little { value.to_le_bytes() } else { value.to_be_bytes() };
        self.out.extend(bytes);
    }

    fn long(&mut self, value: usize) {
        let value = value as i64;
        let bytes = if self.form.order == Order::Little { value.to_le_bytes() } else { value.to_be_bytes() };
        self.out.extend(bytes);
    }

    fn number(&mut self, value: f64) {
        self.out.extend(self.form.order.bytes(value));
    }

    fn ints(&mut self, values: &[i32]) {
        values.iter().for_each(|value| self.int(*value));
    }

    fn longs(&mut self, values: &[usize]) {
        values.iter().for_each(|value| self.long(*value));
    }

    fn numbers(&mut self, values: &[f64]) {
        values.iter().for_each(|value| self.number(*value));
    }

    fn text(&mut self, text: &[u8], width: usize) {
        self.out.extend(text);
        self.out.extend(std::iter::repeat_n(b' ', width - text.len()));
    }

    fn variable(&mut self, short: &str, width: i32, missing: &[f64], range: bool) {
        self.ints(&[2, width, 1]);
        let count = missing.len() as i32;
        self.int(if range { -count } else { count });
        // F8.2, then the same for writing; A8 for texts.
        let format = if width == 0 { 5 << 16 | 8 << 8 } else { 1 << 16 | 8 << 8 };
        self.ints(&[format, format]);
        self.text(short.as_bytes(), 8);
        self.int(5);
        self.text(b"Label", 8);
        missing.iter().for_each(|value| self.number(*value));
        for _ in 1..(width as usize).div_ceil(8) {
            self.ints(&[2, -1, 0, 0, 0, 0]);
            self.text(b"", 8);
        }
    }

    fn extension(&mut self, subtype: i32, content: &[u8]) {
        self.ints(&[7, subtype, 1, content.len() as i32]);
        self.out.extend(content);
    }
}

/// Four students: a name of 300 bytes, two items with labels and missing values, a weight.
fn file(form: Form) -> Vec<u8> {
    let mut w = Writer { form, out: Vec::new() };
    w.text(if form.compression == 2 { b"$FL3" } else { b"$FL2" }, 4);
    w.text(b"@(#) written by a test", 60);
    // Elements of a case: 32 + 6 of the name, and three numbers. The weight is the last.
    w.ints(&[2, 41, form.compression, 41, 4]);
    w.number(100.0);
    w.text(b"19 Nov 26", 9);
    w.text(b"12:00:00", 8);
    w.text(b"", 64);
    w.text(b"", 3);
    w.variable("NAME", 255, &[], false);
    w.variable("NAME0", 48, &[], false);
    w.variable("ITEM1", 0, &[9.0], false);
    // 7 to 8 are missing, and so is 99.
    w.variable("ITEM2", 0, &[7.0, 8.0, 99.0], true);
    w.variable("W", 0, &[], false);
    w.int(3);
    w.int(3);
    for (value, label) in [(1.0, &b"n\xe9ver"[..]), (3.0, b"always, yes"), (9.0, b"refused")] {
        w.number(value);
        w.out.push(label.len() as u8);
        w.text(label, (label.len() + 1).next_multiple_of(8) - 1);
    }
    // Both items, by their places among the elements.
    w.ints(&[4, 2, 39, 40]);
    w.ints(&[6, 1]);
    w.text(b"a document", 80);
    let mut machine = Writer { form, out: Vec::new() };
    machine.ints(&[24, 0, 0, 720, 1, 1, 2, 1252]);
    w.extension(3, &machine.out);
    let mut floats = Writer { form, out: Vec::new() };
    floats.numbers(&[-f64::MAX, f64::MAX, (-f64::MAX).next_up()]);
    w.extension(4, &floats.out);
    w.extension(13, b"NAME=full_name\tITEM1=Anxiety_1\tITEM2=Anxiety_2\tW=weighting");
    w.extension(14, b"NAME=00300\0\t");
    w.extension(20, b"windows-1252");
    w.extension(99, b"unknown");
    w.ints(&[999, 0]);
    let long = "x".repeat(299) + "!";
    let rows: [(&[u8], Option<f64>, f64, f64); 4] = [
        (b"J\xf6rg", Some(1.0), 3.0, 1.5),
        (long.as_bytes(), Some(3.0), 7.5, 2.0),
        (b"", Some(9.0), 2.0, 1.0),
        (b"a,b", None, 99.0, 0.25),
    ];
    let mut cases = Writer { form, out: Vec::new() };
    for (name, one, two, weight) in rows {
        // Segments of 255 bytes, each filled up to whole elements.
        let (first, second) = name.split_at(name.len().min(255));
        cases.text(first, 256);
        cases.text(second, 48);
        cases.number(one.unwrap_or(-f64::MAX));
        cases.numbers(&[two, weight]);
    }
    let plain = cases.out;
    match form.compression {
        0 => w.out.extend(plain),
        1 => w.out.extend(bytecode(&plain, form)),
        _ => {
            let (start, code) = (w.out.len(), bytecode(&plain, form));
            let (one, two) = code.split_at(code.len() / 2);
            let blocks = [one, two].map(|block| (block.len(), compress_to_vec_zlib(block, 6)));
            let length: usize = blocks.iter().map(|(_, block)| block.len()).sum();
            w.longs(&[start, start + 24 + length, 24 + 24 * blocks.len()]);
            blocks.iter().for_each(|(_, block)| w.out.extend(block));
            w.longs(&[0, 0]);
            w.ints(&[0x3f_f000, 2]);
            for (size, block) in &blocks {
                w.longs(&[0, 0]);
                w.ints(&[*size as i32, block.len() as i32]);
            }
        }
    }
    w.out
}

/// Elements as codes: small whole numbers, spaces, the system's missing value, or as they are.
fn bytecode(plain: &[u8], form: Form) -> Vec<u8> {
    let mut out = Vec::new();
    let mut elements: Vec<(u8, Option<&[u8]>)> = plain
        .chunks_exact(8)
        .map(|element| {
            let number = form.order.number(element.try_into().unwrap());
            match number {
                _ if element == b"        " => (254, None),
                v if v == -f64::MAX => (255, None),
                v if v.fract() == 0.0 && (-99.0..=151.0).contains(&v) && v != 0.0 => {
                    ((v + 100.0) as u8, None)
                }
                _ => (253, Some(element)),
            }
        })
        .collect();
    elements.push((252, None));
    for eight in elements.chunks(8) {
        let mut codes: Vec<u8> = eight.iter().map(|(code, _)| *code).collect();
        codes.resize(8, 0);
        out.extend(codes);
        eight.iter().filter_map(|(_, element)| *element).for_each(|element| out.extend(element));
    }
    out
}

const FORMS: [Form; 6] = [
    Form { order: Order::Little, compression: 0 },
    Form { order: Order::Little, compression: 1 },
    Form { order: Order::Little, compression: 2 },
    Form { order: Order::Big, compression: 0 },
    Form { order: Order::Big, compression: 1 },
    Form { order: Order::Big, compression: 2 },
];

fn options() -> ReadOptions {
    ReadOptions { id: Some("full_name".into()), weight: Some("weighting".into()), ..ReadOptions::default() }
}

fn of(bytes: &[u8]) -> Responses {
    let text = |s: &str| s.replace("(refused)", "");
    let reading = read([Input::new("exam.sav", bytes)], &options());
    reading.unwrap_or_else(|problems| panic!("{}", text(&problems.told(Audience::CommandLine))))
}

#[test]
fn all_forms_give_the_rows_of_the_same_text() {
    for form in FORMS {
        // The third student has no name, which is a complaint of its own.
        let problems = read([Input::new("exam.sav", &file(form)[..])], &options()).unwrap_err();
        let told = problems.told(Audience::CommandLine);
        assert!(told.contains("line 4, column full_name: the row has no id"), "{told}");
        let ignoring = ReadOptions { id: None, ignore: vec!["full_name".into()], ..options() };
        let sav = read([Input::new("exam.sav", &file(form)[..])], &ignoring).unwrap();
        let text = "Anxiety_1,Anxiety_2,weighting\n1,3,1.5\n3,,2\n,2,1\n,,0.25\n";
        let csv = ReadOptions { ignore: Vec::new(), ..ignoring.clone() };
        let csv = read([Input::new("exam.csv", text.as_bytes())], &csv).unwrap();
        assert_eq!(sav.sites[0].table, csv.sites[0].table);
        assert_eq!(sav.sites[0].items, ["Anxiety_1", "Anxiety_2"]);
    }
}

#[test]
fn long_and_foreign_texts_are_whole() {
    for form in FORMS.into_iter().filter(|form| form.compression == 0) {
        let mut named = file(form);
        // The third student gets a name.
        let end = named.len() - 2 * (304 + 24);
        named[end..end + 3].copy_from_slice(b"eve");
        let ids = of(&named).sites[0].ids.clone().unwrap();
        assert_eq!(
            (ids[0].as_str(), ids[1].len(), ids[2].as_str(), ids[3].as_str()),
            ("Jörg", 300, "eve", "a,b")
        );
        assert!(ids[1].ends_with("x!"));
    }
}

#[test]
fn what_the_file_says_is_told_and_used() {
    let ignoring = |ignore: &[&str]| ReadOptions {
        ignore: ignore.iter().map(|name| name.to_string()).collect(),
        ..ReadOptions::default()
    };
    let bytes = file(FORMS[1]);
    let problems = read([Input::new("exam.sav", &bytes[..])], &ignoring(&["full_name"])).unwrap_err();
    let told = problems.told(Audience::CommandLine);
    assert!(
        told.contains("column weighting") && told.contains("--weight weighting or --ignore weighting"),
        "{told}"
    );
    let responses =
        read([Input::new("exam.sav", &bytes[..])], &ignoring(&["full_name", "weighting"])).unwrap();
    let missing =
        responses.notes.iter().find(|note| matches!(note.kind, NoteKind::DeclaredMissing(_))).unwrap();
    assert_eq!(
        missing.to_string(),
        "exam.sav: 2 columns have values that the file declares missing, and that count as no answer: `Anxiety_1` 9 (1 cell); `Anxiety_2` 7 to 8, 99 (2 cells)"
    );
    assert!(questions(&responses, &[]).is_ok());
    let book = codebook_of(&responses);
    assert_eq!(
        book,
        "item,categories,lowest,levels\nAnxiety_1,,,\"1=néver|2|3=always, yes\"\nAnxiety_2,,,\"1=néver|2|3=always, yes|9=refused\"\n".replace("|9=refused", "|4|5|6|7|8|9=refused")
    );
    // The codebook is read back, for numbers and for words.
    let read_back = crate::read_codebook(Input::new("book.csv", book.as_bytes())).unwrap();
    assert_eq!(read_back[0].categories.as_deref(), Some(&[1, 2, 3][..]));
    let words = "Anxiety_1,Anxiety_2\nNéver,1\n3,refused\n\"always, yes\",2\n";
    let options = ReadOptions { codebook: Some(read_back), ..ReadOptions::default() };
    let words = read([Input::new("words.csv", words.as_bytes())], &options).unwrap();
    assert_eq!(words.sites[0].table.rows().collect::<Vec<_>>(), [[1, 1], [3, 9], [3, 2]]);
}

#[test]
fn cut_files_are_refused() {
    for form in FORMS {
        let whole = file(form);
        for end in [3, 60, 200, 700, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
            let cut = read([Input::new("exam.sav", &whole[..end])], &options());
            assert!(cut.is_err(), "{} of {}", end, whole.len());
        }
    }
}

/// Damaged files are refused or read, and never end the program.
#[test]
fn damaged_bytes_do_no_harm() {
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for form in FORMS {
        let whole = file(form);
        for _ in 0..1000 {
            let mut bytes = whole.clone();
            for _ in 0..1 + next(4) {
                let at = 4 + next(bytes.len() - 4);
                bytes[at] = next(256) as u8;
            }
            let _ = super::csv(&bytes);
        }
    }
}
