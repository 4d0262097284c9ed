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
  # Verilator's own code does not depend on the block, so the project compiles it once. A block of another project has a copy, because
  # that project may have another Verilator. (Each verilate() in a folder appends its flags to these files.)
  get_target_property(sources ${target} SOURCES)
  set(runtime ${sources})
  list(FILTER runtime INCLUDE REGEX "^${VERILATOR_ROOT}/include/")
  set_source_files_properties(${runtime} PROPERTIES COMPILE_FLAGS -O2)
  if(TARGET ssdtlm_verilated_messages)
    if(NOT TARGET ssdtlm_verilator)
      add_library(ssdtlm_verilator STATIC ${runtime})
      set_target_properties(ssdtlm_verilator PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_CLANG_TIDY "")
      target_compile_features(ssdtlm_verilator PUBLIC cxx_std_17)
      target_compile_definitions(ssdtlm_verilator PRIVATE VM_COVERAGE=0 VM_SC=0 VM_TRACE=1 VM_TRACE_VCD=0 VM_TRACE_FST=1)
      target_compile_options(ssdtlm_verilator PRIVATE $<TARGET_PROPERTY:${target},COMPILE_OPTIONS>)
      target_include_directories(ssdtlm_verilator PRIVATE ${VERILATOR_ROOT}/include ${VERILATOR_ROOT}/include/vltstd)
      target_link_libraries(ssdtlm_verilator PUBLIC ssdtlm::verilated_messages ZLIB::ZLIB)
      set_property(GLOBAL APPEND PROPERTY SSDTLM_LIBRARIES ssdtlm_verilator)
    endif()
    get_target_property(shared ssdtlm_verilator SOURCES)
    list(REMOVE_ITEM sources ${shared})
    set_property(TARGET ${target} PROPERTY SOURCES ${sources})
    target_link_libraries(${target} PUBLIC ssdtlm_verilator)
  endif()
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

# ssdtlm_check_scheduler_ports(<module> <source>... DIES <n> PLANES <n> DEPTH <n>): stops when a port of the module has another
# width or direction than the interface, or is missing. Verilator's lint of a wrapper says so; a C++ class of the module would only cut bits off.
function(ssdtlm_check_scheduler_ports module)
  cmake_parse_arguments(A "" "DIES;PLANES;DEPTH" "" ${ARGN})
  set(text "")
  set(sources)
  foreach(source ${A_UNPARSED_ARGUMENTS})
    get_filename_component(source ${source} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(READ ${source} one)
    string(APPEND text "${one}")
    list(APPEND sources ${source})
  endforeach()
  get_filename_component(folder ${source} DIRECTORY)
  # name:bits:direction; those that a module may do without, last.
  set(ports clk:1:input rst_n:1:input push_valid:1:input push_ready:1:output push_tag:32:input push_die:DIE_BITS:input push_class:3:input
      push_plane:PLANE_BITS:input push_page:32:input query_valid:1:input query_ready:1:output query_classes:7:input query_idle_dies:DIES:input
      query_idle_read_planes:PLANES*DIES:input grant_valid:1:output grant_ready:1:input grant_hit:1:output grant_die:DIE_BITS:output
      grant_class:3:output grant_count:COUNT_BITS:output grant_tags:PLANES*32:output suspend_request:DIES:output awvalid:1:input awready:1:output
      awaddr:12:input wvalid:1:input wready:1:output wdata:32:input wstrb:4:input bvalid:1:output bready:1:input bresp:2:output arvalid:1:input
      arready:1:output araddr:12:input rvalid:1:output rready:1:input rdata:32:output rresp:2:output)
  foreach(optional push_tenant:16:input push_priority:2:input push_stream:8:input push_deadline:32:input push_age:32:input push_bytes:32:input
          push_block:32:input cycle_now:64:input)
    string(REGEX REPLACE ":.*" "" name ${optional})
    if(text MATCHES "[^a-z_]${name}[^a-z_]")
      list(APPEND ports ${optional})
    endif()
  endforeach()
  set(declarations "")
  set(connections "")
  foreach(port ${ports})
    string(REPLACE ":" ";" port ${port})
    list(GET port 0 name)
    list(GET port 1 bits)
    list(GET port 2 direction)
    string(APPEND declarations "    ${direction} logic [${bits}-1:0] ${name},\n")
    string(APPEND connections "      .${name}(${name}),\n")
  endforeach()
  string(REGEX REPLACE ",\n$" "\n" declarations "${declarations}")
  string(REGEX REPLACE ",\n$" "\n" connections "${connections}")
  set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/ports_of_${module}.sv)
  file(WRITE ${wrapper} "// Made by CMake to check the widths of the ports.
module ports_of_${module} #(
    parameter int DIES = ${A_DIES},
    parameter int PLANES = ${A_PLANES},
    parameter int DIE_BITS = DIES > 1 ? $clog2(DIES) : 1,
    parameter int PLANE_BITS = PLANES > 1 ? $clog2(PLANES) : 1,
    parameter int COUNT_BITS = $clog2(PLANES + 1)
) (
${declarations});
  ${module} #(.CHANNELS(1), .DIES(DIES), .PLANES(PLANES), .DEPTH(${A_DEPTH}), .TAG_BITS(32), .PAGE_BITS(32)) block (
${connections}  );
endmodule
")
  execute_process(COMMAND ${VERILATOR_BIN} --lint-only -Wno-fatal --top-module ports_of_${module} -I${folder} ${sources} ${wrapper}
                  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE failed)
  string(REGEX MATCHALL "(Input|Output) port connection '[a-z_]+' expects [0-9]+ bits[^\n]*generates [0-9]+ bits" wrong "${said}")
  set(problems "")
  foreach(one ${wrong})
    string(REGEX REPLACE ".* port connection '([a-z_]+)' expects ([0-9]+) bits.*generates ([0-9]+) bits" "  \\1 has \\2 bits; the interface has \\3\n" one "${one}")
    string(APPEND problems "${one}")
  endforeach()
  string(REGEX MATCHALL "Pin not found: '[a-z_]+'" missing "${said}")
  foreach(one ${missing})
    string(REGEX REPLACE ".*'([a-z_]+)'" "  \\1 is missing\n" one "${one}")
    string(APPEND problems "${one}")
  endforeach()
  if(problems)
    message(FATAL_ERROR "${source}: the ports of ${module} are not those of a scheduler:\n${problems}"
                        "The interface: rtl/README.md, with TAG_BITS and PAGE_BITS of 32, ${A_DIES} dies and ${A_PLANES} planes")
  elseif(failed)
    message(FATAL_ERROR "${source}: Verilator cannot read ${module}:\n${said}")
  endif()
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
  set(sources)
  foreach(file ${A_SOURCES} ${source})  # packages come first
    get_filename_component(file ${file} ABSOLUTE)
    list(APPEND sources ${file})
  endforeach()
  list(REMOVE_DUPLICATES sources)
  ssdtlm_check_scheduler_ports(${top} ${sources} DIES ${SSDTLM_RTL_DIES} PLANES ${SSDTLM_RTL_PLANES} DEPTH ${SSDTLM_RTL_QUEUE_DEPTH})
  set(test)
  if(A_TEST)
    set(test TEST)
  endif()
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
