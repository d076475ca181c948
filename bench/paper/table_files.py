"""Tables of UCI as CSV files with their own names and labels, split with a fixed seed."""
import csv
import dataclasses
import gzip
import json

import numpy

from . import experiment

SPLIT_SEED = 1
TEST_SHARE = 0.2
CATEGORIES = ["mushroom", "nursery", "car", "kr_vs_kp", "splice", "tic_tac_toe", "vote", "soybean", "letter"]
SETS = [*CATEGORIES, "adult"]
MISSING = "?"
ADULT = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
         "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"]


@dataclasses.dataclass
class Table:
    """Cells are texts; the last column is the class."""
    names: list
    rows: numpy.ndarray

    def part(self, rows):
        return Table(self.names, self.rows[rows])

    def without_class(self):
        return Table(self.names[:-1], self.rows[:, :-1])

    def classes(self):
        return self.rows[:, -1]

    def numeric(self):
        """Which columns are numbers."""
        return [all(map(is_number, column)) for column in self.rows.T]

    def write(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.names)
            writer.writerows(self.rows)
        return path


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def read_csv(path, names):
    """The columns of these names; empty cells are missing."""
    with open(path, newline="") as file:
        rows = [[line[name] or MISSING for name in names] for line in csv.DictReader(file)]
    return Table(names, numpy.array(rows, object))


def load(name):
    folder = experiment.Settings.data / "tabular"
    if name == "adult":
        with gzip.open(folder / "adult_raw.csv.gz", "rt") as file:
            return Table(ADULT, numpy.array([row for row in csv.reader(file, skipinitialspace=True) if row], object))
    columns = json.loads((folder / "columns.json").read_text())[name]
    codes = numpy.load(gzip.open(folder / f"{name}.u8.npy.gz"))
    labels = [numpy.array(column["values"], object)[codes[:, i]] for i, column in enumerate(columns)]
    return Table([column["name"] for column in columns], numpy.stack(labels, axis=1))


def split(table):
    """Rows to train on and rows to test on."""
    order = numpy.random.default_rng(SPLIT_SEED).permutation(len(table.rows))
    tested = round(TEST_SHARE * len(order))
    return table.part(order[tested:]), table.part(order[:tested])


def frequent_class(table):
    classes, counts = numpy.unique(table.classes().astype(str), return_counts=True)
    return classes[counts.argmax()]
