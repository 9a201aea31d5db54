"""Compares fits of Python, R and the command line bit for bit, on every file of a folder of reference data: by hand.

usage: FEDIRT_REFERENCE=FOLDER python bindings/checks/identical.py [PATH/TO/fedirt]

FOLDER/data holds the files; FOLDER/reference/exact__DATA__KIND.json and FOLDER/reference/more/DATA__KIND….json name the fits, of which those are made
whose models fedirt has. The module `fedirt` must be importable, and the package
`fedirtr` installed for R; without a path the program is that of the search path.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import pandas
import polars
import pyarrow.csv

import fedirt

MODEL = {"2PL": "2pl", "Rasch": "rasch", "gpcm": "gpcm", "graded": "grm", "nominal": "nrm"}
#: Files of `reference/more` by what follows the data and the model: options beside the model. Others are of models that fedirt lacks (3PL,
#: several dimensions, latent regression), or hold no fit.
MORE = {"diag": {}, "density": {"population": "davidian:2"}, "mixture2": {"population": "mixture:2"}, "groups_meanvar": {"group": "site"}, "": {}}
R = """
arguments <- commandArgs(TRUE)
options <- fedirtr:::native("wrap__r_json", arguments[2])
table <- utils::read.csv(arguments[1], check.names = FALSE)
options[lengths(options) == 0] <- NULL
names(options)[names(options) == "model"] <- "itemtype"
fit <- do.call(fedirtr::fedirt, c(list(table), options))
fedirtr::write_fit(fit, arguments[3])
"""


def options_for(kind, columns):
    """The options of a fit, as the reference's name tells; nothing for what fedirt does not fit."""
    site = next((name for name in ("idschool", "site") if name in columns), None)
    kind, _, more = kind.partition("__")
    base, effects = ("2PL", "fixed") if kind == "school" else kind.rsplit("_", 1) if "_" in kind else (kind, "none")
    if base not in MODEL or effects not in ("none", "fixed", "random") or more not in MORE:
        return None
    options = {"model": MODEL[base], "effects": effects, **MORE[more]}
    if site and "group" not in options:
        options["site"] = site
    if "idstud" in columns:
        options["ignore"] = ["idstud", "wgtstud", "female"]
    return options


def numbers(text):
    """A fit without its origin, every digit kept as it is written."""
    found = json.loads(text, parse_float=str, parse_int=str)
    found["provenance"] = None
    return found


def by_r(path, options):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run(["Rscript", "-e", R, str(path), json.dumps(options), out.name], check=True, capture_output=True)
        return numbers(pathlib.Path(out.name).read_text())


def by_program(program, path, options):
    flags = [f"--{name}={','.join(value) if isinstance(value, list) else value}" for name, value in options.items()]
    found = subprocess.run([program, "fit", str(path), "--json", *flags], capture_output=True, check=True)
    return numbers(found.stdout)


def main():
    folder = pathlib.Path(os.environ["FEDIRT_REFERENCE"])
    program = sys.argv[1] if len(sys.argv) > 1 else "fedirt"
    warnings.simplefilter("ignore", fedirt.Note)
    different = fits = 0
    names = [reference.stem.removeprefix("exact__") for reference in sorted((folder / "reference").glob("exact__*.json"))]
    names += [reference.stem for reference in sorted((folder / "reference" / "more").glob("*__*.json"))]
    for name in names:
        data, _, kind = name.partition("__")
        path = folder / "data" / f"{data}.csv"
        if not path.exists():
            continue
        columns = path.open().readline().strip().replace('"', "").split(",")
        options = options_for(kind, columns)
        if options is None:
            continue
        expected = by_program(program, path, options)
        tables = {
            "file": path,
            "pandas": pandas.read_csv(path),
            "polars": polars.read_csv(path, null_values=["NA", ""], infer_schema_length=None),
            "arrow": pyarrow.csv.read_csv(path),
        }
        found = {name: numbers(fedirt.fit({data: table}, **options).to_json()) for name, table in tables.items()}
        found["R"] = by_r(path, options)
        if "site" not in options:
            # A table is called differently here and there, and so is its only site.
            for fit in (expected, *found.values()):
                fit["sites"][0]["name"] = data
        wrong = [name for name, fit in found.items() if fit != expected]
        fits += 1
        different += bool(wrong)
        print(f"{data} {kind}: {'differs: ' + ', '.join(wrong) if wrong else 'identical'}", flush=True)
    print(f"{fits} fits, {different} differ")
    return 1 if different or not fits else 0


if __name__ == "__main__":
    sys.exit(main())
