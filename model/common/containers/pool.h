// SPDX-License-Identifier: Apache-2.0
// Objects that come and go. The pool allocates only when more objects are in use than ever before. Their addresses are
// stable. A handle names one use of an object, so a stale handle is found. The object that was released last is
// acquired first, so that few objects stay in the cache, and equal runs use equal objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/report/error.h"

namespace ssdtlm {

/// Names one use of an object, from Pool::acquire() to Pool::release(). Its number can be the argument of an agenda
/// entry or a cookie. Bit 63 of the number is 0, so that its carrier may use this bit.
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

/// T must have a default constructor. An object keeps its contents while it is free.
template <class T>
class Pool {
public:
    Pool() = default;
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// Returns an object with the contents that its last user left, or a new T().
    T& acquire() {
        return acquire([](T&) {});
    }
    /// Returns an object as acquire() does. If it is new, made(object) is called first.
    template <class Made>
    T& acquire(Made made) {
        if (__builtin_expect(free_ == nullptr, 0)) made(grow());
        Slot& s = *free_;
        free_ = s.next;
        ++s.uses;
        ++in_use_;
        return s.object;
    }
    /// Gives an object back, and makes all handles to it stale. Panics when it is not in use.
    void release(T& object) {
        Slot& s = slot_of(object);
        if (__builtin_expect(!s.is_used(), 0)) refuse("object given back twice");
        ++s.uses;
        s.next = free_;
        free_ = &s;
        --in_use_;
    }
    /// Releases every object in use.
    void release_all() {
        for (std::uint32_t i = 0; i < size_; ++i)
            if (slot(i).is_used()) release(slot(i).object);
    }
    /// Returns the handle of an object. If the object is not in use, the handle is stale.
    static Handle<T> handle_of(const T& object) { return Handle<T>::of(slot_of(object).key()); }
    /// The index of the object among all objects of the pool, in the order in which they were made.
    static std::uint32_t index_of(const T& object) { return slot_of(object).index; }

    /// Returns the object of a handle. Panics when the handle is stale.
    T& at(Handle<T> handle) {
        T* const object = find(handle);
        if (__builtin_expect(object == nullptr, 0)) refuse("stale handle");
        return *object;
    }
    T& at(std::uint64_t number) { return at(Handle<T>::of(number)); }
    /// Returns the object of a handle, or null if the handle is stale or not of this pool.
    T* find(Handle<T> handle) {
        const auto index = static_cast<std::uint32_t>(handle.number());
        if (__builtin_expect(index >= size_, 0)) return nullptr;
        Slot& s = slot(index);
        return s.key() == handle.number() && s.is_used() ? &s.object : nullptr;
    }

    std::size_t in_use() const { return in_use_; }
    /// Number of objects that were made so far.
    std::size_t size() const { return size_; }
    /// Calls f(object) for each object in use, in the order of their indices. It looks at all objects, so it is for
    /// checks and reports.
    template <class F>
    void for_each(F f) const {
        for (std::uint32_t i = 0; i < size_; ++i) {
            const Slot& s = slot(i);
            if (s.is_used()) f(s.object);
        }
    }

private:
    static constexpr std::uint32_t kChunkShift = 5;
    static constexpr std::uint32_t kChunk = 1u << kChunkShift;

    struct Slot {
        T object;  // first, so that its address is the slot's
        std::uint32_t index = 0;
        std::uint32_t uses = 0;  // counts acquire() and release(): odd while in use
        Slot* next = nullptr;

        bool is_used() const { return (uses & 1) != 0; }
        std::uint64_t key() const { return std::uint64_t{uses & 0x7FFF'FFFFu} << 32 | index; }
    };
    static Slot& slot_of(T& object) { return *reinterpret_cast<Slot*>(&object); }
    static const Slot& slot_of(const T& object) { return *reinterpret_cast<const Slot*>(&object); }
    Slot& slot(std::uint32_t index) const { return chunks_[index >> kChunkShift][index & (kChunk - 1)]; }
    __attribute__((noinline, cold)) T& grow() {
        if (size_ % kChunk == 0) chunks_.push_back(std::make_unique<Slot[]>(kChunk));
        Slot& s = slot(size_);
        SSDTLM_CHECK(static_cast<void*>(&s.object) == static_cast<void*>(&s), "a slot does not begin with its object");
        s.index = size_++;
        free_ = &s;
        return s.object;
    }
    [[noreturn]] __attribute__((noinline, cold)) static void refuse(const char* what) { panic("Pool", what); }

    std::vector<std::unique_ptr<Slot[]>> chunks_;
    Slot* free_ = nullptr;
    std::uint32_t size_ = 0;
    std::size_t in_use_ = 0;
};

}  // namespace ssdtlm
