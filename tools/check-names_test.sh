#!/usr/bin/env bash
# tools/check-names finds two types of one name in one namespace, and only those.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/a" "$work/b"
fail() { echo "check-names_test: $*" >&2; exit 1; }

echo 'namespace perfcast::fleet { class Placement {}; }' >"$work/a/placement.h"
echo 'namespace perfcast::place { struct Placement {}; }' >"$work/b/placement.h"
printf 'namespace perfcast::fleet {\nnamespace {\nstruct Placement {};\n}\n}\n' >"$work/b/local.cc"
tools/check-names "$work" >/dev/null || fail "types of different namespaces were taken for one"

echo 'namespace perfcast::fleet { struct Placement {}; }' >"$work/b/planted.h"
if found=$(tools/check-names "$work" 2>&1); then fail "a planted second type was not found"; fi
grep -q 'perfcast::fleet::Placement' <<<"$found" || fail "the planted type is not named: $found"
