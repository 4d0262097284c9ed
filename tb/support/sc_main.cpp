// SPDX-License-Identifier: Apache-2.0
// The SystemC library wants sc_main; GoogleTest's main() runs the tests, so this one never runs.
#include <systemc>

int sc_main(int, char*[]) { return 0; }
