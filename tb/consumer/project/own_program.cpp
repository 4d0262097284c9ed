// SPDX-License-Identifier: Apache-2.0
// The program ssdtlm, with whatever is linked beside this file.
#include "sim/app/main.h"

int main(int argc, char** argv) {
    return ssdtlm::ssdtlm_main(argc, argv);
}
