"""Results: numbers, tables, pictures, files."""

import json
import pickle
import shutil
import subprocess
import xml.etree.ElementTree

import pytest

import fedirt

OPTIONS = {"site": "school", "id": "pupil"}


@pytest.fixture
def fit(frame):
    return fedirt.fit(frame, **OPTIONS)


def test_the_program_gives_the_same_numbers(frame, fit, tmp_path):
    program = shutil.which("fedirt")
    assert program, "the package brings the program"
    frame.to_csv(tmp_path / "a.csv", index=False)
    flags = ["--site", "school", "--id", "pupil", "--json"]
    printed = subprocess.run([program, "fit", str(tmp_path / "a.csv"), *flags], check=True, capture_output=True).stdout
    ours, theirs = fit.to_dict(), json.loads(printed)
    ours["provenance"] = theirs["provenance"] = None
    assert ours == theirs


def test_tables(fit):
    assert len(fit.items) == 5 and len(fit.sites) == 3 and len(fit.trace) == len(fit.to_dict()["trace"])
    assert len(fit.item_fit) == 5 and len(fit.pairs) == 10
    assert fit.coef().shape == (5, 4) and fit.coef(irt=True, se=True).shape == (5, 7)
    covariance = fit.covariance
    assert covariance.shape[0] + 1 == covariance.shape[1]
    row = list(covariance["parameter"]).index("i1.a")
    assert covariance["i1.a"][row] ** 0.5 == pytest.approx(fit.to_dict()["items"][0]["se_a"], rel=1e-12)
    # A site without complete students has no such table, and the reason is told.
    assert len(fit.score_table) > 0


def test_effects_add_up_to_zero(fit):
    assert abs(sum(fit.sites["effect"])) < 1e-9


def test_scores_in_the_order_of_the_table(frame, fit):
    scores = fit.scores()
    assert list(scores["id"]) == list(frame["pupil"])
    assert list(scores["site"]) == list(frame["school"])
    again = fit.scores(frame, **OPTIONS)
    assert list(again["F1"]) == list(scores["F1"])
    drawn = fit.scores(method="pv", draws=3, seed=7)
    assert [f"PV{m}" for m in (1, 2, 3)] == [name for name in drawn.columns if name.startswith("PV")]
    scaled = fit.scores(scale={"mean": 500, "sd": 100}, prior="common")
    assert 450 < scaled["F1_scaled"].mean() < 550
    with pytest.raises(fedirt.OptionError):
        fit.scores(draws=3)
    with pytest.raises(fedirt.OptionError):
        fit.scores(method="wlee")


def test_curves(fit):
    b, a = fit.to_dict()["items"][0]["b"][0], fit.to_dict()["items"][0]["a"]
    curves = fit.curves([b])
    first = curves[curves["item"] == "i1"]
    assert list(first["probability"]) == pytest.approx([0.5, 0.5])
    assert list(first["information"]) == pytest.approx([a * a / 4] * 2)
    assert list(fit.probabilities([0.0]).columns) == ["item", "category", "theta", "probability"]


def test_pictures_are_svg(fit, tmp_path):
    for name, _ in fedirt.PICTURES:
        # Nobody asked for these numbers.
        if name in ("group_differences", "site_influence"):
            with pytest.raises(fedirt.CalibrationError):
                fit.plot(name)
            continue
        root = xml.etree.ElementTree.fromstring(fit.plot(name).svg)
        assert root.tag.endswith("svg")
    fit.plot("trace", items="i1").save(tmp_path / "i1.svg")
    assert (tmp_path / "i1.svg").read_text().startswith("<svg")
    with pytest.raises(fedirt.OptionError, match="i9"):
        fit.plot("trace", items=["i9"])
    with pytest.raises(fedirt.OptionError, match="wright"):
        fit.plot("histogram")


def test_saved_and_loaded(fit, tmp_path):
    fit.save(tmp_path / "fit.json")
    loaded = fedirt.load(tmp_path / "fit.json")
    assert loaded.to_dict() == fit.to_dict()
    assert pickle.loads(pickle.dumps(fit)).to_json() == fit.to_json()
    with pytest.raises(fedirt.CalibrationError, match="covariances"):
        loaded.covariance
    with pytest.raises(fedirt.CalibrationError, match="students"):
        loaded.scores()
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(fedirt.DataError):
        fedirt.load(tmp_path / "no.json")


def test_what_people_see(fit, tmp_path):
    assert "loglik" in repr(fit)
    page = fit._repr_html_()
    assert page.count("<tr>") == 6
    assert fit.report(tmp_path / "report.html").startswith("<!doctype html>")
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_html_is_escaped(frame):
    fit = fedirt.fit(frame.rename(columns={"i1": "<b>i1"}), **OPTIONS)
    assert "<b>" not in fit._repr_html_() and "&lt;b&gt;i1" in fit._repr_html_()


def test_warnings_come_first(frame):
    frame["i1"] = frame["i1"] + 1
    fit = fedirt.fit(frame, **OPTIONS)
    assert fit.warnings and repr(fit).startswith("Warning: ")
    assert fit._repr_html_().startswith("<p><strong>Warning:")


