// SPDX-License-Identifier: Apache-2.0
#include "controller/sata/task_file.h"

#include "controller/sata/device_pages.h"

namespace ssdtlm {

using namespace ata;

namespace {

constexpr std::uint16_t kTrim = 1;

constexpr DecodedCommand refused(AtaEnd end) {
    return {AtaAction::refuse, end};
}
std::uint64_t lba28(const sata::RegisterH2d& r) {
    return (r.lba & 0xFF'FFFF) | std::uint64_t{r.device & 0x0Fu} << 24;
}
std::uint32_t count28(const sata::RegisterH2d& r) {
    const std::uint32_t n = r.count & 0xFF;
    return n == 0 ? kMostSectors28 : n;
}
std::uint32_t count48(std::uint16_t n) {
    return n == 0 ? kMostSectors : n;
}
/// Translates a priority. The link's priority field has three values, and that of a submission queue has four
/// (work_tag.h).
std::uint8_t urgency(std::uint8_t priority) {
    return priority == kPriorityHigh ? 0 : priority == kPriorityIsochronous ? 1 : 2;
}

}  // namespace

AtaEnd ata_end(CommandStatus status) {
    switch (status) {
        case CommandStatus::success:
            return {};
        case CommandStatus::unrecovered_read:
            return {kStatusError, kErrorUnc};
        case CommandStatus::write_fault:
            return {kStatusError | kStatusDf, kErrorAbrt};
        case CommandStatus::transfer_error:
            return kAtaInterface;
        case CommandStatus::not_possible:
        case CommandStatus::read_only:
        case CommandStatus::aborted:
            break;
    }
    return kAtaAborted;
}

bool is_queued_command(std::uint8_t opcode) {
    return opcode == kReadFpdmaQueued || opcode == kWriteFpdmaQueued;
}

DecodedCommand TaskFileDecoder::access(SataCommand& c, IoOp op, SataProtocolKind protocol, std::uint64_t lba,
                                       std::uint32_t sectors) const {
    if ((c.registers.device & kDeviceLba) == 0) return refused(kAtaAborted);
    c.op = op;
    c.protocol = protocol;
    c.slba = lba;
    c.blocks = sectors;
    c.bytes = std::uint64_t{sectors} * lba_bytes_;
    c.wanted = protocol == SataProtocolKind::no_data ? 0 : c.bytes;
    if (lba >= sectors_ || sectors > sectors_ - lba) return refused(kAtaNotFound);
    return {AtaAction::to_firmware, {}};
}

DecodedCommand TaskFileDecoder::queued(SataCommand& c) const {
    const sata::RegisterH2d& r = c.registers;
    const bool writes = r.command == kWriteFpdmaQueued;
    c.protocol = writes ? SataProtocolKind::queued_out : SataProtocolKind::queued_in;
    if (tag_of(r.count) >= queue_depth_) return refused(kAtaAborted);
    c.fua = (r.device & kDeviceFua) != 0;
    c.whose.priority = urgency(priority_of(r.count));
    return access(c, writes ? IoOp::write : IoOp::read, c.protocol, r.lba, count48(r.features));
}

DecodedCommand TaskFileDecoder::smart(SataCommand& c) const {
    const sata::RegisterH2d& r = c.registers;
    if ((r.lba >> 8 & 0xFFFF) != kSmartKey) return refused(kAtaAborted);
    switch (static_cast<std::uint8_t>(r.features)) {
        case kSmartReadData:
            c.protocol = SataProtocolKind::pio_in;
            return {AtaAction::smart_data, {}};
        case kSmartReturnStatus:
            return {AtaAction::smart_status, {}};
        case kSmartEnable:
        case kSmartDisable:
            return {AtaAction::smart_enable, {}};
        default:
            return refused(kAtaAborted);
    }
}

DecodedCommand TaskFileDecoder::decode(SataCommand& c) const {
    const sata::RegisterH2d& r = c.registers;
    c.whose.priority = urgency(kPriorityNormal);
    switch (r.command) {
        case kReadFpdmaQueued:
        case kWriteFpdmaQueued:
            return queued(c);
        case kReadDmaExt:
            return access(c, IoOp::read, SataProtocolKind::dma_in, r.lba, count48(r.count));
        case kReadDma:
            return access(c, IoOp::read, SataProtocolKind::dma_in, lba28(r), count28(r));
        case kReadVerifyExt:
            return access(c, IoOp::read, SataProtocolKind::no_data, r.lba, count48(r.count));
        case kReadVerify:
            return access(c, IoOp::read, SataProtocolKind::no_data, lba28(r), count28(r));
        case kWriteDmaFuaExt:
            c.fua = true;
            return access(c, IoOp::write, SataProtocolKind::dma_out, r.lba, count48(r.count));
        case kWriteDmaExt:
            return access(c, IoOp::write, SataProtocolKind::dma_out, r.lba, count48(r.count));
        case kWriteDma:
            return access(c, IoOp::write, SataProtocolKind::dma_out, lba28(r), count28(r));
        case kDataSetManagement:
            if ((r.features & kTrim) == 0 || r.count == 0 || r.count > SataFacts{}.most_trim_blocks)
                return refused(kAtaAborted);
            c.op = IoOp::deallocate;
            c.protocol = SataProtocolKind::dma_out;
            c.wanted = std::uint64_t{r.count} * kPageBytes;
            return {AtaAction::fetch_ranges, {}};
        case kFlushCache:
        case kFlushCacheExt:
        case kStandbyImmediate:
            c.op = IoOp::flush;
            c.ends_work = r.command == kStandbyImmediate;
            return {AtaAction::to_firmware, {}};
        case kIdentifyDevice:
            c.protocol = SataProtocolKind::pio_in;
            return {AtaAction::identify, {}};
        case kReadLogExt:
            c.protocol = SataProtocolKind::pio_in;
            return {AtaAction::read_log, {}};
        case kSmart:
            return smart(c);
        case kSetFeatures:
            return {AtaAction::set_features, {}};
        case kCheckPowerMode:
            return {AtaAction::power_mode, {}};
        default:
            return refused(kAtaAborted);
    }
}

AtaEnd TaskFileDecoder::parse_ranges(SataCommand& c) const {
    c.ranges.clear();
    for (std::size_t at = 0; at + kTrimEntryBytes <= c.wanted; at += kTrimEntryBytes) {
        std::uint64_t entry = 0;
        for (unsigned i = 0; i < kTrimEntryBytes; ++i) entry |= std::uint64_t{c.buffer[at + i]} << (8 * i);
        const std::uint64_t lba = entry & 0xFFFF'FFFF'FFFF;
        const auto sectors = static_cast<std::uint32_t>(entry >> 48);
        if (sectors == 0) continue;
        if (lba >= sectors_ || sectors > sectors_ - lba) return kAtaNotFound;
        c.ranges.push_back({lba, sectors});
    }
    return {};
}

}  // namespace ssdtlm
