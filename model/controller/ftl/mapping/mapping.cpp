// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/mapping/mapping.h"

#include "controller/ftl/mapping/block_placement.h"
#include "controller/ports/map_port.h"

namespace ssdtlm {

std::unique_ptr<BlockPlacement> Mapping::place(const PlacementSetup&) const {
    return nullptr;
}

std::unique_ptr<MapPort> Mapping::ask(MapPort&, const MapPeers&) const {
    return nullptr;
}

}  // namespace ssdtlm
