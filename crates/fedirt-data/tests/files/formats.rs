//! Files that are read, in all the ways in which they may be written.

use crate::common::{Folder, good, only, read, read_one, rows};
use fedirt_data::{Audience, Cause, NoteKind, ReadOptions};
use fedirt_model::responses::MISSING;

#[test]
fn a_plain_file_is_one_site() {
    let site = good("I1,I2,I3\n0,1,2\n1,0,0\n");
    assert_eq!(site.name, "answers");
    assert_eq!(site.items, ["I1", "I2", "I3"]);
    assert_eq!(rows(&site), [[0, 1, 2], [1, 0, 0]]);
    assert!(site.ids.is_none() && site.table.weights().is_none());
    assert_eq!(site.sources[0].rows, 2);
}

#[test]
fn delimiters_are_found_by_looking() {
    for delimiter in [",", ";", "\t"] {
        let text = "a|b\n0|1\n1|1\n".replace('|', delimiter);
        assert_eq!(rows(&good(&text)), [[0, 1], [1, 1]], "{delimiter:?}");
        assert_eq!(rows(&good(format!("sep={delimiter}\n{text}"))), [[0, 1], [1, 1]], "{delimiter:?}");
    }
    // Commas within quoted names do not count.
    assert_eq!(good("\"a, b, c\";\"d, e\"\n1;0\n0;1\n").items, ["a, b, c", "d, e"]);
}

#[test]
fn byte_order_mark_line_ends_and_quotes() {
    let expected = [[0, 1], [1, MISSING]];
    for text in [
        "\u{feff}a,b\n0,1\n1,\n",
        "a,b\r\n0,1\r\n1,\r\n",
        "a,b\r0,1\r1,\r",
        "a,b\n0,1\n1,",
        "\u{feff}\"a\",\"b\"\r\n\"0\",\"1\"\r\n\"1\",\"\"\r\n",
        " a , b \n 0 , 1 \n 1 ,  \n",
    ] {
        let site = good(text);
        assert_eq!(site.items, ["a", "b"], "{text:?}");
        assert_eq!(rows(&site), expected, "{text:?}");
    }
}

#[test]
fn quoted_names_may_hold_delimiters_quotes_and_line_breaks() {
    let site = good("\"a,1\",\"b\n2\",\"c \"\"x\"\"\"\n0,1,1\n1,0,0\n");
    assert_eq!(site.items, ["a,1", "b\n2", "c \"x\""]);
}

#[test]
fn missing_answers() {
    let options =
        ReadOptions { missing: vec!["9".into(), "-99".into(), "omit".into()], ..Default::default() };
    let reading = read_one("a,b,c\n0,NA,.\n,9, -99 \n omit ,1,9.0\n1,1,1\n", &options).unwrap();
    let m = MISSING;
    assert_eq!(rows(&reading.sites[0]), [[0, m, m], [m, m, m], [m, 1, m], [1, 1, 1]]);
    let empty = reading.notes.iter().find_map(|note| match &note.kind {
        NoteKind::EmptyRows(lines) => Some(lines),
        _ => None,
    });
    assert_eq!(empty.map(|lines| (lines.count, lines.first.clone())), Some((1, vec![3])));
}

#[test]
fn whole_numbers_may_be_written_with_a_point() {
    assert_eq!(rows(&good("a,b\n1.0,0.00\n0,12\n")), [[1, 0], [0, 12]]);
}

#[test]
fn codes_are_kept_as_they_stand() {
    assert_eq!(rows(&good("a,b\n1,4\n2,63\n")), [[1, 4], [2, 63]]);
}

#[test]
fn blank_lines_are_skipped_and_noted() {
    let reading = read_one("\n\na,b\n0,1\n\n  \n1,1\n\n\n", &ReadOptions::default()).unwrap();
    assert_eq!(rows(&reading.sites[0]), [[0, 1], [1, 1]]);
    let notes: Vec<String> = reading.notes.iter().map(|note| note.kind.told(Audience::CommandLine)).collect();
    assert_eq!(notes, ["4 blank lines are skipped: lines 1, 2, 5, 6"]);
}

