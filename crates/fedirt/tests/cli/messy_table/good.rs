//! Files that give the estimates of a clean file.

use super::*;

pub(super) fn good_files() -> Vec<Case> {
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
