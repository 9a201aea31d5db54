//! The items of a plan, from tables that people paste or keep in files.

use fedirt_data::{
    Errors, FixedItem, Input, ItemProblem, MergedCategories, Problems, Steps, read_codebook, read_fixed_items,
};
use fedirt_model::items;
use fedirt_protocol::plan::{FixedParameters, PlanItem};

/// Why a table does not make items of a plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CodebookError {
    /// The table cannot be read.
    #[error(transparent)]
    Table(#[from] Problems),
    /// An item without a number of categories.
    #[error("{table}: item {item} has no number of categories; a plan needs the column `categories`")]
    NoCategories {
        /// The table.
        table: String,
        /// The item.
        item: String,
    },
    /// Categories that cannot be merged so.
    #[error(transparent)]
    Collapse(ItemProblem),
    /// A table of known parameters without any.
    #[error("There is no item with a slope and intercepts or difficulties in it.")]
    NothingKnown,
    /// Known parameters of an item that is not there.
    #[error("{0} is not among the items: leave its line out.")]
    NoSuchItem(String),
    /// Known parameters for another number of categories.
    #[error("{item} has {categories} categories, and known parameters for {known}: is it the same item?")]
    Categories {
        /// The item.
        item: String,
        /// Its categories.
        categories: usize,
        /// Categories that the parameters are for.
        known: usize,
    },
    /// A model that does not exist.
    #[error("{item}: there is no model {model:?}.")]
    UnknownModel {
        /// The item.
        item: String,
        /// The model.
        model: String,
    },
    /// A model whose items cannot be fixed.
    #[error("{item}: {model} items cannot be fixed yet.")]
    CannotBeFixed {
        /// The item.
        item: String,
        /// The model.
        model: String,
    },
}

/// The items of a codebook: CSV with the columns `item`, `categories` and, if wanted, `model` and `lowest`.
pub fn plan_items(table: &str, input: Input<'_>) -> Result<Vec<PlanItem>, Errors<CodebookError>> {
    let (mut items, mut problems) = (Vec::new(), Vec::new());
    for item in read_codebook(input).map_err(CodebookError::from)? {
        let merged = item.merged();
        match (item.categories, merged) {
            (_, Err(problem)) => problems.push(CodebookError::Collapse(problem)),
            (_, Ok(Some(MergedCategories { codes: categories, merged }))) => {
                items.push(PlanItem { name: item.name, categories, merged, model: item.model, fixed: None });
            }
            (Some(categories), Ok(None)) => {
                items.push(PlanItem {
                    name: item.name,
                    categories,
                    merged: Vec::new(),
                    model: item.model,
                    fixed: None,
                });
            }
            (None, Ok(None)) => {
                problems.push(CodebookError::NoCategories { table: table.to_owned(), item: item.name });
            }
        }
    }
    Errors::unless_empty(problems)?;
    Ok(items)
}

/// Fixes items at known parameters: CSV with the columns `item`, `a` and `d` or `b` (or `d1`, `d2`, …), such as the
/// `items.csv` of an earlier fit.
pub fn anchor(input: Input<'_>, items: &mut [PlanItem]) -> Result<(), Errors<CodebookError>> {
    let known = read_fixed_items(input).map_err(CodebookError::from)?;
    if known.is_empty() {
        return Err(CodebookError::NothingKnown.into());
    }
    let mut problems = Vec::new();
    for given in known {
        match items.iter_mut().find(|item| item.name == given.name) {
            Some(item) => problems.extend(fix(item, given).err()),
            None => problems.push(CodebookError::NoSuchItem(given.name)),
        }
    }
    Errors::unless_empty(problems)
}

fn fix(item: &mut PlanItem, given: FixedItem) -> Result<(), CodebookError> {
    let (Steps::Intercepts(steps) | Steps::Difficulties(steps)) = &given.steps;
    let (name, categories, known) = (item.name.clone(), item.categories.len(), steps.len() + 1);
    if known != categories {
        return Err(CodebookError::Categories { item: name, categories, known });
    }
    let called = given.model.or_else(|| item.model.clone());
    let called = called.unwrap_or_else(|| items::default_model(categories).name().to_owned());
    let Some(model) = items::model(&called) else {
        return Err(CodebookError::UnknownModel { item: name, model: called });
    };
    let Some(model) = model.one_slope() else {
        return Err(CodebookError::CannotBeFixed { item: name, model: called });
    };
    let d = match given.steps {
        Steps::Intercepts(d) => d,
        Steps::Difficulties(b) => model.intercepts(given.a, &b),
    };
    (item.model, item.fixed) = (Some(called), Some(FixedParameters { a: given.a, d }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Result<Vec<PlanItem>, Errors<CodebookError>> {
        plan_items("the codebook", Input::new("the codebook", text.as_bytes()))
    }

    #[test]
    fn pasted_tables_become_items_and_anchors() {
        let mut found = items("item,categories,model\nm1,2,\nm2,3,gpcm\n").unwrap();
        assert_eq!(found[1].categories, [0, 1, 2]);
        anchor(Input::new("the table", "item,a,b\nm1,2,0.5\n".as_bytes()), &mut found).unwrap();
        assert_eq!(found[0].fixed, Some(FixedParameters { a: 2.0, d: vec![-1.0] }));
        assert_eq!(found[0].model.as_deref(), Some("2pl"));
    }

    #[test]
    fn what_is_wrong_is_told_by_item() {
        let wrong = items("item,categories\nm1,\nm2,2\n").unwrap_err();
        assert!(wrong.to_string().starts_with("the codebook: item m1 has no number"), "{wrong}");
        let wrong = items("item,categories\nm1,many\n").unwrap_err();
        assert!(wrong.to_string().contains("line 2, column categories"), "{wrong}");
        let mut found = items("item,categories\nm1,2\n").unwrap();
        let table = "item,a,d1,d2\nm1,1,0.5,0.1\nm9,1,0,\n";
        let wrong = anchor(Input::new("the table", table.as_bytes()), &mut found).unwrap_err();
        let expected = [
            CodebookError::Categories { item: "m1".into(), categories: 2, known: 3 },
            CodebookError::NoSuchItem("m9".into()),
        ];
        assert_eq!(wrong.0, expected);
    }
}
