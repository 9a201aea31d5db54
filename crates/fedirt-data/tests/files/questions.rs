//! Files that can be read and would give wrong estimates: each brings a question, and what settles it.

use crate::common::{Folder, only, read};
use fedirt_data::{
    Audience, Cause, Input, NoteKind, Problems, ReadOptions, Responses, questions, read as read_inputs,
};

/// What the caller has settled.
#[derive(Default)]
struct Settled {
    codes: Vec<String>,
    items: bool,
}

/// Reads inputs and asks.
fn asked(
    files: &[(&str, &str)],
    options: &ReadOptions,
    settled: &Settled,
) -> Result<(Responses, Vec<NoteKind>), Problems> {
    let inputs = files.iter().map(|(name, text)| Input::new((*name).to_owned(), text.as_bytes()));
    let mut responses = read_inputs(inputs, options)?;
    if settled.items {
        responses = responses.items_are_chosen();
    }
    let codes: Vec<&str> = settled.codes.iter().map(String::as_str).collect();
    let notes = questions(&responses, &codes)?;
    Ok((responses, notes.into_iter().map(|note| note.kind).collect()))
}

fn ask(text: &str) -> Result<Vec<NoteKind>, Problems> {
    asked(&[("a.csv", text)], &ReadOptions::default(), &Settled::default()).map(|(_, notes)| notes)
}

/// A file with columns that repeat these codes, in 60 rows.
fn file(columns: &[(&str, &[u8])]) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..60 {
        // Each column runs through its codes at another pace.
        let cells: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(at, (_, codes))| codes[row * [1, 13, 17][at] % codes.len()].to_string())
            .collect();
        text.push_str(&(cells.join(",") + "\n"));
    }
    text
}

#[test]
fn a_nine_among_zeros_and_ones() {
    let text = "a,b,c\n0,1,1\n1,0,1\n1,1,0\n0,9,1\n1,1,1\n0,0,9\n1,9,0\n";
    let problems = ask(text).unwrap_err();
    assert_eq!(problems.total(), 2);
    let first = problems.iter().next().unwrap();
    assert_eq!(
        (first.file.as_deref(), first.line, first.column.as_deref()),
        (Some("a.csv"), Some(5), Some("b"))
    );
    let told = problems.told(Audience::CommandLine);
    for text in
        ["0 (2 times), 1 (3 times), 9 (2 times)", "line 7, column c", "add --missing 9;", "--codebook"]
    {
        assert!(told.contains(text), "{text}\n{told}");
    }
    // What settles it: the option, or a codebook for both items.
    let options = ReadOptions { missing: vec!["9".into()], ..ReadOptions::default() };
    assert!(asked(&[("a.csv", text)], &options, &Settled::default()).is_ok());
    let settled =
        |names: &[&str]| Settled { codes: names.iter().map(|n| n.to_string()).collect(), items: false };
    assert!(asked(&[("a.csv", text)], &ReadOptions::default(), &settled(&["b", "c"])).is_ok());
    let problems = asked(&[("a.csv", text)], &ReadOptions::default(), &settled(&["b"])).unwrap_err();
    assert_eq!(only(&problems).column.as_deref(), Some("c"));
}

#[test]
fn seven_eight_nine_on_a_scale_of_five() {
    let usual: &[u8] = &[1, 2, 3, 4, 5, 3, 2];
    let text = file(&[("a", &[1, 2, 3, 4, 5, 7, 8, 9, 3, 2, 4]), ("b", usual), ("c", usual)]);
    let problems = ask(&text).unwrap_err();
    let Cause::GapCodes { range, beyond, used_by, .. } = &only(&problems).cause else { panic!("{problems}") };
    assert_eq!((*range, beyond.as_slice(), used_by), ((1, 5), &[7, 8, 9][..], &None));
    assert!(problems.told(Audience::CommandLine).contains("--missing 7,8,9"), "{problems}");
}

