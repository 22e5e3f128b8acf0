#!/bin/sh
# Compiles C programs of a Linux source tree, file after file: compile_c.sh FOLDER, where FOLDER/linux-source-6.1 is.
set -e
cd "$1/linux-source-6.1/scripts"
for file in dtc/checks dtc/data dtc/flattree dtc/fstree dtc/livetree dtc/srcpos dtc/treesource dtc/util \
    kconfig/conf kconfig/confdata kconfig/expr kconfig/menu kconfig/preprocess kconfig/symbol kconfig/util \
    kallsyms unifdef; do
  gcc -g -O2 -w -I dtc -I dtc/libfdt -I include -D_GNU_SOURCE -c "$file.c" -o "$1/object.o"
done
