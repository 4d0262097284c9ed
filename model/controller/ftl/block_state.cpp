// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/block_state.h"

namespace ssdtlm {

const char* name_of(BlockState state) {
    switch (state) {
        case BlockState::free:
            return "free";
        case BlockState::open_host:
            return "open for host pages";
        case BlockState::open_gc:
            return "open for GC pages";
        case BlockState::open_cold:
            return "open for cold data";
        case BlockState::open_map:
            return "open for translation pages";
        case BlockState::full:
            return "full";
        case BlockState::sealed:
            return "sealed";
        case BlockState::victim:
            return "victim";
        case BlockState::failed:
            return "closed after a failed program";
        case BlockState::retired:
            return "retired";
        case BlockState::spare:
            return "spare";
        case BlockState::set_apart:
            return "set apart for checkpoints";
        case BlockState::own_free:
            return "free in a partition of its own";
        case BlockState::own_open:
            return "open in a partition of its own";
        case BlockState::own_sealed:
            return "full in a partition of its own";
        case BlockState::placed:
            return "data or log block";
    }
    return "?";
}

}  // namespace ssdtlm
