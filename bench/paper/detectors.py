"""Detectors of odd rows of scikit-learn and PyOD at their defaults. Texts become one bit for each category, numbers become 0 to 1."""
import time

import numpy

NAMES = ["IsolationForest", "LOF", "BernoulliRBM", "ECOD", "KNN"]


def encoder(table):
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
    numeric = numpy.array(table.numeric())
    return ColumnTransformer([("texts", OneHotEncoder(handle_unknown="ignore", sparse_output=False), numpy.flatnonzero(~numeric)),
                              ("numbers", MinMaxScaler(clip=True), numpy.flatnonzero(numeric))])


def isolation_forest(train, test, seed):
    from sklearn.ensemble import IsolationForest
    return -IsolationForest(random_state=seed).fit(train).score_samples(test)


def local_outlier_factor(train, test, _):
    from sklearn.neighbors import LocalOutlierFactor
    return -LocalOutlierFactor(novelty=True).fit(train).score_samples(test)


def free_energy(train, test, seed):
    """Of a restricted Boltzmann machine; its own `score_samples` is a random estimate of something else."""
    from sklearn.neural_network import BernoulliRBM
    machine = BernoulliRBM(random_state=seed).fit(train)
    hidden = test @ machine.components_.T + machine.intercept_hidden_
    return -test @ machine.intercept_visible_ - numpy.logaddexp(0, hidden).sum(axis=1)


def ecod(train, test, _):
    from pyod.models.ecod import ECOD
    return ECOD().fit(train).decision_function(test)


def nearest_neighbours(train, test, _):
    from pyod.models.knn import KNN
    return KNN().fit(train).decision_function(test)


def scores(train, test, seed):
    """Of each detector how odd the test rows are, and the seconds it took; two of them draw numbers."""
    encoding = encoder(train).fit(train.rows)
    train_rows, test_rows = (numpy.asarray(encoding.transform(t.rows), float) for t in (train, test))
    found = {}
    for name, detect in zip(NAMES, (isolation_forest, local_outlier_factor, free_energy, ecod, nearest_neighbours)):
        start = time.monotonic()
        found[name] = (detect(train_rows, test_rows, seed), time.monotonic() - start)
    return found


def area_under_curve(odd, scores):
    """The probability that an odd row scores above another one, with its standard error (Hanley and McNeil 1982)."""
    from sklearn.metrics import roc_auc_score
    area = float(roc_auc_score(odd, scores))
    odds, others = int(odd.sum()), int((~odd).sum())
    pairs_of_odd, pairs_of_others = area / (2 - area), 2 * area ** 2 / (1 + area)
    variance = (area * (1 - area) + (odds - 1) * (pairs_of_odd - area ** 2) + (others - 1) * (pairs_of_others - area ** 2))
    return {"auc": area, "standard_error": (variance / (odds * others)) ** 0.5}
