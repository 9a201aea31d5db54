//! A table of ordinary files: each gives the right estimates, or a question with its place and what would settle it. None
//! gives other estimates with exit status 0.

use crate::common::Bench;
use crate::messy::{NAMES, csv, long, lsat7, same_estimates, scale, spoilt, with_column};

/// What a file must give.
enum Gives {
    /// The estimates of a clean file.
    Estimates(&'static str),
    /// Exit status 2 and these texts.
    Question(&'static [&'static str]),
}
use Gives::{Estimates, Question};

struct Case {
    what: &'static str,
    files: Vec<(&'static str, Vec<u8>)>,
    arguments: &'static str,
    gives: Gives,
}

fn case(what: &'static str, text: impl Into<Vec<u8>>, arguments: &'static str, gives: Gives) -> Case {
    Case { what, files: vec![("a.csv", text.into())], arguments, gives }
}

impl Case {
    fn with(mut self, name: &'static str, text: impl Into<Vec<u8>>) -> Self {
        self.files.push((name, text.into()));
        self
    }
}

type Rows = Vec<Vec<String>>;

fn number(cell: &str) -> usize {
    cell.parse().expect("cells of these files are whole numbers")
}

/// LSAT 7 with every cell changed.
fn cells(change: impl Fn(usize, usize, &str) -> String) -> Rows {
    let mut rows = lsat7();
    for (at, row) in rows.iter_mut().enumerate() {
        for (column, cell) in row.iter_mut().enumerate() {
            *cell = change(at, column, cell);
        }
    }
    rows
}

/// Right answers as these options, item by item; wrong ones run through the others.
fn options(key: [&str; 5], all: &[&str]) -> Rows {
    cells(|at, column, cell| {
        let wrong: Vec<&&str> = all.iter().filter(|option| **option != key[column]).collect();
        if cell == "1" { key[column].into() } else { wrong[(at * 7 + column) % wrong.len()].to_string() }
    })
}

fn key_of(key: [&str; 5]) -> String {
    let lines: Vec<String> = NAMES.iter().zip(key).map(|(name, key)| format!("{name},{key}\n")).collect();
    format!("item,key\n{}", lines.concat())
}

fn book(columns: &str, cells: &str) -> String {
    let lines: Vec<String> = NAMES.iter().map(|name| format!("{name},{cells}\n")).collect();
    format!("item,{columns}\n{}", lines.concat())
}

fn utf16(text: &str, turn: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(turn).collect()
}

/// A workbook with LSAT 7 from a row on; a cell in another sheet, and a time of day in a cell, where they are given.
fn workbook(first_row: u32, other_sheet: Option<&str>, time_at: Option<u32>) -> Vec<u8> {
    use rust_xlsxwriter::{ExcelDateTime, Format, Workbook, XlsxError};
    let write = || -> Result<Vec<u8>, XlsxError> {
        let mut workbook = Workbook::new();
        let sheet = workbook.add_worksheet();
        for (column, name) in (0..).zip(NAMES) {
            sheet.write(first_row, column, name)?;
        }
        for (row, cells) in (first_row + 1..).zip(lsat7()) {
            for (column, cell) in (0..).zip(cells) {
                sheet.write(row, column, number(&cell) as f64)?;
            }
        }
        if let Some(row) = time_at {
            let midnight = ExcelDateTime::from_hms(0, 0, 0)?;
            sheet.write_with_format(row, 1, &midnight, &Format::new().set_num_format("hh:mm"))?;
        }
        let other = workbook.add_worksheet();
        if let Some(text) = other_sheet {
            other.write(0, 0, text)?;
        }
        workbook.save_to_buffer()
    };
    write().expect("a workbook can be written")
}

/// LSAT 7 with ids, in Windows-1252.
fn windows_1252() -> Vec<u8> {
    let mut bytes = csv(&[&NAMES[..], &["id"]].concat(), &numbered(|at| format!("M#ller {at}"))).into_bytes();
    bytes.iter_mut().filter(|byte| **byte == b'#').for_each(|byte| *byte = 0xfc);
    bytes
}

/// LSAT 7 with a further cell at the end of each row.
fn numbered(cell: impl Fn(usize) -> String) -> Rows {
    let mut rows = lsat7();
    rows.iter_mut().enumerate().for_each(|(at, row)| row.push(cell(at)));
    rows
}

const KEY: [&str; 5] = ["B", "A", "D", "C", "A"];
const LETTERS: [&str; 4] = ["A", "B", "C", "D"];
const DIGITS: [&str; 4] = ["1", "2", "3", "4"];
const WORDS: [&str; 5] = ["never", "seldom", "sometimes", "often", "always"];

/// Files whose estimates are known.
fn clean() -> Vec<(&'static str, String)> {
    let mut halves = cells(|_, _, cell| cell.into());
    halves.iter_mut().for_each(|row| row[4] = (number(&row[4]) + number(&row[0])).to_string());
    vec![
        ("clean.csv", csv(&NAMES, &lsat7())),
        ("empty.csv", csv(&NAMES, &spoilt(2, |_, _| String::new()))),
        ("zeros.csv", csv(&NAMES, &spoilt(2, |_, _| "0".into()))),
        ("scale.csv", csv(&NAMES, &scale(lsat7()))),
        ("halves.csv", csv(&NAMES, &halves)),
        ("weights.csv", csv(&[&NAMES[..], &["w"]].concat(), &numbered(|at| ["0.5", "1.25"][at % 2].into()))),
    ]
}

fn good_files() -> Vec<Case> {
    let clean = || csv(&NAMES, &lsat7());
    let words = |rows: Rows| -> Rows {
        let word = |cell: String| WORDS[number(&cell) - 1].to_owned();
        rows.into_iter().map(|row| row.into_iter().map(word).collect()).collect()
    };
    let turned = || -> Rows {
        let mut rows = scale(lsat7());
        rows.iter_mut().for_each(|row| row[2] = (6 - number(&row[2])).to_string());
        rows
    };
    let mut half_points = lsat7();
    half_points.iter_mut().for_each(|row| {
        row[4] = ["0", "0.5", "1"][(row[4] == "1") as usize + (row[0] == "1") as usize].into()
    });
    let nines = |text: &'static str| csv(&NAMES, &spoilt(2, move |_, _| text.into()));
    let with_total = csv(
        &[&NAMES[..], &["total", "female"]].concat(),
        &lsat7()
            .into_iter()
            .enumerate()
            .map(|(at, row)| {
                let total = row.iter().filter(|cell| *cell == "1").count().to_string();
                [row, vec![total, (at % 2).to_string()]].concat()
            })
            .collect::<Rows>(),
    );
    let book_of_halves = "item,scores\ni1,\ni2,\ni3,\ni4,\ni5,0|0.5|1\n";
    let two_lines = |text: String| text.replacen('\n', "\n\n \n", 3) + "\n\n";
    vec![
        case("semicolons", clean().replace(',', ";"), "", Estimates("clean.csv")),
        case("tabs", clean().replace(',', "\t"), "", Estimates("clean.csv")),
        case("CRLF", clean().replace('\n', "\r\n"), "", Estimates("clean.csv")),
        case("CR", clean().replace('\n', "\r"), "", Estimates("clean.csv")),
        case("byte order mark", format!("\u{feff}{}", clean()), "", Estimates("clean.csv")),
        case("UTF-16, low byte first", utf16(&clean(), u16::to_le_bytes), "", Estimates("clean.csv")),
        case("UTF-16, high byte first", utf16(&clean(), u16::to_be_bytes), "", Estimates("clean.csv")),
        case("Windows-1252", windows_1252(), "", Estimates("clean.csv")),
        case("quotes", clean().replace("0", "\"0\""), "", Estimates("clean.csv")),
        case("spaces", clean().replace(",1", ", 1 "), "", Estimates("clean.csv")),
        case(
            "whole numbers with a point",
            csv(&NAMES, &cells(|_, _, c| format!("{c}.0"))),
            "",
            Estimates("clean.csv"),
        ),
        case("blank lines", two_lines(clean()), "", Estimates("clean.csv")),
        case(
            "a first line of Excel",
            format!("sep=;\n{}", clean().replace(',', ";")),
            "",
            Estimates("clean.csv"),
        ),
        case("NA", nines("NA"), "", Estimates("empty.csv")),
        case("points", nines("."), "", Estimates("empty.csv")),
        case("nines that are declared", nines("9"), "--missing 9", Estimates("empty.csv")),
        case("-99 that is declared", nines("-99"), "--missing=-99", Estimates("empty.csv")),
        case(
            "nines of single items in a codebook",
            nines("9"),
            "--codebook book.csv",
            Estimates("empty.csv"),
        )
        .with("book.csv", book("missing", "8|9")),
        case("missing answers that are wrong", nines(""), "--missing-answers wrong", Estimates("zeros.csv")),
        case("a long file", long(&lsat7()), "", Estimates("clean.csv")),
        case(
            "a long file with other names",
            long(&lsat7()).replace("id,item,resp", "student_id,question,score"),
            "--long id=student_id,item=question,resp=score",
            Estimates("clean.csv"),
        ),
        case(
            "options with a key",
            csv(&NAMES, &options(KEY, &LETTERS)),
            "--key key.csv",
            Estimates("clean.csv"),
        )
        .with("key.csv", key_of(KEY)),
        case(
            "small letters",
            csv(&NAMES, &options(KEY, &LETTERS)).to_lowercase(),
            "--key key.csv",
            Estimates("clean.csv"),
        )
        .with("key.csv", key_of(KEY)),
        case(
            "numbered options",
            csv(&NAMES, &options(["2", "1", "4", "3", "1"], &DIGITS)),
            "--key key.csv",
            Estimates("clean.csv"),
        )
        .with("key.csv", key_of(["2", "1", "4", "3", "1"])),
        case(
            "a key in the codebook",
            csv(&NAMES, &options(KEY, &LETTERS)),
            "--codebook book.csv",
            Estimates("clean.csv"),
        )
        .with("book.csv", key_of(KEY)),
        case(
            "options in a long file",
            long(&options(KEY, &LETTERS)),
            "--key key.csv",
            Estimates("clean.csv"),
        )
        .with("key.csv", key_of(KEY)),
        case(
            "TRUE and FALSE",
            csv(&NAMES, &cells(|_, _, c| ["FALSE", "TRUE"][(c == "1") as usize].into())),
            "--codebook book.csv",
            Estimates("clean.csv"),
        )
        .with("book.csv", book("levels", "false|true")),
        case(
            "words of a scale",
            csv(&NAMES, &words(scale(lsat7()))),
            "--codebook book.csv",
            Estimates("scale.csv"),
        )
        .with("book.csv", book("levels", &WORDS.join("|"))),
        case("a reversed item", csv(&NAMES, &turned()), "--codebook book.csv", Estimates("scale.csv")).with(
            "book.csv",
            "item,categories,lowest,reverse\ni1,5,1,\ni2,5,1,no\ni3,5,1,yes\ni4,5,1,\ni5,5,1,\n",
        ),
        case("half points", csv(&NAMES, &half_points), "--codebook book.csv", Estimates("halves.csv"))
            .with("book.csv", book_of_halves),
        case(
            "other names and a list of them",
            clean().replacen("i1,i2", "I_01,second", 1),
            "--map map.csv",
            Estimates("clean.csv"),
        )
        .with("map.csv", "name,item\nI_01,i1\nsecond,i2\n"),
        case(
            "other names in the codebook",
            clean().replacen("i1,i2", "I_01,second", 1),
            "--codebook book.csv",
            Estimates("clean.csv"),
        )
        .with("book.csv", "item,aliases\ni1,I_01|I.1\ni2,second\ni3,\ni4,\ni5,\n"),
        case("a codebook selects", with_total.clone(), "--codebook book.csv", Estimates("clean.csv"))
            .with("book.csv", book("categories", "2")),
        case("a workbook", workbook(0, None, None), "", Estimates("clean.csv")),
        case("a workbook that begins below the top", workbook(3, None, None), "", Estimates("clean.csv")),
        case("a pattern selects", with_total, "--items i*", Estimates("clean.csv")),
        case(
            "weights with decimal commas",
            csv(&[&NAMES[..], &["w"]].concat(), &numbered(|at| ["0,5", "1,25"][at % 2].into()))
                .replace(",5\n", "|5\n")
                .replace(",25\n", "|25\n")
                .replace(',', ";")
                .replace('|', ","),
            "--weight w",
            Estimates("weights.csv --weight w"),
        ),
    ]
}

fn bad_files() -> Vec<Case> {
    let clean = || csv(&NAMES, &lsat7());
    let nines = |text: &'static str| csv(&NAMES, &spoilt(2, move |_, _| text.into()));
    let total = |_: usize, row: &[String]| row.iter().filter(|cell| *cell == "1").count().to_string();
    let raw = || csv(&NAMES, &options(KEY, &LETTERS));
    let words = csv(&NAMES, &cells(|_, _, c| ["no", "yes"][(c == "1") as usize].into()));
    let short_key = "item,key\ni1,2\ni2,1\ni3,4\ni4,3\n";
    let mut omitted = options(KEY, &LETTERS);
    omitted[12][1] = "9".into();
    let mut coded_x = options(KEY, &LETTERS);
    coded_x[7][0] = "X".into();
    let mut broken = clean();
    broken.push_str("1,0\n");
    let mut strange = clean();
    strange.push_str("1,0,-99,1,1\n");
    let mut mixed = windows_1252();
    mixed.extend("1,0,1,1,1,Müller\n".bytes());
    vec![
        case("nines", nines("9"), "", Question(&["column i1", "line ", "--missing 9"])),
        case(
            "nines in a long file",
            long(&spoilt(2, |_, _| "9".into())),
            "",
            Question(&["column i1", "--missing 9"]),
        ),
        case("-99", strange, "", Question(&["line 1002, column i3", "--missing=-99"])),
        case("a total", with_column("total", total), "", Question(&["column total", "--ignore total"])),
        case("sex", with_column("female", |at, _| (at % 2).to_string()), "", Question(&["--ignore female"])),
        case("age", with_column("age", |at, _| (14 + at % 3).to_string()), "", Question(&["--ignore age"])),
        case("options without a key", raw(), "", Question(&["column i1", "--key FILE", "`A`"])),
        case(
            "words without a codebook",
            words,
            "",
            Question(&["column i1", "--codebook FILE", "levels", "`yes`"]),
        ),
        case(
            "half points without a codebook",
            clean().replace("\n1,", "\n0.5,"),
            "",
            Question(&["column i1", "0.5"]),
        ),
        case(
            "an essay without a codebook",
            with_column("essay", |at, _| (at % 61).to_string()),
            "",
            Question(&["column essay", "more than 20 different values"]),
        ),
        case(
            "an omission code among options",
            csv(&NAMES, &omitted),
            "--key key.csv",
            Question(&["line 14, column i2", "`9`", "--missing 9"]),
        )
        .with("key.csv", key_of(KEY)),
        case(
            "an X among A to D",
            csv(&NAMES, &coded_x),
            "--key key.csv",
            Question(&["line 9, column i1", "`X`", "--missing X"]),
        )
        .with("key.csv", key_of(KEY)),
        case(
            "a key that nobody chose",
            raw(),
            "--key key.csv",
            Question(&["column i3", "`E`", "Check the key"]),
        )
        .with("key.csv", key_of(["B", "A", "E", "C", "A"])),
        case(
            "a key for an item of another name",
            raw(),
            "--key key.csv",
            Question(&["--key names an item that no file has", "`i5`"]),
        )
        .with("key.csv", key_of(KEY).replace("i5,", "i05,")),
        case(
            "numbered options, and one item without a key",
            csv(&NAMES, &options(["2", "1", "4", "3", "1"], &DIGITS)),
            "--key key.csv",
            Question(&["column i5", "has no key"]),
        )
        .with("key.csv", short_key),
        case(
            "a key that is none",
            raw(),
            "--key key.csv",
            Question(&["key.csv", "line 3, column key", "`A=x`"]),
        )
        .with("key.csv", key_of(["B", "A=x", "D", "C", "A"])),
        case(
            "a word that the codebook lacks",
            csv(&NAMES, &cells(|at, _, c| if at == 40 { "maybe".into() } else { c.into() })),
            "--codebook book.csv",
            Question(&["line 42, column i1", "`maybe`", "--missing maybe"]),
        )
        .with("book.csv", book("levels", "0|1")),
        case(
            "reversing without categories",
            clean(),
            "--codebook book.csv",
            Question(&["book.csv", "line 2, column reverse", "categories"]),
        )
        .with("book.csv", book("reverse", "yes")),
        case(
            "levels and categories that differ",
            clean(),
            "--codebook book.csv",
            Question(&["line 2, column categories", "3", "2"]),
        )
        .with("book.csv", book("levels,categories", "0|1,3")),
        case(
            "a column that a codebook leaves out for its spelling",
            clean().replacen("i3", "I_3", 1),
            "--codebook book.csv",
            Question(&["column I_3", "`i3`", "--map FILE"]),
        )
        .with("book.csv", book("categories", "2")),
        case("two columns of one item", clean(), "--map map.csv", Question(&["`i1` and `i2`", "--ignore"]))
            .with("map.csv", "name,item\ni2,i1\n"),
        case(
            "one name for two items",
            clean(),
            "--map map.csv",
            Question(&["map.csv", "line 3, column name"]),
        )
        .with("map.csv", "name,item\nx,i1\nx,i2\n"),
        case(
            "a long file with other names",
            long(&lsat7()).replace("id,item,resp", "student_id,question,score"),
            "",
            Question(&["line 1", "--long id=student_id,item=question,resp=score"]),
        ),
        case(
            "a long file of numbers",
            long(&lsat7()).replace("id,item,resp", "pupil,task,points").replace(",i", ","),
            "",
            Question(&["--long id=pupil,item=task,resp=points"]),
        ),
        case(
            "a name twice",
            clean().replacen("i2", "i1", 1),
            "",
            Question(&["line 1, column i1", "columns 1 and 2"]),
        ),
        case(
            "no header",
            csv(&["1", "0", "1", "1", "0"], &lsat7()),
            "",
            Question(&["line 1", "column names"]),
        ),
        case("a short line", broken, "", Question(&["line 1002", "2 fields"])),
        case("an open quote", clean() + "\"1,0,1,1,1\n", "", Question(&["line 1002", "quote"])),
        case("a NUL", clean() + "1,\0,1,1,1\n", "", Question(&["line 1002", "NUL"])),
        case("a PDF", "%PDF-1.7\n", "", Question(&["a PDF", "Save it as CSV"])),
        case("two encodings", mixed, "", Question(&["line 1002", "UTF-8", "Windows-1252"])),
        case("a damaged UTF-16", b"\xff\xfei\x001".to_vec(), "", Question(&["damaged UTF-16"])),
        case(
            "a workbook of two sheets",
            workbook(0, Some("notes"), None),
            "",
            Question(&["`Sheet1`, `Sheet2`", "CSV"]),
        ),
        case(
            "a time of day in a workbook",
            workbook(2, None, Some(8)),
            "",
            Question(&["line 9, column i2", "`date 0`"]),
        ),
        case(
            "a damaged workbook",
            workbook(0, None, None)[..4000].to_vec(),
            "",
            Question(&["workbook cannot be read"]),
        ),
        case("nothing", "", "", Question(&["the file is empty"])),
        case("a header alone", "i1,i2\n", "", Question(&["no rows"])),
        case("no answer at all", "i1,i2\n,\n,\n", "", Question(&["every answer in the file is missing"])),
        case(
            "an id twice",
            csv(&[&NAMES[..], &["id"]].concat(), &numbered(|at| (at % 999).to_string())),
            "",
            Question(&["line 1001, column id", "`0`", "first on line 2"]),
        ),
        case(
            "weights that could be thousands",
            csv(&[&NAMES[..], &["w"]].concat(), &numbered(|_| "1|250".into()))
                .replace(',', ";")
                .replace('|', ","),
            "--weight w",
            Question(&["line 2, column w", "`1,250`", "decimal point"]),
        ),
        case(
            "other spellings at another site",
            clean(),
            "b.csv",
            Question(&["b.csv", "column I1", "`i1` in a.csv", "--map FILE"]),
        )
        .with("b.csv", clean().replacen("i1", "I1", 1)),
    ]
}

fn bench(case: &Case) -> Bench {
    let bench = Bench::new();
    for (name, text) in &case.files {
        bench.write(name, text);
    }
    bench
}

#[test]
fn files_that_give_the_right_estimates() {
    let known = Bench::new();
    for (name, text) in clean() {
        known.write(name, text);
    }
    let cases = good_files();
    assert!(cases.len() >= 30);
    for case in &cases {
        let Estimates(reference) = case.gives else { panic!("{}", case.what) };
        eprintln!("{}", case.what);
        let mut fit = bench(case).fit(&format!("a.csv {}", case.arguments));
        let mut right = known.fit(reference);
        // Codes may begin elsewhere, and options are counted where there are some; what is estimated may not differ.
        for fit in [&mut fit, &mut right] {
            for item in fit["items"].as_array_mut().unwrap() {
                for field in ["codes", "options"] {
                    item.as_object_mut().unwrap().remove(field);
                }
            }
        }
        same_estimates(&fit, &right);
    }
}

#[test]
fn files_that_bring_a_question() {
    let cases = bad_files();
    assert!(cases.len() >= 30);
    for case in &cases {
        let Question(wanted) = case.gives else { panic!("{}", case.what) };
        let bench = bench(case);
        for command in ["fit", "check"] {
            let (out, err) = bench.expect(2, &format!("{command} a.csv {}", case.arguments));
            assert!(out.is_empty() && err.starts_with("error:"), "{}: {out}\n{err}", case.what);
            for text in wanted {
                assert!(err.contains(text), "{}: {text:?} is not in\n{err}", case.what);
            }
        }
    }
}

/// Classical statistics of keyed items show how distractors work; `--json` is for programs.
#[test]
fn check_tells_of_options() {
    let bench = Bench::new();
    bench.write("raw.csv", csv(&NAMES, &options(KEY, &LETTERS)));
    bench.write("key.csv", key_of(KEY));
    let (text, _) = bench.expect(0, "check raw.csv --key key.csv");
    assert!(
        text.contains("Options of keyed items") && text.contains("Alpha: 0.453 (1,000 complete rows)"),
        "{text}"
    );
    let (json, _) = bench.expect(0, "check raw.csv --key key.csv --json");
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    let first = &found["items"][0];
    let right: usize = lsat7().iter().filter(|row| row[0] == "1").count();
    assert_eq!(first["p"].as_f64(), Some(right as f64 / 1000.0));
    let counts: u64 = first["options"].as_array().unwrap().iter().map(|o| o["count"].as_u64().unwrap()).sum();
    assert_eq!(
        (counts, &first["options"][1]["option"], &first["options"][1]["code"]),
        (1000, &"B".into(), &1.into())
    );
    assert!(first["options"][1]["item_rest_r"].as_f64() > Some(0.0));
    let (nothing, _) = bench.expect(0, "check raw.csv --key key.csv --quiet");
    assert!(nothing.is_empty());
}

/// An item that agrees with another one in every row has no finite slope: the others are estimated as if it were not there.
#[test]
fn an_item_without_a_finite_estimate_leaves_the_likelihood() {
    let bench = Bench::new();
    let mut rows = lsat7();
    // Right exactly if at least three of the others are.
    let step = |row: &[String]| usize::from(row.iter().filter(|cell| *cell == "1").count() >= 3).to_string();
    rows.iter_mut().for_each(|row| {
        let cell = step(row);
        row.push(cell);
    });
    bench.write("step.csv", csv(&[&NAMES[..], &["step"]].concat(), &rows));
    bench.write("clean.csv", csv(&NAMES, &lsat7()));
    let (mut with, without) = (bench.fit("step.csv"), bench.fit("clean.csv"));
    let items = with["items"].as_array_mut().unwrap();
    let step = items.pop().unwrap();
    assert!(step["name"] == "step" && step["a"].is_null() && step["n"] == 1000, "{step}");
    same_estimates(&with, &without);
    assert_eq!(with["npar"], 10);
    let warnings = with["warnings"].to_string();
    assert!(
        warnings.contains("items_left_out") && warnings.contains("estimated again without"),
        "{warnings}"
    );
    bench.expect(0, "fit step.csv --out out");
    bench.expect(0, "fit clean.csv --out clean");
    assert_eq!(bench.read("out/scores.csv").replace(",step,", ",clean,"), bench.read("clean/scores.csv"));
}
