// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/device_timeline.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "protocol/nvme.h"
#include "sim/wave/wave_enums.h"

namespace ssdtlm {

namespace {

enum Group : std::uint32_t { kQueues = 1, kLink, kCores, kChannels, kDies, kSupply };
constexpr std::uint32_t kLanes = 200'000;    // numbers of tracks per queue
constexpr std::uint32_t kWaiting = 100'000;  // first of these for requests that wait in the host

constexpr TrackId kSataLink{kLink, 2};

const char* work_name(FlashCause cause, FlashClass cls) {
    return work_names().labels[work_value(cause, cls)].text.c_str();
}

const char* op_name(IoOp op) {
    static constexpr const char* kNames[] = {"read", "write", "flush", "deallocate", "write_zeroes"};
    return kNames[static_cast<std::size_t>(op)];
}

/// The argument of a slice that a loss of power has cut off.
constexpr const char* kPowerLost = R"(,"power_lost":true)";

std::string command_argument(std::uint64_t number) {
    return number == 0 ? "" : fmt::format(R"("command":{},)", number);
}

/// The command for which this work reads; 0: the work is not a host's read.
std::uint64_t command_of(const FlashWork& work) {
    return work.cls == FlashClass::host_read ? work.owner : 0;
}

std::string work_arguments(const FlashWork& work) {
    const bool for_command =
        work.cls != FlashClass::gc_read && work.cls != FlashClass::gc_write && work.cls != FlashClass::erase;
    return fmt::format(R"("operation":{},{})", work.number,
                       for_command || work.owner == 0
                           ? command_argument(command_of(work))
                           : fmt::format(R"("{}":{},)", owner_name(work.cause, work.cls), work.owner));
}

}  // namespace

DeviceTimeline::DeviceTimeline(TraceWriter& writer, const NandConfig& nand, std::uint32_t cores, SimTime from,
                               SimTime to)
    : writer_(writer),
      geometry_(nand.geometry),
      plane_tracks_(nand.independent_plane_read),
      from_(from),
      to_(to),
      operations_(nand.geometry.planes()) {
    writer.name_group(kQueues, "queues");
    writer.name_group(kLink, "link");
    writer.name_track({kLink, 0}, "to device");
    writer.name_track({kLink, 1}, "to host");
    writer.name_group(kCores, "firmware");
    for (std::uint32_t i = 0; i < cores; ++i) writer.name_track({kCores, i}, fmt::format("core {}", i));
    writer.name_group(kChannels, "channels");
    writer.name_group(kDies, "dies");
    for (std::uint32_t ch = 0; ch < geometry_.channels; ++ch) {
        writer.name_track({kChannels, ch}, fmt::format("channel {}", ch));
        for (std::uint32_t d = 0; d < geometry_.dies_per_channel(); ++d)
            for (std::uint32_t p = 0; p < (plane_tracks_ ? geometry_.planes_per_die : 1); ++p)
                writer.name_track(die_track(ch, d, p),
                                  fmt::format("die {}.{}{}", ch, d, plane_tracks_ ? fmt::format(" plane {}", p) : ""));
    }
}

TrackId DeviceTimeline::die_track(std::uint32_t channel, std::uint32_t die, std::uint32_t plane) const {
    const std::uint32_t global = channel * geometry_.dies_per_channel() + die;
    return {kDies, global * geometry_.planes_per_die + (plane_tracks_ ? plane : 0)};
}

// --- commands --------------------------------------------------------------------------------------------------------

void DeviceTimeline::command_begins(const Command& c, SimTime issued, SimTime submitted, const HostData* memory) {
    const std::uint64_t number = c.timeline->number();
    by_id_[std::uint32_t{c.queue} << 16 | c.tag] = number;
    if (c.op == IoOp::read && memory != nullptr)
        for (std::uint64_t at = 0; at < memory->bytes();
             at += nvme::kPageBytes - (memory->address_of(at) & nvme::kPageMask))
            by_page_[memory->address_of(at) / nvme::kPageBytes] = number;
    Record& r = records_[c.timeline];
    // The old command of this slot was part of a request that another command ended, or the host had given it up before
    // it reached the controller.
    if (r.number != 0) {
        slots_of_.erase(r.number);
        write(r, std::max(r.ended, r.submitted), nullptr);
    }
    slots_of_[number] = c.timeline;
    r = Record{number, op_name(c.op), c.queue, c.tag, c.slba, c.bytes, submitted, {}, write_wait(c, issued, submitted)};
}

/// Writes the wait of a command in the host. It is written when the command begins, because commands begin in the order
/// in which they left the host. Returns false if there is no wait to show.
bool DeviceTimeline::write_wait(const Command& c, SimTime issued, SimTime submitted) {
    const std::uint64_t number = c.timeline->number();
    if (issued == submitted || !wanted(issued)) return false;
    const TrackId track = lane(waiting_, kWaiting, "waiting", c.queue, issued, submitted);
    writer_.slice(track, issued, submitted, stage_name(Stage::host_queue),
                  fmt::format(R"("command":{},"queue":{})", number, c.queue));
    writer_.flow(track, issued, number, true);
    return true;
}

void DeviceTimeline::command_ends(const Command& c, SimTime now) {
    if (c.queue == 0) return;
    const auto found = records_.find(c.timeline);
    if (found != records_.end()) found->second.ended = now;
}

void DeviceTimeline::request_ends(const HostRequest&, const Timeline& timeline, SimTime now) {
    catch_up(now);
    const auto slot = slots_of_.find(timeline.number());
    if (slot == slots_of_.end()) return;  // the command never reached the firmware, or ended several requests
    Record& record = records_.at(slot->second);
    slots_of_.erase(slot);
    if (record.number != timeline.number()) return;  // another command has the slot
    write(record, now, &timeline);
    record.number = 0;
}

void DeviceTimeline::write(const Record& r, SimTime end, const Timeline* stages, const char* more) {
    if (!wanted(r.submitted)) return;
    std::string arguments = fmt::format(R"("command":{},"queue":{},"cid":{},"slba":{},"bytes":{}{})", r.number, r.sqid,
                                        r.cid, r.slba, r.bytes, more);
    if (stages != nullptr)
        stages->for_each([&arguments](Stage s, std::int64_t ps) {
            if (s == Stage::block_queue || s == Stage::host_queue) return;  // this time lies before the slot was taken
            arguments += fmt::format(R"(,"{}_us":{}.{:06})", stage_name(s), ps / 1'000'000, ps % 1'000'000);
        });
    const TrackId track = lane(slots_, 0, "slot", r.sqid, r.submitted, end);
    writer_.slice(track, r.submitted, end, r.name, arguments);
    writer_.flow(track, r.submitted, r.number, !r.flow_begun);
}

TrackId DeviceTimeline::lane(Lanes& queues, std::uint32_t first, const char* name, std::uint16_t queue, SimTime begin,
                             SimTime end) {
    if (queue >= queues.size()) queues.resize(queue + 1u);
    std::vector<SimTime>& lanes = queues[queue];
    std::size_t i = lanes.size();
    for (std::size_t k = 0; k < lanes.size(); ++k)
        if (lanes[k] <= begin && (i == lanes.size() || lanes[k] > lanes[i])) i = k;
    const TrackId track{kQueues, queue * kLanes + first + static_cast<std::uint32_t>(i)};
    if (i == lanes.size()) {
        lanes.emplace_back();
        writer_.name_track(track, fmt::format("queue {} {} {}", queue, name, i));
    }
    lanes[i] = end;
    return track;
}

// --- cores and link --------------------------------------------------------------------------------------------------

void DeviceTimeline::on_step(std::uint32_t core, CoreStep step, std::uint64_t number, SimTime start, SimTime end) {
    if (!wanted(start)) return;
    std::string arguments = command_argument(number);
    if (!arguments.empty()) arguments.pop_back();
    ahead({kCores, core}, start, end, core_step_names().labels[1 + static_cast<std::size_t>(step)].text,
          std::move(arguments), number);
}

void DeviceTimeline::dma_write(std::uint64_t address, std::uint32_t bytes, const std::uint8_t* data, bool bulk,
                               SimTime at) {
    std::uint64_t number = 0;
    if (bytes == nvme::kCqeBytes) {
        nvme::Cqe cqe;
        std::memcpy(&cqe, data, sizeof cqe);
        const auto found = by_id_.find(std::uint32_t{cqe.sqid} << 16 | cqe.cid);
        if (found != by_id_.end()) number = found->second;
    }
    if (number == 0) {
        const auto found = by_page_.find(address / nvme::kPageBytes);
        if (found != by_page_.end()) number = found->second;
    }
    if (!bulk) return writes_.push_back(number);
    auto behind = bulk_.end();
    while (behind != bulk_.begin() && (behind - 1)->first > at) --behind;
    bulk_.insert(behind, {at, number});
}

void DeviceTimeline::on_wire(bool up, const WireBurst& b) {
    std::uint64_t number = 0;
    // Posted writes keep their order, so the first one that was given to the link is the first one on the wire. Bulk
    // writes only keep their order among themselves.
    if (up && b.bulk && !bulk_.empty()) {
        number = bulk_.front().second;
        if (b.last) bulk_.pop_front();
    } else if (up && b.kind == TlpKind::mem_write && !b.bulk && !writes_.empty()) {
        number = writes_.front();
        writes_.pop_front();
    }
    if (!wanted(b.start)) return;
    const TrackId track{kLink, up ? 1u : 0u};
    ahead(track, b.start, b.end, tlp_names().labels[1 + static_cast<std::size_t>(b.kind)].text,
          fmt::format(R"({}"tlps":{},"wire_bytes":{})", command_argument(number), b.tlps, b.wire_bytes), number);
}

void DeviceTimeline::name_sata_link() {
    has_sata_link_ = true;
    writer_.name_track(kSataLink, "Serial ATA");
}

void DeviceTimeline::sata_frame(SimTime begin, SimTime end, const char* name, const std::string& arguments,
                                std::optional<std::uint32_t> tag) {
    if (!wanted(begin)) return;
    const auto found = tag ? by_id_.find(kSataQueue << 16 | *tag) : by_id_.end();
    const std::uint64_t number = found == by_id_.end() ? 0 : found->second;
    writer_.slice(kSataLink, begin, end, name, command_argument(number) + arguments);
    if (number != 0) writer_.flow(kSataLink, begin, number, false);
}

// --- flash -----------------------------------------------------------------------------------------------------------

void DeviceTimeline::sequence(const BusSequence& s) {
    const bool out = s.op == FlashOp::read_out;
    if (!out) {
        const std::uint32_t first = (s.channel * geometry_.dies_per_channel() + s.die) * geometry_.planes_per_die;
        if (s.cached != nullptr)
            for (std::uint32_t left = s.cached->before; left != 0; left &= left - 1)
                will_end(first + static_cast<std::uint32_t>(__builtin_ctz(left)), s.cached->before_to);
        for (std::uint32_t i = 0; i < s.count; ++i) operations_[first + s.work[i].plane].busy_from = kNever;
        operations_[first + s.work[0].plane] =
            Operation{s.work[0], s.cls, s.cause, s.count, s.cached != nullptr ? s.cached->array_from : s.busy_from};
    }
    if (!wanted(s.begin)) return;
    const char* const part = out ? " data" : s.op == FlashOp::program ? " command and data" : " command";
    std::string arguments = fmt::format(
        R"({}"die":{},"plane":{},"planes":{},"block":{},"page":{},"bytes":{},"waited_us":{:.6f},"passed":{})",
        work_arguments(s.work[0]), s.die, s.work[0].plane, s.count, s.work[0].block, s.work[0].page,
        std::uint64_t{s.data_bytes} * s.count, to_microseconds(s.begin - s.work[0].submitted), s.passed);
    ahead({kChannels, s.channel}, s.begin, s.end, work_name(s.cause, s.cls) + std::string(part), std::move(arguments),
          command_of(s.work[0]));
    for (std::uint32_t i = 1; i < s.count; ++i)
        if (const std::uint64_t command = command_of(s.work[i]); command != 0 && command != command_of(s.work[i - 1]))
            writer_.flow({kChannels, s.channel}, s.begin, command, false);
}

void DeviceTimeline::control(const BusSequence& s) {
    const std::uint32_t first = (s.channel * geometry_.dies_per_channel() + s.die) * geometry_.planes_per_die;
    const bool resumes = onfi_operation(s.op).effect == ArrayEffect::resumes;
    if (resumes) operations_[first + s.work[0].plane] = Operation{s.work[0], s.cls, s.cause, s.count, s.busy_from};
    if (wanted(s.begin))
        ahead({kChannels, s.channel}, s.begin, s.end,
              work_name(s.cause, s.cls) + std::string(resumes ? " resume" : " suspend"),
              fmt::format(R"({}"die":{},"plane":{},"planes":{},"block":{},"page":{})", work_arguments(s.work[0]), s.die,
                          s.work[0].plane, s.count, s.work[0].block, s.work[0].page),
              0);
}

void DeviceTimeline::suspended(std::uint32_t channel, std::uint32_t die, std::uint32_t planes, SimTime now) {
    array_done(channel, die, planes, now);
}

void DeviceTimeline::array_done(std::uint32_t channel, std::uint32_t die, std::uint32_t planes, SimTime now) {
    catch_up(now);  // without ending requests, as in a search for the map, only this call catches up
    const std::uint32_t first = (channel * geometry_.dies_per_channel() + die) * geometry_.planes_per_die;
    for (std::uint32_t left = planes; left != 0; left &= left - 1)
        end_busy(first + static_cast<std::uint32_t>(__builtin_ctz(left)), now, "");
}

/// Writes the end of a program ahead of its time. A program is not suspended while another one waits behind it, so its
/// end is known.
void DeviceTimeline::will_end(std::size_t plane, SimTime at) {
    Operation& o = operations_[plane];
    if (o.busy_from == kNever) return;
    const SimTime begin = std::exchange(o.busy_from, kNever);
    if (!wanted(begin)) return;
    const auto die = static_cast<std::uint32_t>(plane) / geometry_.planes_per_die;
    ahead(die_track(die / geometry_.dies_per_channel(), die % geometry_.dies_per_channel(), o.work.plane), begin, at,
          work_name(o.cause, o.cls), operation_arguments(o), 0);
}

std::string DeviceTimeline::operation_arguments(const Operation& o, const char* more) {
    return fmt::format(R"({}"plane":{},"planes":{},"block":{},"page":{}{})", work_arguments(o.work), o.work.plane,
                       o.count, o.work.block, o.work.page, more);
}

/// Ends the slice of a plane's operation. `more`: further arguments of the slice.
void DeviceTimeline::end_busy(std::size_t plane, SimTime now, const char* more) {
    Operation& o = operations_[plane];
    if (o.busy_from == kNever) return;
    const SimTime begin = o.busy_from;
    o.busy_from = kNever;
    if (!wanted(begin)) return;
    const auto die = static_cast<std::uint32_t>(plane) / geometry_.planes_per_die;
    const TrackId track =
        die_track(die / geometry_.dies_per_channel(), die % geometry_.dies_per_channel(), o.work.plane);
    writer_.slice(track, begin, now, work_name(o.cause, o.cls), operation_arguments(o, more));
    if (const std::uint64_t command = command_of(o.work); command != 0) writer_.flow(track, begin, command, false);
}

// --- what is told ahead of its time, and the power
// ---------------------------------------------------------------------

void DeviceTimeline::ahead(TrackId track, SimTime begin, SimTime end, std::string name, std::string arguments,
                           std::uint64_t command) {
    ahead_.push_back({track, begin, end, std::move(name), std::move(arguments), command});
}

void DeviceTimeline::write(const Ahead& a) {
    writer_.slice(a.track, a.begin, a.end, a.name.c_str(), a.arguments);
    if (a.command != 0) writer_.flow(a.track, a.begin, a.command, false);
}

/// Writes slices that have ended by now, if many are waiting.
void DeviceTimeline::catch_up(SimTime now) {
    if (ahead_.size() < look_at_) return;
    std::size_t left = 0;
    for (std::size_t i = 0; i < ahead_.size(); ++i) {
        if (ahead_[i].end <= now)
            write(ahead_[i]);
        else if (left++ != i)
            ahead_[left - 1] = std::move(ahead_[i]);
    }
    ahead_.erase(ahead_.begin() + static_cast<std::ptrdiff_t>(left), ahead_.end());
    look_at_ = std::max(kAhead, 2 * ahead_.size());
}

/// Cuts off slices that are ahead of their time. `link`: those of the link; else all others.
void DeviceTimeline::cut(SimTime now, bool link) {
    const auto rest = std::stable_partition(ahead_.begin(), ahead_.end(),
                                            [link](const Ahead& a) { return (a.track.group == kLink) != link; });
    for (auto a = rest; a != ahead_.end(); ++a) {
        if (a->begin >= now) continue;
        if (a->end > now) {
            a->end = now;
            a->arguments += a->arguments.empty() ? kPowerLost + 1 : kPowerLost;
        }
        write(*a);
    }
    ahead_.erase(rest, ahead_.end());
}

void DeviceTimeline::reset(SimTime now) {
    end_commands(now, R"(,"reset":true)");
}

/// Ends all commands of the host. `why`: an additional argument of their slices.
void DeviceTimeline::end_commands(SimTime now, const char* why) {
    std::vector<Record*> given_up;
    for (auto& [timeline, record] : records_)
        if (record.number != 0) given_up.push_back(&record);
    std::sort(given_up.begin(), given_up.end(), [](const Record* a, const Record* b) { return a->number < b->number; });
    for (Record* r : given_up) {
        write(*r, now, nullptr, why);
        r->number = 0;
    }
    by_id_.clear();
    by_page_.clear();
}

void DeviceTimeline::supply_fails(SimTime now) {
    supply_failed_ = now;
    if (!has_sata_link_) cut(now, true);
    end_commands(now, kPowerLost);
    writes_.clear();
    bulk_.clear();
}

void DeviceTimeline::power_lost(SimTime now) {
    power_lost_ = now;
    cut(now, false);
    for (std::size_t plane = 0; plane < operations_.size(); ++plane) {
        if (operations_[plane].busy_from != kNever && operations_[plane].busy_from >= now)
            operations_[plane].busy_from = kNever;
        end_busy(plane, now, kPowerLost);
    }
}

void DeviceTimeline::power_back(SimTime now) {
    if (supply_failed_ == kNever) return;
    const TrackId track{kSupply, 0};
    if (!std::exchange(has_supply_track_, true)) {
        writer_.name_group(kSupply, "supply");
        writer_.name_track(track, "power");
    }
    const SimTime lost = std::min(power_lost_, now);  // the run may end before the power is lost
    if (lost != supply_failed_ && wanted(supply_failed_))
        writer_.slice(track, supply_failed_, lost, "on capacitors", "");
    if (power_lost_ != kNever && wanted(power_lost_)) writer_.slice(track, power_lost_, now, "off", "");
    supply_failed_ = power_lost_ = kNever;
}

void DeviceTimeline::finish(SimTime now) {
    power_back(now);
    for (const Ahead& a : ahead_) write(a);
    ahead_.clear();
    std::vector<Record> rest;  // commands of requests that other commands ended
    for (const auto& [timeline, record] : records_)
        if (record.number != 0) rest.push_back(record);
    std::sort(rest.begin(), rest.end(), [](const Record& a, const Record& b) { return a.number < b.number; });
    for (const Record& r : rest) write(r, std::max(r.ended, r.submitted), nullptr);
    writer_.close();
}

}  // namespace ssdtlm
