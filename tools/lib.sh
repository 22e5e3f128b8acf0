# Shared by the scripts in tools/. Sourced, never run.

# Prints a heading on stderr, so that stdout stays the result's.
say() { printf '\n== %s\n' "$*" >&2; }

die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# The repository's root, whatever folder the script was called from.
repository_root() { cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd; }

# Compiling one translation unit takes up to 1 GiB: never more jobs than memory allows.
build_jobs() {
  local cores memory_gib
  cores=$(nproc)
  memory_gib=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
  [ "$memory_gib" -lt 1 ] && memory_gib=1
  echo $((cores < memory_gib ? cores : memory_gib))
}

# cmake --preset, which picks ccache up where it is installed.
configure() {
  local launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake --preset "$1" "${launcher[@]}" "${@:2}"
}

# The CPU's name, as a person knows it: figures of time say where they come from.
cpu_name() { awk -F': *' '/^model name/ {print $2; exit} /^CPU part/ {part=$2} END {if (part) print "CPU part " part}' /proc/cpuinfo | head -n 1; }

# joint_corpus FOLDER WORK [PROFILES]: WORK/joint.db from the sets sparecores/ (with geekbench6/ where it is) and openbenchmarking/
# in FOLDER with the profiles of both suites; by $perfcast.
joint_corpus() {
  local suite
  "$perfcast" import sparecores "$1/sparecores" --corpus "$2/joint.db" --quiet >/dev/null
  "$perfcast" import openbenchmarking "$1/openbenchmarking" --corpus "$2/joint.db" --quiet >/dev/null
  for suite in apps cloud; do
    "$perfcast" import profiles "${3:-data/profiles}/$suite" --suite "data/suites/$suite.json" --corpus "$2/joint.db" --quiet >/dev/null
  done
}
