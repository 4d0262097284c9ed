// SPDX-License-Identifier: Apache-2.0
// Put in front of every Verilated file by the build: what Verilog prints goes through verilated_messages.h instead of
// to standard output, which belongs to the program.
#pragma once

extern "C" int ssdtlm_verilated_print(const char* format, ...) __attribute__((format(printf, 1, 2)));
#define VL_PRINTF ssdtlm_verilated_print
