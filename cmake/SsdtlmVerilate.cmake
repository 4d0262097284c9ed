# SPDX-License-Identifier: Apache-2.0
# Verilated blocks, of this project and of those who use it. Debian's Verilator keeps its CMake package outside of CMake's
# search path; VERILATOR_ROOT wins. Without Verilator everything else is built, and choosing an RTL block is an error of
# the run.
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
endif()

# ssdtlm_verilate(<target> TOP <module> SOURCES <file>... [PREFIX V<module>] [PARAMETERS NAME=VALUE...] [TEST])
# Static library <target> with the C++ class <PREFIX> of module <TOP>, for use as <PREFIX>.h. Several blocks may go into
# one target; modules in the files' folders are found by name. Any warning of verilator -Wall is an error. Assertions are
# checked; the class can write FST. Generated code is compiled without the project's warnings. TEST: not installed.
function(ssdtlm_verilate target)
  cmake_parse_arguments(A "TEST" "TOP;PREFIX" "SOURCES;PARAMETERS" ${ARGN})
  if(NOT A_PREFIX)
    set(A_PREFIX V${A_TOP})
  endif()
  set(parameters)
  foreach(parameter ${A_PARAMETERS})
    list(APPEND parameters -G${parameter})
  endforeach()
  set(sources)
  set(folders)
  foreach(source ${A_SOURCES})
    get_filename_component(source "${source}" ABSOLUTE)
    # verilate() runs in this folder. Verilator 5.006 cuts a file's name at the first blank in all that it says of the file,
    # so names are given from here, and the check that a module is in a file of its name cannot be made when that has one.
    file(RELATIVE_PATH source "${CMAKE_CURRENT_SOURCE_DIR}" "${source}")
    if(source MATCHES " ")
      list(APPEND parameters -Wno-DECLFILENAME)
    endif()
    list(APPEND sources "${source}")
    get_filename_component(folder "${source}" DIRECTORY)
    if(folder STREQUAL "")
      set(folder .)
    endif()
    list(APPEND folders "-I${folder}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  if(NOT TARGET ${target})
    add_library(${target} STATIC)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_CLANG_TIDY "")
    target_compile_features(${target} PUBLIC cxx_std_17)
    target_compile_options(${target} PRIVATE -include ${SSDTLM_RTL_DIR}/adapter/verilated_print.h)
    target_link_libraries(${target} PUBLIC ssdtlm::verilated_messages ZLIB::ZLIB)
    if(SSDTLM_SANITIZE)
      # Generated code and Verilator's run time are not ours to clean; memory errors are still worth finding.
      target_compile_options(${target} PRIVATE -fsanitize=address -fno-omit-frame-pointer)
    endif()
    if(NOT A_TEST)
      set_property(GLOBAL APPEND PROPERTY SSDTLM_LIBRARIES ${target})
    endif()
  endif()
  verilate(${target} TRACE_FST PREFIX ${A_PREFIX} TOP_MODULE ${A_TOP} SOURCES ${sources}
           VERILATOR_ARGS -Wall -O3 --assert --x-initial unique --x-assign unique ${parameters} ${folders} OPT_FAST -O3 OPT_GLOBAL -O2)
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

# ssdtlm_verilated_scheduler(<target> <module>.sv [SOURCES <file>...] [NAME <name>] [DIES 16] [PLANES 8] [QUEUE_DEPTH 256]
#                            [TEST])
# Verilates a scheduler with the ports of rtl/scheduler/transaction_scheduler.sv and puts it into <target>, a program or an
# object library: its runs can then choose it as scheduler.rtl_module, by the module's name, which is the file's, or by NAME.
# Dies of a channel, planes of a die and requests that the channel holds are the most that it can be used for.
function(ssdtlm_verilated_scheduler target source)
  if(NOT SSDTLM_VERILATOR)
    message(FATAL_ERROR "ssdtlm_verilated_scheduler(${target} ${source}): needs Verilator 5.006 or newer (Debian: apt-get install verilator)")
  endif()
  cmake_parse_arguments(A "TEST" "NAME;DIES;PLANES;QUEUE_DEPTH" "SOURCES" ${ARGN})
  get_filename_component(top ${source} NAME_WE)
  set(MODULE ${top})
  if(A_NAME)
    set(MODULE ${A_NAME})
  endif()
  foreach(parameter "DIES 16" "PLANES 8" "QUEUE_DEPTH 256")
    string(REPLACE " " ";" parameter ${parameter})
    list(POP_FRONT parameter name value)
    set(SSDTLM_RTL_${name} ${value})
    if(A_${name})
      set(SSDTLM_RTL_${name} ${A_${name}})
    endif()
  endforeach()
  set(test)
  if(A_TEST)
    set(test TEST)
  endif()
  set(sources ${A_SOURCES} ${source})  # packages come first
  list(REMOVE_DUPLICATES sources)
  ssdtlm_verilate(${target}_verilated TOP ${top} PREFIX V${MODULE} SOURCES ${sources} ${test}
    PARAMETERS CHANNELS=1 DIES=${SSDTLM_RTL_DIES} PLANES=${SSDTLM_RTL_PLANES} DEPTH=${SSDTLM_RTL_QUEUE_DEPTH} TAG_BITS=32 PAGE_BITS=32)
  set(PROVEN false)
  set(REGISTRATION "namespace {\n[[maybe_unused]] const bool added = (add_rtl_scheduler(rtl_scheduler_${MODULE}()), true);\n}\n")
  configure_file(${SSDTLM_RTL_DIR}/adapter/verilated_scheduler.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/scheduler_${MODULE}.cpp @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/scheduler_${MODULE}.cpp)
  if(SSDTLM_SANITIZE)
    # GCC 12 takes the address of a variable that each thread has, in Verilator's header, for null.
    set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/scheduler_${MODULE}.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=null)
  endif()
  target_link_libraries(${target} PRIVATE ${target}_verilated ssdtlm::rtl)
endfunction()
