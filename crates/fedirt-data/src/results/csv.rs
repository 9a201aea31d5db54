//! Tables as CSV files: every digit, empty where there is no number.

use crate::scores::{PriorChoice, Scores};
use fedirt_model::fit::{Covariance, Fit, FitSite, ItemFit, NamedNumbers, Q3};
use fedirt_model::scoring::Method;
use std::borrow::Cow;
use std::io::{self, Write};

/// A field, quoted where it must be.
fn quoted(text: &str) -> Cow<'_, str> {
    let plain = !text.contains(['"', ',', ';', '\t', '\n', '\r']) && text.trim() == text;
    if plain { Cow::Borrowed(text) } else { Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))) }
}

/// A number with the digits that read back as the same number.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { String::new() }
}

fn optional(value: Option<f64>) -> String {
    value.map(number).unwrap_or_default()
}

fn line(out: &mut dyn Write, fields: &[String]) -> io::Result<()> {
    writeln!(out, "{}", fields.join(","))
}

/// Names of parameters beyond a and d, over all items whose models have such.
fn more_parameters(fit: &Fit) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in fit.items.iter().filter(|i| i.has_more_parameters()).flat_map(|i| i.parameters.iter()) {
        // Intercepts have columns already.
        if !names.contains(&name) && !name.starts_with('d') {
            names.push(name);
        }
    }
    names
}

/// `items.csv`, which `--fixed-items` accepts. Where an item's model has more than one slope, its parameters stand in
/// columns of their names at the end.
pub fn items(out: &mut dyn Write, fit: &Fit) -> io::Result<()> {
    let steps = fit.items.iter().map(|item| item.d.len()).max().unwrap_or(0).max(1);
    let mut header: Vec<String> =
        ["item", "model", "categories", "n", "a", "se_a"].map(String::from).to_vec();
    for name in ["d", "se_d", "b", "se_b"] {
        header.extend((1..=steps).map(|step| format!("{name}{step}")));
    }
    header.push("fixed".to_owned());
    let more = more_parameters(fit);
    header.extend(more.iter().flat_map(|name| [(*name).to_owned(), format!("se_{name}")]));
    line(out, &header)?;
    for item in &fit.items {
        let mut fields = vec![
            quoted(&item.name).into_owned(),
            item.model.clone(),
            item.categories.to_string(),
            item.n.map(|n| n.to_string()).unwrap_or_default(),
            optional(item.a),
            optional(item.se_a),
        ];
        for values in [&item.d, &item.se_d, &item.b, &item.se_b] {
            fields.extend((0..steps).map(|step| optional(values.get(step).copied().flatten())));
        }
        fields.push(item.fixed.to_string());
        for name in &more {
            let shown =
                |numbers: &NamedNumbers| optional(numbers.get(name).filter(|_| item.has_more_parameters()));
            fields.extend([shown(&item.parameters), shown(&item.se)]);
        }
        line(out, &fields)?;
    }
    Ok(())
}

/// `sites.csv`.
pub fn sites(out: &mut dyn Write, sites: &[FitSite]) -> io::Result<()> {
    writeln!(out, "site,n,effect,se")?;
    for site in sites {
        let FitSite { name, n, effect, se } = site;
        writeln!(out, "{},{n},{},{}", quoted(name), optional(*effect), optional(*se))?;
    }
    Ok(())
}

/// `covariance.csv`.
pub fn covariance(out: &mut dyn Write, covariance: &Covariance) -> io::Result<()> {
    let names: Vec<String> = covariance.names.iter().map(|name| quoted(name).into_owned()).collect();
    let mut header = vec!["parameter".to_owned()];
    header.extend(names.iter().cloned());
    line(out, &header)?;
    for (r, name) in names.into_iter().enumerate() {
        let mut fields = vec![name];
        fields.extend((0..covariance.matrix.ncols()).map(|c| number(covariance.matrix[(r, c)])));
        line(out, &fields)?;
    }
    Ok(())
}

