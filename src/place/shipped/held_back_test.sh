#!/usr/bin/env bash
# The model that the shipped bundle of CPUs is made with errs on families of programs held back from it no more than was
# accepted: it is trained without each family in turn and asked about that family. Skipped (77) without the public data.
#
#   held_back_test.sh PERFCAST SOURCE DATA
set -euo pipefail
perfcast=$1 source=$2 data=$3
for set in sparecores geekbench6; do
  [ -d "$data/$set" ] || { echo "skipped: no $data/$set"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work
"$perfcast" import sparecores "$data/sparecores" --corpus "$work/c.db" --quiet >/dev/null
for suite in apps cloud; do
  "$perfcast" import profiles "$source/data/profiles/$suite" --suite "$source/data/suites/$suite.json" --corpus "$work/c.db" \
    --quiet >/dev/null
done
"$perfcast" evaluate --quiet --json --corpus "$work/c.db" --groups application,compressor,user --segments cloud \
  --minimum-programs 40 --no-intervals --models kinds:cores:stack >"$work/scores.json"
python3 - "$work/scores.json" <<'PYTHON'
import json, sys
# The mean absolute error of relative times. Today's are .089, .091 and .117; the mean of the other programs has .126,
# .162 and .162.
ACCEPTED = {"application": 0.091, "compressor": 0.093, "user": 0.119}
result = json.load(open(sys.argv[1]))
assert result["split"] == "program-family", result["split"]
for group, most in ACCEPTED.items():
    error = {row["model"]: row["mape"] for row in result["models"] if row["group"] == group and "mape" in row}
    print("%s: kinds:cores:stack %.4f, mean of the others %.4f" % (group, error["kinds:cores:stack"], error["mean"]))
    assert error["kinds:cores:stack"] <= most, "larger than was accepted: %.4f" % most
    assert error["kinds:cores:stack"] <= 0.75 * error["mean"], "little better than the mean of the others"
PYTHON
