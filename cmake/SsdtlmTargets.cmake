# SPDX-License-Identifier: Apache-2.0
# Two functions that every target of the project goes through; there are no global flags.

add_library(ssdtlm_flags INTERFACE)
target_compile_features(ssdtlm_flags INTERFACE cxx_std_17)
target_compile_options(ssdtlm_flags INTERFACE -Wall -Wextra -Wshadow -Woverloaded-virtual -Wconversion -Wno-sign-conversion)
if(SSDTLM_SANITIZE)
  target_compile_options(ssdtlm_flags INTERFACE -fsanitize=${SSDTLM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(ssdtlm_flags INTERFACE -fsanitize=${SSDTLM_SANITIZE})
endif()

# ssdtlm_library(<name> [COLD] SOURCES ... [LINK ...]): static library ssdtlm_<name> with alias ssdtlm::<name>. COLD: nothing of it runs
# once for each command, and -O1 compiles it in half the time.
function(ssdtlm_library name)
  cmake_parse_arguments(A "COLD" "" "SOURCES;LINK" ${ARGN})
  add_library(ssdtlm_${name} STATIC ${A_SOURCES})
  add_library(ssdtlm::${name} ALIAS ssdtlm_${name})
  set_target_properties(ssdtlm_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON UNITY_BUILD ${SSDTLM_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  target_include_directories(ssdtlm_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/model>
                                                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ssdtlm>)
  target_compile_features(ssdtlm_${name} PUBLIC cxx_std_17)
  if(A_COLD)
    target_compile_options(ssdtlm_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  target_link_libraries(ssdtlm_${name} PUBLIC ${A_LINK} PRIVATE $<BUILD_INTERFACE:ssdtlm_flags>)
  set_property(GLOBAL APPEND PROPERTY SSDTLM_LIBRARIES ssdtlm_${name})
endfunction()

# ssdtlm_policies(<library> <name> SOURCES ... [LINK ...]): policies that register themselves (common/config/policy_registry.h),
# one file each, for whoever links ssdtlm::<library>. Nothing names them, so the linker is told to keep all. LINK must not
# lead back to <library>: in a cycle the policies would be linked twice.
function(ssdtlm_policies library name)
  cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
  ssdtlm_library(${name} SOURCES ${A_SOURCES} LINK ssdtlm::common ${A_LINK})
  # An export does not put the namespace to a name inside LINK_LIBRARY.
  target_link_libraries(ssdtlm_${library} INTERFACE "$<BUILD_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,ssdtlm_${name}>>"
                                                    "$<INSTALL_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,ssdtlm::${name}>>")
endfunction()

# In place of a test's time limit: sanitizers make programs up to ten times slower, and are run beside others.
function(ssdtlm_time_limit seconds out)
  if(SSDTLM_SANITIZE)
    math(EXPR seconds "${seconds} * 6")
  endif()
  set(${out} ${seconds} PARENT_SCOPE)
endfunction()

# What compiles a test. Tests are most of a whole build, and their own code takes little of their time: with -O1 they compile a quarter faster.
function(ssdtlm_test_flags target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tb)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(${target} PRIVATE ${ARGN} ssdtlm_flags GTest::gmock)
endfunction()

# ssdtlm_test_headers(<name> HEADERS ... [LINK ...]): precompiled headers for `ssdtlm_test(... HEADERS <name>)`, whose flags are
# those of LINK. Parsing what all include is most of what a test takes to compile. Each file still includes what it uses: the
# debug and tidy presets build without.
function(ssdtlm_test_headers name)
  cmake_parse_arguments(A "" "" "HEADERS;LINK" ${ARGN})
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "// Compiled for its precompiled headers.\n")
  add_library(ssdtlm_${name} OBJECT ${unit})
  ssdtlm_test_flags(ssdtlm_${name} ${A_LINK})
  target_precompile_headers(ssdtlm_${name} PRIVATE ${A_HEADERS})
endfunction()

# ssdtlm_test(<name> SOURCES ... LINK ... [HEADERS set] [TIMEOUT s]): one test program, one ctest entry. The SystemC library wants an
# sc_main, and is in every program that may use one of its types (with sanitizers, more do): ssdtlm_sc_main has one for those without
# one of their own.
function(ssdtlm_test name)
  cmake_parse_arguments(A "" "HEADERS;TIMEOUT" "SOURCES;LINK" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 60)
  endif()
  if(A_TIMEOUT GREATER 450 AND CMAKE_CURRENT_SOURCE_DIR MATCHES "/tb/unit/")
    message(FATAL_ERROR "${name}: a test of tb/unit has a time limit of ${A_TIMEOUT} s; 450 at most; put it into tb/stress")
  endif()
  if(NOT A_HEADERS)
    set(A_HEADERS test_headers)
  endif()
  ssdtlm_time_limit(${A_TIMEOUT} A_TIMEOUT)
  add_executable(${name} ${A_SOURCES} $<TARGET_OBJECTS:ssdtlm_sc_main>)
  ssdtlm_test_flags(${name} ${A_LINK} GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM ssdtlm_${A_HEADERS})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT})
endfunction()

# ssdtlm_test_share(<name> <percent>): CI runs that share of a long test's seeds (support/seeds.h), the night all of them.
function(ssdtlm_test_share name percent)
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT SSDTLM_TEST_SHARE=${percent})
  add_test(NAME ${name}_whole COMMAND ${name})
  set_tests_properties(${name}_whole PROPERTIES TIMEOUT 3600 LABELS nightly)
endfunction()

# ssdtlm_nightly_cases(<name> <filter>): CI runs the test without the cases of that filter of GoogleTest, the night all of them.
function(ssdtlm_nightly_cases name filter)
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=-${filter}")
  add_test(NAME ${name}_whole COMMAND ${name})
  set_tests_properties(${name}_whole PROPERTIES TIMEOUT 3600 LABELS nightly)
endfunction()
