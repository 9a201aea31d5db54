//! What `fedirt check` says.

use crate::common::{Folder, read, read_one};
use fedirt_data::{ReadOptions, describe};

#[test]
fn counts() {
    let folder = Folder::new();
    let files = [
        folder.file("north.csv", "a,b,c\n0,0,1\n1,2,1\n1,,1\n,,\n"),
        folder.file("south.csv", "b,a\n2,1\n1,0\n"),
        folder.file("west.csv", "b,a\n2,1\n1,1\n"),
    ];
    let about = describe(&read(&files, &ReadOptions::default()).unwrap());
    let north = &about.sites[0];
    assert_eq!((north.rows, north.items, north.missing, north.empty_rows), (4, 3, 4, 1));
    // c never varies, so that it says nothing about the best and the worst rows.
    assert_eq!((north.all_highest, north.all_lowest), (2, 1));
    assert_eq!(north.constant_items, ["c"]);
    assert_eq!(about.sites[2].constant_items, ["a"]);
    let b = &about.items[1];
    assert_eq!((b.name.as_str(), b.sites, b.answered, b.missing), ("b", 3, 6, 2));
    assert_eq!(b.counts, [(0, 1), (1, 2), (2, 3)]);
    assert!(about.items[2].constant());
    assert_eq!(about.few_sites().map(|item| item.name.as_str()).collect::<Vec<_>>(), ["c"]);
    assert_eq!(about.files.len(), 3);

    let text = about.to_string();
    assert!(text.starts_with("8 rows in 3 sites, 3 items; 20.0 % of the answers are missing.\n"), "{text}");
    assert!(text.contains("item  sites  answered  missing     p     r  [0]  [1]  [2]\n"), "{text}");
    assert!(text.contains("b         3         6   25.0 %  0.67  0.59    1    2    3\n"), "{text}");
    assert!(text.contains("nothing can be estimated: c."), "{text}");
    assert!(text.contains("1 site has items with the same answer in every row"), "{text}");
    assert!(text.contains("1 item is given by fewer than half of the sites: c."), "{text}");
}

#[test]
fn no_line_is_wider_than_100_columns() {
    let name = |k: usize| format!("{}{k}", "a very long name of an item or site ".repeat(3));
    let items: Vec<String> = (0..60).map(name).collect();
    let mut text = format!("site,id,{}\n", items.join(","));
    for k in 0..500 {
        let codes: Vec<String> = (0..60).map(|j| ((k + j) % 20).to_string()).collect();
        text.push_str(&format!("{},{k},{}\n", name(k % 50), codes.join(",")));
    }
    let options = ReadOptions { site: Some("site".into()), ..Default::default() };
    let about = describe(&read_one(text, &options).unwrap()).to_string();
    let widest = about.lines().max_by_key(|line| line.chars().count()).unwrap();
    assert!(widest.chars().count() <= 100, "{widest}");
    assert!(about.contains("… and 10 more sites"), "{about}");
    assert!(about.contains("Rows per site: 10 to 10, median 10."), "{about}");
}

#[test]
fn weights_are_summed() {
    let options = ReadOptions { weight: Some("w".into()), ..Default::default() };
    let about = describe(&read_one("w,a,b\n0.5,0,1\n2,1,1\n", &options).unwrap());
    assert_eq!(about.sites[0].weight, Some(2.5));
    assert!(about.to_string().contains("weight\n"));
}
