"""docs/operators.md: what the operator tests of the onnx package say of each standard operator."""
import collections
import re

import onnx

INTRODUCTION = """# Operators of opset {opset}

Which standard operators an energy model may have: whether it can be scored on the CPU, and whether a gradient passes in training.
"Derivative 0" may stand wherever nothing behind it is to be learned: indices, masks, comparisons, shapes. `ort-ed check` says it of a model.

Each test of an operator in the package onnx {version} ({tests:,} in all, with those of the operators' function bodies) was made an energy model:
{scored:,} were scored, and their energies are those of the package's expected outputs; {trained:,} of them have gradients, which agree with
central differences. A number behind "yes" says how many of an operator's tests can be trained, where some cannot.

```
tools/setup.sh --conformance
~/.cache/ort-ed/conformance/bin/python tests/conformance/node_tests.py build/dev/tools/ort-ed --write
```

| operator | since opset | tests | scores | trains |
|---|---|---|---|---|
"""
CONTRIBUTED = """
## com.microsoft

With a gradient: BiasGelu, FastGelu, FusedGemm, FusedMatMul, Gelu, QuickGelu, SkipLayerNormalization, SkipSimplifiedLayerNormalization.
"""


def why_not_scored(message):
    for text, why in (("Could not find an implementation", "ONNX Runtime has no kernel for it"),
                      ("has no constant number of trips", "a loop without a constant number of trips"),
                      ("does not run safely", "ONNX Runtime does not run it safely")):
        if text in message:
            return why
    return "ONNX Runtime refuses it"


def how_it_trains(report):
    nothing = any("nothing to train" in problem for problem in report["problems"])
    if report["missing_rules"]:
        return "no: no rule for " + report["missing_rules"][0]["operator"]
    if report["problems"] and not nothing:
        return "no: " + without_names(report["problems"][0])
    learned = [g for g in report["gradients"] if g["verdict"] != "no influence" and g["tensor"] != report["input"]]
    return "yes" if learned else "derivative 0"


def without_names(problem):
    if "whose steps have no slope" in problem:
        return "its steps have no slope"
    problem = re.sub(r"^cannot differentiate node '[^']*' \(([A-Za-z]*)\): ", r"", problem)
    return re.sub(r" ?\('[^']*'\)|'[^']*' ?", "", problem).rstrip(".")


def newest_schemas():
    schemas = {schema.name: schema for schema in onnx.defs.get_all_schemas() if schema.domain == ""}
    return {name: schema for name, schema in sorted(schemas.items()) if not schema.deprecated}


def operator_of(case):
    """What a test is of; function bodies count for the operator that they are of."""
    nodes = case.model.graph.node
    return nodes[0].op_type if len(nodes) == 1 else ""


def summary(values):
    """The kinds of answers, the best first; how many of which, where they differ."""
    counts = collections.Counter(values)
    if len(counts) == 1:
        return values[0]
    ordered = sorted(counts, key=lambda v: (not v.startswith("yes"), not v.startswith("derivative"), -counts[v], v))
    return "; ".join(f"{value} ({counts[value]})" for value in ordered)


def row(name, schema, outcomes):
    tried = [o for o in outcomes if not o.scores.startswith("untested")]
    if not tried:
        why = sorted({o.scores.removeprefix("untested: ") for o in outcomes})
        return f"| {name} | {schema.since_version} | 0 | {'untested: ' + ', '.join(why) if why else 'no test'} | |\n"
    scored = [o.trains for o in tried if o.scores == "yes"]
    return f"| {name} | {schema.since_version} | {len(tried)} | {summary([o.scores for o in tried])} | {summary(scored) if scored else ''} |\n"


def page(outcomes):
    by_operator = collections.defaultdict(list)
    for outcome in outcomes:
        by_operator[operator_of(outcome.case)].append(outcome)
    text = INTRODUCTION.format(opset=onnx.defs.onnx_opset_version(), version=onnx.__version__, tests=len(outcomes),
                               scored=sum(o.scores == "yes" for o in outcomes), trained=sum(o.trains == "yes" for o in outcomes))
    return text + "".join(row(name, schema, by_operator[name]) for name, schema in newest_schemas().items()) + CONTRIBUTED
