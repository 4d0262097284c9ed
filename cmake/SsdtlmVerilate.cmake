# SPDX-License-Identifier: Apache-2.0
# Verilated blocks. Debian's Verilator keeps its CMake package outside of CMake's search path; VERILATOR_ROOT wins.
# Without Verilator everything else is built, and choosing an RTL block is an error of the run.
find_package(verilator QUIET HINTS $ENV{VERILATOR_ROOT} /usr/share/verilator /usr/local/share/verilator)
if(verilator_FOUND AND VERILATOR_BIN)
  set(SSDTLM_VERILATOR ON)
  # "Verilator 5.006 2023-01-22 rev ..." -> 5.006
  execute_process(COMMAND ${VERILATOR_BIN} --version OUTPUT_VARIABLE _verilator_version OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCH "[0-9]+\\.[0-9]+" SSDTLM_VERILATOR_VERSION "${_verilator_version}")
  if(SSDTLM_VERILATOR_VERSION VERSION_LESS 5.006)
    message(WARNING "Verilator ${SSDTLM_VERILATOR_VERSION} is older than 5.006: built without RTL blocks")
    set(SSDTLM_VERILATOR OFF)
  endif()
else()
  set(SSDTLM_VERILATOR OFF)
  message(STATUS "no Verilator: built without RTL blocks (Debian: apt-get install verilator)")
endif()

# ssdtlm_verilate(<target> TOP <module> SOURCES <file>... [PREFIX V<module>] [PARAMETERS NAME=VALUE...])
# Static library <target> with the C++ class <PREFIX> of module <TOP>, for use as <PREFIX>.h. Several blocks may go into
# one target. Any warning of verilator -Wall is an error. The class can write FST. Generated code is compiled without
# the project's warnings.
function(ssdtlm_verilate target)
  cmake_parse_arguments(A "" "TOP;PREFIX" "SOURCES;PARAMETERS" ${ARGN})
  if(NOT A_PREFIX)
    set(A_PREFIX V${A_TOP})
  endif()
  set(parameters)
  foreach(parameter ${A_PARAMETERS})
    list(APPEND parameters -G${parameter})
  endforeach()
  set(sources)
  foreach(source ${A_SOURCES})
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  if(NOT TARGET ${target})
    add_library(${target} STATIC)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_CLANG_TIDY "")
    target_compile_features(${target} PUBLIC cxx_std_17)
    target_link_libraries(${target} PUBLIC ZLIB::ZLIB)
    if(SSDTLM_SANITIZE)
      # Generated code and Verilator's run time are not ours to clean; memory errors are still worth finding.
      target_compile_options(${target} PRIVATE -fsanitize=address -fno-omit-frame-pointer)
    endif()
    set_property(GLOBAL APPEND PROPERTY SSDTLM_LIBRARIES ${target})
  endif()
  verilate(${target} TRACE_FST PREFIX ${A_PREFIX} TOP_MODULE ${A_TOP} SOURCES ${sources}
           VERILATOR_ARGS -Wall -O3 --x-initial unique --x-assign unique ${parameters} OPT_FAST -O3 OPT_GLOBAL -O2)
  # Users of the class see its headers as system headers; an installed library does not need them.
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set(build_folders)
  foreach(folder ${folders})
    if(NOT folder MATCHES "^\\$<BUILD_INTERFACE")
      set(folder $<BUILD_INTERFACE:${folder}>)
    endif()
    list(APPEND build_folders ${folder})
  endforeach()
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${build_folders}"
                                             INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${build_folders}")
endfunction()
