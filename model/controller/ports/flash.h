// SPDX-License-Identifier: Apache-2.0
// One page-sized piece of flash work, from the firmware to a die and back.
#pragma once

#include <array>
#include <cstdint>

#include "common/address/geometry.h"
#include "common/latency/timeline.h"
#include "common/report/error.h"
#include "common/tlm/then.h"
#include "controller/ports/work_tag.h"
#include "nand/onfi/flash_status.h"
#include "nand/onfi/onfi_operation.h"
#include "nand/onfi/spare.h"
#include "nand/onfi/unit_bytes.h"

namespace ssdtlm {

/// What the scheduler sees of the work.
enum class FlashClass : std::uint8_t {
    host_read,
    mapping_read,
    host_write,
    mapping_write,
    gc_read,
    gc_write,
    erase,
    count
};
inline constexpr std::size_t kFlashClassCount = static_cast<std::size_t>(FlashClass::count);
/// A bit per FlashClass.
using ClassSet = std::uint32_t;
constexpr ClassSet class_bit(FlashClass c) {
    return ClassSet{1} << static_cast<unsigned>(c);
}
inline constexpr ClassSet kAllClasses = (ClassSet{1} << kFlashClassCount) - 1;
inline constexpr ClassSet kReadClasses =
    class_bit(FlashClass::host_read) | class_bit(FlashClass::mapping_read) | class_bit(FlashClass::gc_read);
inline constexpr ClassSet kProgramClasses =
    class_bit(FlashClass::host_write) | class_bit(FlashClass::mapping_write) | class_bit(FlashClass::gc_write);

/// Why the work exists, where its class does not say so: it has the class of what it goes with. Waits, waves and
/// counters tell it apart.
enum class FlashCause : std::uint8_t {
    of_class,
    rmw,         ///< the rest of a unit that the host writes in part is read
    fold,        ///< the SLC cache is emptied
    relocation,  ///< data are moved for wear or age, out of a block that failed, or programmed again
    merge,       ///< of log blocks
    journal,
    parity,      ///< for the parity over a row, or with its help
    padding,     ///< closes word lines
    checkpoint,  ///< of the map
    count
};
inline constexpr const char* cause_name(FlashCause c) {
    constexpr const char* kNames[] = {"of_class", "rmw",    "fold",    "relocation", "merge",
                                      "journal",  "parity", "padding", "checkpoint"};
    return kNames[static_cast<std::size_t>(c)];
}
inline constexpr std::size_t kFlashCauseCount = static_cast<std::size_t>(FlashCause::count);
/// Cause and class in one number; of_class comes first.
constexpr std::size_t flash_work(FlashCause cause, FlashClass cls) {
    return static_cast<std::size_t>(cause) * kFlashClassCount + static_cast<std::size_t>(cls);
}
inline constexpr std::size_t kFlashWorkCount = kFlashCauseCount * kFlashClassCount;

/// Pooled by its submitter; must stay valid until `then` is called. What the back end looks at again and again comes
/// first: it is one cache line.
struct alignas(64) FlashTransaction {
    FlashOp op = FlashOp::read;  ///< of the array
    FlashClass cls = FlashClass::host_read;
    std::uint8_t plane = 0;  ///< the back end's: in die
    bool slc = false;        ///< the block is in SLC mode, or is to be
    DieId die{};
    PageAddress address;           ///< erase: page is ignored
    std::uint32_t data_bytes = 0;  ///< user bytes on the bus (reads: the sectors asked for)
    std::uint32_t tag = 0;         ///< the back end's
    FlashStatus status{};          ///< out: how it ended
    Timeline* path = nullptr;      ///< null, or what is charged instead of `timeline`; its last mark is the submission
    SimTime queued_at{};
    FlashTransaction* next = nullptr;  ///< intrusive list link, the holder's

    /// Read: the data left the die and was decoded; `spare` holds what the array held, if `status` says ok. Program,
    /// erase: the die is ready again. The timeline is charged up to now.
    Then then;
    FlashCause cause = FlashCause::of_class;
    bool spare_only = false;   ///< read: the page's spare area alone, data_bytes of it
    bool waits = false;        ///< the back end's, with several flows: it is counted among those that wait
    bool shares_read = false;  ///< out: a read that the array did nothing for: another one of its page had it read
    FlashTransaction* joined = nullptr;  ///< the back end's: the next of the reads that share an array read
    std::uint64_t number = 0;            ///< the back end's: by submission, from 1
    std::uint64_t owner = 0;  ///< command that it serves, or job of garbage collection, by class; 0: none alone
    WorkTag whose{};          ///< of the command that waits for it, or of the flow that has caused it
    std::array<std::int64_t, 13> busy_snapshot{};  ///< the back end's: die busy time per wait stage at submission
    std::int64_t rare_snapshot =
        0;  ///< the back end's: the sum of the stages that few devices have; 0: none of them is in busy_snapshot
    PageRecord record{};                          ///< program: in
    std::array<Spare, kMaxUnitsPerPage> spare{};  ///< per slot; program: in, read: out
    UnitBytes* bytes = nullptr;                   ///< the same; null: the Spare stands for the data
    std::uint32_t first_byte =
        0;              ///< reads: user byte of the page at which data_bytes begin (the column, without the spare area)
    Timeline timeline;  ///< begins when the transaction is submitted

    /// For submit(): from now on time is charged to `path`.
    void begin(SimTime now) {
        queued_at = now;
        status = FlashStatus{};
        waits = false;
        if (path != nullptr) {
            SSDTLM_CHECK(path->last() == now, "flash transaction continues a timeline with a gap");
            return;
        }
        path = &timeline;
        timeline.begin(now);
    }
};

/// Firmware -> scheduler and channel controllers. Never refuses: queues are as deep as the pool.
class FlashPort {
public:
    virtual ~FlashPort() = default;
    virtual void submit(FlashTransaction& txn) = 0;
};

}  // namespace ssdtlm
