// SPDX-License-Identifier: Apache-2.0
// A whole SSD with the user's flash on every channel: the model's host, link and controller, and behind the channels
// ConstantFlash in place of bus and packages, or LtFlash in place of the packages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/tlm/lt_adapter.h"
#include "examples/constant_flash.h"
#include "examples/lt_flash.h"
#include "sim/host/host.h"
#include "sim/ssd_system.h"

namespace ssdtlm::examples {

struct SsdWithoutFlash : sc_core::sc_module {
    const SsdConfig config;
    Agenda agenda;
    AgendaProcess process;
    SpareArea contents;
    SsdController controller;
    PcieLink link;
    IntegrityOracle oracle;
    Host host;

    SsdWithoutFlash(sc_core::sc_module_name name, const SsdConfig& c, Workload& workload, CompletionObserver* observer)
        : sc_module(name),
          config(c),
          process("agenda", agenda, false),
          contents(config.nand.geometry),
          controller("controller", agenda, config, config.run, contents),
          link("link", agenda, config.link),
          oracle(oracle_geometry()),
          host("host", agenda, config.host, workload, &controller.stages, &oracle, observer) {
        host.mmio_initiator.bind(link.host_target);
        auto& front_end = controller.front_end_as<NvmeOnPcie>();
        link.device_initiator.bind(front_end.mmio_target);
        front_end.dma_initiator.bind(link.device_target);
        link.host_initiator.bind(host.dma_target);
        host.driver.set_on_finished([this](SimTime) { host.driver.shutdown(); });
        host.driver.set_on_shutdown([this] { controller.firmware->stop_gc(); });
    }

private:
    IntegrityOracle::Geometry oracle_geometry() const {
        IntegrityOracle::Geometry g;
        g.units = controller.ftl->logical_units();
        g.unit_bytes = config.nand.geometry.unit_bytes;
        g.lba_bytes = config.nvme.lba_bytes;
        g.filled_units = controller.ftl->mapped_units();
        g.version_bits = controller.ftl->codec().version_bits();
        if (config.run.data == DataMode::bytes) g.bytes_of_seed = config.run.seed;
        return g;
    }
};

struct OwnFlashSsd : SsdWithoutFlash {
    std::vector<std::unique_ptr<ConstantFlash>> flash;  // by channel

    OwnFlashSsd(sc_core::sc_module_name name, const SsdConfig& c, Ps busy, Workload& workload,
                CompletionObserver* observer)
        : SsdWithoutFlash(name, c, workload, observer) {
        for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch) {
            flash.push_back(
                std::make_unique<ConstantFlash>(("flash_" + std::to_string(ch)).c_str(), agenda, busy, ch, contents));
            controller.channel(ch).bind(flash.back()->controller_target);
        }
    }
};

struct LtFlashSsd : SsdWithoutFlash {
    std::vector<std::unique_ptr<OnfiBus>> buses;                                // by channel
    std::vector<std::unique_ptr<BasicLtTargetAdapter<OnfiProtocol>>> adapters;  // by channel, way
    std::vector<std::unique_ptr<LtFlash>> packages;                             // the same

    LtFlashSsd(sc_core::sc_module_name name, const SsdConfig& c, Workload& workload, CompletionObserver* observer)
        : SsdWithoutFlash(name, c, workload, observer) {
        for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch) {
            buses.push_back(std::make_unique<OnfiBus>(("bus_" + std::to_string(ch)).c_str(), config.nand));
            controller.channel(ch).bind(buses.back()->controller_target);
            for (std::uint32_t way = 0; way < config.nand.geometry.ways; ++way) add_package(ch, way);
        }
    }

private:
    void add_package(std::uint32_t ch, std::uint32_t way) {
        const std::string number = std::to_string(ch) + "_" + std::to_string(way);
        adapters.push_back(std::make_unique<BasicLtTargetAdapter<OnfiProtocol>>(("adapter_" + number).c_str(), agenda));
        packages.push_back(std::make_unique<LtFlash>(("package_" + number).c_str(), config.nand, ch, contents));
        auto& adapter = *adapters.back();
        auto& package = *packages.back();
        auto& bus = *buses.back();
        bus.package_initiator[way].bind(adapter.model_target);
        adapter.lt_initiator.bind(package.socket);
    }
};

}  // namespace ssdtlm::examples
