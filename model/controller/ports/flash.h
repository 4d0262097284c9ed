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

/// Why the work exists, where its class does not say so. The class only says how it is scheduled. Waits, waves and
/// counters tell causes apart.
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
/// Cause and class in one number. The numbers of `of_class` come first.
constexpr std::size_t flash_work(FlashCause cause, FlashClass cls) {
    return static_cast<std::size_t>(cause) * kFlashClassCount + static_cast<std::size_t>(cls);
}
inline constexpr std::size_t kFlashWorkCount = kFlashCauseCount * kFlashClassCount;

/// Its submitter owns it, usually in a pool. It must stay valid until `then` is called. The first cache line holds what
/// the back end reads most often.
struct alignas(64) FlashTransaction {
    FlashOp op = FlashOp::read;  ///< of the array
    FlashClass cls = FlashClass::host_read;
    std::uint8_t plane = 0;  ///< the back end's: in die
    bool slc = false;        ///< the block is in SLC mode, or is to be
    DieId die{};
    PageAddress address;           ///< erase: page is ignored
    std::uint32_t data_bytes = 0;  ///< user bytes on the bus (reads: the sectors asked for)
    std::uint32_t tag = 0;         ///< for the back end's use
    FlashStatus status{};          ///< out: how it ended
    Timeline* path = nullptr;      ///< the timeline that is charged; null: `timeline`. Its last mark is the submission
    SimTime queued_at{};
    FlashTransaction* next = nullptr;  ///< intrusive list link, the holder's

    /// Called at the end. After a read, the data have left the die and are decoded; `spare` holds what the array held
    /// if `status` is ok. After a program or erase, the die is ready again. The timeline is charged up to now.
    Then then;
    FlashCause cause = FlashCause::of_class;
    bool spare_only = false;   ///< read: the page's spare area alone, data_bytes of it
    bool waits = false;        ///< the back end's, with several flows: it is counted among those that wait
    bool shares_read = false;  ///< out: the array did not work for this read; another read of the same page loaded it
    FlashTransaction* joined = nullptr;  ///< the back end's: the next of the reads that share an array read
    std::uint64_t number = 0;            ///< the back end's: by submission, from 1
    std::uint64_t owner = 0;  ///< number of the command or of the garbage collection job that it serves, by class; 0:
                              ///< no single one
    WorkTag whose{};          ///< of the command that waits for it, or of the flow that has caused it
    std::array<std::int64_t, 13> busy_snapshot{};  ///< the back end's: die busy time per wait stage at submission
    std::int64_t rare_snapshot =
        0;  ///< the back end's: the sum of the stages that few devices have; 0: none of them is in busy_snapshot
    PageRecord record{};                          ///< program: in
    std::array<Spare, kMaxUnitsPerPage> spare{};  ///< per slot; program: in, read: out
    UnitBytes* bytes = nullptr;                   ///< bytes per slot, as `spare`; null: the Spare stands for the data
    std::uint32_t first_byte =
        0;              ///< reads: user byte of the page at which data_bytes begin (the column, without the spare area)
    Timeline timeline;  ///< begins when the transaction is submitted

    /// Called by submit(): from now on time is charged to `path`.
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

/// The way from the firmware to the scheduler and the channel controllers. It never refuses work: its queues are as
/// deep as the pool.
class FlashPort {
public:
    virtual ~FlashPort() = default;
    virtual void submit(FlashTransaction& txn) = 0;
};

}  // namespace ssdtlm