#[test]
fn columns_with_known_names_are_no_items() {
    let reading = read_one(
        "ID,Site,a,Weight,group,b,FORM\nx,n,0,2.5,g,1,A\ny,s,1,1.5,h,1,B\n",
        &ReadOptions::default(),
    );
    let reading = reading.unwrap();
    let site = &reading.sites[0];
    assert_eq!(site.items, ["a", "b"]);
    assert_eq!(site.ids.as_deref(), Some(&["x".to_string(), "y".to_string()][..]));
    assert!(site.table.weights().is_none());
    let notes: Vec<String> = reading.notes.iter().map(|note| note.kind.told(Audience::CommandLine)).collect();
    assert_eq!(
        notes,
        [
            "column `ID` is used as the id",
            "column `Site` is not used; --site Site would use it",
            "column `Weight` is not used; --weight Weight would use it",
            "column `group` is not used",
            "column `FORM` is not used",
        ]
    );
}

#[test]
fn options_name_columns() {
    let options = ReadOptions {
        site: Some("school".into()),
        id: Some("student".into()),
        weight: Some("w".into()),
        ignore: vec!["age".into(), "id".into()],
        ..Default::default()
    };
    let text =
        "student,id,school,w,age,a,b\ns1,7,north,0.5,15,0,1\ns2,7,south,2,16,1,1\ns3,8,north,1e0,17,1,0\n";
    let reading = read_one(text, &options).unwrap();
    assert_eq!(reading.sites.iter().map(|site| site.name.as_str()).collect::<Vec<_>>(), ["north", "south"]);
    assert_eq!(rows(&reading.sites[0]), [[0, 1], [1, 0]]);
    assert_eq!(reading.sites[0].table.weights(), Some(&[0.5, 1.0][..]));
    assert_eq!(reading.sites[0].ids, Some(vec!["s1".into(), "s3".into()]));
    assert!(reading.notes.is_empty(), "{:?}", reading.notes);
}

#[test]
fn each_file_is_a_site_and_items_are_matched_by_name() {
    let folder = Folder::new();
    let files =
        [folder.file("north.csv", "a,b,c\n0,1,2\n1,1,1\n"), folder.file("south.csv", "c;a\n2;0\n1;1\n")];
    let reading = read(&files, &ReadOptions::default()).unwrap();
    assert_eq!(reading.sites.iter().map(|site| site.name.as_str()).collect::<Vec<_>>(), ["north", "south"]);
    assert_eq!(reading.sites[1].items, ["c", "a"]);
    assert_eq!(rows(&reading.sites[1]), [[2, 0], [1, 1]]);
}

