// SPDX-License-Identifier: Apache-2.0
// An array that starts with zeros and takes memory only where it was written. Its size is fixed. It lies on huge pages
// if the kernel offers them, either from the start or later. On small pages TLB misses dominate the random accesses of
// a mapping table. But on huge pages a single write into each of many pages takes hundreds of megabytes.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "common/report/error.h"

namespace ssdtlm {

template <class T>
class ZeroedArray {
    static_assert(std::is_trivial_v<T>);

public:
    enum class Pages : std::uint8_t { small, huge };
    static constexpr std::size_t kHugePage = std::size_t{1} << 21;

    ZeroedArray(std::size_t size, const char* what, Pages pages = Pages::huge)
        : bytes_((size * sizeof(T) / kHugePage + 2) * kHugePage) {  // room for whole huge pages at any address
        mapped_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped_ == MAP_FAILED)
            throw UserError(Problem{what, std::to_string(bytes_ >> 20) + " MiB of memory are not available", "",
                                    "use a smaller device or a larger mapping unit"});
        const auto at = reinterpret_cast<std::uintptr_t>(mapped_);
        const std::size_t before = (kHugePage - at % kHugePage) % kHugePage;
        data_ = reinterpret_cast<T*>(static_cast<char*>(mapped_) + before);
        if (pages == Pages::huge) allow_huge();
    }
    ~ZeroedArray() { ::munmap(mapped_, bytes_); }
    ZeroedArray(const ZeroedArray&) = delete;
    ZeroedArray& operator=(const ZeroedArray&) = delete;

    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    /// Lets the kernel use huge pages for parts that are first written after this call.
    void allow_huge() { advise(mapped_, bytes_, kHuge); }
    /// Moves the kHugePage bytes around element `i` to a huge page. They keep their contents.
    void make_huge(std::size_t i) {
        void* const page = data_ + i / kPerHugePage * kPerHugePage;
        // An older kernel cannot do it at once. It does it in the background if huge pages are allowed.
        if (!advise(page, kHugePage, kCollapse)) advise(page, kHugePage, kHuge);
    }
    // This function and its callers are always inlined. gcc 12 takes a function that only prefetches for one without
    // effect, and drops calls to it.
    [[gnu::always_inline]] void prefetch(std::size_t i) const { __builtin_prefetch(data_ + i, 1); }

private:
    static constexpr std::size_t kPerHugePage = kHugePage / sizeof(T);
#if defined(MADV_HUGEPAGE) && defined(MADV_COLLAPSE)
    static constexpr int kHuge = MADV_HUGEPAGE, kCollapse = MADV_COLLAPSE;
#else
    static constexpr int kHuge = 14, kCollapse = 25;  // Linux, asm-generic/mman-common.h; other systems refuse them
#endif
    /// Returns false if the kernel does not know this advice or cannot follow it. This costs speed only.
    static bool advise(void* p, std::size_t bytes, int what) {
        return ::madvise(p, bytes, what) == 0;
    }

    std::size_t bytes_;
    void* mapped_ = nullptr;
    T* data_ = nullptr;
};

}  // namespace ssdtlm
