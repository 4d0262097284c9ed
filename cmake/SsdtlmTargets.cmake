# SPDX-License-Identifier: Apache-2.0
# Two functions that every target of the project goes through; there are no global flags.

add_library(ssdtlm_flags INTERFACE)
target_compile_features(ssdtlm_flags INTERFACE cxx_std_17)
target_compile_options(ssdtlm_flags INTERFACE -Wall -Wextra -Wshadow -Woverloaded-virtual -Wconversion -Wno-sign-conversion)
if(SSDTLM_SANITIZE)
  target_compile_options(ssdtlm_flags INTERFACE -fsanitize=${SSDTLM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(ssdtlm_flags INTERFACE -fsanitize=${SSDTLM_SANITIZE})
endif()

# ssdtlm_library(<name> SOURCES ... [LINK ...]): static library ssdtlm_<name> with alias ssdtlm::<name>.
function(ssdtlm_library name)
  cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
  add_library(ssdtlm_${name} STATIC ${A_SOURCES})
  add_library(ssdtlm::${name} ALIAS ssdtlm_${name})
  set_target_properties(ssdtlm_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(ssdtlm_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/model>
                                                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ssdtlm>)
  target_compile_features(ssdtlm_${name} PUBLIC cxx_std_17)
  target_link_libraries(ssdtlm_${name} PUBLIC ${A_LINK} PRIVATE $<BUILD_INTERFACE:ssdtlm_flags>)
  set_property(GLOBAL APPEND PROPERTY SSDTLM_LIBRARIES ssdtlm_${name})
endfunction()

# ssdtlm_policies(<library> <name> SOURCES ... [LINK ...]): policies that register themselves (common/config/policy_registry.h),
# one file each, for whoever links ssdtlm::<library>. Nothing names them, so the linker is told to keep all. LINK must not
# lead back to <library>: in a cycle the policies would be linked twice.
function(ssdtlm_policies library name)
  cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
  ssdtlm_library(${name} SOURCES ${A_SOURCES} LINK ssdtlm::parameters ${A_LINK})
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

# ssdtlm_test(<name> SOURCES ... LINK ... [TIMEOUT s]): one test program, one ctest entry. The SystemC library wants an sc_main, and
# is in every program that may use one of its types (with sanitizers, more do): ssdtlm_sc_main has one for those without one of their own.
# Tests are most of a whole build, and their own code takes little of their time: with -O1 they compile a quarter faster.
function(ssdtlm_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;LINK" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 60)
  endif()
  ssdtlm_time_limit(${A_TIMEOUT} A_TIMEOUT)
  add_executable(${name} ${A_SOURCES} $<TARGET_OBJECTS:ssdtlm_sc_main>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tb)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(${name} PRIVATE ${A_LINK} ssdtlm_flags GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT})
endfunction()
