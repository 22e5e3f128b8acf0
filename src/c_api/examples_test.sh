#!/usr/bin/env bash
# The program of docs/c-api.md compiles as C11 without warnings and prints what the page says; the library shows what perfcast.h
# declares, and nothing else.
#
#   examples_test.sh CC SOURCE LIBRARY
set -euo pipefail
cc=$1 source=$2 library=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { printf 'examples_test: %s\n' "$*" >&2; exit 1; }

sed -n 's/^PERFCAST_API.*[ *]\(perfcast_[a-z_]*\)(.*/\1/p' "$source/src/c_api/perfcast.h" | sort >"$work/declared"
[ "$(wc -l <"$work/declared")" -gt 5 ] || fail "no functions found in perfcast.h"
nm -D --defined-only "$library" | sed -n 's/.* T \(.*\)@@PERFCAST_1$/\1/p' | sort >"$work/shown"
diff "$work/declared" "$work/shown" >&2 || fail "the library shows other functions than perfcast.h declares"
nm -D --defined-only "$library" | grep -v -e '@@PERFCAST_1$' -e ' A PERFCAST_1$' >"$work/more" && fail "the library shows more: $(head -n 3 "$work/more")"

# The page has the program, indented, from its first include on, and further down what it prints.
awk '/^    #include/ {on = 1} on && /^[^ ]/ {exit} on {print substr($0, 5)}' "$source/docs/c-api.md" >"$work/example.c"
awk '/^    \$ \.\/example/ {on = 1; next} on && !/^    / {exit} on {print substr($0, 5)}' "$source/docs/c-api.md" >"$work/expected"
[ -s "$work/expected" ] || fail "docs/c-api.md says nothing of what its program prints"
ln -s "$library" "$work/libperfcast.so"
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$source/src/c_api" -o "$work/example" "$work/example.c" -L "$work" -lperfcast \
  -Wl,-rpath,"$(dirname "$library")" || fail "the program of docs/c-api.md does not compile"
PERFCAST_SHARE=$source/data "$work/example" "$source/data/profiles/apps/apps.aobench.json" >"$work/printed" 2>&1 ||
  fail "the program of docs/c-api.md failed: $(cat "$work/printed")"
diff "$work/expected" "$work/printed" >&2 || fail "the program of docs/c-api.md prints something else"
echo "examples_test: ok"
