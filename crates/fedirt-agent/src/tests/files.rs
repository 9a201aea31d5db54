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
        "column Item9: the plan has no such item",
        "--ignore Item9",
        "line 4, column I2: code 2 (1 time) is not in the plan's codebook (0, 1)",
        "line 5, column I3: code 2",
        "--missing 2",
    ] {
        assert!(error.contains(words), "{words:?} is not in {error}");
    }
    let options =
        ReadOptions { ignore: vec!["Item9".into()], missing: vec!["2".into()], ..ReadOptions::default() };
    let own = read(text, &options).unwrap();
    assert_eq!((own.table.students(), own.table.items()), (3, 5));
    assert_eq!(own.table.row(0)[..3], [0, 1, 0]);
    let remarks = own.remarks(fedirt_data::Audience::CommandLine);
    assert!(remarks.iter().any(|note| note.contains("I4, I5")), "{remarks:?}");
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
