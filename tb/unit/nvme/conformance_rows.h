// SPDX-License-Identifier: Apache-2.0
// Each command with each status that it can end with: what a host does to get it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "unit/nvme/memory_drive.h"

namespace ssdtlm::test {

/// A drive that offers all that there is: three namespaces, streams, doorbells in memory, metadata.
struct ConformanceHost : DriveBench {
    static NvmeConfig everything();
    ConformanceHost() : DriveBench(everything()) {
        enable();
        p = create_pair(1);
    }
    std::uint16_t admin_ends(const nvme::Sqe& s) { return run_admin(s).status(); }
    std::uint16_t ends(const nvme::Sqe& s) { return run(p, s).status(); }
    /// Puts in a command that takes long, and does not wait for it.
    void begin(Pair& pair, nvme::Sqe s) {
        drive.time = 1ms;
        s.cid = 3000;
        push(pair, s);
        ring(pair);
        agenda.run_until(agenda.now() + 20us);
    }
    void begin_format(std::uint32_t nsid) { begin(admin, admin_command(nvme::kAdminFormat, nsid)); }
    void begin_sanitize() {
        begin(admin, admin_command(nvme::kAdminSanitize, 0, 4));
        take_begun();
    }
    void take_begun() {
        take(admin);
        ring_head(admin);
    }
    void fail_sanitize() {
        drive.next = CommandStatus::read_only;
        run_admin(admin_command(nvme::kAdminSanitize, 0, 4));
    }
    Pair p;
};

struct ConformanceRow {
    bool io;
    std::uint8_t opcode;
    std::uint16_t status;
    const char* how;
    std::function<std::uint16_t(ConformanceHost&)> run;
};

std::vector<ConformanceRow> admin_rows();
std::vector<ConformanceRow> io_rows();

}  // namespace ssdtlm::test
