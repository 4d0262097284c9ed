// SPDX-License-Identifier: Apache-2.0
#include "controller/dram/serial_dram.h"

#include <memory>

#include "controller/dram/dram_models.h"

namespace ssdtlm {

SimTime SerialDram::begin(const DramPiece* pieces, std::uint32_t count, const Then&) {
    std::uint64_t bytes = 0;
    for (const DramPiece* const end = pieces + count; pieces != end; ++pieces)
        bytes += std::uint64_t{pieces->bytes} * pieces->passes;
    const Ps service = rate_.time_for(bytes);
    free_at_ = std::max(free_at_, agenda_.now()) + service;
    busy_ += service;
    bytes_ += bytes;
    return free_at_ + latency_;
}

namespace {
const DramModels::Registered kSerialDram{
    {"rate", "one port with a rate, first come first served", {}, [](const DramSetup& s, const PolicySettings&) {
         return std::make_unique<SerialDram>(s.agenda, s.config);
     }}};
}  // namespace

}  // namespace ssdtlm
