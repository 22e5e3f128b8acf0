# perfcast_page_source(VARIABLE MISSING): sets VARIABLE to the source that holds the page of perfcast serve: built from
# page/ by Vite, in BUILD/page. Where the page is off, or AUTO and can't be built here, to MISSING. npm asks its
# registry once for each state of page/package-lock.json, and runs no scripts of packages.
function(perfcast_page_source variable missing)
  set(${variable} ${missing} PARENT_SCOPE)
  # Sanitizers and fuzzers look for nothing in it.
  if(PERFCAST_PAGE STREQUAL "OFF" OR (PERFCAST_PAGE STREQUAL "AUTO" AND (PERFCAST_SANITIZE OR PERFCAST_FUZZERS)))
    return()
  endif()
  set(source ${CMAKE_SOURCE_DIR}/page)
  set(folder ${CMAKE_BINARY_DIR}/page)
  set(without STATUS)
  if(NOT PERFCAST_PAGE STREQUAL "AUTO")
    set(without FATAL_ERROR)
  endif()
  find_program(PERFCAST_NODE node)
  find_program(PERFCAST_NPM npm)
  mark_as_advanced(PERFCAST_NODE PERFCAST_NPM)
  if(NOT PERFCAST_NODE OR NOT PERFCAST_NPM)
    message(${without} "No page for perfcast serve: nodejs and npm are not installed")
    return()
  endif()
  execute_process(COMMAND ${PERFCAST_NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^v" "" version "${version}")
  if(version VERSION_LESS 18)
    message(${without} "No page for perfcast serve: nodejs is ${version}; it takes 18 or newer")
    return()
  endif()

  file(SHA256 ${source}/package-lock.json wanted)
  set(installed "")
  if(EXISTS ${folder}/installed)
    file(READ ${folder}/installed installed)
  endif()
  if(NOT installed STREQUAL wanted)
    message(STATUS "Packages of the page: npm ci")
    file(COPY ${source}/package.json ${source}/package-lock.json ${source}/.npmrc DESTINATION ${folder})
    execute_process(COMMAND ${PERFCAST_NPM} ci --omit=dev --prefer-offline --fetch-retries=0 --fetch-timeout=20000
                    WORKING_DIRECTORY ${folder} TIMEOUT 180
                    RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
    if(failed)
      message(${without} "No page for perfcast serve: npm could not install its packages (${failed}):\n${log}")
      return()
    endif()
    file(WRITE ${folder}/installed ${wanted})
  endif()

  file(GLOB sources CONFIGURE_DEPENDS ${source}/*.* ${source}/src/*.* ${source}/public/*.*)
  add_custom_command(
    OUTPUT ${folder}/page_built.cc
    COMMAND ${CMAKE_COMMAND} -E rm -rf src public
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${source}/src src
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${source}/public public
    COMMAND ${CMAKE_COMMAND} -E copy ${source}/index.html ${source}/embed.js ${source}/vite.config.js .
    COMMAND ${CMAKE_COMMAND} -E env PERFCAST_DATA=${CMAKE_SOURCE_DIR}/data ${PERFCAST_NPM} run --silent build
    DEPENDS ${sources}
    WORKING_DIRECTORY ${folder}
    COMMENT "Building the page")
  set_source_files_properties(${folder}/page_built.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(${variable} ${folder}/page_built.cc PARENT_SCOPE)
endfunction()
