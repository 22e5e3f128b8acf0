# Helpers that every component's CMakeLists.txt uses, so that a component is stated in a few lines.

# Warnings and sanitizers live in one interface target. GCC 12 warns of its own std::string where warnings of bounds are on.
# -fpch-preprocess lets ccache see through precompiled headers. A compiler that clears up its memory seldom is a tenth faster
# (the default: whenever it has doubled, from 128 MB on); one that looks for no warnings, where nobody asks, 8%.
add_library(perfcast_options INTERFACE)
target_compile_options(perfcast_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess;--param=ggc-min-heapsize=1000000>)
if(PERFCAST_WERROR)
  target_compile_options(perfcast_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread> -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wpedantic -Werror)
else()
  target_compile_options(perfcast_options INTERFACE -w)
endif()
if(PERFCAST_SANITIZE)
  target_compile_options(perfcast_options INTERFACE -fsanitize=${PERFCAST_SANITIZE} -fno-omit-frame-pointer
                                                    -fno-sanitize-recover=all)
  target_link_options(perfcast_options INTERFACE -fsanitize=${PERFCAST_SANITIZE})
endif()

# What most sources include anyway, compiled once: half of a source's time goes into these. They stand for no include: each
# source and header names what it uses, which tools/check-headers holds them to.
set(perfcast_common_headers <algorithm> <cmath> <cstdint> <functional> <map> <memory> <optional> <set> <string>
                            <string_view> <vector> <nlohmann/json.hpp> <fmt/format.h>)
function(perfcast_precompiled name)
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled/${name}.cc "// Compiles the headers.\n")
  add_library(perfcast_pch_${name} STATIC ${CMAKE_BINARY_DIR}/precompiled/${name}.cc)
  set_target_properties(perfcast_pch_${name} PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(perfcast_pch_${name} PRIVATE perfcast_options nlohmann_json::nlohmann_json fmt::fmt ${ARGN})
  perfcast_flags_of_precompiled(perfcast_pch_${name} ${name})
endfunction()

# A source must be compiled with the flags that its precompiled headers were. All may become part of libperfcast.so, which
# shows what src/c_api/perfcast.map names and nothing else. Hidden functions are called and inlined as in a program.
function(perfcast_flags_of_precompiled target name)
  target_compile_options(${target} PRIVATE -fPIC -fvisibility=hidden $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)
  if(name MATCHES "test$")
    target_compile_options(${target} PRIVATE ${PERFCAST_TEST_FLAGS})
  elseif(name STREQUAL "eigen" OR name STREQUAL "fast")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
endfunction()

# Gives a target the precompiled headers that suit what it links. Not under clang, which only the fuzzers use.
function(perfcast_use_precompiled target name)
  perfcast_flags_of_precompiled(${target} ${name})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND PERFCAST_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM perfcast_pch_${name})
  endif()
endfunction()