def test_comparison(frame, fit):
    rasch = fedirt.fit(frame, **OPTIONS, model="pcm")
    compared = fedirt.compare(rasch, fit, names=["pcm", "gpcm"])
    assert compared.tests["p"][0] <= 1
    assert list(compared.fits["fit"]) == ["pcm", "gpcm"]
    linked = fedirt.compare(fit, fit, link="haebara")
    assert linked.links["slope"][0] == pytest.approx(1, abs=1e-6)
    assert linked.plot().svg.startswith("<svg")
    with pytest.raises(fedirt.OptionError):
        fedirt.compare(fit, fit, link="none")


def test_modes(frame):
    plain, secure = fedirt.fit(frame, **OPTIONS), fedirt.fit(frame, **OPTIONS, mode="secure")
    assert secure.mode == "secure" and secure.sites["effect"].isna().all()
    for one, other in zip(plain.to_dict()["items"], secure.to_dict()["items"]):
        assert one["a"] == pytest.approx(other["a"], abs=1e-4)
    binary = frame.drop(columns="i5")
    private = fedirt.fit(binary, **OPTIONS, mode="private", epsilon=2)
    assert private.privacy["epsilon"] == 2


def test_other_options(frame):
    fit = fedirt.fit(frame, **OPTIONS, model="rasch", item_models={"i5": "grm"}, effects="none", threads=1, diagnostics=False)
    assert fit.effects == "none" and fit.diagnostics is None
    with pytest.raises(fedirt.CalibrationError, match="diagnostics"):
        fit.item_fit
    anchored = fedirt.fit(frame, **OPTIONS, fixed_items={"item": ["i1"], "a": [1.0], "b": [0.0]})
    assert anchored.to_dict()["items"][0]["fixed"]
    weighted = fedirt.fit(frame.assign(w=1.5), **OPTIONS, weight="w")
    assert weighted.to_dict()["se_type"] == "sandwich"
    with pytest.warns(fedirt.NotConverged):
        fedirt.fit(frame, **OPTIONS, max_rounds=2, tolerance=1e-14)


def test_keys_and_long_tables(frame):
    options = frame.drop(columns="i5").astype({"i2": "Int64"})
    right = {f"i{item}": "B" for item in range(1, 5)}
    lettered = options.assign(**{name: options[name].map({0: "A", 1: "B"}) for name in right})
    scored, coded = fedirt.fit(lettered, **OPTIONS, key=right), fedirt.fit(options, **OPTIONS)
    assert [item["a"] for item in scored.to_dict()["items"]] == [item["a"] for item in coded.to_dict()["items"]]
    long = options.melt(id_vars=["pupil", "school"], var_name="task", value_name="points").dropna()
    columns = {"id": "pupil", "item": "task", "response": "points"}
    fit = fedirt.fit(long, site="school", long=columns)
    assert fit.n == 300


def test_check(frame):
    found = fedirt.check(frame, **OPTIONS)
    assert list(found.items["missing"]) == [0, 1, 0, 0, 0]
    assert list(found.sites["rows"]) == [100, 100, 100]
    assert "alpha" in repr(found).lower()


def test_plan():
    plan = fedirt.privacy.plan(sites=20, students=100, items=30, epsilon=[8, 1])
    assert list(plan.table["epsilon"]) == [1, 8]
    with pytest.raises(fedirt.OptionError):
        fedirt.privacy.plan(sites=3, students=[1, 2], items=3)


def test_groups_are_compared(frame):
    frame["sex"] = ["f", "m", "m"] * 100
    options = {"id": "pupil", "ignore": ["school"], "group": "sex", "reference_group": "f", "purify": False}
    fit = fedirt.fit(frame, **options)
    assert set(fit.dif["item"]) >= {"i1", "i2"}
    assert fit.plot("group_differences").svg.startswith("<svg")
    freed = fedirt.fit(frame, **options, free={"i3": "m"})
    assert len(freed.items) == len(fit.items) + 1
    with pytest.raises(fedirt.OptionError, match="group"):
        fedirt.fit(frame, free={"i3": "m"}, ignore=["school", "sex"], id="pupil")


def test_tables_of_the_check(frame):
    fit = fedirt.fit(
        frame, site="school", id="pupil", diagnostics=["influence", "latent", "pairs", "q3"], compare_sites=True, bundles=["i1+i2"]
    )
    for table in (fit.influence, fit.latent, fit.dimensions, fit.site_heterogeneity):
        assert len(table) > 0
    assert "i1+i2" in list(fit.items["item"])
    with pytest.raises(fedirt.CalibrationError):
        _ = fit.dif


def test_sensitivity(frame):
    found = fedirt.sensitivity(frame, vary=["sites"], site="school", id="pupil", model="pcm")
    assert found.fits["fit"][0] == "as it is" and len(found.items) % 5 == 0
    assert "sites count equally" in repr(found)


def test_information_adds_up(fit):
    table = fit.information([-1, 0, 1])
    parts = table.drop(columns=["theta", "test"])
    assert list(parts.columns) == [f"i{item}" for item in range(1, 6)]
    assert abs(parts.sum(axis=1) - table["test"]).max() < 1e-12


@pytest.mark.parametrize("type", ["trace", "item_information", "information", "score", "wright", "sites"])
def test_figures_of_matplotlib(fit, type, tmp_path):
    pytest.importorskip("matplotlib")
    figure = fit.plot(type).figure()
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000
    with pytest.raises(fedirt.CalibrationError, match="SVG"):
        fit.plot("q3").figure()
