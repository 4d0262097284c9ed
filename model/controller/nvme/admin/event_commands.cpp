// SPDX-License-Identifier: Apache-2.0
// Asynchronous Event Request, Abort and Keep Alive (NVMe 1.4 §5.2, §5.1, §5.17).
#include "controller/nvme/admin/admin_list.h"

namespace ssdtlm {

using namespace nvme;

namespace {

AdminResult hold_event_request(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>&) {
    if (!c.events.hold(sqe.cid)) return admin_status(kStAsyncEventLimit);
    AdminResult r;
    r.then = AdminResult::Then::hold;
    return r;
}

/// Aborts a command that has not begun: a held event request, or an I/O command that has not reached the firmware.
AdminResult abort_command(AdminContext& c, const Sqe& sqe, std::vector<std::uint8_t>&) {
    AdminResult r;
    r.qid = static_cast<std::uint16_t>(sqe.cdw10);
    r.aborted_cid = static_cast<std::uint16_t>(sqe.cdw10 >> 16);
    if (!c.queues.has_sq(r.qid)) return admin_status(kStInvalidField);
    r.dw0 = 1;  // not aborted
    if (r.qid != 0) {
        r.then = AdminResult::Then::abort_command;
    } else if (c.events.abort(r.aborted_cid)) {
        r.dw0 = 0;
        r.then = AdminResult::Then::abort_event;
    }
    return r;
}

/// Does nothing here: AdminQueue restarts the timer.
AdminResult keep_alive(AdminContext&, const Sqe&, std::vector<std::uint8_t>&) {
    return {};
}

}  // namespace

extern const AdminKind kAsyncEventKind, kAbortKind, kKeepAliveKind;
const AdminKind kAsyncEventKind =
    AdminKind(kAdminAsyncEvent, "Asynchronous Event Request", hold_event_request, {kStAsyncEventLimit})
        .also_in_sanitize();
const AdminKind kAbortKind = AdminKind(kAdminAbort, "Abort", abort_command, {kStInvalidField}).also_in_sanitize();
const AdminKind kKeepAliveKind = AdminKind(kAdminKeepAlive, "Keep Alive", keep_alive, {}).also_in_sanitize();

}  // namespace ssdtlm
