//! Files that cannot be read: each complaint says where, what, and what would fix it.

use crate::common::{Folder, bad, only, places, read, read_one};
use fedirt_data::{Audience, Cause, NoteKind, Problems, ReadOption, ReadOptions};

fn read_missing(files: &[std::path::PathBuf]) -> Problems {
    read(files, &ReadOptions::default()).expect_err("something is wrong")
}

#[test]
fn nothing_to_read() {
    assert_eq!(only(&read_missing(&[])).cause, Cause::NoFiles);
    assert_eq!(only(&bad("")).cause, Cause::EmptyFile);
    assert_eq!(only(&bad("\u{feff}")).cause, Cause::EmptyFile);
    assert_eq!(only(&bad("\n \n\r\n")).cause, Cause::EmptyFile);
    assert_eq!(only(&bad("a,b\n")).cause, Cause::NoRows);
    assert_eq!(only(&bad("a,b")).cause, Cause::NoRows);
}

#[test]
fn one_item_cannot_be_calibrated() {
    let problems = bad("id,a\n1,0\n2,1\n");
    assert_eq!(only(&problems).cause, Cause::TooFewItems { items: 1, columns: 2, selected: false });
    assert!(problems.to_string().contains("one item cannot be calibrated"));
    // The delimiter may be the reason.
    let problems = bad("a|b\n0|1\n");
    assert!(problems.to_string().contains("comma, semicolon or tab"), "{problems}");
    assert_eq!(
        only(&bad("id,group\n1,x\n2,y\n")).cause,
        Cause::TooFewItems { items: 0, columns: 2, selected: false }
    );
}

#[test]
fn ragged_lines() {
    let problems = bad("a,b,c\n0,1,1\n0,1\n1,1,1,1\n\n1,0,1\n");
    assert_eq!(
        places(&problems),
        [
            (Some(3), None, Cause::FieldCount { expected: 3, found: 2 }),
            (Some(4), None, Cause::FieldCount { expected: 3, found: 4 })
        ]
    );
}

#[test]
fn lines_are_counted_as_an_editor_does() {
    // A quoted line break, a blank line and CRLF before the fault.
    let options = ReadOptions { id: Some("who".into()), ..Default::default() };
    let problems =
        read_one("who,a,b\r\n\"x\r\ny\",0,1\r\n\r\nz,oops,1\r\nw,1,1\r\nv,0,1\r\n", &options).unwrap_err();
    assert_eq!(places(&problems), [(Some(5), Some("a"), Cause::NotAScore("oops".into()))]);
}

#[test]
fn a_line_of_10_mb() {
    let long = "x".repeat(10 << 20);
    let problems = bad(format!("a,b\n0,1\n{long}\n1,1\n"));
    assert_eq!(only(&problems).cause, Cause::FieldCount { expected: 2, found: 1 });
    let problems = bad(format!("a,b\n0,1\n1,{long}\n1,1\n0,0\n"));
    assert_eq!(only(&problems).line, Some(3));
    assert!(problems.to_string().len() < 1000);
    let problems = bad(format!("a,b\n0,1\n{}\n1,1\n", "0,".repeat(5 << 20)));
    assert_eq!(only(&problems).line, Some(3));
    // A quote that swallows the file does not swallow the memory.
    let problems = bad(format!("a,b\n0,1\n1,\"{}", "1,1\n".repeat(5 << 20)));
    assert_eq!(places(&problems), [(Some(3), None, Cause::LineTooLong)]);
}

#[test]
fn an_unclosed_quote() {
    let problems = bad("a,b\n0,1\n1,\"1\n0,1\n");
    assert_eq!(places(&problems), [(Some(3), None, Cause::UnclosedQuote)]);
}

