# The programs that the tests measure, free of sanitizers and of the warnings' target. Sets measured_programs (macros
# with their paths) and measured_targets.
include(CheckCSourceCompiles)

set(guinea_source ${CMAKE_SOURCE_DIR}/src/base/process/testdata/guinea.c)
set(measured_programs PERFCAST_GUINEA="$<TARGET_FILE:perfcast_guinea>")
set(measured_targets perfcast_guinea)

set(CMAKE_REQUIRED_LINK_OPTIONS -static)
check_c_source_compiles("int main(void) { return 0; }" PERFCAST_HAS_STATIC_LIBC)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(PERFCAST_HAS_STATIC_LIBC)
  add_executable(perfcast_guinea_static ${guinea_source})
  target_link_libraries(perfcast_guinea_static PRIVATE Threads::Threads)
  target_compile_options(perfcast_guinea_static PRIVATE -O2)
  target_link_options(perfcast_guinea_static PRIVATE -static)
  list(APPEND measured_programs PERFCAST_GUINEA_STATIC="$<TARGET_FILE:perfcast_guinea_static>")
  list(APPEND measured_targets perfcast_guinea_static)
endif()

add_executable(perfcast_native_only testdata/native_only.c)
list(APPEND measured_programs PERFCAST_NATIVE_ONLY="$<TARGET_FILE:perfcast_native_only>")
list(APPEND measured_targets perfcast_native_only)

if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_executable(perfcast_avx512 testdata/avx512.c)
  list(APPEND measured_programs PERFCAST_AVX512="$<TARGET_FILE:perfcast_avx512>")
  list(APPEND measured_targets perfcast_avx512)
  add_executable(perfcast_two_variants testdata/two_variants.c)
  target_compile_options(perfcast_two_variants PRIVATE -O2)
  list(APPEND measured_programs PERFCAST_TWO_VARIANTS="$<TARGET_FILE:perfcast_two_variants>")
  list(APPEND measured_targets perfcast_two_variants)
  find_program(PERFCAST_AARCH64_COMPILER aarch64-linux-gnu-gcc)
  if(PERFCAST_AARCH64_COMPILER)
    set(guinea_aarch64 ${CMAKE_CURRENT_BINARY_DIR}/perfcast_guinea_aarch64)
    add_custom_command(
      OUTPUT ${guinea_aarch64}
      COMMAND ${PERFCAST_AARCH64_COMPILER} -O2 -pthread -o ${guinea_aarch64} ${guinea_source}
      DEPENDS ${guinea_source}
      VERBATIM)
    add_custom_target(perfcast_guinea_for_aarch64 DEPENDS ${guinea_aarch64})
    list(APPEND measured_programs PERFCAST_GUINEA_AARCH64="${guinea_aarch64}")
    list(APPEND measured_targets perfcast_guinea_for_aarch64)
  endif()
endif()
if(TARGET perfcast_qemu_plugin)
  list(APPEND measured_targets perfcast_qemu_plugin)
endif()
