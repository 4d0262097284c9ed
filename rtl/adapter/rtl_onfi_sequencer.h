// SPDX-License-Identifier: Apache-2.0
// The Verilated rtl/onfi/onfi_sequencer.sv behind BusSequencer, with its surroundings on a channel: the PHY that
// serializes strobes and data, and a die that answers RE# with DQS and DQ and pulls R/B# low.
//
// The clock is gated between sequences and restarts at the grant, so that a sequence begins at the time of the timing
// model. Each clock's first instant is begin + n clocks, rounded up to a picosecond once. Not modelled: the PHY's own
// latency.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "adapter/onfi_sequencer_clocks.h"
#include "nand/onfi/nand_config.h"
#include "nand/pins/bus_sequencer.h"

namespace ssdtlm {

class RtlOnfiSequencer final : public BusSequencer {
public:
    /// `seed`: registers start with random values of it before reset; 0: with zeros. A UserError when the bus timing
    /// does not fit the block or the program was built without Verilator.
    RtlOnfiSequencer(const NandConfig& nand, std::uint64_t hertz, int seed = 0);
    ~RtlOnfiSequencer() override;

    Held play(const PinCommand& command, bool keep_pins) override;
    Held play_status(PinSelect select, std::uint16_t die, const OnfiTarget& target, SimTime begin, bool keep_pins);
    void pins(const PinCommand& command, PinSequence& out) override;
    void open_trace(const std::string& path) override;
    void close_trace() override;

    const OnfiSequencerClocks& clocks() const { return clocks_; }
    /// Clocks the block has run.
    std::uint64_t cycles() const { return cycles_; }

private:
    struct Model;
    /// A serialized burst: the instant of each toggle of its strobe.
    struct Burst {
        bool in = false;
        std::vector<SimTime> strobes;
    };
    struct Request {
        unsigned kind = 0;
        unsigned busy_after = 0;  // WE# cycles of a plane's part without its prefix; 0: R/B# does not fall
        unsigned select = 0;
        std::uint16_t die = 0;
        std::uint8_t planes = 1;
        const OnfiTarget* target = nullptr;
        std::uint32_t transfers = 0;
        SimTime begin{};
    };
    Held run(const Request& request, bool keep_pins);
    void clock(SimTime time, bool keep_pins);
    void sample(SimTime time);
    void sample_burst(SimTime time);
    void set(SimTime time, Pin pin, PinValue value);
    void add_data(const Burst& burst, const OnfiTarget* target, PinSequence& out) const;
    std::uint32_t transfers(const OnfiTarget& target) const {
        return (timing_.burst(target.data_bytes, target.spare_only).bytes + 1u) & ~1u;
    }
    /// `fixed` clocks with 20 fractional bits, as a duration.
    Ps duration(std::uint64_t fixed) const;

    const OnfiTiming t_;
    const OnfiBusTiming timing_;
    const OnfiSequencerClocks clocks_;
    const RowAddress rows_;
    const PageLayout layout_;
    const std::uint64_t hertz_;
    const std::uint32_t dies_per_chip_;
    std::unique_ptr<Model> model_;
    std::uint64_t cycles_ = 0;

    // The sequence played last, when its pins were to be kept.
    SimTime begin_{};
    SimTime end_{};
    std::uint16_t die_ = 0;
    std::uint32_t way_ = 0;
    std::uint32_t plane_cycles_ =
        0;                        // WE# cycles after which a plane's part is over, without its prefix; 0: R/B# stays
    std::vector<PinEdge> edges_;  // pins that change with the clock
    std::vector<Burst> bursts_;
    std::size_t burst_count_ = 0;  // used entries
    std::vector<PinValue> last_;   // by pin
};

}  // namespace ssdtlm
