# Helpers that every component's CMakeLists.txt uses, so that a component is stated in a few lines.

# Warnings and sanitizers live in one interface target.
add_library(perfcast_options INTERFACE)
target_compile_options(perfcast_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wpedantic)
if(PERFCAST_WERROR)
  target_compile_options(perfcast_options INTERFACE -Werror)
endif()
if(PERFCAST_SANITIZE)
  target_compile_options(perfcast_options INTERFACE -fsanitize=${PERFCAST_SANITIZE} -fno-omit-frame-pointer
                                                    -fno-sanitize-recover=all)
  target_link_options(perfcast_options INTERFACE -fsanitize=${PERFCAST_SANITIZE})
endif()

# perfcast_library(NAME SOURCES a.cc ... DEPENDS perfcast_base ...): one component.
function(perfcast_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(perfcast_${name} STATIC ${ARG_SOURCES})
  target_include_directories(perfcast_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(perfcast_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS} perfcast_options)
endfunction()

# perfcast_tests(COMPONENT a_test.cc ...): one test binary per component, each case a ctest case.
function(perfcast_tests component)
  if(NOT PERFCAST_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(perfcast_${component}_test ${ARG_SOURCES})
  target_link_libraries(perfcast_${component}_test PRIVATE perfcast_${component} ${ARG_DEPENDS} GTest::gmock_main
                                                           perfcast_options)
  target_compile_definitions(
    perfcast_${component}_test PRIVATE PERFCAST_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                       PERFCAST_SHARED_DATA="${PERFCAST_SHARED_DATA}"
                                       PERFCAST_BINARY_DIR="${CMAKE_BINARY_DIR}")
  gtest_discover_tests(perfcast_${component}_test TEST_PREFIX ${component}. DISCOVERY_MODE PRE_TEST
                       PROPERTIES TIMEOUT 120)
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
# it on the seed corpus in the folder src/<component>/fuzz/<NAME>. Under a sanitizer the test fuzz.NAME replays the seeds,
# with any compiler.
function(perfcast_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(PERFCAST_TESTS AND PERFCAST_SANITIZE)
    add_executable(${name}_seeds ${ARG_SOURCES} ${CMAKE_SOURCE_DIR}/src/base/fuzz/replay_seeds.cc)
    target_link_libraries(${name}_seeds PRIVATE ${ARG_DEPENDS} perfcast_base perfcast_options)
    add_test(NAME fuzz.${name} COMMAND ${name}_seeds ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/${name})
  endif()
  if(NOT PERFCAST_FUZZERS)
    return()
  endif()
  add_executable(${name}_fuzz ${ARG_SOURCES})
  target_link_libraries(${name}_fuzz PRIVATE ${ARG_DEPENDS} perfcast_options)
  target_compile_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
endfunction()
