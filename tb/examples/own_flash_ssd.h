// SPDX-License-Identifier: Apache-2.0
// A whole SSD with the user's flash on every channel: SsdSystem's bindings up to the channels, and behind them ConstantFlash in
// place of bus and packages, or LtFlash in place of the packages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/tlm/lt_adapter.h"
#include "controller/scheduler/bus_orders.h"
#include "controller/scheduler/scheduler_registry.h"
#include "examples/constant_flash.h"
#include "examples/lt_flash.h"
#include "sim/ssd_system.h"

namespace ssdtlm::examples {

/// The device from its link to its channels: neither host nor flash.
struct DeviceWithoutFlash : sc_core::sc_module {
    const SsdConfig config;
    Agenda agenda;
    AgendaProcess process;
    CommandTracker tracker;
    SpareArea contents;
    Ftl ftl;
    PcieLink link;
    DmaEngine dma;
    NvmeFrontEnd front_end;
    std::unique_ptr<DramPort> dram;
    FlashBackend backend;
    Firmware firmware;

    DeviceWithoutFlash(sc_core::sc_module_name name, const SsdConfig& c)
        : sc_module(name),
          config(c),
          process("agenda", agenda, false),
          contents(config.nand.geometry),
          ftl(config.ftl, config.nand.geometry, contents, config.run.seed),
          link((ftl.precondition(), "link"), agenda, config.link),
          dma("dma", agenda, SsdSystem::read_window(config.link)),
          front_end("front_end", agenda, dma, tracker, config.nvme, nvme_device()),
          dram(make_dram(config.dram, agenda)),
          backend("backend", agenda, config.nand, config.ecc, config.scheduler.multi_plane,
                  make_scheduler_policy(config.scheduler, scheduler_shape(config.nand.geometry, config.nand.independent_plane_read)),
                  make_bus_order(config.scheduler)),
          firmware(config.firmware, config.ftl, config.nand.geometry, config.nvme.lba_bytes, {agenda, ftl, backend, dma, *dram},
                   config.run.data == DataMode::bytes ? Firmware::Data::bytes : Firmware::Data::signatures) {
        if (config.run.data == DataMode::bytes) contents.keep_bytes(ftl.codec(), BlockBytes(config.run.seed, config.nvme.lba_bytes));
        link.device_initiator.bind(front_end.mmio_target);
        dma.pcie_initiator.bind(link.device_target);
        front_end.bind(firmware);
        firmware.bind(front_end.completions());
    }

private:
    NvmeDevice nvme_device() const {
        NvmeDevice d;
        d.namespace_bytes = ftl.logical_units() * config.nand.geometry.unit_bytes;
        d.unit_bytes = config.nand.geometry.unit_bytes;
        d.volatile_write_cache = config.ftl.buffer_mode == BufferMode::write_back;
        d.shutdown_time = Ps{1'000'000'000'000};
        return d;
    }
};

/// With the model's host.
struct SsdWithoutFlash : DeviceWithoutFlash {
    IntegrityOracle oracle;
    HostMemory memory;
    NvmeDriver driver;
    RootComplex root_complex;

    SsdWithoutFlash(sc_core::sc_module_name name, const SsdConfig& c, Workload& workload, CompletionObserver* observer)
        : DeviceWithoutFlash(name, c),
          oracle(oracle_geometry()),
          driver("driver", agenda, memory, config.host, workload, tracker, &oracle, observer),
          root_complex("root_complex", memory, &driver) {
        driver.mmio_initiator.bind(link.host_target);
        link.host_initiator.bind(root_complex.link_target);
        driver.set_on_finished([this](SimTime) { driver.shutdown(); });
        driver.set_on_shutdown([this] { firmware.stop_gc(); });
    }

private:
    IntegrityOracle::Geometry oracle_geometry() const {
        IntegrityOracle::Geometry g;
        g.units = ftl.logical_units();
        g.unit_bytes = config.nand.geometry.unit_bytes;
        g.lba_bytes = config.nvme.lba_bytes;
        g.filled_units = ftl.mapped_units();
        g.version_bits = ftl.codec().version_bits();
        if (config.run.data == DataMode::bytes) g.bytes_of_seed = config.run.seed;
        return g;
    }
};

struct OwnFlashSsd : SsdWithoutFlash {
    std::vector<std::unique_ptr<ConstantFlash>> flash;  // by channel

    OwnFlashSsd(sc_core::sc_module_name name, const SsdConfig& c, Ps busy, Workload& workload, CompletionObserver* observer)
        : SsdWithoutFlash(name, c, workload, observer) {
        for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch) {
            flash.push_back(std::make_unique<ConstantFlash>(("flash_" + std::to_string(ch)).c_str(), agenda, busy, ch, contents));
            backend.channel(ch).onfi_initiator.bind(flash.back()->controller_target);
        }
    }
};

struct LtFlashSsd : SsdWithoutFlash {
    std::vector<std::unique_ptr<OnfiBus>> buses;  // by channel
    std::vector<std::unique_ptr<BasicLtTargetAdapter<OnfiProtocol>>> adapters;  // by channel, way
    std::vector<std::unique_ptr<LtFlash>> packages;  // the same

    LtFlashSsd(sc_core::sc_module_name name, const SsdConfig& c, Workload& workload, CompletionObserver* observer)
        : SsdWithoutFlash(name, c, workload, observer) {
        for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch) {
            buses.push_back(std::make_unique<OnfiBus>(("bus_" + std::to_string(ch)).c_str(), config.nand));
            backend.channel(ch).onfi_initiator.bind(buses.back()->controller_target);
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
