// SPDX-License-Identifier: Apache-2.0
// A million mixed commands, every read compared whole.
#include <cstdio>

#include "bytes.h"

namespace ssdtlm {
namespace {

TEST(BytesMillion, MixedCommands) {
    const StressResult r = stress(byte_device(), mixed(700'000));
    const StressResult failing = stress(failing_byte_device(), mixed(300'000));
    std::printf("[   FIGURE ] %llu commands, %llu blocks compared whole, %llu erases\n",
                static_cast<unsigned long long>(r.commands + failing.commands),
                static_cast<unsigned long long>(r.blocks_checked + failing.blocks_checked),
                static_cast<unsigned long long>(r.erases + failing.erases));
}

}  // namespace
}  // namespace ssdtlm
