//! Data frames as tables. R has made every column a vector of integers, doubles, logicals or texts.

use extendr_api::prelude::*;
use fedirt::{Column, Columns, Input};
use fedirt_bindings::{Failure, Kind, Tables};
use std::path::Path;

/// Tables under their names: lists of columns, or paths.
pub(crate) fn inputs(tables: &List) -> Result<Vec<Input<'static>>, Failure> {
    tables.iter().map(|(name, table)| input(name, &table)).collect()
}

/// Tables about items, by the names of their options.
pub(crate) fn tables(given: &List) -> Result<Tables, Failure> {
    let mut tables = Tables::default();
    for (name, table) in given.iter() {
        let place = match name {
            "codebook" => &mut tables.codebook,
            "key" => &mut tables.key,
            "map" => &mut tables.map,
            "booklets" => &mut tables.booklets,
            "fixed_items" => &mut tables.fixed_items,
            other => return Err(Failure::new(Kind::Option, format!("there is no table `{other}`"))),
        };
        *place = Some(input(name, &table)?);
    }
    Ok(tables)
}

fn input(name: &str, table: &Robj) -> Result<Input<'static>, Failure> {
    if let Some(path) = table.as_str() {
        return Ok(Input::file(Path::new(path)));
    }
    let wrong = || Failure::new(Kind::Data, format!("{name} is no table"));
    let mut columns = Columns::default();
    for (label, cells) in table.as_list().ok_or_else(wrong)?.iter() {
        columns.push(label, column(&cells).ok_or_else(wrong)?);
    }
    Ok(Input::columns(name, columns))
}

fn column(cells: &Robj) -> Option<Column> {
    let mut column = Column::with_capacity(cells.len());
    if let Some(cells) = cells.as_integer_slice() {
        let push = |x: &i32| if x.is_na() { column.push_missing() } else { column.push_integer(*x) };
        cells.iter().for_each(push);
    } else if let Some(cells) = cells.as_real_slice() {
        cells.iter().for_each(|x| column.push_number(*x));
    } else if let Some(cells) = cells.as_logical_slice() {
        let push = |x: &Rbool| {
            if x.is_na() {
                column.push_missing()
            } else {
                column.push_integer(u8::from(x.is_true()))
            }
        };
        cells.iter().for_each(push);
    } else {
        let push =
            |text: &Rstr| if text.is_na() { column.push_missing() } else { column.push_text(text.as_ref()) };
        cells.as_string_vector()?;
        Strings::try_from(cells.clone()).ok()?.iter().for_each(push);
    }
    Some(column)
}
