// SPDX-License-Identifier: Apache-2.0
// Objects that come and go without allocation once their largest number has been reached, and handles that know
// whether the object they name is still the one they were made for. Addresses are stable; what was given back last goes
// out first, so that few objects stay warm and the same run takes the same ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/report/error.h"

namespace ssdtlm {

/// Names one use of an object, from Pool::acquire() to Pool::release(). As a number it travels as the argument of an
/// agenda entry or as a cookie; it has no bit 63, which is left to its carrier.
template <class T>
class Handle {
public:
    Handle() = default;  ///< names nothing
    static Handle of(std::uint64_t number) {
        Handle h;
        h.number_ = number;
        return h;
    }
    std::uint64_t number() const { return number_; }
    bool operator==(Handle other) const { return number_ == other.number_; }
    bool operator!=(Handle other) const { return number_ != other.number_; }

private:
    std::uint64_t number_ = 0;
};

/// T: a class that is not final, with a default constructor. An object keeps what it holds while it is free.
template <class T>
class Pool {
public:
    Pool() = default;
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// An object as its last user has left it, the first time as T() makes it.
    T& acquire() {
        if (__builtin_expect(free_ == nullptr, 0)) grow();
        Slot& s = *free_;
        free_ = s.next;
        s.key += kUse;
        ++in_use_;
        return s;
    }
    /// All handles to it become stale. Panics when it is not in use.
    void release(T& object) {
        Slot& s = static_cast<Slot&>(object);
        if (__builtin_expect((s.key & kUse) == 0, 0)) refuse("object given back twice");
        s.key = (s.key + kUse) & kKeyMask;
        s.next = free_;
        free_ = &s;
        --in_use_;
    }
    /// Precondition: in use, or the handle is stale from the start.
    static Handle<T> handle_of(const T& object) { return Handle<T>::of(static_cast<const Slot&>(object).key); }
    /// Where the object is among all; objects made later have higher indices.
    static std::uint32_t index_of(const T& object) { return static_cast<std::uint32_t>(static_cast<const Slot&>(object).key); }

    /// Panics when the handle is stale.
    T& at(Handle<T> handle) {
        T* const object = find(handle);
        if (__builtin_expect(object == nullptr, 0)) refuse("stale handle");
        return *object;
    }
    T& at(std::uint64_t number) { return at(Handle<T>::of(number)); }
    /// Null when the handle is stale, or none of this pool.
    T* find(Handle<T> handle) {
        const auto index = static_cast<std::uint32_t>(handle.number());
        if (__builtin_expect(index >= size_, 0)) return nullptr;
        Slot& s = slot(index);
        return s.key == handle.number() && (s.key & kUse) != 0 ? &s : nullptr;
    }

    std::size_t in_use() const { return in_use_; }
    /// Objects made so far.
    std::size_t size() const { return size_; }
    /// Calls f(object) for each object in use, in order of index. For checks and reports.
    template <class F>
    void for_each(F f) const {
        for (std::uint32_t i = 0; i < size_; ++i) {
            const Slot& s = slot(i);
            if ((s.key & kUse) != 0) f(static_cast<const T&>(s));
        }
    }

private:
    // Bits of a slot's key, which is its handle's number: index [31:0], in use [32], number of this use [62:33].
    static constexpr std::uint64_t kUse = std::uint64_t{1} << 32;
    static constexpr std::uint64_t kKeyMask = (std::uint64_t{1} << 63) - 1;
    static constexpr std::uint32_t kChunkShift = 5;
    static constexpr std::uint32_t kChunk = 1u << kChunkShift;

    struct Slot : T {
        std::uint64_t key = 0;
        Slot* next = nullptr;
    };
    Slot& slot(std::uint32_t index) const { return chunks_[index >> kChunkShift][index & (kChunk - 1)]; }
    __attribute__((noinline, cold)) void grow() {
        if (size_ % kChunk == 0) chunks_.push_back(std::make_unique<Slot[]>(kChunk));
        Slot& s = slot(size_);
        s.key = size_++;
        free_ = &s;
    }
    [[noreturn]] __attribute__((noinline, cold)) static void refuse(const char* what) { panic("Pool", what); }

    std::vector<std::unique_ptr<Slot[]>> chunks_;
    Slot* free_ = nullptr;
    std::uint32_t size_ = 0;
    std::size_t in_use_ = 0;
};

}  // namespace ssdtlm
