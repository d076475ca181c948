"""How good the rows are that a model of a table draws: columns, pairs of columns, and what a classifier learns from them.

Shape of a column: 1 - the largest distance of the two distribution functions (Kolmogorov, Smirnov) for numbers, 1 - the total
variation distance for texts. Trend of a pair: 1 - half of the difference of the correlations for two numbers, else 1 - the total
variation distance of the tables of counts, with numbers in ten bins of the real rows. Scores are means over columns and pairs.
"""
import itertools

import numpy

BINS = 10
SEED = 1


def total_variation(real, drawn):
    """Half of the sum of the differences of frequencies of two lists of values."""
    values, codes = numpy.unique(numpy.concatenate([real, drawn]), return_inverse=True)
    counts = [numpy.bincount(part, minlength=len(values)) / len(part) for part in (codes[:len(real)], codes[len(real):])]
    return abs(counts[0] - counts[1]).sum() / 2


def kolmogorov_smirnov(real, drawn):
    points = numpy.concatenate([real, drawn])
    below = [numpy.searchsorted(numpy.sort(part), points, side="right") / len(part) for part in (real, drawn)]
    return abs(below[0] - below[1]).max()


def in_bins(real, drawn):
    edges = numpy.unique(numpy.quantile(real, numpy.linspace(0, 1, BINS + 1)[1:-1]))
    return numpy.searchsorted(edges, real, side="right"), numpy.searchsorted(edges, drawn, side="right")


def as_codes(real, drawn):
    codes = numpy.unique(numpy.concatenate([real, drawn]).astype(str), return_inverse=True)[1]
    return codes[:len(real)], codes[len(real):]


def columns_of(real, drawn):
    """For each column whether it is of numbers, and the values of both tables."""
    for i, numeric in enumerate(real.numeric()):
        kind = float if numeric else str
        yield numeric, real.rows[:, i].astype(kind), drawn.rows[:, i].astype(kind)


def shape_and_trend(real, drawn):
    columns = list(columns_of(real, drawn))
    shapes = [1 - (kolmogorov_smirnov if numeric else total_variation)(a, b) for numeric, a, b in columns]
    codes = [in_bins(a, b) if numeric else as_codes(a, b) for numeric, a, b in columns]
    trends = []
    for i, j in itertools.combinations(range(len(columns)), 2):
        if columns[i][0] and columns[j][0]:
            real_r, drawn_r = (numpy.corrcoef(columns[i][side], columns[j][side])[0, 1] for side in (1, 2))
            trends.append(1 - abs(real_r - drawn_r) / 2)
        else:
            base = 1 + max(part.max() for part in codes[j])
            trends.append(1 - total_variation(*(codes[i][side] * base + codes[j][side] for side in (0, 1))))
    return {"shape": float(numpy.mean(shapes)), "trend": float(numpy.mean(trends))}


def classifier_auc(train, test, positive):
    """Of gradient boosting that learns the class of the rows of one table and is asked for that of another's."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.preprocessing import OrdinalEncoder
    numeric = numpy.array(test.without_class().numeric())
    encoding = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    encoding.fit(train.rows[:, :-1][:, ~numeric])

    def features(table):
        cells = table.rows[:, :-1]
        return numpy.hstack([encoding.transform(cells[:, ~numeric]), cells[:, numeric].astype(float)])

    categorical = numpy.arange(len(numeric)) < (~numeric).sum()
    model = HistGradientBoostingClassifier(categorical_features=categorical, random_state=SEED)
    model.fit(features(train), train.classes() == positive)
    return float(roc_auc_score(test.classes() == positive, model.predict_proba(features(test))[:, 1]))


def drawn_by(name, train, count):
    """Rows of CTGAN or TVAE (Xu et al. 2019) at their defaults, by the authors' package."""
    import ctgan
    import pandas
    from . import table_files
    numeric = train.numeric()
    frame = pandas.DataFrame({column: train.rows[:, i].astype(float if numeric[i] else str)
                              for i, column in enumerate(train.names)})
    model = getattr(ctgan, name)()
    model.set_random_state(SEED)
    model.fit(frame, [column for column, number in zip(train.names, numeric) if not number])
    drawn = model.sample(count)[train.names]
    return table_files.Table(train.names, drawn.astype(str).to_numpy(object))