#[test]
fn bytes_that_are_no_text() {
    let problems = bad(b"a,b\n0,1\n0,\0\n1,1\n");
    assert_eq!(places(&problems), [(Some(3), Some("b"), Cause::NulByte(3))]);
    // Bytes that Windows-1252 does not have, either.
    let problems = bad(b"a,b\n0,1\n1,1\n0,\x81\n1,0\n");
    assert_eq!(places(&problems), [(Some(4), Some("b"), Cause::NotUtf8 { byte: 3, value: 0x81 })]);
    let problems = bad(b"a,b\x8f\n0,1\n");
    assert_eq!(places(&problems), [(Some(1), None, Cause::NotUtf8 { byte: 4, value: 0x8f })]);
    let problems = bad(b"id,a,b\nJos\x9d,0,1\n");
    assert_eq!(places(&problems), [(Some(2), Some("id"), Cause::NotUtf8 { byte: 4, value: 0x9d })]);
    let problems = bad(b"a,b\n0,1\n\0\0\0\0\n");
    assert_eq!(places(&problems), [(Some(3), None, Cause::NulByte(1))]);
    // In a quoted field with a line break, too.
    let problems = bad(b"id,a,b\n\"x\ny\x81\",0,1\n");
    assert_eq!(places(&problems), [(Some(3), Some("id"), Cause::NotUtf8 { byte: 2, value: 0x81 })]);
    // What was read as UTF-8 or as Windows-1252 before stays so.
    let problems = bad("id,a,b\né,0,1\n".bytes().chain(*b"Jos\xe9,0,1\n").collect::<Vec<_>>());
    assert_eq!(places(&problems), [(Some(3), Some("id"), Cause::NotUtf8 { byte: 4, value: 0xe9 })]);
    let problems = bad([&b"id,a,b\nJos\xe9,0,1\n"[..], "é,0,1\n".as_bytes()].concat());
    assert_eq!(places(&problems), [(Some(3), None, Cause::MixedEncodings(2))]);
}

#[test]
fn windows_1252_is_read_and_noted() {
    let reading = read_one(b"id,a,b\nJos\xe9,0,1\n\"x\ny\xfc\",1,1\n", &ReadOptions::default()).unwrap();
    assert_eq!(reading.sites[0].ids.as_deref(), Some(&["José".to_owned(), "x\nyü".to_owned()][..]));
    assert!(reading.notes.iter().any(|note| note.kind == NoteKind::Windows1252(2)));
}

#[test]
fn other_formats_are_named() {
    for (start, what) in
        [(&b"\x1f\x8b\x08"[..], "a gzip file"), (b"\xff\xfea\0,\0b", "a damaged UTF-16 text")]
    {
        assert_eq!(only(&bad(start)).cause, Cause::NotText(what));
    }
    // Where workbooks are read, a ZIP file is one that cannot be opened.
    let zip = only(&bad(&b"PK\x03\x04..."[..])).cause.clone();
    if cfg!(feature = "spreadsheets") {
        assert!(matches!(zip, Cause::BadWorkbook(_)), "{zip:?}");
    } else {
        assert_eq!(zip, Cause::NotText("an Excel or ZIP file"));
    }
}

#[test]
fn cells_that_are_no_scores() {
    let rows = "0,1,0,1\n".repeat(20);
    let problems = bad(format!("a,b,c,d\n{rows}x,1.5,-1,64\n0,\"0,5\",-99,999999999999\n"));
    assert_eq!(
        places(&problems),
        [
            (Some(22), Some("a"), Cause::NotAScore("x".into())),
            (Some(22), Some("b"), Cause::Fraction("1.5".into())),
            (Some(23), Some("b"), Cause::Fraction("0,5".into())),
            (Some(22), Some("c"), Cause::Negative("-1".into())),
            (Some(23), Some("c"), Cause::Negative("-99".into())),
            (Some(22), Some("d"), Cause::TooLarge("64".into())),
            (Some(23), Some("d"), Cause::TooLarge("999999999999".into())),
        ]
    );
    let text = problems.told(Audience::CommandLine);
    assert!(text.contains("--missing x") && text.contains("--missing=-99"), "{text}");
}

#[test]
fn values_are_cut_and_escaped() {
    let rows = "0,1\n".repeat(5);
    let problems = bad(format!("a,b\n{rows}\"one\ntwo\t{}\",1\n", "z".repeat(100)));
    let Cause::NotAScore(value) = &only(&problems).cause else { panic!("{problems}") };
    assert!(value.starts_with(r"one\ntwo\t") && value.chars().count() < 50, "{value}");
}

#[test]
fn a_column_that_is_no_item_is_told_once() {
    let mut text = "name,w,year,pct,a,b\n".to_string();
    for k in 0..100 {
        text.push_str(&format!("n{k},0.{k}1,{},{},0,1\n", 1990 + k % 30, k % 60));
    }
    let problems = bad(&text);
    assert_eq!(problems.total(), 4, "{problems}");
    let columns: Vec<&str> = problems.iter().filter_map(|problem| problem.column.as_deref()).collect();
    assert_eq!(columns, ["name", "w", "year", "pct"]);
    assert!(problems.iter().all(|problem| matches!(problem.cause, Cause::NotAnItem { .. })));
    let text = problems.told(Audience::CommandLine);
    for remedy in ["--ignore name", "--weight w", "--id year", "--ignore pct"] {
        assert!(text.contains(remedy), "{text}");
    }
}

