// SPDX-License-Identifier: Apache-2.0
// A stressed run that loses its power, in a child process: at the times of the configuration, or after an entry of the
// agenda.
#pragma once

#include <cstdio>
#include <functional>

#include "controller/checkpoint/checkpoint_feature.h"
#include "controller/journal/notes.h"
#include "controller/mount/recovery.h"
#include "stress.h"

namespace ssdtlm {

/// Random commands; after one loss of power in `read_back_each` every unit is read once, and after the last one nothing
/// else follows.
class MixAndReadBack final : public Workload {
public:
    MixAndReadBack(const RandomMix::Spec& spec, const SsdConfig& c)
        : capacity_(logical_units_of(c.ftl, c.nand.geometry) * c.nand.geometry.unit_bytes),
          mix_(spec, capacity_, c.nvme.lba_bytes, c.nand.geometry.unit_bytes) {}
    /// `cuts`: losses of power so far. The last one is number `last`; 0: the mix ends by itself, and is read back once
    /// more.
    void follow(std::function<std::uint64_t()> cuts, std::uint64_t last, std::uint64_t read_back_each = 1) {
        cuts_ = std::move(cuts);
        last_ = last;
        read_back_each_ = read_back_each;
    }

    Next next(SimTime now) override {
        Next n;
        if (seen_ != cuts_()) {
            seen_ = cuts_();
            reading_ = false;
            if (seen_ == last_ || seen_ % read_back_each_ == 0) read_back();
        }
        if (!reading_) {
            n = mix_.next(now);
            if (n.state == State::ready) ++open_;
            if (n.state != State::done) return n;
            if (last_ != 0) throw CheckFailed("the mix ended before the losses of power");
            mix_over_ = true;
            read_back();
        }
        if (next_ == 0 && open_ != 0) {  // what was cancelled, and is submitted again
            n.state = State::blocked;
        } else if (next_ < capacity_) {
            n.state = State::ready;
            n.request.op = HostOp::read;
            n.request.offset = next_;
            n.request.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(65536, capacity_ - next_));
            n.request.tag = kReadBack;
            next_ += n.request.bytes;
            ++open_;
        } else if (open_ != 0) {
            n.state = State::blocked;
        } else if (seen_ == last_ || mix_over_) {
            n.state = State::done;
        } else {
            ++read_backs_;
            reading_ = false;
            return next(now);
        }
        return n;
    }
    void completed(const HostRequest& r, SimTime issued, SimTime submitted, SimTime now, bool ok) override {
        --open_;
        if (r.tag != kReadBack) mix_.completed(r, issued, submitted, now, ok);
    }
    std::uint32_t jobs() const override { return mix_.jobs(); }
    std::uint32_t depth(std::uint32_t job) const override { return mix_.depth(job); }
    double progress(SimTime) const override { return 0; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }
    std::uint64_t read_backs() const { return read_backs_; }

private:
    static constexpr std::uint64_t kReadBack = ~std::uint64_t{0};
    void read_back() {
        reading_ = true;
        next_ = 0;
    }
    const std::uint64_t capacity_;
    RandomMix mix_;
    std::function<std::uint64_t()> cuts_;
    std::uint64_t last_ = 0, seen_ = 0, read_back_each_ = 1;
    bool reading_ = false, mix_over_ = false;
    std::uint64_t next_ = 0, open_ = 0, read_backs_ = 0;
};

