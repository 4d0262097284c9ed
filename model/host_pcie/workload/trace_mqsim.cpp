// SPDX-License-Identifier: Apache-2.0
// MQSim's ASCII traces: time in ns, device, first 512-byte sector, sectors, type, separated by blanks; type 0 is a WRITE
// and 1 a READ. As in MQSim the device column selects no address space of its own, only the stream.
#include "host_pcie/workload/trace_format.h"

namespace ssdtlm {
namespace {

class MqsimFormat final : public TraceFormat {
public:
    std::int64_t tick_ps() const override { return 1'000; }
    bool volumes_are_separate() const override { return false; }

    LineKind parse(std::string_view line, TraceLine& out, LineFault& fault) override {
        LineFields f(line, ' ');
        if (f.at_end() || line.front() == '#') return LineKind::blank;
        std::uint64_t device, type;
        if (!f.number(out.ticks, "a time in ns (column 1 of 5)", fault)) return LineKind::broken;
        if (!f.number(device, "a device number (column 2 of 5)", fault)) return LineKind::broken;
        out.volume = f.field();
        if (!f.scaled(out.offset, 512, "a first sector (column 3 of 5)", fault)) return LineKind::broken;
        if (!f.scaled(out.bytes, 512, "a number of sectors (column 4 of 5)", fault)) return LineKind::broken;
        if (!f.number(type, "0 (write) or 1 (read) (column 5 of 5)", fault)) return LineKind::broken;
        if (type > 1) return f.fail("expected 0 (write) or 1 (read) (column 5 of 5)", fault);
        out.op = type == 0 ? HostOp::write : HostOp::read;
        if (f.next()) return f.fail("expected the end of the line after 5 columns", fault);
        return LineKind::record;
    }
};

}  // namespace

std::unique_ptr<TraceFormat> make_mqsim_format(const TraceFormatOptions&) { return std::make_unique<MqsimFormat>(); }

}  // namespace ssdtlm