#[test]
fn nothing_answered() {
    assert_eq!(only(&bad("a,b\n,\nNA,.\n")).cause, Cause::NothingAnswered);
}

#[test]
fn headers() {
    let problems = bad("a,b,a\n0,1,1\n");
    assert_eq!(places(&problems), [(Some(1), Some("a"), Cause::DuplicateColumn(1, 3))]);
    let problems = bad("\"\",a,b\n1,0,1\n");
    assert_eq!(places(&problems), [(Some(1), None, Cause::UnnamedColumn(1))]);
    assert!(problems.to_string().contains("row.names = FALSE"));
    assert_eq!(only(&bad("a,b,\n1,0,\n")).cause, Cause::UnnamedColumn(3));
    assert_eq!(only(&bad("0,1,1,0\n1,1,1,0\n")).cause, Cause::NoHeader);
}

#[test]
fn ids_that_stand_twice() {
    let problems = bad("id,a,b\np,0,1\nq,1,1\np,1,0\n");
    let found = only(&problems);
    assert_eq!((found.line, found.column.as_deref()), (Some(4), Some("id")));
    assert!(
        matches!(&found.cause, Cause::DuplicateId { id, first_line: 2, first_file: None, .. } if id == "p")
    );
    // The same id in two sites is two students.
    let options = ReadOptions { site: Some("s".into()), ..Default::default() };
    assert!(read_one("id,s,a,b\np,x,0,1\np,y,1,1\n", &options).is_ok());
    // Over two files.
    let folder = Folder::new();
    let one = folder.file("one.csv", "id,s,a,b\np,x,0,1\n");
    let files = [one.clone(), folder.file("two.csv", "id,s,a,b\np,x,1,1\n")];
    let problems = read(&files, &options).unwrap_err();
    let Cause::DuplicateId { first_file, .. } = &only(&problems).cause else { panic!("{problems}") };
    assert_eq!(first_file.as_deref(), one.to_str());
    assert_eq!(only(&bad("id,a,b\np,0,1\n ,1,1\n")).cause, Cause::EmptyId);
}

#[test]
fn options_that_name_no_column() {
    let options = ReadOptions {
        site: Some("Scholl".into()),
        id: Some("student".into()),
        weight: Some("zzz".into()),
        ignore: vec!["aeg".into()],
        ..Default::default()
    };
    let problems = read_one("school,stud,age,a,b\nx,x,15,0,1\n", &options).unwrap_err();
    let near = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    assert_eq!(
        places(&problems),
        [
            (
                None,
                Some("Scholl"),
                Cause::UnknownColumn { option: ReadOption::Site, near: near(&["school"]) }
            ),
            (None, Some("student"), Cause::UnknownColumn { option: ReadOption::Id, near: near(&["stud"]) }),
            (None, Some("zzz"), Cause::UnknownColumn { option: ReadOption::Weight, near: near(&[]) }),
            (None, Some("aeg"), Cause::UnknownIgnored(near(&["age"]))),
        ]
    );
    assert!(problems.to_string().contains("Is `school` meant?"), "{problems}");
}

#[test]
fn a_wrong_site_column_brings_no_complaints_about_ids() {
    let options = ReadOptions { site: Some("school".into()), ..Default::default() };
    let problems = read_one("id,scool,a,b\n1,x,0,1\n1,y,1,1\n", &options).unwrap_err();
    assert!(matches!(only(&problems).cause, Cause::UnknownColumn { .. }));
}

#[test]
fn a_column_has_one_role() {
    let options = ReadOptions { site: Some("s".into()), ignore: vec!["s".into()], ..Default::default() };
    let problems = read_one("s,a,b\nx,0,1\n", &options).unwrap_err();
    assert_eq!(only(&problems).cause, Cause::TwoRoles(ReadOption::Site, ReadOption::Ignore));
}

#[test]
fn a_column_to_ignore_may_be_in_some_of_the_files_only() {
    let folder = Folder::new();
    let files = [folder.file("one.csv", "x,a,b\nt,0,1\n"), folder.file("two.csv", "a,b\n0,1\n")];
    assert!(read(&files, &ReadOptions { ignore: vec!["x".into()], ..Default::default() }).is_ok());
}

#[test]
fn bad_weights() {
    let options = ReadOptions { weight: Some("w".into()), ..Default::default() };
    let problems =
        read_one("w,a,b\n1,0,1\n-1,0,1\nx,1,1\n,0,0\ninf,1,0\n1e999,1,0\nNA,1,1\n0,1,1\n", &options);
    let problems = problems.unwrap_err();
    let lines: Vec<Option<u64>> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [3, 4, 5, 6, 7, 8].map(Some));
    assert!(problems.iter().all(|problem| matches!(problem.cause, Cause::BadWeight(_))));
}

