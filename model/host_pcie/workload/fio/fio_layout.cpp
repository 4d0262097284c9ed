// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_layout.h"

#include <algorithm>

#include "common/units/units.h"

namespace ssdtlm {
namespace {

constexpr std::uint64_t kFileSystemBlock = 4096;  // assumed: as ext4 and xfs have it

}  // namespace

std::size_t FioLayout::use(const std::string& name, std::uint64_t bytes, std::uint32_t job, Extend extend) {
    const auto [at, fresh] = by_name_.emplace(name, files_.size());
    if (fresh) files_.emplace_back();
    File& file = files_[at->second];
    file.bytes = std::max(file.bytes, bytes);
    if (bytes <= file.length || extend == Extend::nothing) return at->second;
    file.length = bytes;
    if (extend == Extend::allocate) file.allocated = bytes;
    if (extend == Extend::write_out) {  // fio begins the file anew
        file.filled = bytes;
        file.filler = job;
    }
    return at->second;
}

std::uint64_t FioLayout::place(std::uint64_t lba_bytes) {
    const std::uint64_t block = std::max(kFileSystemBlock, lba_bytes);
    std::uint64_t end = 0;
    for (File& file : files_) {
        file.offset = end;
        end += div_ceil(file.bytes, block) * block;
    }
    return end;
}

std::vector<FioFilePlace> FioLayout::places() const {
    std::vector<FioFilePlace> out;
    for (const File& f : files_) out.push_back({f.offset, f.bytes, f.allocated});
    return out;
}

std::vector<FioFill> FioLayout::fills() const {
    std::vector<FioFill> out;
    for (const File& f : files_)
        if (f.filled != 0) out.push_back({f.filler, f.offset, f.filled});
    return out;
}

}  // namespace ssdtlm
