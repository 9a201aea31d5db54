//! Codebooks and fixed items.

use crate::common::{Folder, only, places};
use fedirt_data::{Cause, CodebookItem, FixedItem, Input, Problems, Steps, read_codebook, read_fixed_items};

fn codebook(text: &str) -> Result<Vec<CodebookItem>, Problems> {
    read_codebook(Input::new("codebook.csv", text.as_bytes()))
}

fn fixed(text: &str) -> Result<Vec<FixedItem>, Problems> {
    read_fixed_items(Input::new("items.csv", text.as_bytes()))
}

#[test]
fn codebooks() {
    let items =
        codebook("Item;categories;label;model\nI1;2;first;\nI2;4;second;GRM\nI3;;third;2pl\n").unwrap();
    assert_eq!(
        items[0],
        CodebookItem { name: "I1".into(), categories: Some(vec![0, 1]), ..CodebookItem::default() }
    );
    assert_eq!(items[1].model.as_deref(), Some("grm"));
    assert_eq!(items[1].categories, Some(vec![0, 1, 2, 3]));
    assert_eq!(items[2].categories, None);
    assert_eq!(codebook("item\nI1\n").unwrap().len(), 1);
    let scales = codebook("item,categories,lowest\nI1,5,1\nI2,2,\n").unwrap();
    assert_eq!(scales[0].categories, Some(vec![1, 2, 3, 4, 5]));
    assert_eq!(scales[1].categories, Some(vec![0, 1]));
    let wrong = codebook("item,categories,lowest\nI1,5,one\n").unwrap_err();
    assert_eq!(only(&wrong).cause, Cause::BadLowestCode("one".into()));
}

#[test]
fn complaints_about_codebooks() {
    let problems =
        codebook("item,model,categories\nI1,3pl,1\nI1,2pl,2.5\n,2pl,2\nI2,2pl\nI3,,101\n").unwrap_err();
    let found = places(&problems);
    for (line, column, cause) in [
        (2, Some("model"), Cause::UnknownModel("3pl".into())),
        (2, Some("categories"), Cause::BadCategoryCount("1".into())),
        (3, Some("categories"), Cause::BadCategoryCount("2.5".into())),
        (3, None, Cause::DuplicateItem { item: "I1".into(), first_line: 2 }),
        (4, None, Cause::EmptyItem),
        (5, None, Cause::FieldCount { expected: 3, found: 2 }),
        (6, Some("categories"), Cause::BadCategoryCount("101".into())),
    ] {
        assert!(found.contains(&(Some(line), column, cause)), "{problems}");
    }
    assert_eq!(found.len(), 7, "{problems}");
    assert!(problems.to_string().contains("`gpcm`"), "{problems}");
    let problems = codebook("items,model\nI1,2pl\n").unwrap_err();
    assert_eq!(only(&problems).cause, Cause::MissingColumn { name: "item", near: vec!["items".into()] });
    assert_eq!(only(&codebook("item\n").unwrap_err()).cause, Cause::NoRows);
    assert!(matches!(
        only(&read_codebook(Input::file(&Folder::new().path("none.csv"))).unwrap_err()).cause,
        Cause::NoSuchFile(_)
    ));
}

#[test]
fn fixed_items_by_intercepts_or_difficulties() {
    let items = fixed("item,a,d\nI1,1.2,-0.5\nI2,0.8,1e-1\n").unwrap();
    assert_eq!(
        items[0],
        FixedItem { name: "I1".into(), model: None, a: 1.2, steps: Steps::Intercepts(vec![-0.5]) }
    );
    let items = fixed("item,a1,b1,b2\nI1,1,0.5,\nI2,1,-1,1\n").unwrap();
    assert_eq!(items[0].steps, Steps::Difficulties(vec![0.5]));
    assert_eq!(items[1].steps, Steps::Difficulties(vec![-1.0, 1.0]));
    // As mirt prints items of two models.
    let items = fixed("item,a1,d,g,u,d1,d2\nI1,1,0.5,0,1,NA,NA\nI2,1,NA,NA,NA,1,-1\n").unwrap();
    assert_eq!(items[0].steps, Steps::Intercepts(vec![0.5]));
    assert_eq!(items[1].steps, Steps::Intercepts(vec![1.0, -1.0]));
}

#[test]
fn the_items_of_an_earlier_fit() {
    let text = "item,model,categories,a,se_a,d1,d2,se_d1,se_d2,b1,b2,se_b1,se_b2,n\n\
                I1,2pl,2,0.95,0.12,-0.25,,0.11,,0.26,,0.11,,565\n\
                I2,gpcm,3,1.1,0.1,0.5,0.2,0.1,0.1,-0.45,0.27,0.1,0.1,565\n";
    let items = fixed(text).unwrap();
    assert_eq!(items[0].model.as_deref(), Some("2pl"));
    assert_eq!(items[0].steps, Steps::Intercepts(vec![-0.25]));
    assert_eq!(items[1].steps, Steps::Intercepts(vec![0.5, 0.2]));
}

#[test]
fn complaints_about_fixed_items() {
    let text = "item,model,a,d,d1,d2,g\nI1,2pl,0,1,,,0\nI2,xyz,,1,,,0\nI3,,\"1,5\",,,2,0\nI4,,1,,,,0\nI5,,1,1,1,,0.2\n";
    let problems = fixed(text).unwrap_err();
    let found = places(&problems);
    for (line, column, cause) in [
        (2, Some("a"), Cause::ZeroSlope("I1".into())),
        (3, Some("model"), Cause::UnknownModel("xyz".into())),
        (3, Some("a"), Cause::BadNumber(String::new())),
        (4, Some("a"), Cause::BadNumber("1,5".into())),
        (4, Some("d1"), Cause::StepGap("I3".into())),
        (5, None, Cause::NoSteps("I4".into())),
        (6, None, Cause::StepsTwice { item: "I5".into(), letter: "d" }),
        (6, Some("g"), Cause::Asymptote("0.2".into())),
    ] {
        assert!(found.contains(&(Some(line), column, cause)), "{problems}");
    }
    assert_eq!(found.len(), 8, "{problems}");
    let problems = fixed("item,slope\nI1,1\n").unwrap_err();
    assert_eq!(problems.total(), 2, "{problems}");
    assert!(matches!(only(&fixed("item,a,b\nI1,inf,0\n").unwrap_err()).cause, Cause::BadNumber(_)));
}
