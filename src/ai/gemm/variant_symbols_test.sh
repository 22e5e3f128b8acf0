#!/bin/sh
# variant_symbols_test.sh NM OBJECT...: objects compiled for wider CPUs than the rest define no function that another
# object could be given by the linker: whatever is weak in them is Eigen's, under the name of its variant.
nm=$1
shift
[ $# -gt 0 ] || exit 1
symbols=$("$nm" -C --defined-only "$@") || exit 1
shared=$(printf '%s\n' "$symbols" | grep -E '^[0-9a-f]+ [WVu] ' | grep -vE 'Eigen_eigen_v[34]::|DW\.ref\.')
[ -z "$shared" ] && exit 0
printf 'weak symbols outside of a variant:\n%s\n' "$shared" >&2
exit 1