#[test]
fn a_category_that_nobody_chose() {
    let (full, hole): (&[u8], &[u8]) = (&[0, 1, 2, 3, 4, 2, 1], &[0, 1, 2, 4, 1, 4, 0]);
    // The 4 is frequent, and the other items have the scale 0–4.
    assert!(ask(&file(&[("a", full), ("b", hole), ("c", full)])).is_ok());
    // No other item has such a scale.
    let problems = ask(&file(&[("a", &[0, 1, 2, 1]), ("b", hole), ("c", &[0, 1, 2, 0])])).unwrap_err();
    assert_eq!(only(&problems).column.as_deref(), Some("b"));
    // The 4 is rare: one row in sixty.
    let mut rare = [0, 1, 2].repeat(20);
    rare[7] = 4;
    let problems = ask(&file(&[("b", &rare), ("a", full), ("c", full)])).unwrap_err();
    assert_eq!((only(&problems).column.as_deref(), only(&problems).line), (Some("b"), Some(9)));
    // A frequent 9 of 0/1 items stays a question although an essay has 0–9, and --missing would spoil the essay.
    let essay: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    let problems = ask(&file(&[("a", &[0, 1, 9, 1]), ("essay", essay), ("c", &[0, 1])])).unwrap_err();
    assert_eq!(only(&problems).column.as_deref(), Some("a"));
    assert!(problems.told(Audience::CommandLine).contains("from item essay as well"), "{problems}");
}

/// Codes that repeat in 60 rows, and a further code in two of them.
fn with_rare(codes: &[u8], rare: &[u8]) -> Vec<u8> {
    let mut all: Vec<u8> = codes.iter().copied().cycle().take(60).collect();
    for (at, code) in rare.iter().enumerate() {
        (all[7 + 20 * at], all[13 + 20 * at]) = (*code, *code);
    }
    all
}

#[test]
fn a_few_twos_among_zeros_and_ones() {
    let two = with_rare(&[0, 1, 1], &[2]);
    let text = file(&[("a", &two), ("b", &two), ("c", &[0, 1])]);
    let problems = ask(&text).unwrap_err();
    let places: Vec<_> = problems.iter().map(|p| (p.line, p.column.as_deref())).collect();
    assert_eq!((places[0], places.len()), ((Some(9), Some("a")), 2), "{problems}");
    let Cause::RareCodes { range, beyond, used_by, .. } = &problems.iter().next().unwrap().cause else {
        panic!("{problems}")
    };
    assert_eq!((*range, beyond.as_slice(), used_by), ((0, 1), &[2][..], &None));
    let told = problems.told(Audience::CommandLine);
    for text in ["2 (2 times)", "few answers are 2", "add --missing 2;", "--codebook FILE"] {
        assert!(told.contains(text), "{text}\n{told}");
    }
    let options = ReadOptions { missing: vec!["2".into()], ..ReadOptions::default() };
    assert!(asked(&[("a.csv", &text)], &options, &Settled::default()).is_ok());
    let settled = Settled { codes: vec!["a".into(), "b".into()], items: false };
    assert!(asked(&[("a.csv", &text)], &ReadOptions::default(), &settled).is_ok());
}

#[test]
fn seven_eight_nine_right_after_a_scale_of_six() {
    let scale = [1, 2, 3, 4, 5, 6, 5, 6];
    let coded = with_rare(&scale, &[7, 8, 9]);
    let problems = ask(&file(&[("a", &coded), ("b", &scale), ("c", &scale)])).unwrap_err();
    let Cause::RareCodes { range, beyond, .. } = &only(&problems).cause else { panic!("{problems}") };
    assert_eq!((*range, beyond.as_slice()), ((1, 6), &[7, 8, 9][..]));
    assert!(problems.told(Audience::CommandLine).contains("add --missing 7,8,9;"), "{problems}");
    // One item has them often: --missing would take them from it.
    let long: Vec<u8> = (1..=9).collect();
    let problems = ask(&file(&[("a", &coded), ("b", &scale), ("c", &long)])).unwrap_err();
    assert!(problems.told(Audience::CommandLine).contains("from item c as well"), "{problems}");
}