/// Looks at the map as soon as it has been found again, before the host can change anything.
struct MapCheck {
    explicit MapCheck(SsdSystem& system) : s(system), ftl(*system.device.controller.ftl) {
        s.device.set_on_rebuilt([this] { look(); });
    }
    void look() {
        try {
            if (s.config.run.data == DataMode::bytes)
                look_at_each_block();
            else
                look_at_each_unit();
            ftl.verify_books();
            if (checkpoints_of(ftl) != nullptr) look_at_all_pages();
        } catch (const std::exception& e) {
            throw CheckFailed("loss of power " + std::to_string(s.power_cuts().size()) + ": " + e.what());
        }
        for (std::uint32_t g = 0; g < ftl.shape().groups(); ++g) without_free += ftl.free_blocks(GroupId{g}) == 0;
        if (s.device.flash.faults->kinds().any())
            look_at_health();
        else
            read_only += ftl.media().read_only;
        ++looks;
    }
    /// From a checkpoint comes what all pages say.
    void look_at_all_pages() {
        Ftl by_all_pages(s.config.ftl, s.config.nand.geometry, s.device.flash.spare, s.config.run.seed);
        Recovery(by_all_pages).from_all_pages();
        for (std::uint32_t u = 0; u < ftl.logical_units(); ++u)
            if (ftl.lookup(Lpa{u}) != by_all_pages.lookup(Lpa{u}))
                throw CheckFailed("unit " + std::to_string(u) + " is at " + std::to_string(idx(ftl.lookup(Lpa{u}))) +
                                  ", by all pages at " + std::to_string(idx(by_all_pages.lookup(Lpa{u}))));
        const MediaHealth &a = ftl.media(), &b = by_all_pages.media();
        if (a.blocks_retired != b.blocks_retired || a.available_spare != b.available_spare ||
            a.read_only != b.read_only)
            throw CheckFailed("health: " + std::to_string(a.blocks_retired) + " blocks retired, by all pages " +
                              std::to_string(b.blocks_retired) + "; spare " + std::to_string(a.available_spare) +
                              " and " + std::to_string(b.available_spare));
    }
    /// SMART after the loss says what it said before, but for what failed last, if that was not on the flash yet.
    void look_at_health() {
        const MediaHealth& now = ftl.media();
        alive = true;
        const bool more = now.blocks_retired > before.blocks_retired || now.available_spare < before.available_spare ||
                          (now.read_only && !before.read_only);
        const bool less = now.blocks_retired < before.blocks_retired || now.available_spare > before.available_spare ||
                          (!now.read_only && before.read_only);
        if (more || (less && all_is_written))
            throw CheckFailed("SMART: " + std::to_string(now.blocks_retired) + " blocks retired, before " +
                              std::to_string(before.blocks_retired) + "; spare " + std::to_string(now.available_spare) +
                              ", before " + std::to_string(before.available_spare) + "; read-only " +
                              std::to_string(now.read_only) + ", before " + std::to_string(before.read_only));
        forgotten += less;
        with_failed += now.blocks_retired != 0;
        read_only += now.read_only;
    }
    /// After each event.
    void remember_health() {
        if (cuts != s.host.driver.power_cuts()) alive = false;
        cuts = s.host.driver.power_cuts();
        if (!alive) return;
        before = ftl.media();
        all_is_written = notes_of(ftl).journal().last_pending() == 0;
    }
    MediaHealth before;
    bool alive = true, all_is_written = true;
    std::uint64_t cuts = 0, forgotten = 0, with_failed = 0, read_only = 0;
    bool is_lost(std::uint32_t unit, Ppa at) const {
        if (at == kLost && !s.device.flash.faults->kinds().any())
            throw CheckFailed("unit " + std::to_string(unit) + " is lost");
        return at == kLost;
    }
    void look_at_each_unit() {
        for (std::uint32_t u = 0; u < ftl.logical_units(); ++u) {
            const Ppa at = ftl.lookup(Lpa{u});
            if (is_lost(u, at)) continue;
            const std::uint32_t found = at == kUnmapped ? 0 : ftl.codec().version(s.device.flash.spare.at(at));
            const std::uint32_t possible = s.oracle->possible(u);
            open += (possible & (possible - 1)) != 0;
            if ((possible >> found & 1u) == 0)
                throw CheckFailed("unit " + std::to_string(u) + " has version " + std::to_string(found) +
                                  ", possible are (a bit each) " + std::to_string(possible));
        }
    }
    /// By the bytes: each block has a possible version, and all blocks of a unit are of one moment.
    void look_at_each_block() {
        const NandGeometry& g = s.config.nand.geometry;
        const BlockBytes bytes(s.config.run.seed, s.config.nvme.lba_bytes);
        const std::uint32_t blocks = g.unit_bytes / bytes.block_bytes();
        DurableVersions left = s.oracle->durable();
        const UnitBytes zeros = UnitBytes::zeros(g.unit_bytes);
        std::vector<UnitBytes> page(g.units_per_page());
        std::vector<Spare> spare(g.units_per_page());
        for (std::uint32_t u = 0; u < ftl.logical_units(); ++u) {
            const Ppa at = ftl.lookup(Lpa{u});
            if (is_lost(u, at)) continue;
            if (at != kUnmapped) s.device.flash.spare.read_page(g.page_of(at), spare.data(), page.data());
            const UnitBytes& unit = at == kUnmapped ? zeros : page[g.slot_of(at)];
            for (std::uint32_t b = 0; b < blocks; ++b) {
                const std::uint32_t lba = u * blocks + b, possible = s.oracle->possible(lba);
                open += (possible & (possible - 1)) != 0;
                std::uint32_t v = 0;
                while (v < 16 &&
                       ((possible >> v & 1u) == 0 ||
                        bytes.differs_at(lba, v, unit.data() + b * bytes.block_bytes()) != bytes.block_bytes()))
                    ++v;
                if (v == 16)
                    throw CheckFailed("LBA " + std::to_string(lba) + " has none of the versions (a bit each) " +
                                      std::to_string(possible));
                if (!left.found(lba, v))
                    throw CheckFailed("LBA " + std::to_string(lba) + " has version " + std::to_string(v) +
                                      ", not of the moment of its unit's others");
            }
        }
    }
    SsdSystem& s;
    const Ftl& ftl;
    std::uint64_t looks = 0, open = 0, without_free = 0;
};

