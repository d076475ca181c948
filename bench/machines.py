"""The machine of a measurement, for the pages that programs write."""
import subprocess

from paper import experiment


def description():
    """What the figures depend on: cores, their kind, their widest vectors and the cache that they share."""
    info = dict(line.split(":", 1) for line in subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines())
    value = {name.strip(): text.strip() for name, text in info.items()}
    vectors = next((v for v in ("avx512f", "avx2", "asimd") if v in value.get("Flags", "").split()), "no vectors")
    return (f"{experiment.machine()} (family {value.get('CPU family')}, model {value.get('Model')}, {vectors}, "
            f"{value.get('L3 cache', 'unknown').split(' (')[0]} of L3 cache)")