#[test]
fn a_rare_category_of_a_scale_is_none_in_question() {
    let scale = [0, 1, 2, 3];
    let rare = with_rare(&[0, 1, 2], &[3]);
    // Most items of the scale have it often.
    assert!(ask(&file(&[("a", &rare), ("b", &scale), ("c", &[3, 0, 1, 2])])).is_ok());
    // It grows rare by and by: 53, 5, 2.
    let skewed: Vec<u8> = (0..60).map(|row| if row < 53 { 0 } else { 1 + u8::from(row > 57) }).collect();
    assert!(ask(&file(&[("a", &skewed), ("b", &[0, 1]), ("c", &[0, 1, 1])])).is_ok());
    // Two codes make an item, however few have the second.
    assert!(ask(&file(&[("a", &with_rare(&[0], &[1])), ("b", &[0, 1]), ("c", &[0, 1, 1])])).is_ok());
}

#[test]
fn an_option_that_few_chose_and_that_is_never_right() {
    let row = |at: usize| ["A", "B", "C", "D"][at % 4];
    let mut text = "a,b,c\n".to_owned();
    for at in 0..120 {
        let last = if at % 25 == 7 { "E" } else { row(at / 3) };
        text.push_str(&format!("{},{},{last}\n", row(at), row(at * 3 + 1)));
    }
    let key = |keys: [&str; 3]| {
        let text = format!("item,key\na,{}\nb,{}\nc,{}\n", keys[0], keys[1], keys[2]);
        let key = fedirt_data::read_key(Input::new("key.csv", text.as_bytes())).unwrap();
        ReadOptions { key, ..ReadOptions::default() }
    };
    let problems = asked(&[("a.csv", &text)], &key(["A", "D", "C"]), &Settled::default()).unwrap_err();
    let found = only(&problems);
    assert_eq!((found.line, found.column.as_deref()), (Some(9), Some("c")));
    assert!(matches!(&found.cause, Cause::RareOption { option, count: 5, answers: 360 } if option == "E"));
    assert!(problems.told(Audience::CommandLine).contains("add --missing E;"), "{problems}");
    // The remedy settles it: the key lists the option.
    assert!(asked(&[("a.csv", &text)], &key(["A", "D", "C=1|E=0"]), &Settled::default()).is_ok());
    let without = ReadOptions { missing: vec!["E".into()], ..key(["A", "D", "C"]) };
    assert!(asked(&[("a.csv", &text)], &without, &Settled::default()).is_ok());
}

#[test]
fn an_item_that_everybody_has_right() {
    let problems = ask(&file(&[("a", &[1, 1, 1, 9, 1]), ("b", &[0, 1]), ("c", &[1, 0, 0])])).unwrap_err();
    assert_eq!(only(&problems).column.as_deref(), Some("a"));
    // 2 may be the top of an item with three categories of which nobody chose the middle one.
    assert!(ask(&file(&[("a", &[0, 0, 2]), ("b", &[0, 1]), ("c", &[1, 0, 0])])).is_ok());
}

#[test]
fn gaps_are_judged_over_all_sites() {
    let one = "a,b\n0,1\n2,1\n0,0\n";
    let two = "a,b\n1,0\n2,1\n0,0\n";
    let (options, settled) = (ReadOptions::default(), Settled::default());
    assert!(asked(&[("one.csv", one), ("two.csv", two)], &options, &settled).is_ok());
    let nine = "a,b\n1,0\n2,1\n0,9\n";
    let problems = asked(&[("one.csv", one), ("nine.csv", nine)], &options, &settled).unwrap_err();
    let found = only(&problems);
    assert_eq!((found.file.as_deref(), found.line), (Some("nine.csv"), Some(4)));
}

#[test]
fn gaps_in_a_long_file() {
    let text = "id,item,resp\n1,a,0\n1,b,1\n2,a,1\n2,b,0\n3,a,9\n3,b,1\n";
    let problems = ask(text).unwrap_err();
    assert_eq!((only(&problems).line, only(&problems).column.as_deref()), (Some(6), Some("a")));
}