struct PowerResult {
    std::uint64_t commands = 0, cancelled = 0, torn = 0, erases_cut = 0, looks = 0, open = 0, read_backs = 0,
                  checked = 0, moved = 0, entries = 0, without_free = 0;
    std::uint64_t retired = 0, with_failed = 0, forgotten = 0, read_only = 0, errors = 0;
    std::uint64_t unsafe = 0, from_checkpoint = 0, from_clean = 0, checkpoint_pages = 0;
    std::uint64_t translation_reads = 0, dirty_entries = 0;
    std::uint64_t on_capacitors = 0;  ///< losses with something to save
};

/// `cut_after`: an entry of the agenda; 0: as the configuration says.
inline PowerResult run_power(const SsdConfig& config, const RandomMix::Spec& mix, std::uint64_t last,
                             std::uint64_t cut_after, std::uint64_t read_back_each = 1) {
    const auto j = nlohmann::json::parse(in_child([&] {
        MixAndReadBack workload(mix, config);
        Simulation::Options options;
        options.workload_name = "power";
        Simulation simulation(config, workload, options);
        SsdSystem& s = simulation.system();
        workload.follow([&s] { return s.host.driver.power_cuts(); }, last, read_back_each);
        MapCheck check(s);
        struct Cutter {
            SsdSystem& s;
            std::uint64_t left;
        } cutter{s, cut_after};
        if (cut_after != 0)
            s.process.add_after_each(
                [](void* self) {
                    auto& c = *static_cast<Cutter*>(self);
                    if (c.left != 0 && --c.left == 0) c.s.cut_power();
                },
                &cutter);
        if (s.device.flash.faults->kinds().any())
            s.process.add_after_each([](void* self) { static_cast<MapCheck*>(self)->remember_health(); }, &check);
        try {
            const RunSummary r = simulation.run();
            for (const BookLine& b : r.books)
                if (!b.balances())
                    throw CheckFailed("books: " + b.name + ": " + std::to_string(b.left) + " against " +
                                      std::to_string(b.right));
            s.device.controller.ftl->verify_books();
            if (r.error_status != (s.device.flash.faults->kinds().any() ? s.host.driver.counters().media_errors() : 0))
                throw CheckFailed("commands failed: " + s.host.driver.first_error());
            if (s.oracle->unverified() != 0) throw CheckFailed("reads not verified");
            const NvmeCounters& n = s.device.nvme().controller.counters();
            if (n.power_cycles != 1 + s.power_cuts().size())
                throw CheckFailed(std::to_string(n.power_cycles) + " power cycles");
            std::uint64_t unsafe = 0, from_checkpoint = 0, from_clean = 0, translation_reads = 0, dirty_entries = 0,
                          on_capacitors = 0;
            for (const PowerCut& cut : s.power_cuts()) {
                unsafe += !cut.after_shutdown;
                from_checkpoint += cut.source == MapSource::checkpoint;
                from_clean += cut.source == MapSource::clean_checkpoint;
                translation_reads += cut.translation_reads;
                dirty_entries += cut.dirty_entries;
                on_capacitors += cut.on_capacitors > Ps{1us};
            }
            if (last != 0 && config.host.reset_at.empty() && n.unsafe_shutdowns != unsafe)
                throw CheckFailed(std::to_string(n.unsafe_shutdowns) + " unsafe shutdowns");
            PowerLoss loss;
            for (const PowerCut& cut : s.power_cuts()) loss += cut.loss;
            return nlohmann::json{{"commands", s.host.driver.counters().commands_completed},
                                  {"cancelled", s.host.driver.counters().commands_cancelled},
                                  {"torn", loss.pages_torn},
                                  {"erases_cut", loss.erases_cut},
                                  {"looks", check.looks},
                                  {"open", check.open},
                                  {"read_backs", workload.read_backs()},
                                  {"checked", r.integrity_checked},
                                  {"moved", r.ftl.gc_units_moved},
                                  {"entries", cut_after == 0 ? s.agenda.executed() : cut_after - cutter.left},
                                  {"without_free", check.without_free},
                                  {"retired", s.device.controller.ftl->media().blocks_retired},
                                  {"with_failed", check.with_failed},
                                  {"forgotten", check.forgotten},
                                  {"read_only", check.read_only},
                                  {"errors", r.error_status},
                                  {"unsafe", unsafe},
                                  {"from_checkpoint", from_checkpoint},
                                  {"from_clean", from_clean},
                                  {"translation_reads", translation_reads},
                                  {"dirty_entries", dirty_entries},
                                  {"on_capacitors", on_capacitors},
                                  {"checkpoint_pages", s.device.controller.ftl->counters().checkpoint_pages}}
                .dump();
        } catch (const std::exception& e) {
            throw std::runtime_error(std::string(e.what()) + "\n" + simulation.state_dump());
        }
    }));
    return {j["commands"],
            j["cancelled"],
            j["torn"],
            j["erases_cut"],
            j["looks"],
            j["open"],
            j["read_backs"],
            j["checked"],
            j["moved"],
            j["entries"],
            j["without_free"],
            j["retired"],
            j["with_failed"],
            j["forgotten"],
            j["read_only"],
            j["errors"],
            j["unsafe"],
            j["from_checkpoint"],
            j["from_clean"],
            j["checkpoint_pages"],
            j["translation_reads"],
            j["dirty_entries"],
            j["on_capacitors"]};
}

