// SPDX-License-Identifier: Apache-2.0
// SystemC's library has a main() of its own that prints a banner and calls sc_main(); ours goes first, sc_main() only
// completes the link.
#include "sim/app/main.h"

extern "C" int sc_main(int argc, char* argv[]) {
    return ssdtlm::ssdtlm_main(argc, argv);
}

int main(int argc, char** argv) {
    return ssdtlm::ssdtlm_main(argc, argv);
}
