// SPDX-License-Identifier: Apache-2.0
#include "nand/onfi/onfi_timing.h"
#include "sim/config/parameters.h"

namespace ssdtlm {
namespace {

using P = ParameterOf<SsdConfig>;

void add_array(std::vector<SsdParameter>& table) {
    table.push_back(P::integer(
                        "nand.bits_per_cell", [](auto& c) -> auto& { return c.nand.geometry.bits_per_cell; })
                        .range("1", "5")
                        .says("Number of page types. The type of a page is its number in the block modulo this, unless "
                              "nand.two_step says otherwise")
                        .from("MQSim (Tavakkol et al., FAST '18) Table 3, MLC"));
    table.push_back(
        P::boolean(
            "nand.two_step", [](auto& c) -> auto& { return c.nand.geometry.two_step; })
            .says("Cells of two bits are programmed in two steps: first the lower page of a word line and, after the "
                  "lower page of the "
                  "next word line, its upper page (L0 L1 U0 L2 U1 ...). If the power goes while an upper page is "
                  "programmed, the lower "
                  "page is lost too. The firmware closes word lines with padding if somebody waits")
            .from("one step, as 3D parts; planar MLC takes two, the distance from lower to upper page is assumed"));
    table.push_back(P::times(
                        "nand.t_read", [](auto& c) -> auto& { return c.nand.t_read; })
                        .range("1ns", "100ms")
                        .says("tR: array to page register, for all page types or for each")
                        .from("MQSim (Tavakkol et al., FAST '18) Table 3"));
    table.push_back(P::times(
                        "nand.t_program", [](auto& c) -> auto& { return c.nand.t_program; })
                        .range("1ns", "1s")
                        .says("tPROG of one page (or of one multi-plane program), for all page types or for each")
                        .from("MQSim (Tavakkol et al., FAST '18) Table 3"));
    table.push_back(P::quantity(
                        "nand.t_erase", Dimension::time, [](auto& c) -> auto& { return c.nand.t_erase; })
                        .range("1ns", "10s")
                        .says("tBERS: block erase")
                        .from("MQSim (Tavakkol et al., FAST '18) Table 3"));
    const auto suspend = [&table](const char* key, auto field, const char* sentence) {
        table.push_back(P::quantity(key, Dimension::time, field)
                            .range("0s", "10ms")
                            .says(sentence)
                            .from("assumed: within what current TLC parts say")
                            .only_with("scheduler.suspend != never"));
    };
    suspend(
        "nand.t_program_suspend", [](auto& c) -> auto& { return c.nand.t_program_suspend; },
        "Time from a program suspend to R/B# high, in which the array makes no progress");
    suspend(
        "nand.t_program_resume", [](auto& c) -> auto& { return c.nand.t_program_resume; },
        "Time that a resumed program takes beyond what it had left");
    suspend(
        "nand.t_erase_suspend", [](auto& c) -> auto& { return c.nand.t_erase_suspend; },
        "Time from an erase suspend to R/B# high, as for a program");
    suspend(
        "nand.t_erase_resume", [](auto& c) -> auto& { return c.nand.t_erase_resume; },
        "Time that a resumed erase takes beyond what it had left");
    table.push_back(P::boolean(
                        "nand.cache_program", [](auto& c) -> auto& { return c.nand.cache_program; })
                        .says("Cache program (80h .. 15h): while a die's array programs, its cache registers take the "
                              "next page. With "
                              "scheduler.multi_plane they take it when a page waits for each plane")
                        .from("off: the controller has to use it; most parts of ONFI 2 and later can do it"));
    table.push_back(
        P::quantity(
            "nand.t_cache_busy", Dimension::time, [](auto& c) -> auto& { return c.nand.t_cache_busy; })
            .range("0s", "1s")
            .says("tPCBSY: from where the array takes a cached page over to R/B# high; at most the shortest tPROG")
            .from("assumed: 3 to 5 us in datasheets")
            .only_with("nand.cache_program = true"));
    table.push_back(P::boolean(
                        "nand.independent_plane_read", [](auto& c) -> auto& { return c.nand.independent_plane_read; })
                        .says("Each plane reads on its own, at any page, while other planes of the die read")
                        .from("parts before about 2018 cannot")
                        .only_with("nand.geometry.planes_per_die != 1"));
    table.push_back(P::boolean(
                        "nand.transfer_spare", [](auto& c) -> auto& { return c.nand.transfer_spare; })
                        .says("Data cycles carry the sectors' share of the spare area (ECC parity) too")
                        .from("ECC is in the controller")
                        .only_with("nand.geometry.spare_size != 0B"));
}

void add_slc(std::vector<SsdParameter>& table) {
    const char* const cache = "slc.blocks != 0 or slc.dynamic_blocks != 0";
    const auto time = [&table, cache](const char* key, auto field, const char* most, const char* sentence,
                                      const char* source) {
        table.push_back(
            P::quantity(key, Dimension::time, field).range("1ns", most).says(sentence).from(source).only_with(cache));
    };
    time(
        "nand.slc.t_read", [](auto& c) -> auto& { return c.nand.slc.t_read; }, "100ms",
        "tR of a block in SLC mode (one bit per cell)", "assumed: TLC dies in pSLC mode, 20 to 25 us");
    time(
        "nand.slc.t_program", [](auto& c) -> auto& { return c.nand.slc.t_program; }, "1s",
        "tPROG of a page of a block in SLC mode", "assumed: TLC dies in pSLC mode, 80 to 200 us");
    time(
        "nand.slc.t_erase", [](auto& c) -> auto& { return c.nand.slc.t_erase; }, "10s", "tBERS of a block in SLC mode",
        "assumed: TLC dies in pSLC mode, 2 to 4 ms");
    table.push_back(P::integer(
                        "nand.slc.prefix", [](auto& c) -> auto& { return c.nand.slc.prefix; })
                        .range("0", "255")
                        .says("Command in front of each operation on a block in SLC mode: one more cycle on the bus "
                              "for each plane. It must be a "
                              "command that is not in use otherwise")
                        .from("assumed: A2h, as Toshiba's, Kioxia's and WD's parts")
                        .only_with(cache));
}

void add_faults(std::vector<SsdParameter>& table) {
    const auto share = [&table](const char* key, auto field, const char* sentence, const char* source) {
        table.push_back(P::fraction(key, field)
                            .range("0%", "100%")
                            .says(sentence)
                            .from(source)
                            .only_with("nand.faults.model = rates"));
    };
    table.push_back(
        P::name(
            "nand.faults.model", FaultModels::instance().names(), [](auto& c) -> auto& { return c.faults.model; })
            .says("What decides which bits are wrong, and which programs and erases fail. " +
                  FaultModels::instance().sentences() +
                  ". A model of "
                  "your own is linked into the program")
            .from("assumed: failures that know nothing of wear"));
    share(
        "nand.faults.program_fail", [](auto& c) -> auto& { return c.faults.program_fails; },
        "Share of page programs that fail; the block is retired",
        "none; worn parts: one in 100,000 to 1,000,000, assumed");
    share(
        "nand.faults.erase_fail", [](auto& c) -> auto& { return c.faults.erase_fails; },
        "Share of block erases that fail; the block is retired", "none; worn parts: one in 10,000 to 100,000, assumed");
    share(
        "nand.faults.factory_bad", [](auto& c) -> auto& { return c.faults.factory_bad; },
        "Share of blocks that are bad from the factory, anywhere. A superblock with one of them is never used; a spare "
        "one (ftl.spare_blocks) takes "
        "its place",
        "none; datasheets allow 1 to 4% (8.8% in one of an MLC part)");
    share(
        "nand.faults.read_retry", [](auto& c) -> auto& { return c.faults.read_once; },
        "Share of page reads with too many wrong bits for the decoder, which the first retry corrects",
        "none; assumed");
    share(
        "nand.faults.page_lost", [](auto& c) -> auto& { return c.faults.page_lost; },
        "Share of programmed pages that no retry can read until their block is erased, pages of the initial state "
        "included. Pages of the journal, of "
        "checkpoints and of a map on the flash can always be read",
        "none; assumed");
    table.push_back(P::integer(
                        "nand.faults.pe_limit", [](auto& c) -> auto& { return c.faults.most_erases; })
                        .range("0", "1000000000")
                        .says("Erases that a block bears, those of the initial state included. The next one fails, and "
                              "the block is retired. SLC mode wears as much. 0: no limit")
                        .from("none; MQSim: 10,000 (Block_PE_Cycles_Limit); TLC 1,000 to 10,000, QLC 500 to 1,500, "
                              "SLC 50,000 to 100,000, assumed")
                        .only_with("nand.faults.model = rates"));
    add_policy_parameters(
        table, "nand.faults", "nand.faults.model", FaultModels::instance(),
        [](auto& c) -> auto& { return c.faults.models; });
}

void add_geometry(std::vector<SsdParameter>& table) {
    const std::string one = "the smallest; every device sets its own";
    table.push_back(P::integer(
                        "nand.geometry.channels", [](auto& c) -> auto& { return c.nand.geometry.channels; })
                        .range("1", "64")
                        .says("Channels, each with its own bus")
                        .from(one));
    table.push_back(P::integer(
                        "nand.geometry.ways", [](auto& c) -> auto& { return c.nand.geometry.ways; })
                        .range("1", "64")
                        .says("Chip enables (targets) per channel")
                        .from(one));
    table.push_back(P::integer(
                        "nand.geometry.dies_per_chip", [](auto& c) -> auto& { return c.nand.geometry.dies_per_chip; })
                        .range("1", "64")
                        .says("Dies (LUNs) per chip enable")
                        .from(one));
    table.push_back(P::integer(
                        "nand.geometry.planes_per_die", [](auto& c) -> auto& { return c.nand.geometry.planes_per_die; })
                        .range("1", "8")
                        .says("Planes per die")
                        .from(one));
    table.push_back(
        P::integer(
            "nand.geometry.blocks_per_plane", [](auto& c) -> auto& { return c.nand.geometry.blocks_per_plane; })
            .range("1", "1000000")
            .says("Blocks per plane")
            .from(one));
    table.push_back(
        P::integer(
            "nand.geometry.pages_per_block", [](auto& c) -> auto& { return c.nand.geometry.pages_per_block; })
            .range("1", "65536")
            .says("Pages per block")
            .from(one));
    table.push_back(
        P::quantity(
            "nand.geometry.page_size", Dimension::bytes, [](auto& c) -> auto& { return c.nand.geometry.page_bytes; })
            .range("512B", "128KiB")
            .multiple_of("512B")
            .says("User data of a page")
            .from(one));
    table.push_back(
        P::quantity(
            "nand.geometry.spare_size", Dimension::bytes, [](auto& c) -> auto& { return c.nand.geometry.spare_bytes; })
            .range("0B", "32KiB")
            .says("Spare area of a page (ECC parity, metadata)")
            .from("none")
            .only_with("nand.transfer_spare = true"));
    table.push_back(
        P::quantity(
            "nand.geometry.unit_size", Dimension::bytes, [](auto& c) -> auto& { return c.nand.geometry.unit_bytes; })
            .range("512B", "128KiB")
            .multiple_of("512B")
            .says("Mapping unit; 1 to 16 of them make a page")
            .from("4 KiB, the usual host page"));
}

void add_bus(std::vector<SsdParameter>& table) {
    std::vector<std::string> interfaces;
    for (int i = 0; i <= static_cast<int>(OnfiInterface::ideal); ++i) {
        interfaces.emplace_back(onfi_interface_limit(static_cast<OnfiInterface>(i)).name);
    }
    table.push_back(P::choice(
                        "nand.onfi.interface", interfaces, [](auto& c) -> auto& { return c.nand.onfi.interface; })
                        .says("Data interface. ideal: no interface of ONFI; the bus takes no time, whatever "
                              "nand.onfi.rate and the other times say")
                        .from("MQSim (Tavakkol et al., FAST '18) Table 3, ONFI 3.1 (NV-DDR2)"));
    table.push_back(
        P::quantity(
            "nand.onfi.rate", Dimension::transfers, [](auto& c) -> auto& { return c.nand.onfi.megatransfers; })
            .range("1MT/s", "4800MT/s")
            .says("Transfers per second, one byte each; at most what the interface can do")
            .from("MQSim (Tavakkol et al., FAST '18) Table 3, 333 MT/s")
            .only_with("nand.onfi.interface != ideal"));
    const auto time = [&table](const char* key, auto field, const char* sentence, const char* source) {
        table.push_back(P::quantity(key, Dimension::time, field)
                            .range("0s", "100us")
                            .says(sentence)
                            .from(source)
                            .only_with("nand.onfi.interface != ideal"));
    };
    const auto strobe = [&table, &time](const char* key, auto field, const char* sentence, const char* source) {
        time(key, field, sentence, source);
        table.back().only_with("nand.onfi.interface = nv-ddr2|nv-ddr3|nv-lpddr4");
    };
    const char* common = "ONFI 4/5 common NV-DDR2/3 timing, also Micron L06B";
    time(
        "nand.onfi.t_wc", [](auto& c) -> auto& { return c.nand.onfi.t_wc; }, "tWC: one command or address cycle",
        common);
    time(
        "nand.onfi.t_cs", [](auto& c) -> auto& { return c.nand.onfi.t_cs; },
        "tCS: chip enable set-up before a sequence", common);
    time(
        "nand.onfi.t_adl", [](auto& c) -> auto& { return c.nand.onfi.t_adl; }, "tADL: address to data input",
        "Micron L06B, 300 ns");
    time(
        "nand.onfi.t_ccs", [](auto& c) -> auto& { return c.nand.onfi.t_ccs; }, "tCCS: change of column to data",
        "Micron L06B, 400 ns");
    table.back().only_with(
        "nand.geometry.ways != 1 or nand.geometry.dies_per_chip != 1 or nand.geometry.planes_per_die != 1");
    time(
        "nand.onfi.t_rhw", [](auto& c) -> auto& { return c.nand.onfi.t_rhw; }, "tRHW: data output to the next command",
        common);
    time(
        "nand.onfi.t_rr", [](auto& c) -> auto& { return c.nand.onfi.t_rr; },
        "tRR: ready to the first data output cycle", common);
    time(
        "nand.onfi.t_wb", [](auto& c) -> auto& { return c.nand.onfi.t_wb; }, "tWB: last command cycle to busy", common);
    strobe(
        "nand.onfi.t_wpre", [](auto& c) -> auto& { return c.nand.onfi.t_wpre; }, "tWPRE: write preamble", common);
    strobe(
        "nand.onfi.t_wpst", [](auto& c) -> auto& { return c.nand.onfi.t_wpst; }, "tWPST: write postamble", common);
    strobe(
        "nand.onfi.t_wpsth", [](auto& c) -> auto& { return c.nand.onfi.t_wpsth; }, "tWPSTH: write postamble hold",
        common);
    strobe(
        "nand.onfi.t_rpre", [](auto& c) -> auto& { return c.nand.onfi.t_rpre; }, "tRPRE: read preamble", common);
    strobe(
        "nand.onfi.t_dqsre", [](auto& c) -> auto& { return c.nand.onfi.t_dqsre; }, "tDQSRE: RE# edge to DQS edge",
        common);
    strobe(
        "nand.onfi.t_rpsth", [](auto& c) -> auto& { return c.nand.onfi.t_rpsth; }, "tRPSTH: read postamble hold",
        common);
    time(
        "nand.onfi.t_plane_busy", [](auto& c) -> auto& { return c.nand.onfi.t_plane_busy; },
        "tPLRBSY = tPLPBSY = tPLEBSY (tDBSY): between the planes of a multi-plane sequence", "MQSim tDBSY = 500 ns");
    table.back().only_with("nand.geometry.planes_per_die != 1");
}

}  // namespace

void add_nand_parameters(std::vector<SsdParameter>& table) {
    add_array(table);
    add_slc(table);
    add_faults(table);
    add_geometry(table);
    add_bus(table);
}

}  // namespace ssdtlm
