// SPDX-License-Identifier: Apache-2.0
#include "host_sata/driver/ahci_memory.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

using namespace ahci;

AhciMemory::AhciMemory(HostMemory& memory, std::uint32_t page_bytes, std::uint32_t most_bytes)
    : memory_(memory),
      page_bytes_(page_bytes),
      most_entries_(static_cast<std::uint32_t>(div_ceil(most_bytes, page_bytes)) + 1),
      list_(memory.allocate(kListBytes, kListAlignment)),
      received_(memory.allocate(ReceivedFis::kBytes, ReceivedFis::kBytes)) {}

void AhciMemory::fill(std::uint32_t slot, const sata::RegisterH2d& command, std::uint64_t data, std::uint32_t bytes,
                      bool to_device) {
    std::uint64_t& table = tables_[slot];
    if (table == 0) table = memory_.allocate(kTableBytes + std::uint64_t{most_entries_} * kPrdBytes, kTableAlignment);
    const auto fis = command.bytes();
    memory_.write(table, fis.data(), fis.size());
    std::uint32_t entries = 0;
    for (std::uint32_t done = 0; done < bytes; ++entries) {
        SSDTLM_CHECK(entries < most_entries_, "a command with more data than its table has entries for");
        const std::uint64_t at = data + done;
        const auto n =
            std::min<std::uint32_t>(bytes - done, page_bytes_ - static_cast<std::uint32_t>(at % page_bytes_));
        const std::uint64_t entry = table + kTableBytes + std::uint64_t{entries} * kPrdBytes;
        memory_.store<std::uint64_t>(entry, at);
        memory_.store<std::uint32_t>(entry + Prd::kCount, n - 1);
        done += n;
    }
    const std::uint64_t header = list_ + std::uint64_t{slot} * kHeaderBytes;
    memory_.store<std::uint32_t>(header, entries << Header::kPrdtlShift | (to_device ? Header::kWrite : 0u) |
                                             static_cast<std::uint32_t>(fis.size() / 4));
    memory_.store<std::uint32_t>(header + Header::kPrdbc, 0);
    memory_.store<std::uint64_t>(header + Header::kCtba, table);
}

}  // namespace ssdtlm
