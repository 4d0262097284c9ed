// SPDX-License-Identifier: Apache-2.0
// Set Features and Get Features (NVMe 1.4 §5.13, §5.21). The timestamp is transferred as data; all other features are a
// double word.
#include "controller/nvme/admin/admin_list.h"

namespace ssdtlm {

using namespace nvme;

namespace {

bool is_timestamp(const Sqe& sqe) {
    return static_cast<std::uint8_t>(sqe.cdw10) == kFeatTimestamp;
}

std::uint32_t set_bytes(const AdminContext&, const Sqe& sqe) {
    return is_timestamp(sqe) ? Timestamp::kBytes : 0;
}

AdminResult set_features(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>& data) {
    AdminResult r;
    r.status = c.features.set(sqe, c.queues.any_io_queue(), r.dw0);
    if (r.status != kStSuccess || !is_timestamp(sqe)) return r;
    std::vector<std::uint8_t> event(16);
    store(event.data(), c.memory.clock.field(c.now));
    store(event.data() + 8, static_cast<std::uint64_t>(c.now.time_since_epoch() / 1ms));
    c.memory.clock.set(load<std::uint64_t>(data.data()), c.now);
    c.record(PersistentEvents::timestamp_change, std::move(event));
    return r;
}

AdminResult get_features(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>& data) {
    AdminResult r;
    r.status = c.features.get(sqe, r.dw0);
    if (r.status != kStSuccess || !is_timestamp(sqe) || NvmeFeatures::asks_capabilities(sqe)) return r;
    data.assign(Timestamp::kBytes, 0);
    if (NvmeFeatures::asks_current(sqe)) store(data.data(), c.memory.clock.field(c.now));
    r.then = AdminResult::Then::send_data;
    return r;
}

}  // namespace

extern const AdminKind kSetFeaturesKind, kGetFeaturesKind;
const AdminKind kSetFeaturesKind = AdminKind(kAdminSetFeatures, "Set Features", set_features,
                                             {kStInvalidField, kStInvalidNamespace, kStSequenceError,
                                              kStFeatureNotSaveable, kStFeatureNotNamespace, kStInvalidPrpOffset})
                                       .takes(set_bytes)
                                       .also_in_sanitize();
const AdminKind kGetFeaturesKind = AdminKind(kAdminGetFeatures, "Get Features", get_features,
                                             {kStInvalidField, kStInvalidNamespace, kStInvalidPrpOffset})
                                       .also_in_sanitize();

}  // namespace ssdtlm