# perfcast_library(NAME SOURCES a.cc ... DEPENDS perfcast_base ...): one component. EIGEN: its sources use Eigen. FAST: its speed
# counts in a release. What is neither reads, decides and reports: -O1 compiles it in three quarters of the time.
# STUDY: only reproductions and tests link it, and it is built for them alone.
function(perfcast_library name)
  cmake_parse_arguments(ARG "EIGEN;FAST;STUDY" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(perfcast_${name} STATIC ${ARG_SOURCES})
  set_target_properties(perfcast_${name} PROPERTIES EXCLUDE_FROM_ALL ${ARG_STUDY})
  if(ARG_EIGEN)
    perfcast_use_precompiled(perfcast_${name} eigen)
  elseif(ARG_FAST AND CMAKE_BUILD_TYPE STREQUAL "Release")
    perfcast_use_precompiled(perfcast_${name} fast)
  else()
    perfcast_use_precompiled(perfcast_${name} common)
  endif()
  target_include_directories(perfcast_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
  target_link_libraries(perfcast_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS} perfcast_options)
endfunction()

# perfcast_register_suites(TARGET PREFIX a_test.cc ...): one ctest case for each test suite of a googletest binary, read from
# its sources: each TEST begins its line.
function(perfcast_register_suites target prefix)
  set(suites)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} lines REGEX "^(TEST|TEST_F|TEST_P|TYPED_TEST)\\(")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+),.*" "\\1" suite "${line}")
      list(APPEND suites ${suite})
    endforeach()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  endforeach()
  list(REMOVE_DUPLICATES suites)
  # Under the thread sanitizer a suite takes ten times as long.
  set(timeout_s 300)
  if(PERFCAST_SANITIZE)
    set(timeout_s 1200)
  endif()
  foreach(suite IN LISTS suites)
    add_test(NAME ${prefix}.${suite} COMMAND ${target} --gtest_brief=1
                                             --gtest_filter=${suite}.*:*/${suite}.*:${suite}/*)
    set_tests_properties(${prefix}.${suite} PROPERTIES TIMEOUT ${timeout_s})
  endforeach()
endfunction()

# perfcast_tests(COMPONENT a_test.cc ...): one test binary per component.
function(perfcast_tests component)
  if(NOT PERFCAST_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "EIGEN" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(perfcast_${component}_test ${ARG_SOURCES})
  if(ARG_EIGEN)
    perfcast_use_precompiled(perfcast_${component}_test eigen_test)
  else()
    perfcast_use_precompiled(perfcast_${component}_test test)
  endif()
  target_link_libraries(perfcast_${component}_test PRIVATE perfcast_${component} ${ARG_DEPENDS} GTest::gmock_main
                                                           perfcast_options)
  target_compile_definitions(
    perfcast_${component}_test PRIVATE PERFCAST_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                       PERFCAST_SHARED_DATA="${PERFCAST_SHARED_DATA}"
                                       PERFCAST_BINARY_DIR="${CMAKE_BINARY_DIR}")
  perfcast_register_suites(perfcast_${component}_test ${component} ${ARG_SOURCES})
endfunction()

# perfcast_benchmark(NAME SOURCES x_bench.cc DEPENDS perfcast_x)
function(perfcast_benchmark name)
  if(NOT PERFCAST_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(perfcast_${name}_bench ${ARG_SOURCES})
  target_link_libraries(perfcast_${name}_bench PRIVATE ${ARG_DEPENDS} benchmark::benchmark_main perfcast_options)
  target_compile_definitions(perfcast_${name}_bench PRIVATE PERFCAST_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                                            PERFCAST_SHARED_DATA="${PERFCAST_SHARED_DATA}")
endfunction()

# perfcast_fuzzer(NAME SOURCES x_fuzz.cc DEPENDS perfcast_x): the fuzzer is built by PERFCAST_FUZZERS only; tools/fuzz runs
# it on the seeds in the folder fuzz/<NAME> beside. Under a sanitizer, with any compiler, one binary holds every target and
# the test fuzz.NAME replays its seeds: perfcast_fuzz_seeds() at the end. HEAVY: its reader is part of a library that takes
# minutes to compile under a sanitizer; replayed where PERFCAST_HEAVY_SEEDS is on (tools/check --all).
function(perfcast_fuzzer name)
  cmake_parse_arguments(ARG "HEAVY" "" "SOURCES;DEPENDS" ${ARGN})
  if(PERFCAST_TESTS AND PERFCAST_SANITIZE AND (PERFCAST_HEAVY_SEEDS OR NOT ARG_HEAVY))
    add_library(perfcast_${name}_seeds OBJECT ${ARG_SOURCES})
    target_compile_definitions(perfcast_${name}_seeds PRIVATE LLVMFuzzerTestOneInput=perfcast_fuzz_${name}
                                                               PERFCAST_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_link_libraries(perfcast_${name}_seeds PRIVATE ${ARG_DEPENDS} perfcast_base perfcast_options)
    set_property(GLOBAL APPEND PROPERTY perfcast_fuzz_names ${name})
    set_property(GLOBAL APPEND PROPERTY perfcast_fuzz_depends ${ARG_DEPENDS})
    add_test(NAME fuzz.${name} COMMAND perfcast_fuzz_seeds ${name} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/${name})
  endif()
  if(NOT PERFCAST_FUZZERS)
    return()
  endif()
  add_executable(${name}_fuzz ${ARG_SOURCES})
  target_link_libraries(${name}_fuzz PRIVATE ${ARG_DEPENDS} perfcast_options)
  target_compile_definitions(${name}_fuzz PRIVATE PERFCAST_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_compile_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
endfunction()

function(perfcast_fuzz_seeds)
  get_property(names GLOBAL PROPERTY perfcast_fuzz_names)
  get_property(depends GLOBAL PROPERTY perfcast_fuzz_depends)
  if(NOT names)
    return()
  endif()
  list(REMOVE_DUPLICATES depends)
  set(declarations "")
  set(entries "")
  set(objects)
  foreach(name IN LISTS names)
    string(APPEND declarations "extern \"C\" int perfcast_fuzz_${name}(const uint8_t* data, size_t size);\n")
    string(APPEND entries "    {\"${name}\", perfcast_fuzz_${name}},\n")
    list(APPEND objects $<TARGET_OBJECTS:perfcast_${name}_seeds>)
  endforeach()
  configure_file(${CMAKE_SOURCE_DIR}/src/base/fuzz/fuzz_targets.cc.in ${CMAKE_BINARY_DIR}/fuzz_targets.cc @ONLY)
  add_executable(perfcast_fuzz_seeds ${CMAKE_SOURCE_DIR}/src/base/fuzz/replay_seeds.cc ${CMAKE_BINARY_DIR}/fuzz_targets.cc
                                     ${objects})
  target_link_libraries(perfcast_fuzz_seeds PRIVATE ${depends} perfcast_base perfcast_options)
endfunction()
