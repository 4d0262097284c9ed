// SPDX-License-Identifier: Apache-2.0
// The published formats that are tables. Sources: the README files of the traces (SNIA IOTTA 388 MSR Cambridge, 4964
// SYSTOR '17, 28568 and 27917 Tencent CBS, 390 FIU; github.com/alibaba/block-traces), SPC Trace File Format
// Specification 1.0.1, MQSim's README.
#include "host_pcie/workload/trace/trace_columns.h"

namespace ssdtlm {
namespace {

using Role = TraceColumn::Role;

constexpr std::int64_t kPsPerSecond = 1'000'000'000'000;
constexpr std::int64_t kSector = 512;  // bytes

constexpr const char* kTimeNames = "timestamp|time|ts";
constexpr const char* kOffsetNames = "offset";
constexpr const char* kSizeNames = "size|length";

TraceFormats formats(std::vector<TraceColumnLayout> layouts) {
    TraceFormats list;
    for (auto& l : layouts) list.push_back(std::make_unique<ColumnFormat>(std::move(l)));
    return list;
}

}  // namespace

/// The timestamp is a Windows FILETIME of the issue; each (host, disk) is an address space of its own. The response
/// time is checked for being a number but not used: the simulated device answers in its own time. Copies of the traces
/// leave out the response time or the host.
TraceFormats make_msr_formats(const TraceFormatOptions&) {
    TraceColumnLayout all;
    all.columns = {{Role::time, "a timestamp in units of 100 ns", kTimeNames, 100'000},
                   {Role::volume, "a host name", "hostname|host"},
                   {Role::volume, "a disk number", "disknumber|disknum|disk|disknr"},
                   {Role::op, "Read or Write", "type|op|operation"},
                   {Role::offset, "an offset in bytes", kOffsetNames},
                   {Role::bytes, "a size in bytes", kSizeNames},
                   {Role::number, "a response time in units of 100 ns", "responsetime|response|latency"}};
    all.op_words = {{"Read", HostOp::read}, {"Write", HostOp::write}};
    all.tick_ps = 100'000;
    TraceColumnLayout no_response = all;
    no_response.columns.pop_back();
    TraceColumnLayout no_host = all;
    no_host.columns.erase(no_host.columns.begin() + 1);
    return formats({all, no_response, no_host});
}

/// Times have nine digits behind the point, of which six are valid; a blank operation says that no response was traced.
TraceFormats make_systor_formats(const TraceFormatOptions&) {
    TraceColumnLayout l;
    l.columns = {{Role::time, "a time in s", kTimeNames, kPsPerSecond},
                 {Role::number, "a response time in s", "response|responsetime", 1, true},
                 {Role::op, "R, W or nothing", "iotype", 1, true},
                 {Role::volume, "a LUN", "lun", 1, false, true},
                 {Role::offset, "an offset in bytes", kOffsetNames},
                 {Role::bytes, "a size in bytes", kSizeNames}};
    l.op_words = {{"R", HostOp::read}, {"W", HostOp::write}};
    return formats({l});
}

/// Times are whole seconds, with up to tens of thousands of requests in one.
TraceFormats make_tencent_formats(const TraceFormatOptions&) {
    TraceColumnLayout l;
    l.columns = {{Role::time, "a time in whole seconds", kTimeNames, kPsPerSecond},
                 {Role::offset, "an offset in sectors", kOffsetNames, kSector},
                 {Role::bytes, "a size in sectors", kSizeNames, kSector},
                 {Role::op, "0 (read) or 1 (write)", "iotype"},
                 {Role::volume, "a volume", "volumeid|volume", 1, false, true}};
    l.op_words = {{"0", HostOp::read}, {"1", HostOp::write}};
    l.tick_ps = kPsPerSecond;
    return formats({l});
}

/// One file mixes up to a thousand devices, each an address space of its own; choose one with the volume filter.
TraceFormats make_alibaba_formats(const TraceFormatOptions&) {
    TraceColumnLayout l;
    l.columns = {{Role::volume, "a device id", "deviceid|device", 1, false, true},
                 {Role::op, "R or W", "opcode|op"},
                 {Role::offset, "an offset in bytes", kOffsetNames},
                 {Role::bytes, "a length in bytes", kSizeNames},
                 {Role::time, "a time in us", kTimeNames, 1'000'000}};
    l.op_words = {{"R", HostOp::read}, {"W", HostOp::write}};
    l.tick_ps = 1'000'000;
    return formats({l});
}

/// A block of an ASU has 512 bytes in the published traces (the specification leaves it to each trace's description).
TraceFormats make_spc_formats(const TraceFormatOptions&) {
    TraceColumnLayout l;
    l.columns = {{Role::volume, "an ASU number", "asu", 1, false, true},
                 {Role::offset, "a first block of 512 bytes", "lba", kSector},
                 {Role::bytes, "a size in bytes", kSizeNames},
                 {Role::op, "R or W", "opcode|op"},
                 {Role::time, "a time in s", kTimeNames, kPsPerSecond}};
    l.op_words = {{"R", HostOp::read}, {"W", HostOp::write}};
    l.more_columns = true;
    return formats({l});
}

/// One digest follows per 4 KiB or, in the traces of home directories, per 512 bytes. It is not used.
TraceFormats make_fiu_formats(const TraceFormatOptions&) {
    TraceColumnLayout l;
    l.separator = ' ';
    l.columns = {{Role::time, "a time in ns", "", 1'000},
                 {Role::number, "a process id"},
                 {Role::text, "a process name"},
                 {Role::offset, "a first sector", "", kSector},
                 {Role::bytes, "a number of sectors", "", kSector},
                 {Role::op, "W or R"},
                 {Role::volume, "a major device number", "", 1, false, true},
                 {Role::volume, "a minor device number", "", 1, false, true}};
    l.op_words = {{"W", HostOp::write}, {"R", HostOp::read}, {"Write", HostOp::write}, {"Read", HostOp::read}};
    l.more_columns = true;
    return formats({l});
}

/// As in MQSim the device column selects no address space of its own, only the stream.
TraceFormats make_mqsim_formats(const TraceFormatOptions&) {
    TraceColumnLayout l;
    l.separator = ' ';
    l.columns = {{Role::time, "a time in ns", "", 1'000},
                 {Role::volume, "a device number", "", 1, false, true},
                 {Role::offset, "a first sector", "", kSector},
                 {Role::bytes, "a number of sectors", "", kSector},
                 {Role::op, "0 (write) or 1 (read)"}};
    l.op_words = {{"0", HostOp::write}, {"1", HostOp::read}};
    l.volumes_are_separate = false;
    return formats({l});
}

}  // namespace ssdtlm
