// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/io/io_list.h"

namespace ssdtlm {

extern const IoKind kFlushKind, kWriteKind, kReadKind, kWriteUncorrectableKind, kCompareKind, kWriteZeroesKind,
    kDatasetManagementKind, kVerifyKind, kCopyKind;

const std::vector<const IoKind*>& io_kinds() {
    static const std::vector<const IoKind*> all{&kFlushKind,
                                                &kWriteKind,
                                                &kReadKind,
                                                &kWriteUncorrectableKind,
                                                &kCompareKind,
                                                &kWriteZeroesKind,
                                                &kDatasetManagementKind,
                                                &kVerifyKind,
                                                &kCopyKind};
    return all;
}

const IoKind* find_io(std::uint8_t opcode) {
    static const std::array<const IoKind*, 256> by_opcode = [] {
        std::array<const IoKind*, 256> table{};
        for (const IoKind* const kind : io_kinds()) table[kind->opcode] = kind;
        return table;
    }();
    return by_opcode[opcode];
}

std::uint16_t io_oncs() {
    unsigned oncs = 0;
    for (const IoKind* const kind : io_kinds()) oncs |= kind->oncs;
    return static_cast<std::uint16_t>(oncs);
}

}  // namespace ssdtlm
