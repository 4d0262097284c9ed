# SPDX-License-Identifier: Apache-2.0
# cmake --install: the program with man page, completion and its Python package, the libraries, the headers, the presets, and
# a config package.
include(CMakePackageConfigHelpers)
get_property(_libraries GLOBAL PROPERTY SSDTLM_LIBRARIES)
install(TARGETS ${_libraries} EXPORT ssdtlmTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Components: a wheel holds "program", a Debian package "program", "system" and "debian"; the rest is for programs of one's own.
install(TARGETS ssdtlm_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
# The program prints both from its table of commands.
install(CODE "
  execute_process(COMMAND \"$<TARGET_FILE:ssdtlm_app>\" manual
                  OUTPUT_FILE \"${CMAKE_CURRENT_BINARY_DIR}/ssdtlm.1\" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND \"$<TARGET_FILE:ssdtlm_app>\" completion bash
                  OUTPUT_FILE \"${CMAKE_CURRENT_BINARY_DIR}/ssdtlm.bash\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT system)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ssdtlm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT system)
foreach(shell zsh fish)
  install(CODE "
    execute_process(COMMAND \"$<TARGET_FILE:ssdtlm_app>\" completion ${shell}
                    OUTPUT_FILE \"${CMAKE_CURRENT_BINARY_DIR}/ssdtlm.${shell}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT system)
endforeach()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ssdtlm.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _ssdtlm COMPONENT system)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ssdtlm.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT system)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ssdtlm.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ssdtlm COMPONENT system)
install(EXPORT ssdtlmTargets NAMESPACE ssdtlm:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ssdtlm)
install(DIRECTORY model/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ssdtlm FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/include/sim/version_macros.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ssdtlm/sim)
install(DIRECTORY rtl/adapter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ssdtlm
        FILES_MATCHING PATTERN "*.h" PATTERN "verilated_scheduler.cpp.in")
# What docs/extending.md shows: headers that programs include, sources and build files that they take along, and the contract test for
# a scheduler in Verilog.
install(DIRECTORY tb/examples DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ssdtlm FILES_MATCHING PATTERN "*.h")
install(DIRECTORY tb/examples/ tb/consumer/project DESTINATION ${CMAKE_INSTALL_DATADIR}/ssdtlm/examples FILES_MATCHING PATTERN "*.cpp" PATTERN "project/*"
        PATTERN "*_test.cpp" EXCLUDE)
install(FILES tb/rtl/scheduler_stream.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ssdtlm/rtl)
install(FILES tb/rtl/scheduler_random.cpp DESTINATION ${CMAKE_INSTALL_DATADIR}/ssdtlm/rtl/test)
install(DIRECTORY rtl/examples rtl/scheduler DESTINATION ${CMAKE_INSTALL_DATADIR}/ssdtlm/rtl FILES_MATCHING PATTERN "*.sv")
# The commands written in Python; the program finds them there.
install(DIRECTORY python/ssdtlm DESTINATION ${CMAKE_INSTALL_DATADIR}/ssdtlm/python COMPONENT system FILES_MATCHING PATTERN "*.py"
        PATTERN "*.css" PATTERN "*.js" PATTERN "init.sh" PATTERN __pycache__ EXCLUDE)
# What `ssdtlm guest` needs from Debian is had by this script.
install(PROGRAMS tools/guest.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/ssdtlm/tools COMPONENT program)
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/ssdtlm/configs COMPONENT program)
install(DIRECTORY studies/ DESTINATION ${CMAKE_INSTALL_DATADIR}/ssdtlm/studies COMPONENT program PATTERN __pycache__ EXCLUDE)
install(DIRECTORY docs notebooks DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ssdtlm COMPONENT system)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ssdtlm COMPONENT system)
set(SSDTLM_CONFIGS_DIR ${CMAKE_INSTALL_DATADIR}/ssdtlm/configs)
set(SSDTLM_EXAMPLES_DIR ${CMAKE_INSTALL_DATADIR}/ssdtlm/examples)
set(SSDTLM_RTL_SOURCES ${CMAKE_INSTALL_DATADIR}/ssdtlm/rtl)
set(SSDTLM_RTL_DIR_INSTALLED ${CMAKE_INSTALL_INCLUDEDIR}/ssdtlm)
configure_package_config_file(cmake/ssdtlmConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/ssdtlmConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ssdtlm PATH_VARS SSDTLM_CONFIGS_DIR SSDTLM_EXAMPLES_DIR SSDTLM_RTL_SOURCES SSDTLM_RTL_DIR_INSTALLED)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ssdtlmConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ssdtlmConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/ssdtlmConfigVersion.cmake
              cmake/FindSystemC.cmake cmake/SsdtlmVerilate.cmake
              DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ssdtlm)

# `make deb`: the program with what belongs to it on a Debian system. Its Python finds the package by this link.
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/debian)
file(CREATE_LINK ../../../share/ssdtlm/python/ssdtlm ${CMAKE_CURRENT_BINARY_DIR}/debian/ssdtlm SYMBOLIC)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/debian/ssdtlm DESTINATION lib/python3/dist-packages COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES cmake/debian/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ssdtlm COMPONENT debian EXCLUDE_FROM_ALL)
# Who builds a package is its maintainer; without a name, nobody can be written to (RFC 2606).
set(_maintainer "developers of ssdtlm <developers@ssdtlm.invalid>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(_maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ssdtlm)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${_maintainer})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program system debian)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${_maintainer})
set(CPACK_DEBIAN_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3 (>= 3.11), python3-venv")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "fio, gtkwave")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
