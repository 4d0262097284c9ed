// SPDX-License-Identifier: Apache-2.0
// MSR Cambridge traces (SNIA IOTTA 388): Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime. The timestamp is a
// Windows FILETIME (100 ns since 1601) of the issue; each (host, disk) is an address space of its own. The response time
// is checked for being a number but not used: the simulated device answers in its own time.
#include "host_pcie/workload/trace_format.h"

namespace ssdtlm {
namespace {

class MsrFormat final : public TraceFormat {
public:
    std::int64_t tick_ps() const override { return 100'000; }
    bool volumes_are_separate() const override { return true; }

    LineKind parse(std::string_view line, TraceLine& out, LineFault& fault) override {
        LineFields f(line, ',');
        if (f.at_end() || line.front() == '#') return LineKind::blank;
        if (!f.number(out.ticks, "a timestamp in units of 100 ns (column 1 of 7)", fault))
            return same_word(f.field(), "Timestamp") ? LineKind::header : LineKind::broken;
        std::string_view host, disk, type;
        if (!f.text(host, "a host name (column 2 of 7)", fault)) return LineKind::broken;
        if (!f.text(disk, "a disk number (column 3 of 7)", fault)) return LineKind::broken;
        // "host,disk" as it stands in the line names the volume.
        out.volume = std::string_view(host.data(), static_cast<std::size_t>(disk.data() + disk.size() - host.data()));
        if (!f.text(type, "Read or Write (column 4 of 7)", fault)) return LineKind::broken;
        if (same_word(type, "Read")) {
            out.op = HostOp::read;
        } else if (same_word(type, "Write")) {
            out.op = HostOp::write;
        } else {
            return f.fail("expected Read or Write (column 4 of 7)", fault);
        }
        std::uint64_t response;
        if (!f.scaled(out.offset, 1, "an offset in bytes (column 5 of 7)", fault)) return LineKind::broken;
        if (!f.scaled(out.bytes, 1, "a size in bytes (column 6 of 7)", fault)) return LineKind::broken;
        if (!f.number(response, "a response time in units of 100 ns (column 7 of 7)", fault)) return LineKind::broken;
        if (f.next()) return f.fail("expected the end of the line after 7 columns", fault);
        return LineKind::record;
    }
};

}  // namespace

std::unique_ptr<TraceFormat> make_msr_format(const TraceFormatOptions&) { return std::make_unique<MsrFormat>(); }

}  // namespace ssdtlm
