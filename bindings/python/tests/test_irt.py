"""The estimator in the hands of scikit-learn."""

import numpy
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import fedirt


@pytest.fixture
def X(frame):
    return frame[["i1", "i2", "i3", "i4", "i5"]]


def test_clone_and_parameters(X):
    est = fedirt.IRT(model="gpcm")
    assert clone(est).get_params() == est.get_params()
    assert est.set_params(nodes=41).nodes == 41
    with pytest.raises(fedirt.OptionError):
        est.set_params(node=3)
    with pytest.raises(NotFittedError):
        est.transform(X)


def test_it_is_the_fit(X):
    est = fedirt.IRT().fit(X)
    fit = fedirt.fit(X, diagnostics=False)
    assert est.loglik_ == fit.loglik
    assert list(est.feature_names_in_) == list(X.columns)
    assert est.transform(X)[:, 0].tolist() == list(fit.scores()["F1"])
    assert est.score(X) == pytest.approx(fit.loglik / fit.n, abs=1e-10)


def test_sites_and_weights(X, frame):
    est = fedirt.IRT().fit(X, sites=frame["school"], sample_weight=numpy.ones(len(X)))
    assert len(est.fit_.sites) == 3


def test_cross_validation(X):
    scores = cross_val_score(fedirt.IRT(model="2pl", item_models={"i5": "gpcm"}), X, cv=3)
    assert scores.shape == (3,) and (scores < 0).all()


def test_in_a_pipeline(X):
    theta = make_pipeline(fedirt.IRT()).fit_transform(X.to_numpy())
    assert theta.shape == (300, 1)


def test_lists_of_rows():
    rows = [[0, 1, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1], [0, 0, 0], [0, 1, 0]]
    assert fedirt.IRT(model="rasch").fit(rows).n_features_in_ == 3
