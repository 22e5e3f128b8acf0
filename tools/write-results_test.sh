#!/usr/bin/env bash
# tools/write-results on a set of two rows: what it keeps of a run, the page it writes, and that --check sees a page that is stale.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "write-results_test: $*" >&2; exit 1; }
write() { python3 "$root/tools/write-results" --root "$work" "$@"; }

cat >"$work/goals.json" <<'JSON'
{"measures": {"error": {"value": "error", "name": "mean error", "percent": 1, "better": "lower"}},
 "pages": [{"file": "page.md", "title": "Page", "sections": [
  {"title": "Scores", "run": "set/run", "rows": "models", "split": "family left out", "measures": ["error"],
   "baseline": {"where": {"model": "mean"}}, "items": [
    {"what": "programs", "where": {"model": "stack"}, "goal": 0.0996, "in_sight": true},
    {"what": "half of it", "where": {"model": "stack"}, "goal": {"times_baseline": 0.5}},
    {"what": "others", "run": "set/missing", "where": {"model": "stack"}, "goal": 0.1}]},
  {"title": "Here", "commands": [
    {"what": "found", "at_least": 0.9, "percent": 0, "command": "tools/try FOLDER", "run": "bench/try", "status_if_missed": 1,
     "pattern": "found (?P<part>\\d+) of (?P<whole>\\d+)"},
    {"what": "slowest", "at_most": 6, "unit": "x", "digits": 1, "command": "tools/try FOLDER", "run": "bench/try", "idle": true,
     "pattern": "^p\\d ([\\d.]+)$", "of": "max"},
    {"what": "rate", "at_least": 2e6, "times": 1e-6, "unit": " million", "command": "bin/rate", "run": "bench/rate",
     "rows": "benchmarks", "where": {"name": ["a", "b"]}, "value": "rate", "of": "max"},
    {"what": "sum", "command": "bin/rate", "run": "bench/rate", "rows": "benchmarks", "where": {"name": "b"}, "value": "rate",
     "over": {"where": {"name": "a"}}, "unit": "x", "digits": 2},
    {"what": "whole", "goal": "1", "command": "tools/whole", "run": "bench/whole", "pattern": "whole (\\d+)", "long": true}]}]}]}
JSON
echo '{"source": "/data/x.csv", "models": [{"model": "mean", "error": 0.15}, {"model": "stack", "error": 0.09961}]}' >"$work/printed"
write --collect set run "$work/printed" --command "/bin/perfcast evaluate /data/x.csv" --wall-s 3 --cpu "A CPU" \
  --replace "/bin/perfcast=perfcast" --replace "/data=FOLDER"
grep -q '"command": "perfcast evaluate FOLDER/x.csv"' "$work/data/set.json" || fail "the command names a private path"
grep -q '"source": "FOLDER/x.csv"' "$work/data/set.json" || fail "the result names a private path"

! write --check 2>/dev/null || fail "a page that isn't there passes"
write
has() { grep -qF -- "$1" "$work/page.md" || fail "no line '$1' in $(cat "$work/page.md")"; }
has '| programs: mean error | family left out | 10.0% | 15.0% | - | at most 10.0% | yes | yes |'
has '| half of it: mean error | family left out | 10.0% | 15.0% | - | at most 7.5% | no | no |'
has '| others | family left out | not run on this version | - | - | at most 10.0% (mean error) | - | no |'
write --check || fail "a page that was just written fails"

# The set `bench`: commands once each, those that take long only if they are named; figures read from what they print.
[ "$(write --commands "")" = "$(printf 'try\ttools/try FOLDER\nrate\tbin/rate')" ] || fail "commands: $(write --commands "")"
grep -q '^whole' <<<"$(write --commands whole)" || fail "a long command that is named is left out"
printf 'p1 3.5\np2 6.25\nfound 8 of 9\n' >"$work/try"
echo '{"context": {"host_name": "private"}, "benchmarks": [{"name": "a", "rate": 2e6}, {"name": "b", "rate": 5e6}]}' >"$work/rate"
write --collect bench try "$work/try" --command "tools/try FOLDER" --status 1 --load 7.6
write --collect bench rate "$work/rate" --command bin/rate --load 7.6
! grep -q private "$work/data/bench.json" || fail "a benchmark names its machine"
cp "$work/data/bench.json" "$work/before"
! write --collect bench whole "$work/try" 2>"$work/said" || fail "what holds no figure is kept"
grep -q 'no figure for "whole"' "$work/said" || fail "a figure that is missing is not said"
! write --collect bench rate "$work/rate" --status 1 2>"$work/said" || fail "a command that failed is kept"
grep -q 'ended with status 1' "$work/said" || fail "a failure is not said"
cmp "$work/before" "$work/data/bench.json" || fail "a failure changed what was kept"
write
has '| found | at least 90% | 8 of 9 | no | `tools/try FOLDER` |'
has '| slowest | at most 6x | 6.2x (load 8) | no | `tools/try FOLDER` |'
has '| rate | at least 2 million | 5 million | yes | `bin/rate` |'
has '| sum | - | 2.50x | - | `bin/rate` |'
has '| whole | 1 | not run on this version | - | `tools/whole` |'
has '| bench/try |'
echo "by hand" >>"$work/page.md"
! write --check 2>/dev/null || fail "a page that was changed by hand passes"
