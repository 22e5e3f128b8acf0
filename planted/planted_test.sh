#!/usr/bin/env bash
# planted_test.sh FOLDER: runs each program of planted.json, slow and mended, from the folder they were built in. Both must print
# one checksum and leave no file behind. A program that cannot run here says 77.
set -euo pipefail
folder=$(realpath "${1:?usage: planted_test.sh FOLDER}")
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
command -v python3 >/dev/null || { echo "skipped: no python3, which reads planted.json"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/temporary"
failures=0 programs=0 skipped=0
fail() { echo "FAIL $*"; failures=$((failures + 1)); }

# NAME SLOW|MENDED, then VARIABLE=VALUE ... PROGRAM ARGUMENT ..., tabs between them
python3 - "$source/planted.json" >"$work/commands" <<'END'
import json, sys
for program in json.load(open(sys.argv[1])):
    for variant in "slow", "mended":
        command = program[variant]
        settings = [f"{name}={value}" for name, value in command["environment"].items()]
        print(program["name"], variant, *settings, *command["argv"], sep="\t")
END

for file in "$source"/*.cc; do
  name=$(basename "$file" .cc)
  grep -q "^$name"$'\t' "$work/commands" || fail "$name: not in planted.json"
done

while IFS=$'\t' read -r name variant rest; do
  IFS=$'\t' read -ra command <<<"$rest"
  [ "$variant" = mended ] || { programs=$((programs + 1)) slow= status=0; }
  [ "$status" -ne 77 ] || continue
  status=0
  checksum=$(cd "$work" && PATH="$folder:$PATH" TMPDIR="$work/temporary" env "${command[@]}" </dev/null) || status=$?
  case "$status" in
    0) ;;
    77) skipped=$((skipped + 1)); continue ;;
    *) fail "$name, $variant: exit status $status"; continue ;;
  esac
  [[ "$checksum" =~ ^checksum\ [0-9a-f]{16}$ ]] || fail "$name, $variant: prints '$checksum'"
  if [ "$variant" = slow ]; then
    slow=$checksum
  else
    [ "$checksum" = "$slow" ] || fail "$name: slow prints '$slow', mended '$checksum'"
  fi
done <"$work/commands"

left=$(find "$work" -type f -not -name commands)
[ -z "$left" ] || fail "left behind: $left"
echo "$programs programs, $skipped cannot run here, $failures failures"
[ "$failures" -eq 0 ]
