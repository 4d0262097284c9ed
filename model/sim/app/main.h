// SPDX-License-Identifier: Apache-2.0
// The program `ssdtlm` as a function. Your own program that calls it has all its commands. Policies and workloads that
// are linked into your program can be chosen in all of them. Link ssdtlm::program:
//
//   #include "sim/app/main.h"
//   int main(int argc, char** argv) { return ssdtlm::ssdtlm_main(argc, argv); }
#pragma once

/// Where the library was installed. The target ssdtlm::program of an installed package defines it.
#ifndef SSDTLM_PREFIX
#define SSDTLM_PREFIX ""
#endif

namespace ssdtlm {

/// The whole program. It turns every exception into a message on standard error and an exit code (ExitCode). It looks
/// for presets, job files and the commands in Python below `prefix`, and below the prefix of the executable.
int ssdtlm_main(int argc, char** argv, const char* prefix = SSDTLM_PREFIX);

}  // namespace ssdtlm
