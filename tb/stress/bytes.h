// SPDX-License-Identifier: Apache-2.0
// Mixed commands on a device that keeps real bytes: reads and writes of single logical blocks and of whole units, trims
// and flushes over a few megabytes, so that garbage is collected all the time, with flash whose programs and reads fail
// now and then.
#pragma once

#include "stress.h"

namespace ssdtlm {

inline SsdConfig byte_device() {
    SsdConfig c = stress_device();
    c.name = "bytes";
    c.run.data = DataMode::bytes;
    return c;
}

inline SsdConfig failing_byte_device() {
    SsdConfig c = byte_device();
    c.name = "bytes on failing flash";
    c.nand.geometry.blocks_per_plane = 128;
    c.ftl.spare_blocks = 64;
    c.ftl.superblock = SuperblockSpan::plane;
    c.faults.program_fails = 2e-5;
    c.faults.read_once = 1e-3;
    c.faults.page_lost = 1e-5;
    fill_up(c);
    return c;
}

inline RandomMix::Spec mixed(std::uint64_t requests) {
    RandomMix::Spec m;
    m.whole = 40;  // 60 % in blocks of 512 B
    m.requests = requests;
    return m;
}

}  // namespace ssdtlm
