// SPDX-License-Identifier: Apache-2.0
// Device Self-test (NVMe 1.4 §5.10) starts or aborts a SelfTestJob. The drive runs one at a time.
#include "controller/nvme/admin/admin_list.h"
#include "controller/nvme/media/self_test_job.h"

namespace ssdtlm {

using namespace nvme;

void SelfTestJob::done() {
    SelfTestResult r;
    r.test = test_;
    r.outcome = outcome_;
    r.hours = c_.memory.former.power_on_hours(c_.media->now());
    if (outcome_ == SelfTestResult::failed_segment) {
        r.segment = kMediaSegment;
        const Namespaces& all = c_.memory.namespaces;
        for (std::uint32_t id = 1; id <= all.most(); ++id) {
            const Namespace* const n = all.allocated(id);
            if (n == nullptr || failed_ < n->first_block || failed_ >= n->end()) continue;
            r.nsid = id;
            r.lba = (failed_ - n->first_block) >> n->shift;
        }
    }
    c_.memory.self_tests.end(r);
    c_.self_test = nullptr;
}

namespace {

AdminResult self_test(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>&) {
    const auto code = static_cast<SelfTest>(sqe.cdw10 & 0xF);
    const Namespaces& all = c.memory.namespaces;
    if (code == SelfTest::abort) {
        if (c.self_test != nullptr) c.self_test->abort(SelfTestResult::aborted_by_command);
        return {};
    }
    if (code != SelfTest::short_test && code != SelfTest::extended) return admin_status(kStInvalidField);
    std::uint64_t first = 0, blocks = 0;  // NSID 0 tests the controller alone, without its flash
    if (sqe.nsid == kNsidAll) {
        blocks = c.device.drive_bytes / c.config.lba_bytes;
    } else if (sqe.nsid != 0) {
        if (!all.is_valid(sqe.nsid)) return admin_status(kStInvalidNamespace);
        const Namespace* const n = all.attached(sqe.nsid);
        if (n == nullptr) return admin_status(kStInvalidField);
        first = n->first_block;
        blocks = n->extent;
    }
    if (c.self_test != nullptr) return admin_status(kStSelfTestInProgress);
    auto job = std::make_unique<SelfTestJob>(c, code, first, blocks, c.config.lba_bytes);
    c.self_test = job.get();
    c.media->start(std::move(job));
    return {};
}

}  // namespace

extern const AdminKind kSelfTestKind;
const AdminKind kSelfTestKind = AdminKind(kAdminSelfTest, "Device Self-test", self_test,
                                          {kStInvalidField, kStInvalidNamespace, kStSelfTestInProgress})
                                    .identified_by(IdCtrl::kOacsSelfTest);

}  // namespace ssdtlm
