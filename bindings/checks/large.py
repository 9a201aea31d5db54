"""Measures fits of 100,000 students and 100 items from pandas and Arrow tables beside the command line: by hand.

usage: python bindings/checks/large.py [PATH/TO/fedirt]

Processor time of `fit()` alone, imports and interpreter excluded, and how much memory it needs at its peak beside the table; processor time and
memory of the program on the same answers as a CSV file. Build both with the same profile. Ends with 1 where a fit takes more than 1.20 of the
program's processor time, more than twice the memory of its table, or gives another log-likelihood.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

STUDENTS, ITEMS = 100_000, 100
MOST_CPU, MOST_MEMORY = 1.20, 2.0


def answers():
    """2PL answers drawn by a seed, as whole numbers of 64 bits, which is what readers of CSV files give."""
    draw = numpy.random.default_rng(1)
    slope, intercept = draw.lognormal(0, 0.3, ITEMS), draw.normal(0, 1, ITEMS)
    ability = draw.normal(size=(STUDENTS, 1))
    return (draw.random((STUDENTS, ITEMS)) < 1 / (1 + numpy.exp(-(slope * ability + intercept)))).astype("int64")


def memory():
    """Largest memory of this process since the last look, in bytes; the next look counts anew."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    return peak * 1024


def measure(kind, diagnostics):
    """In a process of its own: processor seconds of the fit, its peak beyond what was there, the table's size, the fit."""
    import fedirt

    names = [f"i{item:03}" for item in range(ITEMS)]
    if kind == "pandas":
        import pandas

        table = pandas.DataFrame(answers(), columns=names)
        size = int(table.memory_usage(index=False).sum())
    else:
        import pyarrow

        table = pyarrow.table(list(answers().T.copy()), names=names)
        size = table.nbytes
    # Imports that the first call makes are over after a small fit.
    fedirt.fit({"a": [0, 1, 1, 0, 1], "b": [1, 1, 0, 0, 1], "c": [1, 0, 0, 1, 1]}, model="rasch", diagnostics=False)
    memory()
    before = memory()
    start = time.process_time()
    fit = fedirt.fit(table, diagnostics=diagnostics)
    used = time.process_time() - start
    print(json.dumps({"cpu": used, "more": memory() - before, "table": size, "loglik": fit.loglik}))


def by_program(program, path, flags):
    """Processor seconds, largest memory, and the log-likelihood."""
    script = "import json, resource, subprocess, sys; out = subprocess.run(sys.argv[1:], check=True, capture_output=True).stdout; used = resource.getrusage(resource.RUSAGE_CHILDREN); print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, json.loads(out)['loglik']]))"
    command = [sys.executable, "-c", script, program, "fit", path, "--json", *flags]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "fedirt"
    beyond = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.csv")
        header = ",".join(f"i{item:03}" for item in range(ITEMS))
        numpy.savetxt(path, answers(), fmt="%d", delimiter=",", header=header, comments="")
        for check, flags in (("with the check of the model", []), ("without it", ["--no-diagnostics"])):
            usual, memory, loglik = by_program(program, path, flags)
            print(f"{check}: command line: {usual:.2f} s of CPU, {memory / 1e6:.0f} MB")
            for kind in ("pandas", "arrow"):
                command = [sys.executable, __file__, "--measure", kind, *flags]
                one = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                same = one["loglik"] == loglik
                cpu, peak = one["cpu"] / usual, 1 + one["more"] / one["table"]
                print(
                    f"  {kind}: {one['cpu']:.2f} s of CPU ({cpu:.2f} of the command line), "
                    f"table of {one['table'] / 1e6:.0f} MB, {one['more'] / 1e6:.0f} MB more at the peak "
                    f"({peak:.2f} times the table), {'the same' if same else 'ANOTHER'} log-likelihood",
                    flush=True,
                )
                if cpu > MOST_CPU or peak > MOST_MEMORY or not same:
                    beyond.append(f"{kind}, {check}")
    if beyond:
        print(f"beyond {MOST_CPU:.2f} of the processor time or {MOST_MEMORY:.1f} times the table: {'; '.join(beyond)}")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(measure(sys.argv[2], len(sys.argv) == 3) if sys.argv[1:2] == ["--measure"] else main())
