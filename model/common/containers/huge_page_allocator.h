// SPDX-License-Identifier: Apache-2.0
// An allocator for vectors with random accesses. Blocks of at least a huge page lie on huge pages if the kernel offers
// them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace ssdtlm {

template <class T>
struct HugePageAllocator {
    using value_type = T;
    static constexpr std::size_t kHugePage = std::size_t{1} << 21;

    HugePageAllocator() = default;
    template <class U>
    HugePageAllocator(const HugePageAllocator<U>&) {}

    T* allocate(std::size_t n) {
        const std::size_t bytes = n * sizeof(T);
        if (bytes < kHugePage) return static_cast<T*>(::operator new(bytes));
        void* const p = ::operator new (bytes, std::align_val_t{kHugePage});
        ::madvise(p, bytes, kAdvice);  // a refusal costs speed only
        return static_cast<T*>(p);
    }
    void deallocate(T* p, std::size_t n) {
        if (n * sizeof(T) < kHugePage)
            ::operator delete(p);
        else
            ::operator delete (p, std::align_val_t{kHugePage});
    }
    friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }
    friend bool operator!=(const HugePageAllocator&, const HugePageAllocator&) { return false; }

private:
#if defined(MADV_HUGEPAGE)
    static constexpr int kAdvice = MADV_HUGEPAGE;
#else
    static constexpr int kAdvice = 14;  // Linux, asm-generic/mman-common.h
#endif
};

}  // namespace ssdtlm