#[test]
fn rows_without_a_site() {
    let options = ReadOptions { site: Some("s".into()), ..Default::default() };
    let problems = read_one("s,a,b\nx,0,1\n,1,1\n  ,x,1\nx,1,1\nx,1,1\n", &options).unwrap_err();
    assert_eq!(
        places(&problems),
        [
            (Some(3), Some("s"), Cause::EmptySite),
            (Some(4), Some("s"), Cause::EmptySite),
            (Some(4), Some("a"), Cause::NotAScore("x".into())),
        ]
    );
}

#[test]
fn paths() {
    let folder = Folder::new();
    let one = folder.file("answers.csv", "id,a,b\n1,0,1\n");
    let other = folder.file("more/answers.csv", "id,a,b\n1,0,1\n");
    let twice = folder.path("more/../answers.csv");
    let typo = folder.path("answer.csv");
    let files = [one.clone(), folder.path("more"), typo, twice, other, folder.path("nowhere/x.csv")];
    let problems = read_missing(&files);
    let name = one.display().to_string();
    let causes: Vec<Cause> = problems.iter().map(|problem| problem.cause.clone()).collect();
    assert_eq!(
        causes,
        [
            Cause::Directory,
            Cause::NoSuchFile(vec!["answers.csv".into()]),
            Cause::SameFileTwice(Some(name.clone())),
            Cause::SameSiteName { site: "answers".into(), first: name },
            Cause::NoSuchFile(vec![]),
        ]
    );
    assert_eq!(only(&read_missing(&[one.clone(), one])).cause, Cause::SameFileTwice(None));
}

#[cfg(unix)]
#[test]
fn a_file_that_the_system_does_not_give() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.file("secret.csv", "a,b\n0,1\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read everything, so that there is nothing to see.
    if std::fs::File::open(&path).is_err() {
        assert!(matches!(only(&read_missing(&[path])).cause, Cause::Unreadable(_)));
    }
    // This one opens, and then fails on reading.
    let memory = std::path::PathBuf::from("/proc/self/mem");
    if cfg!(target_os = "linux") && memory.exists() {
        assert!(matches!(only(&read_missing(&[memory])).cause, Cause::Unreadable(_)));
    }
}

#[test]
fn everything_is_told_at_once_and_long_lists_are_cut() {
    let folder = Folder::new();
    let mut text = "a,b\n".to_string();
    for k in 0..3000 {
        text.push_str(if k % 3 == 0 { "oops,1\n" } else { "0,1\n" });
    }
    text.push_str("0,1,1\n");
    let files = [
        folder.file("first.csv", text),
        folder.path("second.csv"),
        folder.file("third.csv", "a,b\n0,-1\n1,1\n0,1\n"),
    ];
    let problems = read_missing(&files);
    assert_eq!(problems.total(), 1000 + 1 + 1 + 1);
    assert_eq!(problems.groups().len(), 4);
    let text = problems.to_string();
    assert!(text.starts_with("1,003 problems in 3 files\n"), "{text}");
    assert!(text.contains("  line 2, column a: `oops` is not a score\n"), "{text}");
    assert!(text.contains("  … and 990 more of this kind\n    → Write the score"), "{text}");
    assert!(text.contains("line 3002: the line has 3 fields, the header has 2"), "{text}");
    assert!(text.lines().count() < 30, "{text}");
    let one = problems.iter().last().unwrap().to_string();
    assert!(one.contains("third.csv: line 2, column b: `-1` is negative. Scores are"), "{one}");
}

#[test]
fn what_a_reading_prints_holds_no_rows() {
    let reading = read_one("id,a,b\nsecret,0,1\n", &ReadOptions::default()).unwrap();
    assert!(!format!("{reading:?}").contains("secret"));
}

#[test]
fn remedies_are_told_in_the_words_of_their_readers() {
    let problems = bad("a,b\n0,1\n1,-9\n1,1\n");
    for (audience, remedy) in [
        (Audience::CommandLine, "add --missing=-9"),
        (Audience::Page, "add -9 under “Codes that mean no answer” on the page of columns"),
        (Audience::Library, "add `missing` = \"-9\""),
    ] {
        let text = problems.told(audience);
        assert!(text.ends_with(remedy), "{text}");
    }
    let text = bad("name,a,b\nx,0,1\ny,1,1\nz,1,0\n").told(Audience::Page);
    assert!(!text.contains("--"), "{text}");
}
