// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/wave_enums.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace ssdtlm {

// Reads of the host are green, its writes blue, garbage collection orange, erases red, and mapping violet. Other work
// has colours of its own. Reads and programs of one cause have two colours if they must differ.

namespace {

struct Work {
    FlashCause cause;
    FlashClass cls;
    WaveLabel label;
};
const std::vector<Work>& works() {
    using Cause = FlashCause;
    using Class = FlashClass;
    static const std::vector<Work> all = {
        {Cause::of_class, Class::host_read, {"host_read", "green4"}},
        {Cause::of_class, Class::mapping_read, {"map_read", "MediumOrchid4"}},
        {Cause::of_class, Class::host_write, {"host_program", "RoyalBlue3"}},
        {Cause::of_class, Class::mapping_write, {"map_program", "purple4"}},
        {Cause::of_class, Class::gc_read, {"gc_read", "DarkOrange3"}},
        {Cause::of_class, Class::gc_write, {"gc_program", "chocolate4"}},
        {Cause::of_class, Class::erase, {"erase", "red3"}},
        {Cause::rmw, Class::host_read, {"rmw_read", "SteelBlue4"}},
        {Cause::fold, Class::gc_read, {"fold_read", "goldenrod3"}},
        {Cause::fold, Class::gc_write, {"fold_program", "goldenrod4"}},
        {Cause::relocation, Class::gc_read, {"relocation_read", "salmon3"}},
        {Cause::relocation, Class::gc_write, {"relocation_program", "salmon4"}},
        {Cause::merge, Class::gc_read, {"merge_read", "tan3"}},
        {Cause::merge, Class::gc_write, {"merge_program", "tan4"}},
        {Cause::journal, Class::gc_write, {"journal_program", "VioletRed4"}},
        {Cause::parity, Class::gc_write, {"parity_program", "cyan4"}},
        {Cause::parity, Class::host_read, {"parity_read", "DarkSlateGray4"}},
        {Cause::padding, Class::gc_write, {"padding_program", "gray50"}},
        {Cause::checkpoint, Class::mapping_write, {"checkpoint_program", "DeepPink4"}},
        {Cause::checkpoint, Class::mapping_read, {"checkpoint_read", "DeepPink3"}},
    };
    return all;
}

bool is_read(FlashClass c) {
    return (class_bit(c) & kReadClasses) != 0;
}

/// The index in works() by flash_work(). Work with a cause of its own has an entry for its reads and one for its
/// programs, whatever the class.
std::array<std::uint8_t, kFlashWorkCount> make_places() {
    std::array<std::uint8_t, kFlashWorkCount> places{};
    for (std::size_t i = 0; i < kFlashWorkCount; ++i) {
        const auto cause = static_cast<FlashCause>(i / kFlashClassCount);
        const auto cls = static_cast<FlashClass>(i % kFlashClassCount);
        places[i] = static_cast<std::uint8_t>(cls);
        for (std::size_t k = kFlashClassCount; k < works().size(); ++k)
            if (works()[k].cause == cause && cls != FlashClass::erase && is_read(works()[k].cls) == is_read(cls))
                places[i] = static_cast<std::uint8_t>(k);
    }
    return places;
}

WaveEnum with_works(const char* name, std::vector<WaveLabel> labels, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) labels.push_back(works()[i].label);
    return {name, std::move(labels)};
}

}  // namespace

const WaveEnum& class_names() {
    static const WaveEnum e = with_works("flash_class", {{"-", "gray25"}}, kFlashClassCount);
    return e;
}

const WaveEnum& work_names() {
    static const WaveEnum e = with_works("flash_work", {{"-", "gray25"}}, works().size());
    return e;
}

std::uint64_t work_value(FlashCause cause, FlashClass cls) {
    static const std::array<std::uint8_t, kFlashWorkCount> places = make_places();
    return 1u + places[flash_work(cause, cls)];
}

const char* owner_name(FlashCause cause, FlashClass cls) {
    if (cause == FlashCause::merge) return "merge";
    return cls == FlashClass::gc_read || cls == FlashClass::gc_write || cls == FlashClass::erase ? "collection"
                                                                                                 : "command";
}

const WaveEnum& bus_state_names() {
    static const WaveEnum e{
        "bus_state",
        {{"idle", "gray25"}, {"cmd", "gold4"}, {"data_in", "RoyalBlue3"}, {"data_out", "green4"}, {"turn", "gray50"}}};
    return e;
}

const WaveEnum& die_state_names() {
    static const WaveEnum e = with_works(
        "die_state",
        {{"idle", "gray25"}, {"selected", "gold4"}, {"data_ready", "DarkOliveGreen4"}, {"data_out", "OliveDrab4"}},
        works().size());
    return e;
}

const WaveEnum& tlp_names() {
    static const WaveEnum e{
        "tlp",
        {{"idle", "gray25"}, {"MWr", "RoyalBlue3"}, {"MRd", "gold4"}, {"CplD", "green4"}, {"Cpl", "DarkOliveGreen4"}}};
    return e;
}

const WaveEnum& fis_names() {
    static const WaveEnum e{"fis",
                            {{"idle", "gray25"},
                             {"Register_H2D", "RoyalBlue3"},
                             {"Register_D2H", "SteelBlue4"},
                             {"DMA_Setup", "purple4"},
                             {"DMA_Activate", "gold4"},
                             {"Data", "green4"},
                             {"PIO_Setup", "DarkOliveGreen4"},
                             {"Set_Device_Bits", "DarkOrange3"},
                             {"other", "red3"}}};
    return e;
}

const WaveEnum& sata_end_names() {
    static const WaveEnum e{"sata_end", {{"idle", "gray25"}, {"host", "RoyalBlue3"}, {"drive", "green4"}}};
    return e;
}

const WaveEnum& core_step_names() {
    static const WaveEnum e{"core_step",
                            {{"idle", "gray25"},
                             {"read_command", "green4"},
                             {"read_issue", "green4"},
                             {"write_command", "RoyalBlue3"},
                             {"flush", "SteelBlue4"},
                             {"deallocate", "SteelBlue4"},
                             {"program_issue", "RoyalBlue4"},
                             {"program_done", "RoyalBlue4"},
                             {"gc_victim", "DarkOrange3"},
                             {"gc_read_issue", "DarkOrange3"},
                             {"gc_program_issue", "chocolate4"},
                             {"gc_program_done", "chocolate4"},
                             {"gc_erase_issue", "red3"},
                             {"gc_erase_done", "red3"},
                             {"journal_issue", "purple4"},
                             {"journal_done", "purple4"},
                             {"parity_issue", "chocolate4"},
                             {"parity_done", "chocolate4"},
                             {"padding_issue", "chocolate4"},
                             {"padding_done", "chocolate4"},
                             {"map_read", "purple3"},
                             {"map_write", "purple4"},
                             {"map_write_done", "purple4"},
                             {"checkpoint_issue", "MediumOrchid4"},
                             {"checkpoint_done", "MediumOrchid4"},
                             {"mount", "MediumOrchid3"},
                             {"refresh_look", "DarkOrange3"}}};
    return e;
}

const WaveEnum& run_phase_names() {
    static const WaveEnum e{"run_phase", {{"bring_up", "gray50"}, {"workload", "green4"}, {"shutdown", "gold4"}}};
    return e;
}

}  // namespace ssdtlm
