// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/admin/admin_list.h"

namespace ssdtlm {

extern const AdminKind kDeleteSqKind, kCreateSqKind, kGetLogPageKind, kDeleteCqKind, kCreateCqKind, kIdentifyKind,
    kAbortKind, kSetFeaturesKind, kGetFeaturesKind, kAsyncEventKind, kNamespaceManagementKind, kSelfTestKind,
    kNamespaceAttachmentKind, kKeepAliveKind, kDirectiveSendKind, kDirectiveReceiveKind, kDoorbellBufferKind,
    kFormatKind, kSanitizeKind;

const std::vector<const AdminKind*>& admin_kinds() {
    static const std::vector<const AdminKind*> all{&kDeleteSqKind,
                                                   &kCreateSqKind,
                                                   &kGetLogPageKind,
                                                   &kDeleteCqKind,
                                                   &kCreateCqKind,
                                                   &kIdentifyKind,
                                                   &kAbortKind,
                                                   &kSetFeaturesKind,
                                                   &kGetFeaturesKind,
                                                   &kAsyncEventKind,
                                                   &kNamespaceManagementKind,
                                                   &kSelfTestKind,
                                                   &kNamespaceAttachmentKind,
                                                   &kKeepAliveKind,
                                                   &kDirectiveSendKind,
                                                   &kDirectiveReceiveKind,
                                                   &kDoorbellBufferKind,
                                                   &kFormatKind,
                                                   &kSanitizeKind};
    return all;
}

const AdminKind* find_admin(std::uint8_t opcode, const NvmeConfig& config, const DriveFacts& device) {
    for (const AdminKind* const kind : admin_kinds())
        if (kind->opcode == opcode && (kind->offered == nullptr || kind->offered(config, device))) return kind;
    return nullptr;
}

std::uint16_t admin_oacs(const NvmeConfig& config, const DriveFacts& device) {
    unsigned oacs = 0;
    for (const AdminKind* const kind : admin_kinds())
        if (kind->offered == nullptr || kind->offered(config, device)) oacs |= kind->oacs;
    return static_cast<std::uint16_t>(oacs);
}

}  // namespace ssdtlm
