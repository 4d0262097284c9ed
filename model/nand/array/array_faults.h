// SPDX-License-Identifier: Apache-2.0
// The boundary of models of failures in the flash array. The dies ask a model when an operation ends. Models have
// names. A new model is a class that derives from ArrayFaults, and an object that registers it. Kernel-free.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/address/geometry.h"
#include "common/config/policy_registry.h"
#include "common/snapshot/snapshot.h"
#include "common/units/units.h"

namespace ssdtlm {

/// An operation of the array that has ended.
struct ArrayWork {
    PageAddress page;         ///< the number of the page means nothing for an erase
    std::uint32_t cycle = 0;  ///< number of erases of its block before
    SimTime now{};
    bool slc = false;  ///< in SLC mode
};

/// One model serves all dies, in the order in which their operations end. Pages of the initial state were programmed
/// before the model existed. The same calls give the same answers, because chance comes from the seed only.
class ArrayFaults {
public:
    /// The kinds of failure that may happen while the flash is in use. If there are none, the dies do not ask.
    struct Kinds {
        bool reads = false, programs = false, erases = false;
        bool any() const { return reads || programs || erases; }
    };
    virtual ~ArrayFaults() = default;
    virtual Kinds kinds() const { return {true, true, true}; }
    virtual bool program_fails(const ArrayWork& work) = 0;
    virtual bool erase_fails(const ArrayWork& work) = 0;
    /// Returns the wrong bits in the page's worst code word. `again`: 0 at first, then the number of the retry; each
    /// retry has other read voltages.
    virtual std::uint16_t wrong_bits(const ArrayWork& work, std::uint32_t again) = 0;
    /// The blocks that are marked as bad at the factory, in ascending order.
    virtual std::vector<BlockId> factory_bad() const { return {}; }
    /// Reads or writes the state of the model. A model without this function works only in drives that are not saved.
    virtual void state(Snapshot& s) {
        s.refuse("the model of failures (nand.faults.model) does not say what it remembers");
    }
};

/// The parameters of the model `rates`.
struct FaultRates {
    double program_fails = 0;  ///< share of programmed pages
    double erase_fails = 0;    ///< share of erased blocks
    double read_once = 0;      ///< share of reads that are uncorrectable, but succeed with the first retry
    double page_lost = 0;      ///< share of pages that are uncorrectable in all reads, until the block is erased
    std::uint16_t wrong_bits = 0xFFFF;  ///< of an uncorrectable page
    double factory_bad = 0;             ///< share of blocks that are marked as bad at the factory
    std::uint32_t most_erases = 0;      ///< per block, with those of the initial state; 0: no limit
    /// True: something may go wrong by chance at any time while the flash is in use.
    bool by_chance() const { return program_fails > 0 || erase_fails > 0 || read_once > 0 || page_lost > 0; }
    /// True: by_chance(), or blocks wear out after a number of erases.
    bool any() const { return by_chance() || most_erases != 0; }
};

struct FaultConfig : FaultRates {
    std::string model = "rates";  ///< a name of FaultModels
    PolicyTable models;           ///< parameters of models that have their own
};

struct FaultSetup {
    const NandGeometry& geometry;
    std::uint64_t seed = 0;
    const FaultRates& rates;
};
/// All models that are linked into the program. nand.faults.model names one, and [nand.faults.<name>] has its
/// parameters.
using FaultModels = PolicyRegistry<ArrayFaults, FaultSetup>;

/// Makes the model that the configuration names. Throws UserError with the nearest name when there is none.
std::unique_ptr<ArrayFaults> make_faults(const FaultConfig& config, const NandGeometry& geometry, std::uint64_t seed);
/// The kinds of failure that this configuration allows.
ArrayFaults::Kinds fault_kinds(const FaultConfig& config, const NandGeometry& geometry);

}  // namespace ssdtlm
