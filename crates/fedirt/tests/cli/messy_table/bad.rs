//! Files that bring a question.

use super::*;

pub(super) fn bad_files() -> Vec<Case> {
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
    let mut coded_e = options(KEY, &LETTERS);
    (7..1000).step_by(40).for_each(|at| coded_e[at][1] = "E".into());
    let mut broken = clean();
    broken.push_str("1,0\n");
    let mut strange = clean();
    strange.push_str("1,0,-99,1,1\n");
    let mut mixed = windows_1252();
    mixed.extend("1,0,1,1,1,Müller\n".bytes());
    vec![
        case("nines", nines("9"), "", asks(("a.csv", 7, "i1"), "9 leaves a gap above 1", "add --missing 9;")),
        case(
            "nines in a long file",
            long(&spoilt(2, |_, _| "9".into())),
            "",
            asks(("a.csv", 27, "i1"), "9 leaves a gap above 1", "add --missing 9;"),
        ),
        case("-99", strange, "", asks(("a.csv", 1002, "i3"), "`-99`", "--missing=-99")),
        case(
            "a total",
            with_column("total", total),
            "",
            asks(("a.csv", 0, "total"), "the sum of the columns", "--ignore total"),
        ),
        case(
            "sex",
            with_column("female", |at, _| (at % 2).to_string()),
            "",
            asks(("a.csv", 0, "female"), "", "--ignore female"),
        ),
        case(
            "age",
            with_column("age", |at, _| (14 + at % 3).to_string()),
            "",
            asks(("a.csv", 0, "age"), "", "--ignore age"),
        ),
        case(
            "options without a key",
            raw(),
            "",
            asks(("a.csv", 0, "i1"), "`A`", "--key FILE (CSV: item, key)"),
        ),
        case(
            "words without a codebook",
            words,
            "",
            asks(("a.csv", 0, "i1"), "`yes`", "--codebook FILE (CSV: item, levels)"),
        ),
        case(
            "half points without a codebook",
            clean().replace("\n1,", "\n0.5,"),
            "",
            asks(("a.csv", 0, "i1"), "`0.5`", "--ignore i1"),
        ),
        case(
            "an essay without a codebook",
            with_column("essay", |at, _| (at % 61).to_string()),
            "",
            asks(("a.csv", 0, "essay"), "more than 20 different values", "--ignore essay"),
        ),
        case(
            "an omission code among options",
            csv(&NAMES, &omitted),
            "--key key.csv",
            asks(("a.csv", 14, "i2"), "`9`", "--missing 9"),
        )
        .with("key.csv", key_of(KEY)),
        case(
            "an X among A to D",
            csv(&NAMES, &coded_x),
            "--key key.csv",
            asks(("a.csv", 9, "i1"), "`X`", "--missing X"),
        )
        .with("key.csv", key_of(KEY)),
        case("a key that nobody chose", raw(), "--key key.csv", asks(("", 0, "i3"), "`E`", "Check the key"))
            .with("key.csv", key_of(["B", "A", "E", "C", "A"])),
        case(
            "a key for an item of another name",
            raw(),
            "--key key.csv",
            asks(("", 0, "i05"), "--key names an item that no file has", "Is `i5` meant?"),
        )
        .with("key.csv", key_of(KEY).replace("i5,", "i05,")),
        case(
            "numbered options, and one item without a key",
            csv(&NAMES, &options(["2", "1", "4", "3", "1"], &DIGITS)),
            "--key key.csv",
            asks(("", 0, "i5"), "has no key", "Add it to --key"),
        )
        .with("key.csv", short_key),
        case(
            "a key that is none",
            raw(),
            "--key key.csv",
            asks(("key.csv", 3, "key"), "`A=x`", "Write the right option (B)"),
        )
        .with("key.csv", key_of(["B", "A=x", "D", "C", "A"])),
        case(
            "a word that the codebook lacks",
            csv(&NAMES, &cells(|at, _, c| if at == 40 { "maybe".into() } else { c.into() })),
            "--codebook book.csv",
            asks(("a.csv", 42, "i1"), "`maybe`", "--missing maybe"),
        )
        .with("book.csv", book("levels", "0|1")),
        case(
            "reversing without categories",
            clean(),
            "--codebook book.csv",
            asks(("book.csv", 2, "reverse"), "", "Fill in `categories`"),
        )
        .with("book.csv", book("reverse", "yes")),
        case(
            "levels and categories that differ",
            clean(),
            "--codebook book.csv",
            asks(
                ("book.csv", 2, "categories"),
                "3 categories are stated",
                "Leave `categories` and `lowest` empty",
            ),
        )
        .with("book.csv", book("levels,categories", "0|1,3")),
        case(
            "a column that a codebook leaves out for its spelling",
            clean().replacen("i3", "I_3", 1),
            "--codebook book.csv",
            asks(("a.csv", 0, "I_3"), "`i3`", "--map FILE (CSV: name, item)"),
        )
        .with("book.csv", book("categories", "2")),
        case(
            "two columns of one item",
            clean(),
            "--map map.csv",
            asks(("a.csv", 1, "i1"), "`i1` and `i2`", "--ignore"),
        )
        .with("map.csv", "name,item\ni2,i1\n"),
        case(
            "one name for two items",
            clean(),
            "--map map.csv",
            asks(("map.csv", 3, "name"), "`x`", "Give each name to one item"),
        )
        .with("map.csv", "name,item\nx,i1\nx,i2\n"),
        case(
            "a long file with other names",
            long(&lsat7()).replace("id,item,resp", "student_id,question,score"),
            "",
            asks(("a.csv", 1, ""), "", "--long id=student_id,item=question,resp=score"),
        ),
        case(
            "a long file of numbers",
            long(&lsat7()).replace("id,item,resp", "pupil,task,points").replace(",i", ","),
            "",
            asks(("a.csv", 1, ""), "", "--long id=pupil,item=task,resp=points"),
        ),
        case(
            "a name twice",
            clean().replacen("i2", "i1", 1),
            "",
            asks(("a.csv", 1, "i1"), "columns 1 and 2", "--ignore i1"),
        ),
        case(
            "no header",
            csv(&["1", "0", "1", "1", "0"], &lsat7()),
            "",
            asks(("a.csv", 1, ""), "column names", "Add a first line"),
        ),
        case("a short line", broken, "", asks(("a.csv", 1002, ""), "2 fields", "Fill up the line")),
        case(
            "an open quote",
            clean() + "\"1,0,1,1,1\n",
            "",
            asks(("a.csv", 1002, ""), "quote", "Close the quote"),
        ),
        case(
            "a NUL",
            clean() + "1,\0,1,1,1\n",
            "",
            asks(("a.csv", 1002, "i2"), "NUL", "Export the file again"),
        ),
        case("a PDF", "%PDF-1.7\n", "", asks(("a.csv", 0, ""), "a PDF", "Save it as CSV")),
        case("two encodings", mixed, "", asks(("a.csv", 1002, ""), "Windows-1252", "Export the file again")),
        case(
            "a damaged UTF-16",
            b"\xff\xfei\x001".to_vec(),
            "",
            asks(("a.csv", 0, ""), "damaged UTF-16", "Save it as CSV"),
        ),
        case(
            "a workbook of two sheets",
            workbook(0, Some("notes"), None),
            "",
            asks(("a.csv", 0, ""), "`Sheet1`, `Sheet2`", "Keep the sheet with the answers alone"),
        ),
        case(
            "a time of day in a workbook",
            workbook(2, None, Some(8)),
            "",
            asks(("a.csv", 9, "i2"), "`date 0`", "--missing 'date 0'"),
        ),
        case(
            "a damaged workbook",
            workbook(0, None, None)[..4000].to_vec(),
            "",
            asks(("a.csv", 0, ""), "workbook cannot be read", "save it as CSV"),
        ),
        case(
            "nothing",
            "",
            "",
            asks(("a.csv", 0, ""), "the file is empty", "a header line and one row per student"),
        ),
        case("a header alone", "i1,i2\n", "", asks(("a.csv", 0, ""), "no rows", "one row per student")),
        case(
            "no answer at all",
            "i1,i2\n,\n,\n",
            "",
            asks(("a.csv", 0, ""), "every answer in the file is missing", "Check the export"),
        ),
        case(
            "an id twice",
            csv(&[&NAMES[..], &["id"]].concat(), &numbered(|at| (at % 999).to_string())),
            "",
            asks(("a.csv", 1001, "id"), "first on line 2", "Remove one of the rows"),
        ),
        case(
            "weights that could be thousands",
            csv(&[&NAMES[..], &["w"]].concat(), &numbered(|_| "1|250".into()))
                .replace(',', ";")
                .replace('|', ","),
            "--weight w",
            asks(("a.csv", 2, "w"), "`1,250`", "decimal point"),
        ),
        case(
            "twos among zeros and ones",
            nines("2"),
            "",
            asks(("a.csv", 7, "i1"), "few answers are 2", "add --missing 2;"),
        ),
        case(
            "7, 8, 9 right after a scale",
            csv(&NAMES, &seven_to_nine()),
            "",
            asks(("a.csv", 2, "i3"), "few answers are 7, 8, 9, beyond 3 to 6", "add --missing 7,8,9;"),
        ),
        case(
            "an E for omitted answers after A to D",
            csv(&NAMES, &coded_e),
            "--key key.csv",
            asks(("a.csv", 9, "i2"), "never right", "add --missing E;"),
        )
        .with("key.csv", key_of(KEY)),
        case(
            "a column twice under two names",
            with_column("again", |_, row| row[2].clone()),
            "",
            asks(("a.csv", 0, "again"), "`i3` in every row", "--ignore again"),
        ),
        case(
            "the number of a school",
            with_column("unit", |at, _| (1 + at * 7 % 6).to_string()),
            "",
            asks(("a.csv", 0, "unit"), "goes with none of the other columns", "--ignore unit"),
        ),
        case(
            "a header of merged cells",
            "Part 1,,Part 2,,\n".to_owned() + &clean(),
            "",
            asks(("a.csv", 1, ""), "column 2 of the header has no name", "Name the column"),
        ),
        case(
            "a row of sums",
            clean() + "828,658,772,606,843\n",
            "",
            asks(("a.csv", 1002, "i1"), "`828`", "--missing 828"),
        ),
        case(
            "percentages",
            csv(&NAMES, &cells(|_, _, c| ["0%", "100%"][(c == "1") as usize].into())),
            "",
            asks(("a.csv", 0, "i1"), "`100%`", "--codebook FILE (CSV: item, levels)"),
        ),
        case(
            "empty columns at the end",
            clean().replace('\n', ",,\n"),
            "",
            asks(("a.csv", 1, ""), "column 6 of the header has no name", "remove it"),
        ),
        case(
            "one column",
            "i1\n0\n1\n".to_owned(),
            "",
            asks(("a.csv", 1, ""), "only one item column", "Two or more items"),
        ),
        case(
            "other spellings at another site",
            clean(),
            "b.csv",
            asks(("b.csv", 0, "I1"), "`i1` in a.csv", "--map FILE (CSV: name, item)"),
        )
        .with("b.csv", clean().replacen("i1", "I1", 1)),
    ]
}

/// A scale from 3 to 6 with a few 7, 8 and 9.
fn seven_to_nine() -> Rows {
    let mut rows = scale(lsat7());
    for (at, cell) in rows.iter_mut().flatten().enumerate() {
        let code = number(cell).max(2) + 1;
        *cell = if at % 61 == 2 { ["7", "8", "9"][at % 3].into() } else { code.to_string() };
    }
    rows
}
