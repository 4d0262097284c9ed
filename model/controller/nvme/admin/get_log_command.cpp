// SPDX-License-Identifier: Apache-2.0
// Get Log Page (NVMe 1.4 §5.14). It returns a part of a page, and acknowledges the event that named the page.
#include <algorithm>

#include "controller/nvme/admin/admin_list.h"
#include "controller/nvme/logs/log_list.h"

namespace ssdtlm {

using namespace nvme;

namespace {

AdminResult get_log(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>& data) {
    const auto lid = static_cast<std::uint8_t>(sqe.cdw10);
    const bool retain_event = (sqe.cdw10 >> 15 & 1) != 0;
    const std::uint64_t bytes = ((std::uint64_t{sqe.cdw11 & 0xFFFF} << 16 | sqe.cdw10 >> 16) + 1) * 4;
    const std::uint64_t offset = std::uint64_t{sqe.cdw13} << 32 | sqe.cdw12;
    const LogKind* const kind = find_log(lid);
    if (kind == nullptr) return admin_status(kStInvalidLogPage);
    // Without MDTS a length beyond any log page is still refused, so that a bad NUMD cannot ask for 16 GiB of zeros.
    constexpr std::uint64_t kLongest = 1u << 20;
    if (bytes > (c.config.max_transfer_bytes != 0 ? c.config.max_transfer_bytes : kLongest) || offset % 4 != 0)
        return admin_status(kStInvalidField);
    std::vector<std::uint8_t> page;
    if (const std::uint16_t status = kind->write(c, sqe, page); status != kStSuccess) return admin_status(status);
    if (offset > page.size()) return admin_status(kStInvalidField);
    // Bytes beyond the end of the page read as zeros.
    data.assign(bytes, 0);
    const std::size_t copied = std::min<std::size_t>(data.size(), page.size() - offset);
    std::copy_n(page.begin() + static_cast<std::ptrdiff_t>(offset), copied, data.begin());
    if (!retain_event) {
        c.events.log_read(lid);
        if (kind->was_read != nullptr) kind->was_read(c);
    }
    return admin_data(kStSuccess);
}

}  // namespace

extern const AdminKind kGetLogPageKind;
const AdminKind kGetLogPageKind = AdminKind(kAdminGetLogPage, "Get Log Page", get_log,
                                            {kStInvalidField, kStInvalidLogPage, kStSequenceError, kStInvalidPrpOffset})
                                      .also_in_sanitize();

}  // namespace ssdtlm
