// SPDX-License-Identifier: Apache-2.0
// The SystemC library needs a definition of sc_main. This one never runs, because each test has its own main(). It is
// weak, so that a test can define another. It does not include SystemC's header, because every test would then need the
// library.
extern "C" __attribute__((weak)) int sc_main(int, char*[]);
extern "C" int sc_main(int, char*[]) {
    return 0;
}
