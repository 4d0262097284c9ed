// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/features.h"

#include <algorithm>

#include "controller/nvme/identify.h"

namespace ssdtlm {

using namespace nvme;

namespace {

enum Select : std::uint32_t { kCurrent = 0, kDefault = 1, kSaved = 2, kCapabilities = 3 };
constexpr std::uint32_t kCapChangeable = 1u << 2;
constexpr std::uint32_t kCapNamespaceSpecific = 1u << 1;
constexpr std::uint32_t kDulbe = 1u << 16;
constexpr std::uint32_t kCompositeTemperature = 0;
constexpr std::uint32_t kAllTemperatures = 0xF;

std::uint32_t threshold_sensor(const Sqe& sqe) {
    return sqe.cdw11 >> 16 & 0xF;
}
std::uint32_t threshold_kind(const Sqe& sqe) {
    return sqe.cdw11 >> 20 & 3;
}  // 0 over, 1 under temperature threshold

}  // namespace

NvmeFeatures::NvmeFeatures(const NvmeConfig& config, bool volatile_write_cache)
    : max_pairs_(config.max_queue_pairs), volatile_write_cache_(volatile_write_cache) {
    default_.arbitration = config.arbitration_burst & 7;
    default_.over_temperature = kWarningTemperature;
    default_.write_cache = volatile_write_cache ? 1 : 0;
    default_.queues = number_of_queues(max_pairs_);
    default_.coalescing = (config.interrupt_coalescing_threshold & 0xFF) | (config.interrupt_coalescing_time & 0xFF)
                                                                               << 8;
    default_.vector_cd.assign(max_pairs_ + 1, false);
    default_.error_recovery.assign(namespace_numbers(config), 0);
    current_ = default_;
}

void NvmeFeatures::reset() {
    current_ = default_;
}

bool NvmeFeatures::known(std::uint8_t fid, bool volatile_write_cache) {
    switch (fid) {
        case kFeatArbitration:
        case kFeatPowerManagement:
        case kFeatTemperatureThreshold:
        case kFeatErrorRecovery:
        case kFeatNumberOfQueues:
        case kFeatInterruptCoalescing:
        case kFeatInterruptVectorConfig:
        case kFeatWriteAtomicity:
        case kFeatAsyncEventConfig:
        case kFeatTimestamp:
        case kFeatKeepAliveTimer:
            return true;
        case kFeatVolatileWriteCache:
            return volatile_write_cache;  // "if a volatile write cache is not present": Invalid Field (§5.21.1.6)
        default:
            return false;
    }
}

std::uint16_t NvmeFeatures::set(const Sqe& sqe, bool io_queues_exist, std::uint32_t& dw0) {
    const auto fid = static_cast<std::uint8_t>(sqe.cdw10);
    const std::uint32_t value = sqe.cdw11;
    if (!known(fid, volatile_write_cache_)) return kStInvalidField;
    if ((sqe.cdw10 & kFeatureSave) != 0) return kStFeatureNotSaveable;
    const bool of_one = sqe.nsid != 0 && sqe.nsid != kNsidAll;
    if (of_one && sqe.nsid > current_.error_recovery.size()) return kStInvalidNamespace;
    if (of_one && fid != kFeatErrorRecovery) return kStFeatureNotNamespace;
    switch (fid) {
        case kFeatArbitration:
            current_.arbitration = value;
            break;
        case kFeatPowerManagement:
            if ((value & 0x1F) != 0) return kStInvalidField;  // NPSS is 0
            break;
        case kFeatTemperatureThreshold:
            if (threshold_sensor(sqe) != kCompositeTemperature && threshold_sensor(sqe) != kAllTemperatures)
                return kStInvalidField;
            if (threshold_kind(sqe) > 1) return kStInvalidField;
            (threshold_kind(sqe) == 0 ? current_.over_temperature : current_.under_temperature) =
                static_cast<std::uint16_t>(value);
            break;
        case kFeatErrorRecovery:
            if (sqe.nsid == 0) return kStInvalidNamespace;
            if ((value & kDulbe) != 0) return kStInvalidField;  // NSFEAT bit 2 is 0
            for (std::size_t i = 0; i < current_.error_recovery.size(); ++i)
                if (!of_one || sqe.nsid == i + 1) current_.error_recovery[i] = value & 0xFFFF;
            break;
        case kFeatVolatileWriteCache:
            current_.write_cache = value & 1;
            break;
        case kFeatNumberOfQueues: {
            const std::uint32_t sqs = value & 0xFFFF;
            const std::uint32_t cqs = value >> 16;
            if (sqs == 0xFFFF || cqs == 0xFFFF) return kStInvalidField;
            if (io_queues_exist) return kStSequenceError;
            current_.queues = std::min(sqs, max_pairs_ - 1) | std::min(cqs, max_pairs_ - 1) << 16;
            dw0 = current_.queues;
            break;
        }
        case kFeatInterruptCoalescing:
            current_.coalescing = value & 0xFFFF;
            break;
        case kFeatInterruptVectorConfig:
            if ((value & 0xFFFF) >= current_.vector_cd.size()) return kStInvalidField;
            current_.vector_cd[value & 0xFFFF] = (value >> 16 & 1) != 0;
            break;
        case kFeatWriteAtomicity:
            current_.write_atomicity = value & 1;
            break;
        case kFeatAsyncEventConfig:
            current_.async_events = value & (0xFF | IdCtrl::kOaesNamespaceAttributes);
            break;
        case kFeatKeepAliveTimer:
            current_.keep_alive = value;
            break;
        default:
            break;
    }
    return kStSuccess;
}

std::uint16_t NvmeFeatures::get(const Sqe& sqe, std::uint32_t& dw0) const {
    const auto fid = static_cast<std::uint8_t>(sqe.cdw10);
    if (!known(fid, volatile_write_cache_)) return kStInvalidField;
    if (fid == kFeatErrorRecovery && sqe.nsid != kNsidAll &&
        (sqe.nsid == 0 || sqe.nsid > current_.error_recovery.size()))
        return kStInvalidNamespace;
    switch (sqe.cdw10 >> 8 & 7) {
        case kCurrent:
            return read(current_, sqe, dw0);
        case kDefault:
        case kSaved:
            return read(default_, sqe, dw0);  // nothing is saveable: the saved value is the default
        case kCapabilities:
            dw0 = kCapChangeable | (fid == kFeatErrorRecovery ? kCapNamespaceSpecific : 0);
            return kStSuccess;
        default:
            return kStInvalidField;
    }
}

std::uint16_t NvmeFeatures::read(const Values& from, const Sqe& sqe, std::uint32_t& dw0) const {
    switch (static_cast<std::uint8_t>(sqe.cdw10)) {
        case kFeatArbitration:
            dw0 = from.arbitration;
            break;
        case kFeatPowerManagement:
            dw0 = 0;
            break;
        case kFeatTemperatureThreshold:
            if (threshold_sensor(sqe) != kCompositeTemperature || threshold_kind(sqe) > 1) return kStInvalidField;
            dw0 = threshold_kind(sqe) == 0 ? from.over_temperature : from.under_temperature;
            break;
        case kFeatErrorRecovery:
            dw0 = from.error_recovery[sqe.nsid == kNsidAll ? 0 : sqe.nsid - 1];
            break;
        case kFeatVolatileWriteCache:
            dw0 = from.write_cache;
            break;
        case kFeatNumberOfQueues:
            dw0 = from.queues;
            break;
        case kFeatInterruptCoalescing:
            dw0 = from.coalescing;
            break;
        case kFeatInterruptVectorConfig: {
            const std::uint32_t vector = sqe.cdw11 & 0xFFFF;
            if (vector >= from.vector_cd.size()) return kStInvalidField;
            dw0 = vector | (from.vector_cd[vector] ? 1u << 16 : 0);
            break;
        }
        case kFeatWriteAtomicity:
            dw0 = from.write_atomicity;
            break;
        case kFeatAsyncEventConfig:
            dw0 = from.async_events;
            break;
        case kFeatKeepAliveTimer:
            dw0 = from.keep_alive;
            break;
        default:
            break;
    }
    return kStSuccess;
}

}  // namespace ssdtlm
