#!/usr/bin/env bash
# The tarball of tools/package runs where it is unpacked, with its own libraries and no others but glibc's; the wheel forecasts, too.
#
#   package_test.sh BUILD SOURCE
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { printf 'package_test: %s\n' "$*" >&2; exit 1; }
for tool in cpack dpkg-shlibdeps /usr/bin/python3; do
  command -v "$tool" >/dev/null || { echo "package_test: skipped, no $tool here"; exit 77; }
done
unset PERFCAST_SHARE PERFCAST_LIBRARY LD_LIBRARY_PATH
export HOME=$work

"$source/tools/package" --build "$build" --output "$work" tarball wheel 2>"$work/log" || { cat "$work/log" >&2; fail "tools/package failed"; }
mkdir "$work/elsewhere"
tar -C "$work/elsewhere" -xzf "$work"/perfcast-*.tar.gz
folder=$(echo "$work"/elsewhere/perfcast-*)
profile=$folder/share/perfcast/profiles/apps/apps.aobench.json
(cd / && "$folder/bin/perfcast" predict --profile "$profile" --json --quiet) >"$work/program.json"
grep -q '"perfcast.forecast/1"' "$work/program.json" || fail "the tarball gives no forecast"
ldd "$folder/bin/perfcast" "$folder/lib/libperfcast.so.1" | sed -n 's/^\t\(lib[^ ]*\) => \([^ ]*\).*/\1 \2/p' | sort -u |
  grep -v -e " $folder/" -e '^lib\(c\|m\|dl\|pthread\|rt\|resolv\)\.so' >"$work/outside" &&
  fail "libraries outside of the tarball: $(cat "$work/outside")"
while read -r library _; do
  grep -q "^${library//./\\.}: " "$folder/share/doc/perfcast/libraries/README" || fail "$library has no note of its source"
done < <(cd "$folder/lib/perfcast" && ls | grep -v '^libperfcast_')
! grep -qF "$source" "$folder/share/man/man1/perfcast.1" || fail "the manual page has a path of the source"

mkdir "$work/module"
/usr/bin/python3 -m zipfile -e "$work"/perfcast-*.whl "$work/module"
(cd / && PYTHONPATH=$work/module /usr/bin/python3 -c '
import json, sys, perfcast
ours, theirs = perfcast.forecast(sys.argv[1]).json, json.load(open(sys.argv[2]))
assert ours["platforms"] == theirs["platforms"], "the wheel forecasts other numbers than the program"
assert perfcast.__file__.startswith(sys.argv[3]), perfcast.__file__
' "$profile" "$work/program.json" "$work/module") || fail "the wheel gives no forecast"
echo "package_test: ok"
