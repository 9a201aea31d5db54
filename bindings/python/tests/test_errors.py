"""What is wrong is an exception with fields, and never a crash."""

import datetime
import pickle
import signal
import threading

import pandas
import polars
import pyarrow
import pytest

import fedirt
from fedirt import _native

OPTIONS = {"site": "school", "id": "pupil"}


def _problem(table, **options):
    with pytest.raises(fedirt.DataError) as caught:
        fedirt.fit(table, **options)
    return caught.value.problems[0]


@pytest.mark.parametrize("kind", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_text_among_answers_has_row_column_and_value(columns, kind):
    columns["i3"] = [str(cell) for cell in columns["i3"]]
    columns["i3"][41] = "absent"
    problem = _problem(kind(columns), **OPTIONS)
    assert (problem.line, problem.column, problem.value) == (42, "i3", "absent")
    assert "missing" in problem.remedy


@pytest.mark.parametrize("kind", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_a_half_is_not_cut_down_to_zero(columns, kind):
    columns["i1"] = [float(cell) for cell in columns["i1"]]
    columns["i1"][4] = 0.5
    problem = _problem(kind(columns), **OPTIONS)
    assert (problem.line, problem.column, problem.value) == (5, "i1", "0.5")


@pytest.mark.parametrize("kind", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_dates_are_no_answers(columns, kind):
    columns["i4"] = [datetime.date(2026, 1, 1)] * len(columns["i4"])
    assert _problem(kind(columns), **OPTIONS).column == "i4"


def test_numbers_that_are_no_categories(columns):
    columns["i1"][3] = -3
    assert _problem(columns, **OPTIONS).value == "-3"
    columns["i1"][3] = 10**30
    assert (_problem(columns, **OPTIONS).line, _problem(columns, **OPTIONS).column) == (4, "i1")
    columns["i1"][3] = float("inf")
    assert _problem(columns, **OPTIONS).line == 4


def test_a_nine_is_a_question(columns):
    columns["i1"][3] = 9
    problem = _problem(columns, **OPTIONS)
    assert problem.column == "i1" and "9" in problem.message
    assert fedirt.fit(columns, **OPTIONS, missing=9).n == 300
    assert fedirt.fit(columns, **OPTIONS, missing=["9"]).n == 300


def test_empty_tables():
    for table in (pandas.DataFrame(), polars.DataFrame(), {}, pandas.DataFrame({"i1": [], "i2": []})):
        with pytest.raises(fedirt.DataError):
            fedirt.fit(table)


def test_duplicate_names(frame):
    frame.columns = ["pupil", "school", "i1", "i1", "i3", "i4", "i5"]
    assert _problem(frame, **OPTIONS).column == "i1"


def test_lengths_that_differ():
    assert _problem({"i1": [0, 1], "i2": [0, 1, 1]}).column == "i2"


def test_columns_that_do_not_exist(columns):
    problem = _problem(columns, site="shcool", id="pupil")
    assert problem.column == "shcool" and "school" in problem.remedy


def test_what_is_no_table():
    for table in (7, None, [1, 2], "no/such/file.csv"):
        with pytest.raises((TypeError, fedirt.DataError)):
            fedirt.fit(table)
    with pytest.raises(fedirt.DataError):
        fedirt.fit({"i1": 3, "i2": [1]})


def test_options_of_wrong_types_come_all_at_once(columns):
    with pytest.raises(fedirt.OptionError) as caught:
        fedirt.fit(columns, **OPTIONS, nodes="many", model=3, tolerance=[1], effects="some")
    named = {problem.option for problem in caught.value.problems}
    assert named == {"nodes", "model", "tolerance", "effects"}
    with pytest.raises(fedirt.OptionError, match="private"):
        fedirt.fit(columns, **OPTIONS, epsilon=1)
    with pytest.raises(fedirt.OptionError, match="`tolerance` 0"):
        fedirt.fit(columns, **OPTIONS, tolerance=0)
    with pytest.raises(fedirt.FedirtError):
        fedirt.fit(columns, **OPTIONS, model="3pl")
    with pytest.raises(TypeError):
        fedirt.fit(columns, sites="school")


@pytest.mark.parametrize("locked", [False, True])
def test_a_panic_is_an_exception(locked):
    with pytest.raises(fedirt.InternalError, match=r"on purpose \(.*calls.rs:\d+\)"):
        _native.panic_on_purpose(locked)


def test_errors_can_be_pickled(columns):
    columns["i1"][0] = "x"
    with pytest.raises(fedirt.DataError) as caught:
        fedirt.fit(columns, **OPTIONS)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.problems) == (str(caught.value), caught.value.problems)


def test_progress_sees_every_round(columns):
    seen = []
    fit = fedirt.fit(columns, **OPTIONS, progress=lambda *entry: seen.append(entry))
    assert [entry[0] for entry in seen] == [entry["round"] for entry in fit.to_dict()["trace"]]


def test_an_exception_of_progress_ends_the_fit(columns):
    def stop(*entry):
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        fedirt.fit(columns, **OPTIONS, progress=stop)


def test_ctrl_c_ends_the_fit(columns):
    def press(*entry):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        fedirt.fit(columns, **OPTIONS, algorithm="bfgs", progress=press)


def test_other_threads_go_on_meanwhile():
    answers, _ = fedirt.simulate(sites=2, students=4000, items=30, seed=1)
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.005):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    fedirt.fit(answers, site="site", id="id")
    during = len(ticks) - before
    done.set()
    thread.join()
    assert during >= 3
