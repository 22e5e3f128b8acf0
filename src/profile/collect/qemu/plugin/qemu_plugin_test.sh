#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# qemu_plugin_test.sh PLUGIN.so x86_64|aarch64: runs small programs of known
# behaviour under qemu-user and checks what the plugin counted. 77: cannot run
# here. CC (default cc) builds them for this machine, ARCH-linux-gnu-gcc for another.
set -u
usage="usage: qemu_plugin_test.sh PLUGIN.so x86_64|aarch64"
plugin=$(readlink -f "${1:?$usage}")
arch=${2:?$usage}
data=$(dirname "$(readlink -f "$0")")/testdata
skip() { echo "skipped: $1"; exit 77; }
if [ "$(uname -m)" = "$arch" ]; then
  cc=${CC:-cc} emulator="qemu-$arch"
else
  sysroot=/usr/$arch-linux-gnu
  cc=$arch-linux-gnu-gcc emulator="qemu-$arch -L /usr/$arch-linux-gnu"
fi
command -v "qemu-$arch" >/dev/null || skip "qemu-$arch is missing (package qemu-user)"
command -v "$cc" >/dev/null || skip "no compiler $cc (package gcc-${arch/_/-}-linux-gnu)"
[ -r "$plugin" ] || { echo "no plugin $plugin"; exit 1; }

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0 checks=0 sysroot=${sysroot:-}
fail() { echo "FAIL [$where] $*"; failures=$((failures + 1)); }

# run OUT MODE PROGRAM ARGS...
run() {
  local out=$1 mode=$2
  shift 2
  rm -f "$work/$out".*
  $emulator -cpu max -plugin "$plugin,out=$work/$out,mode=$mode" "$@" >"$work/stdout" 2>"$work/stderr"
}
value() { awk -v k="$2" '$1 == k { print $2; found = 1 } END { if (!found) print "missing" }' "$1"; }
# difference of key $1 between the runs of measure
delta() { echo $(($(value "$work"/b.[0-9]* "$1") - $(value "$work"/a.[0-9]* "$1"))); }
# measure MODE KERNEL N [BYTES]: runs with 10 and 10 + N
measure() {
  where="$arch $2"
  run a "$1" "$kernels" "$2" 10 ${4:+"$4"} || fail "exit status $?: $(head -3 "$work/stderr")"
  run b "$1" "$kernels" "$2" $((10 + $3)) ${4:+"$4"} || fail "exit status $?"
  consistent "$work"/b.[0-9]*
}
between() { # NAME VALUE LOW HIGH
  checks=$((checks + 1))
  awk -v v="$2" -v l="$3" -v h="$4" 'BEGIN { exit !(v >= l && v <= h) }' ||
    fail "$1 is $2, not in $3..$4"
}
exactly() { between "$1" "$(delta "$1")" "$2" "$2"; }
# What start-up does too varies a little: with the lengths of the arguments, the environment, random bits.
slack=100
about() { between "$1" "$(delta "$1")" $(($2 - slack)) $(($2 + slack)); }
within() { between "$1" "$(delta "$1")" "$2" "$3"; }

