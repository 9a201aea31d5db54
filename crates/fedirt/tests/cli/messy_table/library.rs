//! The same files through the library, and through the check of a site that takes part in a study.

use super::*;
use fedirt::{
    Audience, Input, LongColumns, Problem, Problems, ReadOptions, Responses, questions, read, read_codebook,
    read_key, read_map,
};
use fedirt_agent::read_for_plan;
use fedirt_model::responses::MISSING;
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::{PlanItem, StudyPlan, template};

/// The flags of a case as options of the library, and the further files of answers.
fn options_of(case: &Case) -> Result<(ReadOptions, Vec<&str>), Problems> {
    let mut options = ReadOptions::default();
    let mut files = vec!["a.csv"];
    let input = |name: &str| {
        let (name, bytes) =
            case.files.iter().find(|(other, _)| *other == name).expect("the case has the file");
        Input::new(*name, bytes.as_slice())
    };
    let mut words = case.arguments.split_whitespace().flat_map(|word| match word.split_once("=-") {
        Some((flag, code)) => vec![flag.to_owned(), format!("-{code}")],
        None => vec![word.to_owned()],
    });
    while let Some(word) = words.next() {
        if !word.starts_with("--") {
            files.extend(case.files.iter().map(|(name, _)| *name).filter(|name| *name == word));
            continue;
        }
        let value = words.next().expect("every flag of these cases has a value");
        match word.as_str() {
            "--missing" => options.missing = vec![value],
            "--items" => options.items = vec![value],
            "--weight" => options.weight = Some(value),
            "--missing-answers" => options.missing_is_wrong = true,
            "--codebook" => options.codebook = Some(read_codebook(input(&value))?),
            "--key" => options.key = read_key(input(&value))?,
            "--map" => options.renamed = read_map(input(&value))?,
            "--long" => {
                let named = |part: &str| part.split_once('=').expect("NAME=COLUMN").1.to_owned();
                let [id, item, response] =
                    value.split(',').map(named).collect::<Vec<_>>().try_into().expect("three");
                options.long = Some(LongColumns { id, item, response });
            }
            other => panic!("{other} is no flag of these cases"),
        }
    }
    Ok((options, files))
}

/// Reads and asks, as a program does that calls the library.
fn through_the_library(case: &Case) -> Result<Responses, Problems> {
    let (options, files) = options_of(case)?;
    let bytes =
        |name: &str| case.files.iter().find(|(other, _)| *other == name).expect("a file").1.as_slice();
    let responses = read(files.into_iter().map(|name| Input::new(name, bytes(name))), &options)?;
    questions(&responses, &[])?;
    Ok(responses)
}

/// A clean file, read as it is.
fn clean_responses(reference: &str) -> Responses {
    let name = reference.split_whitespace().next().expect("a name");
    let (_, text) = clean().into_iter().find(|(other, _)| *other == name).expect("a clean file");
    let weight = reference.contains("--weight").then(|| "w".to_owned());
    read([Input::new("a.csv", text.as_bytes())], &ReadOptions { weight, ..ReadOptions::default() })
        .expect("a clean file")
}

/// The answers as categories from 0, because codes may begin elsewhere.
fn categories(responses: &Responses) -> Vec<Vec<u8>> {
    let table = &responses.sites[0].table;
    let lowest = |item: usize| table.rows().map(|row| row[item]).filter(|code| *code != MISSING).min();
    let lowest: Vec<u8> = (0..table.items()).map(|item| lowest(item).unwrap_or(0)).collect();
    let category = |(code, low): (&u8, &u8)| if *code == MISSING { MISSING } else { code - low };
    table.rows().map(|row| row.iter().zip(&lowest).map(category).collect()).collect()
}

#[test]
fn the_library_reads_the_answers_of_the_clean_file() {
    for case in good_files() {
        let Estimates(reference) = case.gives else { panic!("{}", case.what) };
        let found = through_the_library(&case).unwrap_or_else(|problems| panic!("{}: {problems}", case.what));
        let right = clean_responses(reference);
        assert_eq!(found.sites[0].items, right.sites[0].items, "{}", case.what);
        assert!(categories(&found) == categories(&right), "{}: other answers", case.what);
        assert_eq!(found.sites[0].table.weights(), right.sites[0].table.weights(), "{}", case.what);
    }
}

#[test]
fn the_library_asks_with_place_and_remedy_as_data() {
    let mut missed = Vec::new();
    for case in bad_files() {
        let Question(asked) = &case.gives else { panic!("{}", case.what) };
        let Err(problems) = through_the_library(&case) else { panic!("{}: no question", case.what) };
        let here = |problem: &&Problem| {
            problem.file.as_deref() == asked.file
                && problem.line == asked.line
                && problem.column.as_deref() == asked.column
                && problem.remedy(Audience::CommandLine).contains(asked.remedy)
        };
        if !problems.iter().any(|problem| here(&problem)) {
            missed.push(format!("{}: {:#?}", case.what, problems.iter().next()));
        }
        // Nobody who calls a library types flags.
        assert!(!problems.told(Audience::Library).contains(" --"), "{}: {problems}", case.what);
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// A study of the five items, with the codes that a file of the coordinator's has.
fn plan() -> StudyPlan {
    let item = |name: &str| PlanItem {
        name: name.into(),
        categories: vec![0, 1],
        merged: Vec::new(),
        model: None,
        fixed: None,
    };
    let sites = ["a", "b", "c"].map(String::from);
    StudyPlan::parse(&template("bank", Mode::Secure, &sites, &NAMES.map(item), 3000))
        .expect("the template is a plan")
}

/// A site's check before it takes part: the right answers or a refusal, never other answers.
#[test]
fn a_site_gives_the_right_answers_or_none() {
    let (plan, mut right, mut refused) = (plan(), 0, 0);
    for case in good_files().into_iter().chain(bad_files()) {
        let Ok((options, files)) = options_of(&case) else { continue };
        let bench = bench(&case);
        let paths: Vec<_> = files.iter().map(|name| bench.path(name)).collect();
        match read_for_plan(&paths, &options, &plan) {
            Ok(own) => {
                let reference = match &case.gives {
                    Estimates(reference) => clean_responses(reference),
                    // The plan selects the items: a column that is none does no harm.
                    Question(_) => clean_responses("clean.csv"),
                };
                let wanted: Vec<&[u8]> = reference.sites[0].table.rows().collect();
                assert!(own.table.rows().collect::<Vec<_>>() == wanted, "{}: other answers", case.what);
                right += 1;
            }
            Err(error) => {
                // Files with other codes than the plan's are refused, too.
                let other_codes = matches!(case.gives, Estimates("scale.csv" | "halves.csv"));
                assert!(other_codes || matches!(case.gives, Question(_)), "{}: {error}", case.what);
                refused += 1;
            }
        }
    }
    assert!(right >= 30 && refused >= 30, "{right} and {refused}");
}
