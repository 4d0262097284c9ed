// SPDX-License-Identifier: Apache-2.0
// Alibaba block traces of 2020: device_id,opcode,offset,length,timestamp; R or W, bytes, Unix time in us. One file mixes
// up to a thousand devices, each an address space of its own; choose one with the volume filter.
#include "host_pcie/workload/trace_format.h"

namespace ssdtlm {
namespace {

class AlibabaFormat final : public TraceFormat {
public:
    std::int64_t tick_ps() const override { return 1'000'000; }
    bool volumes_are_separate() const override { return true; }

    LineKind parse(std::string_view line, TraceLine& out, LineFault& fault) override {
        LineFields f(line, ',');
        if (f.at_end() || line.front() == '#') return LineKind::blank;
        std::uint64_t device;
        if (!f.number(device, "a device id (column 1 of 5)", fault))
            return same_word(f.field(), "device_id") ? LineKind::header : LineKind::broken;
        out.volume = f.field();
        std::string_view op;
        if (!f.text(op, "R or W (column 2 of 5)", fault)) return LineKind::broken;
        if (same_word(op, "R")) {
            out.op = HostOp::read;
        } else if (same_word(op, "W")) {
            out.op = HostOp::write;
        } else {
            return f.fail("expected R or W (column 2 of 5)", fault);
        }
        if (!f.scaled(out.offset, 1, "an offset in bytes (column 3 of 5)", fault)) return LineKind::broken;
        if (!f.scaled(out.bytes, 1, "a length in bytes (column 4 of 5)", fault)) return LineKind::broken;
        if (!f.number(out.ticks, "a time in us (column 5 of 5)", fault)) return LineKind::broken;
        if (f.next()) return f.fail("expected the end of the line after 5 columns", fault);
        return LineKind::record;
    }
};

}  // namespace

std::unique_ptr<TraceFormat> make_alibaba_format(const TraceFormatOptions&) {
    return std::make_unique<AlibabaFormat>();
}

}  // namespace ssdtlm