consistent() { # sums that must agree in every file
  checks=$((checks + 1))
  awk '
    NR == 1 && $0 != "perfcast-qemu 1" { print "bad first line"; exit 1 }
    NR > 1 && $1 !~ /^(arch|mode|program|command|exec_path|exec_why)$/ && $2 !~ /^[0-9]+$/ { print "bad value: " $0; exit 1 }
    { v[$1] = $2 }
    $1 ~ /^op_/ { ops += $2 }
    $1 ~ /^loads_[0-9]+$/ { loads += $2 }
    $1 ~ /^stores_[0-9]+$/ { stores += $2 }
    $1 ~ /^sys_(file|memory|process|signal|time|sched|futex|pipe|poll|net|ipc|other)$/ { sys += $2 }
    END {
      if (ops != v["instructions"]) { print "classes " ops " != instructions " v["instructions"]; exit 1 }
      if (loads != v["loads"] || stores != v["stores"]) { print "sizes do not add up"; exit 1 }
      if (sys != v["syscalls"]) { print "system calls do not add up"; exit 1 }
      c = v["crit_int"] + v["crit_mul"] + v["crit_div"] + v["crit_fp"] + v["crit_load"] + v["crit_other"]
      if (c != v["crit_cycles"]) { print "critical path does not add up"; exit 1 }
      if (v["undecoded"] > 0.001 * v["instructions"]) { print v["undecoded"] " undecoded"; exit 1 }
      if (v["mode"] == "full") {
        n = split("32k 48k 64k", s)
        for (i = 2; i <= n; i++)
          if (v["dcache_" s[i] "_miss"] > v["dcache_" s[i - 1] "_miss"]) { print "larger cache misses more"; exit 1 }
        n = split("256k 512k 1m 2m 4m 8m 16m 32m 64m", s)
        for (i = 2; i <= n; i++)
          if (v["dcache_" s[i] "_miss"] > v["dcache_" s[i - 1] "_miss"]) { print "larger cache misses more"; exit 1 }
      }
      if (v["end"] != 1) { print "cut off"; exit 1 }
    }' "$1" >"$work/why" || fail "$(cat "$work/why")"
}

check_instructions() {
  local n=100000
  for mode in mix full; do
    measure $mode loop $n
    about op_cond_branch $n
    about crit_self_loop_cycles $n
    measure $mode doubles $n
    for k in op_fp_scalar_add op_fp_scalar_mul op_fp_scalar_div op_fp_scalar_sqrt; do exactly $k $n; done
    exactly fp_double $((4 * n))
    exactly flops_double $((4 * n))
    exactly fp_single 0
    within crit_cycles $((38 * n)) $((46 * n))
    measure $mode vectors $n
    exactly op_fp_vec_add $n
    exactly flops_single $((4 * n))
    about vec_fp_128 $n
    measure $mode ints $n
    exactly op_int_div $n
    exactly int_div_64 $n
    within op_int_mul $n $((2 * n))
    measure $mode atomics $n
    exactly op_atomic $n
    measure $mode calls $n
    exactly op_call $n
    exactly op_ret $n
    measure $mode indirect $n
    exactly op_ind_call $n
    if [ "$arch" = x86_64 ]; then
      measure $mode strings $n
      exactly op_string $n
      exactly string_iterations $((40 * n))
      exactly string_bytes_loaded $((40 * n))
      exactly string_bytes_stored $((40 * n))
    fi
  done
}

check_memory() {
  local n=200000 passes=20 mib=1048576
  measure full chase $n 16384
  within dcache_32k_miss -100 $((n / 100))
  between dependent "$(($(delta dependent_loads) + $(delta dependent_loads_self_loop)))" $((n * 98 / 100)) $((n + n / 50))
  measure full chase $n $((4 * mib))
  within dcache_2m_miss $((n * 40 / 100)) $((n + slack))
  within dcache_1m_miss $((n * 70 / 100)) $((n + slack))
  within dcache_8m_miss -100 $((n / 50))
  within dcache_256k_miss_load_rand $((n * 85 / 100)) $((n + slack))
  within dtlb_64_miss $((n * 85 / 100)) $((n + slack))
  within dtlb_2048_miss -100 $((n / 50))
  measure full stream $passes $mib
  exactly loads_8 $((passes * mib / 8))
  within dcache_32k_miss $((passes * mib / 64 * 98 / 100)) $((passes * mib / 64 * 102 / 100))
  within dcache_512k_miss_load_seq $((passes * mib / 64 * 90 / 100)) $((passes * mib / 64 * 110 / 100))
  within dcache_2m_miss -100 $((passes * mib / 64 / 20))
  between footprint_lines "$(value "$work"/b.[0-9]* footprint_lines)" $((mib / 64)) $((mib / 64 + 4000))
  between footprint_pages "$(value "$work"/b.[0-9]* footprint_pages)" $((mib / 4096)) $((mib / 4096 + 200))
  measure full stream 8 $((32 * mib))   # more than the exact part: sampled
  within dcache_16m_miss $((8 * mib / 2 * 90 / 100)) $((8 * mib / 2 * 110 / 100))
  within dcache_64m_miss -100 $((8 * mib / 2 / 20))
  measure full unaligned $n
  about line_crossing_loads $n
}

