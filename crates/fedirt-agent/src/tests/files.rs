//! Response files against the plan's codebook.

use super::*;

fn read(text: &str, options: &ReadOptions) -> Result<OwnResponses, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("school.csv");
    std::fs::write(&path, text).unwrap();
    let plan = StudyPlan::parse(&plan_text("bank", Mode::Secure)).unwrap();
    read_for_plan(&[path], options, &plan).map_err(|e| e.to_string())
}

#[test]
fn columns_and_codes_are_named_with_their_lines() {
    let text = "id,I2,I1,Item9,I3\na,1,0,1,0\n\nb,2,0,1,1\nc,0,1,0,2\n";
    let error = read(text, &ReadOptions::default()).unwrap_err();
    for words in [
        "line 4, column I2: code 2 (1 time) is not in the plan's codebook (0, 1)",
        "line 5, column I3: code 2",
        "--missing 2",
    ] {
        assert!(error.contains(words), "{words:?} is not in {error}");
    }
    let options = ReadOptions { missing: vec!["2".into()], ..ReadOptions::default() };
    let own = read(text, &options).unwrap();
    assert_eq!((own.table.students(), own.table.items()), (3, 5));
    assert_eq!(own.table.row(0)[..3], [0, 1, 0]);
    let remarks = own.remarks(fedirt_data::Audience::CommandLine);
    assert!(remarks.iter().any(|note| note.contains("I4, I5")), "{remarks:?}");
    // The plan selects its items: another column is named, and left out.
    assert!(remarks.iter().any(|note| note.contains("not among the selected items: `Item9`")), "{remarks:?}");
}

#[test]
fn names_that_may_be_items_of_the_plan_are_questions() {
    let rows = "\na,1,0,1\nb,0,1,0\n";
    // Spelled otherwise; nearly the same.
    for (column, words) in
        [("i_3", "differs from `I3`"), ("I33", "the plan has no such item. If it is the plan's I3")]
    {
        let text = format!("id,I1,I2,{column}{rows}");
        let error = read(&text, &ReadOptions::default()).unwrap_err();
        assert!(error.contains(words) && error.contains("--map FILE"), "{column}: {error}");
        let renamed = vec![fedirt_data::Renamed { name: column.into(), item: "I3".into() }];
        let own = read(&text, &ReadOptions { renamed, ..ReadOptions::default() }).unwrap();
        assert_eq!(own.table.row(0)[2], 1);
    }
}

#[test]
fn options_are_scored_and_asked_about() {
    let key = "item,key\nI1,B\nI2,A\nI3,C\n";
    let key = fedirt_data::read_key(fedirt_data::Input::new("key.csv", key.as_bytes())).unwrap();
    let options = ReadOptions { key, ..ReadOptions::default() };
    let own = read("I1,I2,I3\nB,A,A\nA,B,C\n", &options).unwrap();
    assert_eq!(own.table.rows().map(|row| row[..3].to_vec()).collect::<Vec<_>>(), [[1, 1, 0], [0, 0, 1]]);
    let error = read("I1,I2,I3\nB,A,A\nA,B,9\nC,C,C\n", &options).unwrap_err();
    assert!(error.contains("line 3, column I3") && error.contains("--missing 9"), "{error}");
}

#[test]
fn merged_codes_are_turned_and_students_stay_known() {
    let mut plan = StudyPlan::parse(&plan_text("bank", Mode::Secure)).unwrap();
    plan.items[0].merged = vec![fedirt_data::MergedCode { code: 2, into: 1 }];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("school.csv");
    std::fs::write(&path, "id,I1,I2\na,2,0\nb,0,1\nc,1,1\n").unwrap();
    let merged = read_for_plan(std::slice::from_ref(&path), &ReadOptions::default(), &plan).unwrap();
    assert_eq!(merged.table.rows().map(|row| row[0]).collect::<Vec<_>>(), [1, 0, 1]);
    // In a plan with another merging the same students are the same.
    plan.items[0].merged.clear();
    plan.items[0].categories = vec![0, 1, 2];
    let whole = read_for_plan(&[path], &ReadOptions::default(), &plan).unwrap();
    assert_eq!(merged.fingerprints(&plan, &[1; 32]), whole.fingerprints(&plan, &[1; 32]));
}

#[test]
fn long_files_are_read_too() {
    let text = "id,item,resp\na,I1,1\na,I2,0\nb,I1,3\nb,I2,1\n";
    let error = read(text, &ReadOptions::default()).unwrap_err();
    assert!(error.contains("line 4, column I1: code 3"), "{error}");
}

#[test]
fn row_fingerprints_follow_the_rows_alone() {
    let plan = StudyPlan::parse(&plan_text("bank", Mode::Secure)).unwrap();
    let prints =
        |text: &str, salt: u8| read(text, &ReadOptions::default()).unwrap().fingerprints(&plan, &[salt; 32]);
    let one = prints("id,I1,I2\na,1,0\nb,0,1\n", 1);
    assert_eq!(one, prints("id,I2,I1\nb,1,0\na,0,1\n", 1), "order of rows and columns does not matter");
    assert_ne!(one, prints("id,I1,I2\na,1,0\nb,0,1\n", 2));
    let other = prints("id,I1,I2\na,1,1\nb,0,1\n", 1);
    assert_eq!(other.iter().filter(|print| one.contains(print)).count(), 1);
}
