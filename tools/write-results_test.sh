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
    {"what": "others", "run": "set/missing", "where": {"model": "stack"}, "goal": 0.1}]}]}]}
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
echo "by hand" >>"$work/page.md"
! write --check 2>/dev/null || fail "a page that was changed by hand passes"
