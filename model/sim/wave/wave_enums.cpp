// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/wave_enums.h"

namespace ssdtlm {

// Colours: reads of the host green, its writes blue, garbage collection orange, erases red, mapping violet. Each colour
// twice where a read and a program of one cause must differ.

const WaveEnum& class_names() {
    static const WaveEnum e{"flash_class",
                            {{"-", "gray25"},
                             {"host_read", "green4"},
                             {"map_read", "MediumOrchid4"},
                             {"host_program", "RoyalBlue3"},
                             {"map_program", "purple4"},
                             {"gc_read", "DarkOrange3"},
                             {"gc_program", "chocolate4"},
                             {"erase", "red3"}}};
    return e;
}

const WaveEnum& bus_state_names() {
    static const WaveEnum e{"bus_state",
                            {{"idle", "gray25"}, {"cmd", "gold4"}, {"data_in", "RoyalBlue3"}, {"data_out", "green4"}, {"turn", "gray50"}}};
    return e;
}

const WaveEnum& die_state_names() {
    static const WaveEnum e{"die_state",
                            {{"idle", "gray25"},
                             {"selected", "gold4"},
                             {"data_ready", "DarkOliveGreen4"},
                             {"data_out", "OliveDrab4"},
                             {"host_read", "green4"},
                             {"map_read", "MediumOrchid4"},
                             {"host_program", "RoyalBlue3"},
                             {"map_program", "purple4"},
                             {"gc_read", "DarkOrange3"},
                             {"gc_program", "chocolate4"},
                             {"erase", "red3"}}};
    return e;
}

const WaveEnum& tlp_names() {
    static const WaveEnum e{"tlp", {{"idle", "gray25"}, {"MWr", "RoyalBlue3"}, {"MRd", "gold4"}, {"CplD", "green4"}, {"Cpl", "DarkOliveGreen4"}}};
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
                             {"map_scan", "MediumOrchid3"},
                             {"refresh_look", "DarkOrange3"}}};
    return e;
}

const WaveEnum& run_phase_names() {
    static const WaveEnum e{"run_phase", {{"bring_up", "gray50"}, {"workload", "green4"}, {"shutdown", "gold4"}}};
    return e;
}

}  // namespace ssdtlm
