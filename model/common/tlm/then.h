// SPDX-License-Identifier: Apache-2.0
// A callback. A caller that starts something that takes time passes a Then: a method, its object, and an argument.
// Agenda, cores, DRAM, DMA, map and flash all take a Then, and call it once.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ssdtlm {

/// It is trivially copyable. The object must live until the call. `Told`: types of further arguments, which the code
/// that calls it passes.
template <class Returned, class... Told>
struct ThenOf {
    using Function = Returned (*)(void* self, std::uint64_t argument, Told... told);

    Function function = nullptr;  ///< null: there is nothing to call
    void* self = nullptr;
    std::uint64_t argument = 0;

    /// Then::to<&Link::deliver>(this) makes a Then that calls this->deliver().
    template <auto Method, class Self>
    static ThenOf to(Self* self) {
        return {[](void* s, std::uint64_t, Told... told) { return (static_cast<Self*>(s)->*Method)(told...); }, self,
                0};
    }
    /// Then::to<&Link::deliver>(this, 3) makes a Then that calls this->deliver(3). If the method's first parameter is a
    /// reference, the argument is an object that must live until the call as well.
    template <auto Method, class Self, class Argument>
    static ThenOf to(Self* self, Argument&& argument) {
        using First = typename FirstOf<decltype(Method)>::Type;
        if constexpr (std::is_reference_v<First>) {
            static_assert(std::is_lvalue_reference_v<Argument&&>, "an object that is gone when its turn comes");
            First object = argument;
            return {[](void* s, std::uint64_t a, Told... told) {
                        return (static_cast<Self*>(s)->*Method)(
                            *reinterpret_cast<std::remove_reference_t<First>*>(static_cast<std::uintptr_t>(a)),
                            told...);
                    },
                    self, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&object))};
        } else {
            return {[](void* s, std::uint64_t a, Told... told) {
                        return (static_cast<Self*>(s)->*Method)(static_cast<First>(a), told...);
                    },
                    self, static_cast<std::uint64_t>(argument)};
        }
    }

    explicit operator bool() const { return function != nullptr; }
    Returned operator()(Told... told) const { return function(self, argument, told...); }

private:
    template <class Method>
    struct FirstOf;
    template <class R, class C, class First, class... Rest>
    struct FirstOf<R (C::*)(First, Rest...)> {
        using Type = First;
    };
};

using Then = ThenOf<void>;

}  // namespace ssdtlm