check_branches() {
  local n=200000
  measure full always $n
  within branch_miss_tage -100 $((n / 100))
  measure full alternate $n
  within branch_miss_bimodal $((n * 40 / 100)) $((n * 102 / 100))
  within branch_miss_tage -100 $((n / 100))
  within branch_miss_gshare -100 $((n / 100))
  measure full random $n
  for k in bimodal gshare tage; do
    within branch_miss_$k $((n * 45 / 100)) $((n * 56 / 100))
  done
  measure full random 6000000 # more than the exact part: in bursts
  within branch_miss_tage $((6000000 * 46 / 100)) $((6000000 * 54 / 100))
  measure full calls $n
  within return_miss_ras16 -100 $((n / 100))
  measure full indirect $n
  within indirect_miss_last_target $((n * 95 / 100)) $((n + 100))
  within indirect_miss_history -100 $((n / 50))
}

check_processes() {
  local n=100000 files f
  for mode in mix full; do
    where="$arch threads $mode"
    run p $mode "$processes" threads $n || fail "exit status $?"
    between threads "$(value "$work"/p.[0-9]* threads)" 5 5
    between op_cond_branch "$(value "$work"/p.[0-9]* op_cond_branch)" $((4 * n)) $((4 * n + 60000))
    consistent "$work"/p.[0-9]*
    where="$arch forks $mode"
    run p $mode "$processes" forks $n || fail "exit status $?"
    files=("$work"/p.[0-9]*)
    between files ${#files[@]} 4 4
    for f in "${files[@]}"; do
      consistent "$f"
      between op_cond_branch "$(value "$f" op_cond_branch)" $n $((n + ($(value "$f" sys_fork) > 0 ? 60000 : 2000)))
    done
  done
  where="$arch exec"
  run p mix "$processes" exec $n
  between exec "$(value "$work"/p.[0-9]* exec)" 1 1
  between op_cond_branch "$(value "$work"/p.[0-9]* op_cond_branch)" $n $((n + 60000))
  where="$arch failed-exec"
  run p mix "$processes" failed-exec $n
  between exec "$(value "$work"/p.[0-9]* exec)" 0 0
  between op_cond_branch "$(value "$work"/p.[0-9]* op_cond_branch)" $n $((n + 60000))
  where="$arch spawn"
  run p mix "$processes" spawn 1
  between files "$(grep -l '^exec 1' "$work"/p.[0-9]* | wc -l)" 1 1
  where="$arch exit-in-thread"
  run p full "$processes" exit-in-thread $n || fail "exit status $?"
  between op_cond_branch "$(value "$work"/p.[0-9]* op_cond_branch)" $n $((n + 60000))
  where="$arch calls"
  run p mix "$processes" calls 20
  between sys_sleep "$(value "$work"/p.[0-9]* sys_sleep)" 20 20
  run a mix "$processes" calls 10
  run b mix "$processes" calls 30
  exactly sys_bytes_read 2000
  exactly sys_file 20
  where="$arch left over"
  between temporary "$(find "$work" -name '*.tmp' | wc -l)" 0 0
}

# All of a run's files, the program named $1: sum of key $2.
sum_of() { awk -v p="$1" -v k="$2" 'FNR == 1 { name = "" } $1 == "program" { name = $2; sub(/.*\//, "", name) }
  $1 == k && name == p { sum += $2 } END { print sum + 0 }' "$work"/p.[0-9]*; }

check_following() {
  local n=100000
  where="$arch follow"
  rm -f "$work"/p.*
  LD_PRELOAD=$plugin $emulator -U LD_PRELOAD -cpu max -plugin "$plugin,out=$work/p,mode=mix,follow=on${sysroot:+,sysroot=$sysroot}" \
    -0 processes "$processes" spawn-self $n >"$work/stdout" 2>"$work/stderr" || fail "exit status $?: $(head -3 "$work/stderr")"
  between processes "$(ls "$work"/p.[0-9]* | wc -l)" 3 3 # the parent, its copy, what that became
  between op_cond_branch "$(sum_of processes op_cond_branch)" $n $((n + 90000))
  where="$arch killed"
  rm -f "$work"/p.*
  LD_PRELOAD=$plugin $emulator -U LD_PRELOAD -cpu max -plugin "$plugin,out=$work/p,mode=mix" "$processes" abort $n \
    >"$work/stdout" 2>"$work/stderr"
  between signal "$(value "$work"/p.[0-9]* signal)" 6 6
  between op_cond_branch "$(value "$work"/p.[0-9]* op_cond_branch)" $n $((n + 60000))
}

check_sampling() {
  local key
  where="$arch sampling"
  rm -f "$work"/[ab].*
  $emulator -cpu max -plugin "$plugin,out=$work/a,mode=full" "$kernels" mixture 2000 >"$work/stdout" 2>&1 || fail "exit $?"
  $emulator -cpu max -plugin "$plugin,out=$work/b,mode=full,sample=2000000:500000:0.5:3000:1" "$kernels" mixture 2000 \
    >"$work/stdout" 2>&1 || fail "exit $?"
  consistent "$work"/b.[0-9]*
  for key in instructions loads stores op_cond_branch op_fp_scalar_add syscalls; do
    between "sampled $key" "$(value "$work"/b.[0-9]* $key)" $(($(value "$work"/a.[0-9]* $key) - 3000)) \
      $(($(value "$work"/a.[0-9]* $key) + 3000))
  done
  between windows "$(value "$work"/b.[0-9]* sampling_windows)" 8 100000
  for key in dcache_32k_miss dcache_64k_miss branch_miss_tage branches_taken; do
    between "sampled $key" "$(value "$work"/b.[0-9]* $key)" $(($(value "$work"/a.[0-9]* $key) * 75 / 100)) \
      $(($(value "$work"/a.[0-9]* $key) * 130 / 100))
    between "replicates of $key" "$(grep -c "^r[0-7]_$key " "$work"/b.[0-9]*)" 8 8
  done
  # Windows no longer than the piece that a trace takes of them.
  where="$arch sampling, short windows"
  rm -f "$work"/b.*
  $emulator -cpu max -plugin "$plugin,out=$work/b,mode=full,trace=on,sample=2000000:50000:0.5:3000:1" "$kernels" mixture 2000 \
    >"$work/stdout" 2>&1 || fail "exit $?"
  rm -f "$work"/b.*.trace
  between windows "$(value "$work"/b.[0-9]* sampling_windows)" 8 100000
  between branch_miss_tage "$(value "$work"/b.[0-9]* branch_miss_tage)" \
    $(($(value "$work"/a.[0-9]* branch_miss_tage) * 75 / 100)) $(($(value "$work"/a.[0-9]* branch_miss_tage) * 130 / 100))
}

sampled_branches() { # SAMPLE BRANCHES PROGRAM ARGS...: so many are counted, and there are windows
  rm -f "$work"/p.*
  $emulator -cpu max -plugin "$plugin,out=$work/p,mode=full,sample=$1" "${@:3}" \
    >"$work/stdout" 2>&1 || fail "exit $?: $(head -3 "$work/stdout")"
  between windows "$(value "$work"/p.[0-9]* sampling_windows)" 5 100000
  between op_cond_branch "$(value "$work"/p.[0-9]* op_cond_branch)" "$2" $(($2 + 60000))
}

# A loop of one block gets its windows, too.
check_sampled_loop() {
  where="$arch sampled loop"
  sampled_branches 2000000:500000:0.5:3000:1 200000000 "$kernels" loop 200000000
}

# Windows go on where a program gives all signals their default actions.
check_sampled_defaults() {
  where="$arch sampled, default actions"
  sampled_branches 200000:200000:0.5:3000:1 100000000 "$processes" defaults 50000000
}

# Loaded before glib, windows go on; otherwise code stays as it is from the second thread on.
check_sampled_threads() {
  local n=10000000 first options
  for first in "" "$plugin" "$plugin" "$plugin"; do
    where="$arch sampled threads${first:+, loaded first}"
    options=${first:+-U LD_PRELOAD}
    rm -f "$work"/p.*
    LD_PRELOAD=$first $emulator $options -cpu max -plugin "$plugin,out=$work/p,mode=full,sample=200000:200000:0.5:3000:1" \
      "$processes" threads $n >"$work/stdout" 2>&1 || fail "exit $?: $(head -3 "$work/stdout")"
    # What runs before the code is translated for several threads may lose a count.
    between op_cond_branch "$(value "$work"/p.[0-9]* op_cond_branch)" $((4 * n * 99 / 100)) $((4 * n + 60000))
    between threads "$(value "$work"/p.[0-9]* threads)" 5 5
    [ -z "$first" ] || between windows "$(value "$work"/p.[0-9]* sampling_windows)" 8 100000
    consistent "$work"/p.[0-9]*
  done
}

run_sampled_first() { # NAME N: loaded before glib
  rm -f "$work"/p.*
  LD_PRELOAD=$plugin $emulator -U LD_PRELOAD -cpu max -plugin "$plugin,out=$work/p,mode=full,sample=200000:200000:0.5:3000:1" \
    "$processes" "$@" >"$work/stdout" 2>&1 || fail "exit $?: $(head -3 "$work/stdout")"
}

check_sampled_ends() {
  local child
  where="$arch first thread ends"
  run_sampled_first leader-ends 20000000
  between windows "$(value "$work"/p.[0-9]* sampling_windows)" 8 100000
  between op_cond_branch "$(value "$work"/p.[0-9]* op_cond_branch)" $((20000000 * 99 / 100)) 20060000
  where="$arch fork after threads"
  run_sampled_first forks-late 5000000
  child=$(grep -l '^op_cond_branch 500[0-9]*' "$work"/p.[0-9]* | head -n 1)
  [ -n "$child" ] || fail "no child counted 50,000,000 branches"
  between windows "$(value "$child" sampling_windows)" 5 100000
}

check_sharing() {
  local n=20000 mode file masks
  for mode in own-words one-word; do
    where="$arch $mode"
    rm -f "$work"/p.*
    $emulator -cpu max -plugin "$plugin,out=$work/p,mode=full,sharing=on" "$processes" $mode $n >"$work/stdout" 2>"$work/stderr" ||
      fail "exit status $?: $(head -3 "$work/stderr")"
    file=$(ls "$work"/p.*.sharing)
    between "end" "$(grep -c '^end 1$' "$file")" 1 1
    # the line that was written most, by both threads, from this program
    masks=$(awk -v n=$n '/^line/ { users = 0; text = "" }
      /^user/ && $4 > n / 2 { users++; text = text " " $10; if ($15 ~ /processes$/ && $14 != "0") named++ }
      users == 2 && !found { found = text; code = named } END { print found, code }' "$file")
    checks=$((checks + 1))
    [ "$mode" = own-words ] && [ "$masks" != " ff ff0000 2" ] && [ "$masks" != " ff0000 ff 2" ] && fail "masks '$masks'"
    [ "$mode" = one-word ] && [ "$masks" != " ff ff 2" ] && fail "masks '$masks'"
  done
  rm -f "$work"/p.*
  where="$arch one thread"
  run p full "$processes" work 1000
  between files "$(find "$work" -name 'p.*.sharing' | wc -l)" 0 0
}

check_deterministic() {
  where="$arch twice"
  run a full "$kernels" chase 1000 65536
  run b full "$kernels" chase 1000 65536
  checks=$((checks + 1))
  # the processor's random bits for stack protectors and ASLR move little
  between instructions "$(delta instructions)" -2000 2000
  between dcache_32k_miss "$(delta dcache_32k_miss)" -200 200
}

# Where a symbol of an ELF file lies in it.
offset_of() { # FILE SYMBOL
  local address offset start bytes rest
  address=$((16#$(nm "$1" | awk -v s="$2" '$3 == s { print $1; exit }')))
  while read -r offset start bytes rest; do
    ((address >= start && address < start + bytes)) && echo $((address - start + offset))
  done < <(readelf -lW "$1" | awk '$1 == "LOAD" { print $2, $3, $5 }')
}

# Of the blocks that begin at a symbol, in all mappings of its file: 4 executions, 5 iterations, 6 executions before the program's
# start, 7 since its end.
ran() { # FIELD FILE SYMBOL
  local file at sum=0 number=0 word start end offset path
  file=$(readlink -f "$2") at=$(offset_of "$2" "$3")
  while read -r word start end offset path; do
    number=$((number + 1))
    [ "$path" = "$file" ] || continue
    sum=$((sum + $(awk -v n=$number -v pc="$(printf %x $((16#$start + at - 16#$offset)))" -v f="$1" \
      '$1 == n && $2 == pc { s += $f } END { print s + 0 }' "$blocks")))
  done < <(grep '^mapping ' "$blocks")
  echo $sum
}
is_exactly() { between "$1" "$2" "$3" "$3"; } # NAME VALUE EXPECTED

# run_blocks MODE PROGRAM ARGS...: what ran is in $blocks, of a forked child in $blocks_of_child.
run_blocks() {
  local mode=$1 file
  shift
  blocks_of_child=$work/child
  rm -f "$work"/p.* "$work/blocks" "$blocks_of_child"
  $emulator -cpu max -plugin "$plugin,out=$work/p,mode=$mode,blocks=on" -0 "$1" "$@" >"$work/stdout" 2>"$work/stderr" ||
    fail "exit status $?: $(head -3 "$work/stderr")"
  for file in "$work"/p.*.blocks; do
    [ "$(value "${file%.blocks}" forked)" = 1 ] && mv "$file" "$blocks_of_child" || mv "$file" "$work/blocks"
  done
  blocks=$work/blocks
  checks=$((checks + 1))
  awk 'NR == 1 { ok = $0 == "perfcast-blocks 1"; next }
    $1 == "mapping" { n++; ok = ok && NF >= 4; next }
    $1 == "entry" || $1 == "end" { last = $0; next }
    { ok = ok && NF == 7 && $1 <= n && $3 > 0 && $4 + $5 > 0 && $6 + $7 <= $4 }
    END { exit !(ok && last == "end 1") }' "$blocks" || fail "no file of blocks: $(head -2 "$blocks")"
}

# Distinct bytes of all blocks; where nothing was unloaded they are those that the counts have.
bytes_of_blocks() {
  local number pc bytes rest
  grep -v '^[a-z]' "$blocks" | while read -r number pc bytes rest; do echo $((16#$pc)) "$bytes"; done | sort -n |
    awk '{ from = $1 > end ? $1 : end; to = $1 + $2; if (to > from) sum += to - from; if (to > end) end = to } END { printf "%d", sum }'
}

check_blocks() {
  local n=5000 mode program libraries=() turns
  for turns in 0 3; do
    "$cc" -O1 -shared -fPIC -DTURNS=$turns -o "$work/libcode$turns.so" "$data/code_library.c" || fail "cannot build a library"
    libraries+=("$work/libcode$turns.so")
  done
  "$cc" -O1 -fPIE -pie -o "$work/code-pie" "$data/code.c" -ldl
  "$cc" -O1 -fno-pie -no-pie -o "$work/code-fixed" "$data/code.c" -ldl
  "$cc" -O1 -static -DWITHOUT_LIBRARIES -o "$work/code-static" "$data/code.c" 2>/dev/null || echo "no static C library: left out"
  for program in pie fixed static; do
    [ -x "$work/code-$program" ] || continue
    for mode in mix full; do
      where="$arch blocks $program $mode"
      run_blocks $mode "$work/code-$program" calls $n
      is_exactly called "$(ran 4 "$work/code-$program" called)" $n
      is_exactly never_called "$(ran 4 "$work/code-$program" never_called)" 0
      is_exactly main "$(ran 4 "$work/code-$program" main)" 1
      is_exactly bytes "$(bytes_of_blocks)" "$(value "$work"/p.[0-9]* code_bytes)"
      is_exactly entry "$(grep -c '^entry ' "$blocks")" 1
    done
  done
  where="$arch blocks of code that is made"
  run_blocks full "$work/code-pie" made $n
  is_exactly executions "$(awk -v n=$n '$1 == "mapping" { path[++m] = $5; next } path[$1] == "" && $4 == n { print $3 }' "$blocks")" \
    "$([ "$arch" = x86_64 ] && echo 2 || echo 8)"
  where="$arch blocks of libraries that come and go"
  run_blocks full "$work/code-pie" libraries $n "${libraries[@]}" "${libraries[@]}"
  is_exactly first "$(ran 4 "${libraries[0]}" inner)" $((20 + n + n + 2))
  is_exactly second "$(ran 4 "${libraries[1]}" inner)" $((20 + n + 1 + n + 3))
  is_exactly rest "$(ran 4 "${libraries[1]}" library_rest)" 0
  where="$arch blocks before the start and since the end"
  "$cc" -O1 -o "$work/code-linked" "$data/code.c" -ldl -Wl,--no-as-needed "$work/libcode3.so" -Wl,-rpath,"$work"
  run_blocks full "$work/code-linked" calls $n
  is_exactly all "$(ran 4 "$work/libcode3.so" inner)" 10
  is_exactly before "$(ran 6 "$work/libcode3.so" inner)" 7
  is_exactly since "$(ran 7 "$work/libcode3.so" inner)" 3
  is_exactly between "$(ran 6 "$work/code-linked" called)" 0
  is_exactly end "$(ran 7 "$work/code-linked" at_the_end)" 1
  where="$arch blocks of a fork"
  run_blocks mix "$work/code-pie" fork $n
  is_exactly parent "$(ran 4 "$work/code-pie" called)" $n
  blocks=$blocks_of_child
  is_exactly child "$(ran 4 "$work/code-pie" called)" $((2 * n))
  is_exactly "child's main" "$(ran 4 "$work/code-pie" main)" 0
  where="$arch blocks, sampled"
  rm -f "$work"/p.*
  $emulator -cpu max -plugin "$plugin,out=$work/p,mode=full,blocks=on,sample=200000:200000:0.5:3000:1" -0 kernels "$kernels" \
    loop 20000000 >"$work/stdout" 2>&1 || fail "exit $?: $(head -3 "$work/stdout")"
  mv "$work"/p.*.blocks "$work/blocks" && blocks=$work/blocks
  between loop "$(awk '$4 > m { m = $4 } END { print m + 0 }' "$blocks")" 19999990 20000000
  if [ "$arch" = x86_64 ]; then
    where="$arch blocks of strings"
    run_blocks full "$kernels" strings $n
    is_exactly iterations "$(awk '{ s += $5 } END { print s + 0 }' "$blocks")" "$(value "$work"/p.[0-9]* string_iterations)"
  fi
}

# Intervals add up to the counts, of each process; memory for them is bounded.
check_phases() {
  local file how
  for how in mode=mix mode=full mode=full,sample=200000:200000:0.5:3000:1; do
    where="$arch phases $how"
    rm -f "$work"/p.*
    $emulator -cpu max -plugin "$plugin,out=$work/p,$how,phases=16" -0 kernels "$kernels" loop 20000000 >"$work/stdout" 2>&1 ||
      fail "exit $?: $(head -3 "$work/stdout")"
    for file in "$work"/p.*.phases; do
      is_exactly instructions "$(awk '$1 == "interval" { s += $2 } END { printf "%.0f", s }' "$file")" "$(value "${file%.phases}" instructions)"
      between intervals "$(grep -c '^interval ' "$file")" 4 16
      is_exactly code "$(awk '$1 == "code" { for (i = 2; i <= NF; i++) { split($i, c, ":"); s += c[2] } } END { printf "%.0f", s }' "$file")" \
        "$(awk -v a="$(value "${file%.phases}" instructions)" -v b="$(value "${file%.phases}" string_iterations)" 'BEGIN { printf "%.0f", a + b }')"
      is_exactly end "$(tail -n 1 "$file")" "end 1"
    done
  done
}

kernels=$work/kernels processes=$work/processes
"$cc" -O1 -fno-math-errno -o "$kernels" "$data/kernels.c" -lm && "$cc" -O1 -o "$processes" "$data/processes.c" -pthread ||
  { echo "FAIL [$arch] cannot build the test programs"; exit 1; }
check_instructions
check_memory
check_branches
check_processes
check_following
check_sampling
check_sampled_loop
check_sampled_defaults
check_sampled_threads
check_sampled_ends
check_sharing
check_deterministic
check_blocks
check_phases
echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
