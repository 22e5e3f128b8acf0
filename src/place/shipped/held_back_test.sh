#!/usr/bin/env bash
# The model that the shipped bundle of CPUs is made with errs on families of programs held back from it no more than was
# accepted: it is trained without each family in turn and asked about that family. Skipped (77) without the public data.
#
#   held_back_test.sh PERFCAST SOURCE DATA
set -euo pipefail
perfcast=$1 source=$2 data=$3
[ -d "$data/sparecores" ] || { echo "skipped: no $data/sparecores"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work
"$perfcast" import sparecores "$data/sparecores" --suite "$source/data/suites/cloud.json" --corpus "$work/c.db" --quiet >/dev/null
"$perfcast" import profiles "$source/data/profiles/cloud" --suite "$source/data/suites/cloud.json" --corpus "$work/c.db" --quiet \
  >/dev/null
"$perfcast" evaluate --quiet --json --corpus "$work/c.db" --groups compressor,user --no-intervals --models cores:stack \
  >"$work/scores.json"
python3 - "$work/scores.json" <<'PYTHON'
import json, sys
# The mean absolute error of relative times; today's is .1008, the mean of the other programs has .157.
MOST_ERROR, MOST_OF_MEAN = 0.102, 0.67
result = json.load(open(sys.argv[1]))
assert result["split"] == "program-family", result["split"]
error = {row["model"]: row["mape"] for row in result["models"] if row["group"] == "all" and "mape" in row}
print("cores:stack %.4f, mean of the others %.4f" % (error["cores:stack"], error["mean"]))
assert error["cores:stack"] <= MOST_ERROR, "larger than was accepted: %.4f" % MOST_ERROR
assert error["cores:stack"] <= MOST_OF_MEAN * error["mean"], "little better than the mean of the others"
PYTHON
