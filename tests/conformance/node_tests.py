#!/usr/bin/env python3
"""The operator tests of the onnx package as energy models: energies against the package's expected outputs, gradients against central
differences (`ort-ed check`); docs/operators.md tells what came out. Says whether the page is up to date, or writes it.

    ~/.cache/ort-ed/conformance/bin/python tests/conformance/node_tests.py build/dev/tools/ort-ed [--write] [--only PART_OF_A_NAME]
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

SKIPPED = 77
PAGE = pathlib.Path(__file__).parents[2] / "docs/operators.md"

try:
    import numpy
    import onnx
    from onnx.backend.test.case.node import collect_testcases
except ImportError:
    print("SKIPPED: without the package onnx; `tools/setup.sh --conformance` brings it")
    sys.exit(SKIPPED)

import node_models  # noqa: E402
import operators_page  # noqa: E402

# ONNX Runtime 1.30 itself gives other outputs than the package expects.
OTHER_IN_ONNX_RUNTIME = {
    "test_attention_4d_with_qk_matmul_bias", "test_attention_4d_with_qk_matmul_softcap",
    "test_attention_4d_with_past_and_present_qk_matmul_bias_3d_mask", "test_maxunpool_export_with_output_shape",
    "test_qlinearmatmul_2D_int8_float32", "test_qlinearmatmul_3D_int8_float32", "test_qlinearmatmul_2D_int8_float16",
    "test_qlinearmatmul_3D_int8_float16", "test_resize_downsample_scales_linear_align_corners",
    "test_resize_downsample_scales_cubic_align_corners"}

Outcome = collections.namedtuple("Outcome", "case scores trains")


class Faulty(Exception):
    """What must not be."""


class Conformance:
    def __init__(self, ort_ed, folder):
        self.ort_ed, self.folder = ort_ed, pathlib.Path(folder)
        self.rows = node_models.all_rows()
        numpy.save(self.folder / "rows.npy", self.rows)

    def call(self, *arguments):
        done = subprocess.run([self.ort_ed, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        if done.returncode not in (0, 1):
            raise Faulty(f"`{arguments[0]}` ended with {done.returncode}: {done.stderr[-300:]}")
        return done

    def write(self, case, model):
        path = self.folder / f"{case.name}.onnx"
        onnx.save(model, path)
        return path

    def score(self, case, energy):
        path, energies = self.write(case, energy.model), self.folder / f"{case.name}.npy"
        done = self.call("score", path, self.folder / "rows.npy", "-o", energies, "--threads", 1)
        if done.returncode == 1:
            return "no: " + operators_page.why_not_scored(done.stderr)
        found, expected = numpy.load(energies).reshape(-1), energy.of(self.rows)
        if case.name not in OTHER_IN_ONNX_RUNTIME and not (abs(found - expected) <= 2 * case.rtol * energy.size + 1e-4).all():
            raise Faulty(f"energies are off by {abs(found - expected).max():.2g}, with outputs of {energy.size:.2g} in all")
        return "yes"

    def check(self, case, model):
        frozen = ",".join(["e_*", *node_models.not_learned(model)])
        done = self.call("check", self.write(case, model), "--json", "--frozen", frozen, "--trainable", "*")
        return json.loads(done.stdout)

    def train(self, case, energy):
        """Off its kinks, too, where nothing has a derivative."""
        report = self.check(case, energy.model)
        if not report["problems"] and any(g["verdict"] in ("differs", "uncertain") for g in report["gradients"]):
            report = self.check(case, energy.moved().model)
        wrong = [g["tensor"] for g in report["gradients"] if g["verdict"] == "differs"]
        if wrong and not case.name.startswith("test_dynamicquantizelinear"):  # steps, whose slope is another
            raise Faulty(f"the gradients of {wrong} differ from central differences")
        return operators_page.how_it_trains(report)

    def outcome(self, case):
        try:
            energy = node_models.EnergyOf(case)
        except node_models.NotForAnEnergy as why:
            return Outcome(case, f"untested: {why}", "")
        try:
            scores = self.score(case, energy)
            return Outcome(case, scores, self.train(case, energy) if scores == "yes" else "")
        except Faulty as fault:
            return Outcome(case, f"FAULTY: {fault}", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ort_ed")
    parser.add_argument("--write", action="store_true", help="write docs/operators.md anew")
    parser.add_argument("--only", default="", metavar="PART_OF_A_NAME", help="some of the tests, without the page")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    cases = [case for case in collect_testcases(None) if arguments.only in case.name and case.data_sets]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(Conformance(arguments.ort_ed, folder).outcome, cases))
    faults = [outcome for outcome in outcomes if outcome.scores.startswith("FAULTY")]
    for outcome in faults:
        print(f"{outcome.case.name}: {outcome.scores}")
    if arguments.only:
        for outcome in outcomes:
            print(f"{outcome.case.name}: scores {outcome.scores}; trains {outcome.trains}")
        return bool(faults)
    page = operators_page.page(outcomes)
    if arguments.write:
        PAGE.write_text(page)
    elif PAGE.read_text() != page:
        print(f"{PAGE} is out of date; write it anew with --write")
        return 1
    print(f"{len(outcomes)} tests, {len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
