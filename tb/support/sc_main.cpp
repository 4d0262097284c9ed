// SPDX-License-Identifier: Apache-2.0
// The SystemC library wants sc_main; the program's own main() does all, so this one never runs. Weak: a test that
// brings its own keeps it. Without SystemC's header, which would make every test need the library.
extern "C" __attribute__((weak)) int sc_main(int, char*[]);
extern "C" int sc_main(int, char*[]) {
    return 0;
}
