// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/address/geometry.h"
#include "common/units/units.h"

namespace ssdtlm {

enum class OnfiInterface : std::uint8_t {
    sdr,
    nv_ddr,
    nv_ddr2,
    nv_ddr3,
    nv_lpddr4,
    ideal  ///< no interface of ONFI: commands and data take no time on the bus
};

/// The timing of the ONFI bus. The defaults are common values of NV-DDR2/3 (Micron L06B parameters, ONFI 4/5 tables).
struct OnfiTiming {
    OnfiInterface interface = OnfiInterface::nv_ddr2;
    std::uint32_t megatransfers = 333;  ///< 8-bit bus: MB/s
    Ps t_wc{25'000};                    ///< command/address cycle
    Ps t_cs{20'000};                    ///< chip select set-up
    Ps t_adl{300'000};                  ///< address -> data in
    Ps t_ccs{400'000};                  ///< change column -> data
    Ps t_rhw{100'000};                  ///< data out -> next command
    Ps t_rr{20'000};                    ///< ready -> RE# low
    Ps t_wb{100'000};                   ///< last WE# -> busy
    Ps t_wpre{15'000};
    Ps t_wpst{6'500};
    Ps t_wpsth{15'000};
    Ps t_rpre{15'000};
    Ps t_dqsre{25'000};
    Ps t_rpsth{15'000};
    Ps t_plane_busy{500'000};  ///< tPLRBSY = tPLPBSY = tPLEBSY (tDBSY)
};

/// The SLC mode of a block, whose cells hold one bit each. Only its first pages exist
/// (NandGeometry::slc_pages_per_block), and all are of one type.
struct SlcMode {
    Ps t_read{25'000'000};
    Ps t_program{150'000'000};
    Ps t_erase{4'000'000'000};
    std::uint8_t prefix = 0xA2;  ///< command in front of each operation on such a block
};

struct NandConfig {
    NandGeometry geometry;
    OnfiTiming onfi;
    std::vector<Ps> t_read{Ps{75'000'000}};      ///< per page type; one value: all types
    std::vector<Ps> t_program{Ps{750'000'000}};  ///< per page type; one value: all types
    Ps t_erase{3'800'000'000};
    // Suspend and resume as in current TLC parts: program 10..50 us and 5..20 us, erase 50..200 us and 20..100 us.
    // Assumed.
    Ps t_program_suspend{30'000'000};  ///< suspend to R/B# high; the array makes no progress in it
    Ps t_program_resume{10'000'000};   ///< additional time of the resumed operation
    Ps t_erase_suspend{100'000'000};
    Ps t_erase_resume{50'000'000};
    SlcMode slc;
    // Cache program (80h .. 15h). tPCBSY is 3..5 us if the array is idle (ONFI 4.x: at most tPROG), and 4.3 us in a
    // data sheet of a TLC part.
    bool cache_program = false;           ///< while a die's array programs, its cache registers take the next page
    Ps t_cache_busy{4'000'000};           ///< tPCBSY: from the begin of the array's program to R/B# high
    bool independent_plane_read = false;  ///< each plane may read independently (asynchronous plane read)
    bool transfer_spare = true;           ///< data cycles carry the sectors' share of the spare area (ECC parity)
};

}  // namespace ssdtlm
