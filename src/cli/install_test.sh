#!/usr/bin/env bash
# An installed perfcast works on its own: bundles, plugin and data are found in the prefix, whatever lies in the source tree,
# and still after the prefix was moved.
#
#   install_test.sh CMAKE BUILD SOURCE
set -euo pipefail
cmake=$1 build=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { printf 'install_test: %s\n' "$*" >&2; exit 1; }
unset PERFCAST_SHARE PERFCAST_QEMU_PLUGIN
export HOME=$work XDG_DATA_HOME=$work/data

"$cmake" --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log" >&2; fail "cmake --install failed"; }
mv "$work/first" "$work/moved"
perfcast=$work/moved/bin/perfcast

for file in bundles/cpus.pcb bundles/gpu-latency.json devices/devices.json suites/cloud.json slurm/job_submit.lua; do
  cmp -s "$source/data/$file" "$work/moved/share/perfcast/$file" || fail "share/perfcast/$file is not the source's"
done
# To files, not through pipes: grep -q leaves before it has read all, and its writer would die of that.
"$perfcast" predict --help-all | tr -d '\n ' >"$work/help"
grep -qF "$work/moved/share/perfcast/bundles/" "$work/help" ||
  fail "predict's default bundle is not the installed one: $("$perfcast" predict --help-all | grep -A1 bundle)"
profile=$(find "$work/moved/share/perfcast/profiles" -name '*.json' | sort | sed -n 1p)
(cd / && "$perfcast" predict --profile "$profile" --json --quiet) >"$work/forecast"
grep -q '"perfcast.forecast/1"' "$work/forecast" || fail "predict --profile gives no forecast"
(cd / && "$perfcast" llm forecast gpt2 --on a100 --json --quiet) >"$work/llm"
grep -q '"perfcast.llm.forecast/1"' "$work/llm" || fail "llm forecast gives no forecast"
if [ -e "$work/moved/lib/perfcast/libperfcast_qemu_plugin.so" ] && command -v qemu-x86_64 >/dev/null && [ "$(uname -m)" = x86_64 ]; then
  (cd / && "$perfcast" profile --quiet --json -o "$work/p.json" -- /bin/true) || fail "profile failed"
  grep -q '"qemu"' "$work/p.json" || fail "the installed plugin was not used: $(cat "$work/p.json" | head -c 2000)"
fi
grep -q '^\.TH' "$work/moved/share/man/man1/perfcast.1" || fail "no manual page"
(source "$work/moved/share/bash-completion/completions/perfcast" && complete -p perfcast >/dev/null) || fail "bash can't complete"
[ -s "$work/moved/share/zsh/vendor-completions/_perfcast" ] || fail "no completion for zsh"
[ -s "$work/moved/share/fish/vendor_completions.d/perfcast.fish" ] || fail "no completion for fish"
echo "install_test: ok"
