// SPDX-License-Identifier: Apache-2.0
#include "host_vfio/dma_regions.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace ssdtlm::vfio {

namespace {

constexpr std::uint64_t kPage = 4096;

bool cannot_shrink(int fd) {
    const int seals = ::fcntl(fd, F_GET_SEALS);
    return seals >= 0 && ((seals & F_SEAL_SHRINK) != 0 || ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
}

bool holds(int fd, std::uint64_t end) {
    struct stat about {};
    return ::fstat(fd, &about) == 0 && about.st_size >= 0 && static_cast<std::uint64_t>(about.st_size) >= end;
}

}  // namespace

DmaRegions::Region::Region(const DmaMap& map, Fd fd)
    : size(map.size), flags(map.flags), offset(map.offset), memory(std::move(fd)) {
    // The size is checked after the file is sealed, because it could shrink before that.
    if (!memory || !cannot_shrink(memory.get()) || !holds(memory.get(), offset + size)) return;
    const int access = PROT_READ | ((flags & kDmaWriteable) != 0 ? PROT_WRITE : 0);
    void* const at = ::mmap(nullptr, size, access, MAP_SHARED, memory.get(), static_cast<off_t>(offset));
    if (at != MAP_FAILED) mapped = static_cast<std::uint8_t*>(at);
}

DmaRegions::Region::Region(Region&& other) noexcept
    : size(other.size),
      flags(other.flags),
      offset(other.offset),
      memory(std::move(other.memory)),
      mapped(std::exchange(other.mapped, nullptr)) {}

DmaRegions::Region::~Region() {
    if (mapped != nullptr) ::munmap(mapped, size);
}

int DmaRegions::map(const DmaMap& what, Fd memory) {
    constexpr std::uint32_t kKnown = kDmaReadable | kDmaWriteable;
    if (what.argsz < sizeof what || (what.flags & ~kKnown) != 0 || what.size == 0 || what.size % kPage != 0 ||
        what.address % kPage != 0 || what.address + what.size - 1 < what.address)
        return EINVAL;
    if (memory) {
        constexpr std::uint64_t kMost = std::uint64_t{1} << 62;  // limit of a file's offset
        if (what.offset % kPage != 0 || what.offset > kMost || what.size > kMost) return EINVAL;
        if (!holds(memory.get(), what.offset + what.size)) return EINVAL;
    }
    if (regions_.size() >= kMostDmaMaps) return ENOSPC;
    const auto behind = regions_.lower_bound(what.address);
    if (behind != regions_.end() && behind->first - what.address < what.size) return EEXIST;
    if (behind != regions_.begin()) {
        const auto& [address, before] = *std::prev(behind);
        if (what.address - address < before.size) return EEXIST;
    }
    regions_.emplace_hint(behind, what.address, Region(what, std::move(memory)));
    return 0;
}

int DmaRegions::unmap(std::uint64_t address, std::uint64_t size) {
    const auto found = regions_.find(address);
    if (found == regions_.end() || found->second.size != size) return ENOENT;
    regions_.erase(found);
    return 0;
}

const DmaRegions::Region* DmaRegions::find(std::uint64_t address, std::uint64_t bytes, std::uint32_t flag,
                                           std::uint64_t& within) const {
    auto behind = regions_.upper_bound(address);
    if (behind == regions_.begin()) return nullptr;
    const auto& [begin, region] = *std::prev(behind);
    within = address - begin;
    return within < region.size && bytes <= region.size - within && (region.flags & flag) != 0 ? &region : nullptr;
}

DmaRegions::Where DmaRegions::read(std::uint64_t address, void* to, std::uint64_t bytes) const {
    std::uint64_t within = 0;
    const Region* const region = find(address, bytes, kDmaReadable, within);
    if (region == nullptr) return Where::nowhere;
    if (!region->memory) return Where::client;
    if (region->mapped != nullptr) {
        std::memcpy(to, region->mapped + within, bytes);
        return Where::here;
    }
    for (std::uint64_t done = 0; done < bytes;) {
        const ssize_t n = ::pread(region->memory.get(), static_cast<char*>(to) + done, bytes - done,
                                  static_cast<off_t>(region->offset + within + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return Where::nowhere;
        done += static_cast<std::uint64_t>(n);
    }
    return Where::here;
}

DmaRegions::Where DmaRegions::write(std::uint64_t address, const void* from, std::uint64_t bytes) {
    std::uint64_t within = 0;
    const Region* const region = find(address, bytes, kDmaWriteable, within);
    if (region == nullptr) return Where::nowhere;
    if (!region->memory) return Where::client;
    if (region->mapped != nullptr) {
        std::memcpy(region->mapped + within, from, bytes);
        return Where::here;
    }
    // Without this check, a write behind the end of a file that has shrunk would extend the file again.
    if (!holds(region->memory.get(), region->offset + within + bytes)) return Where::nowhere;
    for (std::uint64_t done = 0; done < bytes;) {
        const ssize_t n = ::pwrite(region->memory.get(), static_cast<const char*>(from) + done, bytes - done,
                                   static_cast<off_t>(region->offset + within + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return Where::nowhere;
        done += static_cast<std::uint64_t>(n);
    }
    return Where::here;
}

}  // namespace ssdtlm::vfio
