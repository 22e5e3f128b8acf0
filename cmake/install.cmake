# cmake --install BUILD --prefix PREFIX: perfcast looks for what it needs relative to its own binary, so a prefix may be moved.
# Libraries that lie in lib/perfcast go before the system's: the tarball of tools/package has some there. A library of these that
# needs another of them finds it, too, because the old kind of run path (RPATH) holds for what a program loads.
function(perfcast_install_rpath target path)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${path}")
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endfunction()

perfcast_install_rpath(perfcast "$ORIGIN/../lib/perfcast")
install(TARGETS perfcast RUNTIME DESTINATION bin)
if(TARGET perfcast-harness)
  perfcast_install_rpath(perfcast-harness "$ORIGIN/../lib/perfcast")
  install(TARGETS perfcast-harness RUNTIME DESTINATION bin)
endif()
perfcast_install_rpath(perfcast_shared "$ORIGIN/perfcast")
install(TARGETS perfcast_shared LIBRARY DESTINATION lib)
install(FILES src/c_api/perfcast.h DESTINATION include)
configure_file(src/c_api/perfcast.pc.in ${CMAKE_BINARY_DIR}/perfcast.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/perfcast.pc DESTINATION lib/pkgconfig)
# Where Debian's Python looks, if the prefix is /usr.
install(DIRECTORY python/perfcast DESTINATION lib/python3/dist-packages PATTERN __pycache__ EXCLUDE)
if(TARGET perfcast_qemu_plugin)
  perfcast_install_rpath(perfcast_qemu_plugin "$ORIGIN")
  install(TARGETS perfcast_qemu_plugin LIBRARY DESTINATION lib/perfcast)
endif()
if(TARGET perfcast_oclgrind_plugin)
  install(TARGETS perfcast_oclgrind_plugin LIBRARY DESTINATION lib/perfcast)
endif()
install(TARGETS perfcast_flush_denormals LIBRARY DESTINATION lib/perfcast)
install(DIRECTORY data/ DESTINATION share/perfcast PATTERN counts EXCLUDE)
install(DIRECTORY docs LICENSES DESTINATION share/doc/perfcast)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION share/doc/perfcast)
install(FILES LICENSES/README.md DESTINATION share/doc/perfcast RENAME copyright)

# The manual page and the completions, as the binary prints them. The paths of data in them are those of the prefix, or below
# the folder that PERFCAST_SHARE names.
install(CODE "
  set(perfcast_share \"\$ENV{PERFCAST_SHARE}\")
  if(perfcast_share STREQUAL \"\")
    set(perfcast_share \"\${CMAKE_INSTALL_PREFIX}/share/perfcast\")
  endif()
  function(perfcast_prints file)
    set(path \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/\${file}\")
    get_filename_component(folder \"\${path}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(
      COMMAND \${CMAKE_COMMAND} -E env HOME=~ --unset=XDG_DATA_HOME \"PERFCAST_SHARE=\${perfcast_share}\"
              \"$<TARGET_FILE:perfcast>\" \${ARGN}
      OUTPUT_FILE \"\${path}\" COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${path}\")
  endfunction()
  perfcast_prints(man/man1/perfcast.1 help --man)
  perfcast_prints(bash-completion/completions/perfcast completion bash)
  perfcast_prints(zsh/vendor-completions/_perfcast completion zsh)
  perfcast_prints(fish/vendor_completions.d/perfcast.fish completion fish)")

# tools/package: a Debian package, whose Depends and Recommends come from there.
get_property(lazy_packages GLOBAL PROPERTY perfcast_lazy_packages)
list(REMOVE_DUPLICATES lazy_packages)
list(JOIN lazy_packages ", " lazy_packages)
file(WRITE ${CMAKE_BINARY_DIR}/package/lazy-packages "${lazy_packages}\n")
file(WRITE ${CMAKE_BINARY_DIR}/package/triggers "activate-noawait ldconfig\n")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME perfcast)
set(CPACK_PACKAGE_CONTACT "maintainers of perfcast <maintainers@perfcast.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "forecasts how programs run on other machines")
set(CPACK_PACKAGE_DESCRIPTION "perfcast counts what a program does on one machine, and forecasts its time and cost
on others. It forecasts language models on devices, compares and explains
measurements, and advises schedulers. The package has the program, a library
for C (libperfcast) and a module for Python 3.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/package/triggers)
include(CPack)