#[test]
fn names_that_differ_only_in_spelling() {
    let (options, settled) = (ReadOptions::default(), Settled { codes: Vec::new(), items: true });
    let (one, two) = ("A1,a_2,b\n0,1,1\n1,0,0\n", "a1,A02,b\n0,1,1\n1,0,0\n");
    let problems = asked(&[("one.csv", one), ("two.csv", two)], &options, &settled).unwrap_err();
    assert_eq!(problems.total(), 2);
    let told = problems.told(Audience::CommandLine);
    for text in ["two.csv", "column a1", "`A1` in one.csv", "column A02", "`a_2`", "rename"] {
        assert!(told.contains(text), "{text}\n{told}");
    }
    // A file that has both means two items; so does punctuation between digits.
    let both = "A1,a1,b\n0,1,1\n1,0,0\n";
    assert!(asked(&[("one.csv", one), ("both.csv", both)], &options, &settled).is_ok());
    let (one, two) = ("q1.1,b\n0,1\n1,0\n", "q11,b\n0,1\n1,0\n");
    assert!(asked(&[("one.csv", one), ("two.csv", two)], &options, &settled).is_ok());
}

/// Answers of 300 students to four items of a test, with a further column.
fn test_with(name: &str, further: impl Fn(usize, &[u8]) -> u8) -> String {
    let mut text = format!("i1,i2,{name},i3,i4\n");
    for student in 0..300_usize {
        let ability = student * 7919 % 300;
        let items: Vec<u8> = (0..4)
            .map(|item| u8::from(ability * 2 + (student * 31 + item * 977) * 613 % 300 > 250 + 100 * item))
            .collect();
        let other = further(student, &items);
        text.push_str(&format!("{},{},{other},{},{}\n", items[0], items[1], items[2], items[3]));
    }
    text
}

#[test]
fn a_sum_of_the_items() {
    let text = test_with("total", |_, items| items.iter().sum());
    let problems = ask(&text).unwrap_err();
    assert_eq!(only(&problems).cause, Cause::SumOfItems(["i1".into(), "i4".into()]));
    assert!(problems.told(Audience::CommandLine).contains("--ignore total"), "{problems}");
    // Beside a column that is no item, and with a missing answer, for which the sum is missing or smaller.
    let with_sex: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(row, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            let sex = if row == 0 { "female" } else { ["0", "1", "1"][row % 3] };
            let [a, b, t, c, d] = cells[..] else { panic!("five columns") };
            match row {
                3 => format!("{sex},{a},,{c},{d},"),
                4 => format!("{sex},{a},,{c},{d},{}", t.parse::<u8>().unwrap() - b.parse::<u8>().unwrap()),
                _ => format!("{sex},{a},{b},{c},{d},{t}"),
            }
        })
        .collect();
    let problems = ask(&(with_sex.join("\n") + "\n")).unwrap_err();
    let causes: Vec<(Option<&str>, &Cause)> =
        problems.iter().map(|p| (p.column.as_deref(), &p.cause)).collect();
    assert_eq!(causes.len(), 2, "{problems}");
    assert_eq!(causes[0], (Some("total"), &Cause::SumOfItems(["i1".into(), "i4".into()])));
    assert!(matches!(causes[1], (Some("female"), Cause::Demographic(_))), "{problems}");
    // The user has said that it is an item, or has left it out.
    let settled = Settled { codes: Vec::new(), items: true };
    assert!(asked(&[("a.csv", &text)], &ReadOptions::default(), &settled).is_ok());
    let options = ReadOptions { ignore: vec!["total".into()], ..ReadOptions::default() };
    assert!(asked(&[("a.csv", &text)], &options, &Settled::default()).is_ok());
    // Nearly a sum is none.
    let text = test_with("i5", |student, items| items.iter().sum::<u8>().min(3) + u8::from(student == 5));
    let settled = Settled { codes: vec!["i5".into()], items: false };
    assert!(asked(&[("a.csv", &text)], &ReadOptions::default(), &settled).is_ok());
}

