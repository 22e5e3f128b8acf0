# Whether this system and build have them.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_NM AND CMAKE_READELF
   AND NOT PERFCAST_SANITIZE)
  set(PERFCAST_LAZY_LIBRARIES ON CACHE INTERNAL "")
else()
  set(PERFCAST_LAZY_LIBRARIES OFF CACHE INTERNAL "")
endif()

# perfcast_lazy_library(NAME LIBRARY PREFIX PACKAGE): the target perfcast_lazy_NAME stands for a shared library that few
# verbs need. Programs linked to it start without the library, which is opened by the first call of one of its functions, so
# that `perfcast predict` doesn't wait for the relocations of a linear-program solver. Callers see no difference: each
# exported function that begins with PREFIX is a jump through a slot that the first call fills. Where the library can't be
# opened then, the program ends as the dynamic linker would end it, and names PACKAGE, Debian's, as what to install. The
# global property perfcast_lazy_packages lists these packages: a Debian package of perfcast recommends them.
# Elsewhere than on x86-64, and under sanitizers, the target is the library itself.
function(perfcast_lazy_library name library prefix package)
  if(NOT PERFCAST_LAZY_LIBRARIES)
    add_library(perfcast_lazy_${name} INTERFACE)
    target_link_libraries(perfcast_lazy_${name} INTERFACE ${library})
    return()
  endif()
  execute_process(COMMAND ${CMAKE_NM} -D --defined-only ${library} OUTPUT_VARIABLE exported COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  if(NOT dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
    message(FATAL_ERROR "${library} names no SONAME")
  endif()
  set(soname ${CMAKE_MATCH_1})
  string(REGEX MATCHALL "[ ]T[ ]${prefix}[A-Za-z0-9_]*" functions "${exported}")
  list(TRANSFORM functions REPLACE "^ T " "")
  if(NOT functions)
    message(FATAL_ERROR "${library} exports no function ${prefix}...")
  endif()
  list(SORT functions)
  list(REMOVE_DUPLICATES functions)
  set_property(GLOBAL APPEND PROPERTY perfcast_lazy_packages ${package})
  perfcast_lazy_stubs(${name} ${soname} ${library} ${package} ${functions})
endfunction()

# perfcast_lazy_stubs(NAME SONAME LIBRARY PACKAGE FUNCTION ...): the target perfcast_lazy_NAME with those functions of
# SONAME, or where that isn't found, of the file LIBRARY. Neither has to be there when this is built. On x86-64 only.
function(perfcast_lazy_stubs name soname library package)
  set(functions ${ARGN})
  set(stubs "")
  set(names "")
  set(index 0)
  foreach(function IN LISTS functions)
    string(APPEND stubs "PERFCAST_STUB(\"${function}\", \"${index}\")\n")
    string(APPEND names "    \"${function}\",\n")
    math(EXPR index "${index} + 1")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/lazy/${name}.cc)
  set(count ${index})
  configure_file(${PROJECT_SOURCE_DIR}/src/base/lazy_library.cc.in ${source} @ONLY)
  add_library(perfcast_lazy_${name} STATIC ${source})
  set_target_properties(perfcast_lazy_${name} PROPERTIES UNITY_BUILD OFF POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(perfcast_lazy_${name} PRIVATE ${CMAKE_DL_LIBS})
endfunction()