/// `diagnostics/items.csv`: how well each item fits.
pub fn item_fit(out: &mut dyn Write, items: &[ItemFit]) -> io::Result<()> {
    writeln!(out, "item,infit,z.infit,outfit,z.outfit,S_X2,df.S_X2,RMSEA.S_X2,p.S_X2,p_adjusted")?;
    for fit in items {
        let classic = [fit.infit, fit.z_infit, fit.outfit, fit.z_outfit];
        let by_score = [fit.s_x2, fit.df_s_x2, fit.rmsea_s_x2, fit.p_s_x2, fit.p_adjusted];
        let numbers: Vec<String> = classic.into_iter().chain(by_score).map(optional).collect();
        writeln!(out, "{},{}", quoted(&fit.item), numbers.join(","))?;
    }
    Ok(())
}

/// `diagnostics/pairs.csv`: residual correlations, a line per pair of items.
pub fn pairs(out: &mut dyn Write, q3: &Q3) -> io::Result<()> {
    writeln!(out, "item1,item2,Q3,Q3_minus_mean,flagged")?;
    for (j, first) in q3.items.iter().enumerate() {
        for (l, second) in q3.items.iter().enumerate().skip(j + 1) {
            let value = q3.matrix[j][l];
            let above = value.map(|x| x - q3.mean);
            let flagged = above.is_some_and(|x| x > q3.critical);
            let (first, second) = (quoted(first), quoted(second));
            writeln!(out, "{first},{second},{},{},{flagged}", optional(value), optional(above))?;
        }
    }
    Ok(())
}

/// `scores.csv`: one line per student, in the order of the files. With a scale for reporting, each estimate stands on it as
/// well, in a column whose name ends in `_scaled`.
pub fn scores(out: &mut dyn Write, scores: &Scores) -> io::Result<()> {
    let names: Vec<String> = match scores.method {
        Method::Pv { draws } => (1..=draws).map(|m| format!("PV{m}")).collect(),
        Method::Eap | Method::Map | Method::Wle | Method::Ml => vec!["F1".into(), "SE_F1".into()],
    };
    let scaled = scores.rescaling.iter().flat_map(|_| names.iter().map(|name| format!("{name}_scaled")));
    let columns: Vec<String> = names.iter().cloned().chain(scaled).collect();
    writeln!(out, "id,site,answered,raw,{},Zh,infit,outfit,prior", columns.join(","))?;
    let prior = scores.prior.map_or("none", PriorChoice::name);
    for (at, row) in scores.in_file_order() {
        let site = &scores.sites[at];
        let student = &site.students[row];
        write!(out, "{},{},{},{}", quoted(&site.id(row)), quoted(&site.name), student.answered, student.raw)?;
        let is_error = |k: usize| student.draws.is_empty() && k == 1;
        let estimates: Vec<Option<f64>> = match scores.method {
            Method::Pv { draws } => (0..draws).map(|m| student.draws.get(m).copied()).collect(),
            Method::Eap | Method::Map | Method::Wle | Method::Ml => {
                vec![student.score.estimate, student.score.standard_error]
            }
        };
        let scaled = scores.rescaling.iter().flat_map(|scale| {
            let on_scale = move |(k, value): (usize, &Option<f64>)| {
                value.map(
                    |value| if is_error(k) { scale.unit * value } else { scale.origin + scale.unit * value },
                )
            };
            estimates.iter().enumerate().map(on_scale)
        });
        for value in estimates.iter().copied().chain(scaled) {
            write!(out, ",{}", optional(value))?;
        }
        let fit = student.person_fit;
        writeln!(out, ",{},{},{},{prior}", optional(fit.lz), optional(fit.infit), optional(fit.outfit))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("M1"), "M1");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted(" x"), "\" x\"");
    }

    #[test]
    fn numbers_read_back() {
        for x in [0.1 + 0.2, 1e-9, -3.0, 1e300] {
            assert_eq!(number(x).parse::<f64>().unwrap().to_bits(), x.to_bits());
        }
        assert_eq!(number(f64::NAN), "");
    }
}
