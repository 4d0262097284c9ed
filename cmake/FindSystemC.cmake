# SPDX-License-Identifier: Apache-2.0
# SystemC::systemc from a config package (Accellera install) or from the system's headers and library (Debian
# ships neither a CMake package nor a static library).
find_package(SystemCLanguage CONFIG QUIET)
if(TARGET SystemC::systemc)
  set(SystemC_FOUND TRUE)
  return()
endif()
find_path(SystemC_INCLUDE_DIR NAMES systemc tlm PATHS ENV SYSTEMC_HOME PATH_SUFFIXES include)
find_library(SystemC_LIBRARY NAMES systemc PATHS ENV SYSTEMC_HOME PATH_SUFFIXES lib lib-linux64)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SystemC REQUIRED_VARS SystemC_LIBRARY SystemC_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install it (Debian: apt-get install libsystemc-dev) or set SYSTEMC_HOME")
if(SystemC_FOUND AND NOT TARGET SystemC::systemc)
  find_package(Threads REQUIRED)
  add_library(SystemC::systemc UNKNOWN IMPORTED)
  set_target_properties(SystemC::systemc PROPERTIES IMPORTED_LOCATION ${SystemC_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${SystemC_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
mark_as_advanced(SystemC_INCLUDE_DIR SystemC_LIBRARY)
