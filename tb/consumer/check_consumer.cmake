# SPDX-License-Identifier: Apache-2.0
# Installs the build tree into an empty prefix, builds the project in project/ against it and nothing else, runs it,
# and runs the installed program with an installed preset.
cmake_minimum_required(VERSION 3.25)

function(run out)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\nended with ${status}:\n${text}")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
run(_ ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(_ ${CMAKE_COMMAND} -S ${SOURCE}/project -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${COMPILER})
run(_ ${CMAKE_COMMAND} --build ${WORK}/build)
run(text ${WORK}/build/consumer)
if(NOT text MATCHES "1000 reads, [1-9][0-9.]+ IOPS")
  message(FATAL_ERROR "the consumer printed: ${text}")
endif()
message(STATUS "${text}")
run(text ${WORK}/build/lt_memory)
if(NOT text MATCHES "read back at 200 ns")
  message(FATAL_ERROR "the loosely-timed memory printed: ${text}")
endif()
message(STATUS "${text}")
if(VERILATOR)
  run(rtl ${WORK}/build/consumer my_scheduler)
  if(NOT rtl MATCHES "1000 reads, [1-9][0-9.]+ IOPS" OR rtl STREQUAL text)
    message(FATAL_ERROR "the consumer with a scheduler of its own printed: ${rtl}")
  endif()
  message(STATUS "with a scheduler of its own: ${rtl}")
endif()

# The installed program finds the presets of its own prefix; one that exists nowhere else shows it.
set(presets ${prefix}/share/ssdtlm/configs/device)
run(_ ${CMAKE_COMMAND} -E copy ${presets}/tiny-test.toml ${presets}/only-here.toml)
run(_ ${prefix}/bin/ssdtlm config check only-here)