#[test]
fn a_site_may_come_from_several_files() {
    let folder = Folder::new();
    let files = [
        folder.file("one.csv", "site,a,b\nx,0,1\ny,1,1\nx,1,0\n"),
        folder.file("two.csv", "c,b,site\n2,1,z\n1,0, x \n"),
    ];
    let reading = read(&files, &ReadOptions { site: Some("site".into()), ..Default::default() }).unwrap();
    assert_eq!(reading.sites.iter().map(|site| site.name.as_str()).collect::<Vec<_>>(), ["x", "y", "z"]);
    let x = &reading.sites[0];
    assert_eq!(x.items, ["a", "b", "c"]);
    assert_eq!(rows(x), [[0, 1, MISSING], [1, 0, MISSING], [MISSING, 0, 1]]);
    assert_eq!(x.sources.iter().map(|source| source.rows).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(reading.sites[2].items, ["c", "b"]);
}

#[test]
fn files_of_a_site_with_columns_in_another_order_are_not_mixed() {
    let folder = Folder::new();
    let files = [folder.file("one.csv", "s,a,b\nx,0,1\n"), folder.file("two.csv", "b,a,s\n1,0,x\n")];
    let reading = read(&files, &ReadOptions { site: Some("s".into()), ..Default::default() }).unwrap();
    assert_eq!(rows(&reading.sites[0]), [[0, 1], [0, 1]]);
}

#[test]
fn ids_are_dropped_if_not_all_files_of_a_site_have_them() {
    let folder = Folder::new();
    let files = [folder.file("one.csv", "id,s,a,b\np,x,0,1\n"), folder.file("two.csv", "s,a,b\nx,1,1\n")];
    let reading = read(&files, &ReadOptions { site: Some("s".into()), ..Default::default() }).unwrap();
    assert!(reading.sites[0].ids.is_none());
    assert!(reading.notes.iter().any(|note| note.kind == NoteKind::IdsDropped("x".into())));
}

#[test]
fn a_site_called_na_is_noted() {
    let options = ReadOptions { site: Some("s".into()), ..Default::default() };
    let reading = read_one("s,a,b\nNA,0,1\nZA,1,1\n", &options).unwrap();
    assert_eq!(reading.sites[0].name, "NA");
    assert_eq!(reading.notes[0].kind, NoteKind::SiteCalledNa);
}

#[test]
fn an_item_without_answers_and_codes_without_zero_or_one_are_noted() {
    let reading = read_one("a,b,age\n0,,15\n1,NA,16\n", &ReadOptions::default()).unwrap();
    assert_eq!(reading.notes[0].kind, NoteKind::EmptyItems(vec!["b".into()]));
    assert_eq!(reading.notes[1].kind, NoteKind::NoLowCode { item: "age".into(), lowest: 15, highest: 16 });
}

#[test]
fn a_note_that_concerns_many_files_is_told_once() {
    let folder = Folder::new();
    let files: Vec<_> = (0..5).map(|k| folder.file(&format!("s{k}.csv"), "id,a,b\n1,0,1\n2,1,0\n")).collect();
    let reading = read(&files, &ReadOptions::default()).unwrap();
    assert_eq!(reading.notes.len(), 1);
    assert!(
        reading.notes[0].to_string().ends_with("s0.csv and 4 other files: column `id` is used as the id")
    );
}

#[test]
fn long_files_become_wide() {
    let text = "Item,ID,resp,date\nI1,p,0,mon\nI2,p,1,mon\nI2,q,NA,tue\nI1,q,2,tue\nI3,r,1,wed\n";
    let reading = read_one(text, &ReadOptions::default()).unwrap();
    let site = &reading.sites[0];
    let m = MISSING;
    assert_eq!(site.items, ["I1", "I2", "I3"]);
    assert_eq!(site.ids, Some(vec!["p".into(), "q".into(), "r".into()]));
    assert_eq!(rows(site), [[0, 1, m], [2, m, m], [m, m, 1]]);
    assert!(reading.notes.iter().any(|note| note.kind == NoteKind::LongFormat));
    assert!(reading.notes.iter().any(|note| note.to_string().contains("`date` is not used")));
}

#[test]
fn long_files_with_sites_and_weights() {
    let options = ReadOptions {
        site: Some("site".into()),
        weight: Some("w".into()),
        id: Some("who".into()),
        ..Default::default()
    };
    let text = "site,who,item,resp,w\nn,1,a,0,2\ns,1,b,1,3\nn,1,b,1,2\ns,1,c,0,3\n";
    let reading = read_one(text, &options).unwrap();
    assert_eq!(reading.sites[0].items, ["a", "b"]);
    assert_eq!(reading.sites[1].items, ["b", "c"]);
    assert_eq!(rows(&reading.sites[1]), [[1, 0]]);
    assert_eq!(reading.sites[1].table.weights(), Some(&[3.0][..]));
}

#[test]
fn items_of_a_long_file_can_be_ignored() {
    let options = ReadOptions { ignore: vec!["essay".into()], ..Default::default() };
    let reading = read_one("id,item,resp\n1,a,0\n1,b,1\n1,essay,words\n", &options).unwrap();
    assert_eq!(reading.sites[0].items, ["a", "b"]);
}

#[test]
fn long_files_have_their_own_complaints() {
    let problems = crate::common::bad("id,item,resp\np,I1,0\np,I2,1\nq,I1,x\np,I1,1\n,I1,1\nq,,1\n");
    let found = crate::common::places(&problems);
    let twice = Cause::DuplicateAnswer { id: "p".into(), first_line: 2 };
    assert!(found.contains(&(Some(5), Some("I1"), twice)), "{problems}");
    assert!(found.contains(&(Some(4), Some("I1"), Cause::NotAScore("x".into()))), "{problems}");
    assert!(found.contains(&(Some(6), Some("id"), Cause::EmptyId)), "{problems}");
    assert!(found.contains(&(Some(7), Some("item"), Cause::EmptyItem)), "{problems}");
    assert_eq!(problems.total(), 4, "{problems}");

    let problems = crate::common::bad("item,resp\nI1,0\nI2,1\n");
    assert_eq!(only(&problems).cause, Cause::LongWithoutId);
    let problems = crate::common::bad("id,item,resp\np,I1,0\nq,I1,1\n");
    assert!(matches!(only(&problems).cause, Cause::TooFewItems { items: 1, .. }));

    let options = ReadOptions { weight: Some("w".into()), ..Default::default() };
    let problems = read_one("id,item,resp,w\np,I1,0,1\np,I2,1,2\n", &options).unwrap_err();
    assert!(matches!(only(&problems).cause, Cause::WeightChanges { first_line: 2, .. }), "{problems}");
}
