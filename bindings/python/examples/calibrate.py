"""Calibrates, criticises, compares, scores and draws: `python calibrate.py FOLDER` writes pictures and a report there."""

# %% Answers of three schools, simulated, so that the truth is known.
import pathlib
import sys

import fedirt

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
answers, truth = fedirt.simulate(sites=3, students=400, items=8, site_effects=[-0.5, 0, 0.5], seed=1)
print(fedirt.check(answers, site="site", id="id"))

# %% Calibrate.
fit = fedirt.fit(answers, site="site", id="id")
print(fit)
print(fit.coef(irt=True, se=True))
print(fit.sites)
for estimate, item in zip(fit.to_dict()["items"], truth["items"]):
    far = abs(estimate["b"][0] - item["b"][0]) / estimate["se_b"][0]
    print(f"{item['name']}: b = {estimate['b'][0]:.2f}, in truth {item['b'][0]:.2f}, {far:.1f} standard errors away")

# %% Criticise.
print(fit.item_fit)
for entry in fit.diagnostics["not_available"]:
    print(f"no {entry['name']}: {entry['reason']}")
for finding in fit.diagnostics["findings"]:
    print(finding["message"])

# %% Compare.
rasch = fedirt.fit(answers, site="site", id="id", model="rasch")
compared = fedirt.compare(rasch, fit, names=["rasch", "2pl"])
print(compared)

# %% Score: with the school's distribution as prior, and with the same prior for all.
print(fit.scores().head())
print(fit.scores(prior="common", scale={"mean": 500, "sd": 100}).head())

# %% Draw.
for name, shows in fedirt.PICTURES:
    try:
        fit.plot(name).save(folder / f"{name}.svg")
        print(f"{name}.svg: {shows}")
    except fedirt.CalibrationError as why:
        print(f"no {name}.svg: {why}")
compared.plot().save(folder / "difficulties.svg")
fit.report(folder / "report.html")

# %% What privacy would cost.
print(fedirt.privacy.plan(sites=3, students=400, items=8, epsilon=[1, 2, 4, 8], effects="none"))