#[test]
fn known_names_and_columns_that_go_with_nothing() {
    let sex = |student: usize, _: &[u8]| u8::from(student.is_multiple_of(2));
    for name in ["female", "Sex", "GENDER", "age", "Grade"] {
        let problems = ask(&test_with(name, sex)).unwrap_err();
        assert!(matches!(only(&problems).cause, Cause::Demographic(_)), "{problems}");
        assert!(problems.told(Audience::CommandLine).contains(&format!("--ignore {name}")), "{problems}");
    }
    let class = |at: usize, items: &[u8]| if at.is_multiple_of(9) { 1 - items[0] } else { items[0] };
    // Another name: a note, as there are such items. A known name that goes with the items: an item.
    assert_eq!(ask(&test_with("x", sex)).unwrap(), [NoteKind::NoCorrelation(vec!["x".into()])]);
    assert_eq!(ask(&test_with("class", class)).unwrap(), []);
}

#[test]
fn a_copy_and_a_number_that_goes_with_nothing() {
    let problems = ask(&test_with("again", |_, items| items[1])).unwrap_err();
    // The copy is the later column.
    assert_eq!(only(&problems).column.as_deref(), Some("again"));
    assert_eq!(only(&problems).cause, Cause::CopyOfItem("i2".into()));
    assert!(problems.told(Audience::CommandLine).contains("--ignore again"), "{problems}");
    // One answer is another.
    assert!(ask(&test_with("again", |at, items| if at == 7 { 1 - items[1] } else { items[1] })).is_ok());
    let problems = ask(&test_with("school", |at, _| 1 + (at % 4) as u8)).unwrap_err();
    let Cause::GoesWithNothing { highest: 4, of_others: 1, .. } = &only(&problems).cause else {
        panic!("{problems}")
    };
    // A selection settles both.
    let settled = Settled { codes: Vec::new(), items: true };
    let text = test_with("again", |_, items| items[1]);
    assert!(asked(&[("a.csv", &text)], &ReadOptions::default(), &settled).is_ok());
}

#[test]
fn a_selection_of_items() {
    let folder = Folder::new();
    let wide = folder.file("wide.csv", "id,i1,i2,i10,age,Q_a\n1,0,1,1,15,1\n2,1,0,0,16,0\n3,1,1,0,15,1\n");
    let long = folder.file("long.csv", "id,item,resp\n1,i1,0\n1,i2,1\n1,age,15\n2,i1,1\n2,i2,0\n2,age,16\n");
    let select = |items: &[&str]| ReadOptions {
        items: items.iter().map(|item| item.to_string()).collect(),
        ..ReadOptions::default()
    };
    for (items, wanted) in [
        (&["i1-i50"][..], &["i1", "i2", "i10"][..]),
        (&["i1-i9"], &["i1", "i2"]),
        (&["i*", "Q?a"], &["i1", "i2", "i10", "Q_a"]),
        (&["i1", "Q_a"], &["i1", "Q_a"]),
    ] {
        let reading = read(&[&wide], &select(items)).unwrap();
        assert_eq!(reading.sites[0].items, wanted);
    }
    let reading = read(&[&wide], &select(&["i1-i50"])).unwrap();
    let left_out = NoteKind::NotSelected(vec!["age".into(), "Q_a".into()]);
    assert!(reading.notes.iter().any(|note| note.kind == left_out), "{:?}", reading.notes);
    let reading = read(&[&long], &select(&["i*"])).unwrap();
    assert_eq!(reading.sites[0].items, ["i1", "i2"]);
    assert!(reading.notes.iter().any(|note| note.kind == NoteKind::NotSelected(vec!["age".into()])));
    // What selects nothing is a mistake.
    let problems = read(&[&wide], &select(&["i1-i9", "aeg", "Z*"])).unwrap_err();
    let told = problems.told(Audience::CommandLine);
    assert!(problems.total() == 2 && told.contains("--items selects") && told.contains("`age`"), "{told}");
}
