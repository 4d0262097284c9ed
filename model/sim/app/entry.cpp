// SPDX-License-Identifier: Apache-2.0
#include "sim/app/main.h"

int main(int argc, char** argv) {
    return ssdtlm::ssdtlm_main(argc, argv);
}