/// A device that a few commands fill, and its whole run, from power-on to the end of the shutdown.
inline std::uint64_t cut_everywhere(std::uint64_t step, DataMode data = DataMode::signatures, bool checkpoints = false,
                                    bool map_on_flash = false, BufferMode buffer = BufferMode::write_back) {
    SsdConfig c = stress_device();
    c.run.data = data;
    c.ftl.buffer_mode = buffer;
    if (checkpoints) {
        c.ftl.checkpoint_interval_bytes = 16384;
        c.ftl.checkpoint_at_shutdown = true;
    }
    if (map_on_flash) {
        c.ftl.mapping = "dftl";
        c.ftl.map.entry_bytes = 512;
        c.nvme.max_transfer_bytes = 32768;
        c.ftl.map.cache_bytes = 16 * 2 * c.ftl.map.entry_bytes;
    }
    c.nand.geometry.channels = 1;
    c.nand.geometry.blocks_per_plane = checkpoints ? 24 : map_on_flash ? 13 : 12;
    c.nand.geometry.pages_per_block = 4;
    c.ftl.buffer_bytes = 8 * c.nand.geometry.page_bytes;
    fill_up(c);
    c.run.check_waiters = true;
    c.host.queue_pairs = 2;
    c.host.power_off_time = 1us;
    c.host.power_cut_at = {1000s};  // never comes, but is expected
    c.nvme.ready_time = 10us;
    RandomMix::Spec mix;
    mix.seed = 77;
    mix.jobs = 2;
    mix.depth = 4;
    mix.requests = 100;
    mix.flush = 10;
    mix.whole = data == DataMode::bytes ? 20 : mix.whole;
    const std::uint64_t entries = run_power(c, mix, 0, 0).entries;
    std::uint64_t cuts = 0, torn = 0, erases_cut = 0, moved = 0;
    for (std::uint64_t at = 1; at < entries; at += step, ++cuts) {
        SCOPED_TRACE("after entry " + std::to_string(at));
        try {
            const PowerResult r = run_power(c, mix, 0, at);
            torn += r.torn;
            erases_cut += r.erases_cut;
            moved += r.moved;
        } catch (const std::exception& e) {
            ADD_FAILURE() << e.what();
            return cuts;
        }
    }
    std::printf("%llu entries, %llu losses of power, %llu pages torn, %llu erases cut\n",
                static_cast<unsigned long long>(entries), static_cast<unsigned long long>(cuts),
                static_cast<unsigned long long>(torn), static_cast<unsigned long long>(erases_cut));
    EXPECT_GT(torn, 0u);
    EXPECT_GT(moved, 0u);
    return cuts;
}

}  // namespace ssdtlm
