// SPDX-License-Identifier: Apache-2.0
#include "host_vfio/vfio_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "common/report/error.h"
#include "host_pcie/driver/nvme_status.h"
#include "host_pcie/driver/root_complex.h"
#include "host_vfio/timely_irq.h"

namespace ssdtlm {

using namespace nvme;

namespace {

/// The simulated time between two looks at the socket while the drive works, and the longest sleep of an idle drive.
/// Assumed: the first is a few register accesses long, and a person does not notice the second.
constexpr Ps kSlice{10'000'000};
constexpr Ps kLongest{10'000'000'000};
/// The simulated time between two looks with a guest's clock that follows the model. The guest sees an event too late
/// by at most this time. Assumed: a tenth of the fastest read.
constexpr Ps kExactSlice{2'000'000};
/// The time between two reads of CSTS: assumed.
constexpr Ps kPollStep{20'000'000};
/// Longest wait for a controller to shut down: the largest value of CAP.TO.
constexpr Ps kMostPatience{127'500'000'000'000};
/// The wall time in ns in which a client must answer a read or write of its memory: assumed.
constexpr std::int64_t kAnswerLimit = 2'000'000'000;

}  // namespace

VfioHost::VfioHost(sc_core::sc_module_name name, Agenda& agenda, const HostConfig& config, const VfioHostFacts& facts,
                   Workload& workload, GuestService& service, CommandTracker& stages, std::function<bool()> is_idle,
                   vfio::FunctionReset::Carry reset_function, CompletionObserver* observer)
    : sc_module(name),
      HostDriver(agenda, config, workload, *this, *this, &stages, nullptr, observer),
      mmio_initiator("mmio_initiator"),
      dma_target("dma_target"),
      agenda_(agenda),
      facts_(facts),
      service_(service),
      stages_(stages),
      is_idle_(std::move(is_idle)),
      door_(agenda, *this),
      mmio_(agenda, mmio_initiator),
      session_(facts.pci, *this,
               [this](const vfio::Bytes& bytes) {
                   if (service_.socket.connected() && !service_.socket.send(bytes)) drop_ = true;
               }),
      queues_([this](std::uint64_t address, void* to, std::uint32_t bytes) {
          return session_.regions.read(address, to, bytes) == vfio::DmaRegions::Where::here;
      }),
      io_queues_(facts.drive.queue_pairs),
      function_reset_(mmio_, nvme::kRegCsts, std::move(reset_function), [this] { reset_ended(); }) {
    dma_target.bind(door_);
    // After a reset the guest itself repeats the cancelled commands.
    io_path().set_requeue([](const HostRequest&) {});
}

VfioHost::~VfioHost() = default;

void VfioHost::end_of_elaboration() {
    mmio_.bound();
    door_.towards(dma_target.operator->());
}

// ---------------------------------------------------------------------------------------------------------------
// Turns.

/// True: nothing can happen before a client connects.
bool VfioHost::stands() const {
    return !service_.socket.connected() && powered() && waits_ == Waits::none;
}

/// Returns the nanoseconds of wall time that may pass before the model continues, to `until` at most. A negative value
/// means no limit.
std::int64_t VfioHost::patience(SimTime until, std::int64_t wall) const {
    if (stands()) return -1;
    if (!service_.pacer.started()) return 0;
    if (!service_.pacer.is_free()) return std::max<std::int64_t>(0, service_.pacer.wall_at(until, wall) - wall);
    const bool idle = agenda_.now() - last_access_ > facts_.settles && waits_ == Waits::none && powered() &&
                      io().outstanding() == 0 && is_idle_();
    return idle ? -1 : 0;
}

void VfioHost::turn() {
    vfio::MessageSocket& socket = service_.socket;
    service_.pacer.look(agenda_.now(), vfio::wall_now());
    for (;;) {
        take_messages();
        take_signals();
        if (ending_) return begin_end();
        look_at_pin();  // the guest may have moved heads in its memory
        const SimTime now = agenda_.now(), next = agenda_.next_time();
        const Ps slice = service_.pacer.is_master() ? kExactSlice : kSlice;
        const bool works = next <= now + slice;
        SimTime then = works ? now + slice : std::min(next, now + kLongest);
        const std::int64_t wall = vfio::wall_now(), wait = patience(works ? now : then, wall);
        service_.pacer.allow(then, wall);
        if (wait != 0) socket.wait(wait, service_.signals.fd());
        service_.signals.read();
        if (socket.accept()) begin_client();
        if (!socket.receive()) end_client(false);
        const bool came = (socket.any() && !busy()) || service_.signals.end_wanted();
        if (!came && wait < 0) continue;  // the wait was ended by something else, so time stands
        if (came && !service_.pacer.is_free() && service_.pacer.started())
            then = std::clamp(service_.pacer.model_at(vfio::wall_now()), now, then);
        else if (wait < 0)
            then = now;  // time stood, and nothing has happened meanwhile
        else if (!came && service_.pacer.is_master() && patience(works ? now : then, vfio::wall_now()) > 0)
            continue;  // the guest's clock has stood
        if (then > now) return agenda_.post(then, Then::to<&VfioHost::turn>(this));
        service_.pacer.look(now, vfio::wall_now());
    }
}

void VfioHost::take_messages() {
    vfio::MessageSocket& socket = service_.socket;
    // The guest's clock gives the time of a message, and the model must reach that time first.
    const std::int64_t wall = vfio::wall_now();
    if (service_.pacer.message_under_way() && service_.pacer.model_at(wall) > agenda_.now()) return;
    service_.pacer.taken(socket.received(), wall);
    while (socket.any() && !busy() && !drop_) {
        vfio::Message message = socket.take();
        last_access_ = agenda_.now();
        if (!session_.take(message)) drop_ = true;
    }
    if (std::exchange(drop_, false)) end_client(true);
}

void VfioHost::take_signals() {
    service_.signals.read();
    if (service_.signals.take_power_cut() && ready() && powered() && !ending_) cut_power();
    if (service_.signals.end_wanted()) ending_ = true;
}

void VfioHost::begin_client() {
    ++service_.clients;
    last_access_ = agenda_.now();
    service_.pacer.start(agenda_.now(), vfio::wall_now());
}

/// Resets the function, so that it no longer accesses the client's memory, and waits for the next client.
void VfioHost::end_client(bool broke) {
    if (!service_.socket.connected()) return;
    if (broke) ++service_.dropped;
    service_.socket.drop();
    session_.end();
    service_.pacer.stop(vfio::wall_now());
    if (powered()) begin_reset();
    if (service_.options.stop_after_disconnect && service_.clients != 0) ending_ = true;
}

/// Ends the turns. If the guest's driver has not shut down the controller, a reset and a shutdown follow here.
void VfioHost::begin_end() {
    ending_ = true;
    end_client(false);
    service_.commands.end();
    if (started_) {  // the guest has not enabled the controller, or not again
        if (powered() && waits_ == Waits::none) agenda_.post(agenda_.now(), Then::to<&VfioHost::started>(this));
    } else if (waits_ == Waits::none && powered()) {
        stop_following();
        if (io().paused()) io_path().resume();
        io_path().more();
    }
}

// ---------------------------------------------------------------------------------------------------------------
// Registers.

void VfioHost::read_bar(std::uint32_t offset, std::uint32_t bytes, std::uint64_t number) {
    auto free = std::find_if(reads_.begin(), reads_.end(), [](const auto& r) { return !r->open; });
    if (free == reads_.end()) free = reads_.insert(free, std::make_unique<BarRead>(*this));
    BarRead& read = **free;
    read.open = true;
    read.number = number;
    read.offset = offset;
    read.bytes = bytes;
    read.next = offset & ~3u;
    read.data.assign(bytes, 0xFF);
    if (!powered()) return answer(read);  // there is no drive to answer
    mmio_.read32(read.next, read);
}

void VfioHost::dword_read(BarRead& read, std::uint32_t value) {
    if (!read.open) return;
    for (std::uint32_t i = 0; i < 4; ++i) {
        const std::uint32_t at = read.next + i;
        if (at >= read.offset && at - read.offset < read.bytes)
            read.data[at - read.offset] = static_cast<std::uint8_t>(value >> 8 * i);
    }
    read.next += 4;
    if (read.next < read.offset + read.bytes) return mmio_.read32(read.next, read);
    answer(read);
}

void VfioHost::answer(BarRead& read) {
    read.open = false;
    session_.bar_read(read.number, read.data.data());
}

/// Writes registers in whole dwords, the lower first. A driver may not write a part of one (NVMe 1.4 3.1).
void VfioHost::write_bar(std::uint32_t offset, const std::uint8_t* from, std::uint32_t bytes) {
    if (!powered()) return;
    if (offset % 4 != 0 || bytes % 4 != 0) {
        ++partial_writes_;
        return;
    }
    for (std::uint32_t i = 0; i < bytes; i += 4) write_dword(offset + i, load<std::uint32_t>(from + i));
}

void VfioHost::write_dword(std::uint32_t offset, std::uint32_t value) {
    // The client keeps its own MSI-X table, and the drive's is filled here. So such writes are dropped, as VFIO does.
    if (offset >= kMsixTable) return;
    if (offset < kRegDoorbells) {
        const vfio::GuestQueues::Asked asked = queues_.register_written(offset, value);
        if (asked == vfio::GuestQueues::Asked::enable) program_vectors();
        mmio_.write32(offset, value);
        if (asked == vfio::GuestQueues::Asked::enable) controller_enabled();
        if (asked == vfio::GuestQueues::Asked::disable) stop_following();
        return look_at_pin();
    }
    const auto queue = static_cast<std::uint16_t>((offset - kRegDoorbells) / 8);
    const bool head = offset % 8 != 0;
    value = doorbell(queue, head, value);
    if (head) {
        queues_.head_moved(queue, value & 0xFFFF);
        look_at_pin();
    } else {
        rung(queue, value & 0xFFFF);
    }
    mmio_.write32(offset, value);
}

/// Returns the value of a doorbell whose register the guest has written. With doorbells in the guest's memory that is
/// what is there now. PCIe keeps such a write before the drive's later reads of memory, but a message may come behind
/// them: its value is then older than one that the drive has read.
std::uint32_t VfioHost::doorbell(std::uint16_t queue, bool head, std::uint32_t value) {
    if (!queues_.shadowed(queue)) return value;
    std::uint8_t now[4];
    if (!copy(false, queues_.shadow_address(queue, head), now, sizeof now)) return value;
    return load<std::uint32_t>(now);
}

void VfioHost::rung(std::uint16_t queue, std::uint32_t tail) {
    for (const Sqe& sqe : queues_.rung(queue, tail)) {
        if (queue == 0) {
            ++admin_;
            continue;
        }
        // Entries are followed one by one, because two may have the same identifier, which is an error of the driver.
        follow(queue, sqe);
        io_path().more();
        others_ += service_.commands.forget();
    }
}

/// Returns the first byte of a namespace. Namespaces follow each other.
std::uint64_t VfioHost::begin_of(std::uint32_t nsid) const {
    std::uint64_t begin = 0;
    for (std::uint32_t n = 1; n < nsid && queues_.space(n).lba_bytes != 0; ++n) begin += queues_.space(n).bytes;
    return begin;
}

/// Makes a request of the workload from a command that the host's I/O path supports.
void VfioHost::follow(std::uint16_t queue, const Sqe& sqe) {
    const std::optional<vfio::GuestRequest> asked =
        queue <= io_queues_.size()
            ? vfio::request_of(sqe,
                               [this](std::uint64_t a, void* to, std::uint32_t n) {
                                   return session_.regions.read(a, to, n) == vfio::DmaRegions::Where::here;
                               })
            : std::nullopt;
    if (!asked || !io().started() || io().paused() || is_outstanding(queue, sqe.cid)) {
        ++others_;
        return;
    }
    HostRequest r;
    r.op = static_cast<HostOp>(asked->kind);
    static_assert(static_cast<int>(HostOp::flush) == static_cast<int>(vfio::GuestRequest::Kind::flush));
    r.fua = asked->fua;
    r.job = queue - 1u;
    r.tag = sqe.cid;
    if (r.op != HostOp::flush) {
        const std::uint32_t told = queues_.space(sqe.nsid).lba_bytes, block = told != 0 ? told : facts_.lba_bytes;
        // A driver may name blocks that do not exist. The drive refuses them.
        r.offset = begin_of(sqe.nsid) + (asked->first_block & 0xFFFF'FFFF'FFFF) * block;
        r.bytes =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{asked->blocks} * block, 0xFFFF'0000));
        // The I/O path would split a command that is too large into parts that never end. The drive refuses it as a
        // whole.
        const bool whole = ((r.offset | r.bytes) & (facts_.drive.lba_bytes - 1)) == 0;
        if (!whole || command_bytes(facts_.drive, r, 0) != r.bytes) {
            ++others_;
            return;
        }
    }
    service_.commands.announced(r);
}

CommandQueues::Submitted VfioHost::submit(std::uint16_t queue, const HostRequest& request) {
    Queue& q = at(queue);
    const auto cid = static_cast<std::uint16_t>(request.tag);
    if (q.open.empty()) q.open.resize(std::size_t{1} << 16);
    q.open[cid] = true;
    ++q.outstanding;
    // The command stays in this stage until the drive reports on the command, which it never does for a command that it
    // refuses.
    stages_.at(queue, cid).begin(agenda_.now());
    return {cid, nullptr};
}

CommandQueues::Ended VfioHost::take_ended(std::uint16_t queue) {
    Queue& q = at(queue);
    const Ended ended = q.ended.front();
    q.ended.pop_front();
    q.open[ended.tag] = false;
    --q.outstanding;
    return ended;
}

std::string VfioHost::status_text(std::uint32_t code) const {
    return fmt::format("status SCT {} SC {}", code >> 8, code & 0xFF);
}

void VfioHost::controller_enabled() {
    if (started_)
        std::exchange(started_, nullptr)();
    else if (io().started() && io().paused())
        io_path().resume();
}

/// The controller is being disabled, and drops its queues. The guest must repeat the commands in them.
void VfioHost::stop_following() {
    if (!io().started() || io().paused()) return;
    io_path().pause();
    io_path().drive_stopped();
}

/// Programs all vectors, each with a message that holds its number. The receiver checks which vectors the guest wants.
void VfioHost::program_vectors() {
    for (std::uint32_t v = 0; v < facts_.pci.vectors; ++v) {
        const std::uint32_t entry = msix_entry(static_cast<std::uint16_t>(v));
        mmio_.write32(entry + kMsixAddressLow, static_cast<std::uint32_t>(RootComplex::kMsiBase));
        mmio_.write32(entry + kMsixAddressHigh, 0);
        mmio_.write32(entry + kMsixData, v);
        mmio_.write32(entry + kMsixControl, 0);
    }
}

// ---------------------------------------------------------------------------------------------------------------
// Resets of the function, and the shutdown at the end.

void VfioHost::reset() {
    ++resets_of_function_;
    if (!powered()) return session_.reset_done();
    begin_reset();
}

/// Messages of the client wait meanwhile.
void VfioHost::begin_reset() {
    stop_following();
    queues_.reset();
    if (waits_ == Waits::reset) return;  // of a client that has gone in its own reset
    agenda_.cancel(poll_);
    waits_ = Waits::reset;
    function_reset_.begin();
}

void VfioHost::reset_ended() {
    waits_ = Waits::none;
    session_.reset_done();
    if (ending_) begin_end();
}

void VfioHost::poll() {
    mmio_.read32(kRegCsts, status_);
}

void VfioHost::status_read(std::uint32_t csts) {
    if (waits_ != Waits::shutdown) return;
    if ((csts & Csts::kShstMask) == Csts::kShstComplete) {
        waits_ = Waits::none;
        return std::exchange(shut_down_, nullptr)();
    }
    if (!std::exchange(shutdown_asked_, true)) {
        // This is also right if the guest has asked for a shutdown that has not ended.
        mmio_.write32(kRegCc, (queues_.cc() & ~Cc::kShnMask) | Cc::kShnNormal);
    }
    if (agenda_.now() - waits_since_ > kMostPatience)
        throw CheckFailed(fmt::format("guest: the controller does not shut down, CSTS is {:08x}", csts));
    poll_ = agenda_.post_cancellable(agenda_.now() + kPollStep, Then::to<&VfioHost::poll>(this));
}

// ---------------------------------------------------------------------------------------------------------------
// Accesses of the drive to the client's memory.

tlm::tlm_sync_enum VfioHost::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, "phase outside the base protocol");
    serve(p);
    return tlm::TLM_COMPLETED;
}

void VfioHost::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) {
    serve(p);
}

/// Accesses only memory that is mapped here, because a debug access sends no message.
unsigned VfioHost::transport_dbg(tlm::tlm_generic_payload& p) {
    const std::uint32_t bytes = p.get_data_length();
    const auto where = p.is_write() ? session_.regions.write(p.get_address(), p.get_data_ptr(), bytes)
                                    : session_.regions.read(p.get_address(), p.get_data_ptr(), bytes);
    return where == vfio::DmaRegions::Where::here ? bytes : 0;
}

void VfioHost::serve(tlm::tlm_generic_payload& p) {
    const std::uint64_t address = p.get_address();
    const std::uint32_t bytes = p.get_data_length();
    std::uint8_t* const data = p.get_data_ptr();
    p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    const unsigned char* const enables = p.get_byte_enable_ptr();
    const std::uint32_t pattern = p.get_byte_enable_length();
    if (!session_.config_space.is_bus_master() || (enables != nullptr && pattern == 0) ||
        !(p.is_write() || p.is_read())) {
        ++wrong_addresses_;
        return;
    }
    if (p.is_write() && bytes == 4 && enables == nullptr &&
        address - RootComplex::kMsiBase < RootComplex::kMsiEnd - RootComplex::kMsiBase) {
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        return interrupt(load<std::uint32_t>(data));
    }
    const std::uint16_t shadowed = p.is_read() ? queues_.tail_at(address, bytes) : std::uint16_t{0};
    // The drive has written its event index and reads the tail, while the guest writes the tail and reads the index.
    // One of the two must see what the other has written.
    if (shadowed != 0) std::atomic_thread_fence(std::memory_order_seq_cst);
    for (std::uint32_t begin = 0; begin < bytes;) {
        std::uint32_t end = bytes;
        if (enables != nullptr) {
            while (begin < bytes && enables[begin % pattern] == 0) ++begin;
            for (end = begin; end < bytes && enables[end % pattern] != 0;) ++end;
        }
        if (begin < end && !copy(p.is_write(), address + begin, data + begin, end - begin)) {
            ++wrong_addresses_;
            return;
        }
        begin = end;
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    if (shadowed != 0) {
        last_access_ = agenda_.now();
        rung(shadowed, load<std::uint32_t>(data) & 0xFFFF);
    }
    if (!p.is_write()) return;
    if (const auto c = queues_.written(address, data, bytes)) completed(*c);
}

bool VfioHost::copy(bool write, std::uint64_t address, std::uint8_t* data, std::uint32_t bytes) {
    const auto where =
        write ? session_.regions.write(address, data, bytes) : session_.regions.read(address, data, bytes);
    if (where != vfio::DmaRegions::Where::client) return where == vfio::DmaRegions::Where::here;
    const std::uint32_t most = session_.most_dma();
    for (std::uint32_t done = 0; done < bytes; done += std::min(most, bytes - done))
        if (!copy_by_message(write, address + done, data + done, std::min(most, bytes - done))) return false;
    return true;
}

/// Stops simulated time while the client answers. A client that does not answer is dropped.
bool VfioHost::copy_by_message(bool write, std::uint64_t address, std::uint8_t* data, std::uint32_t bytes) {
    vfio::MessageSocket& socket = service_.socket;
    if (drop_ || !socket.connected()) return false;
    ++dma_by_message_;
    const std::uint16_t id = next_id_++;
    const vfio::Command what = write ? vfio::Command::dma_write : vfio::Command::dma_read;
    const std::int64_t limit = vfio::wall_now() + kAnswerLimit;
    bool goes_on = socket.send(session_.dma_command(id, write, address, data, bytes));
    vfio::Message reply;
    while (goes_on && !socket.take_reply(id, what, reply)) {
        const std::int64_t left = limit - vfio::wall_now();
        goes_on = left > 0;
        if (!goes_on) break;
        socket.wait(left, service_.signals.fd());
        service_.signals.read();
        goes_on = socket.receive() && !service_.signals.end_wanted();
    }
    if (!goes_on) {
        drop_ = true;
        return false;
    }
    return vfio::Session::take_dma_reply(reply, write, address, data, bytes);
}

void VfioHost::interrupt(std::uint32_t vector) {
    if (session_.irqs.has_messages())
        vfio::tell(session_.irqs, vector, agenda_.now(), service_.pacer);
    else
        look_at_pin();
}

void VfioHost::look_at_pin() {
    const bool on = !session_.irqs.has_messages() && session_.irqs.has_pin() &&
                    !session_.config_space.intx_disabled() && queues_.pin();
    session_.irqs.set_pin(on);
    session_.config_space.set_intx(on);
}

void VfioHost::completed(const vfio::GuestQueues::Completed& c) {
    last_access_ = agenda_.now();
    const std::uint16_t queue = c.entry.sqid, cid = c.entry.cid;
    if (queue == 0 || queue > io_queues_.size() || !is_outstanding(queue, cid)) return;
    const DriveStatus status = drive_status_of(c.entry.status());
    carried_out_ += status != DriveStatus::other;
    at(queue).ended.push_back({cid, status, c.entry.status()});
    interrupted(queue);
}

// ---------------------------------------------------------------------------------------------------------------
// Start, shutdown and loss of power.

/// The drive has started when a guest has enabled the controller.
void VfioHost::start(std::function<void()> done) {
    const bool first = !started_ && !io().started() && power_cuts() == 0;
    started_ = std::move(done);
    if (first) {
        plan().deal(facts_.drive.queue_pairs);
        agenda_.post(agenda_.now(), Then::to<&VfioHost::turn>(this));
    } else if (ending_) {
        agenda_.post(agenda_.now(), Then::to<&VfioHost::started>(this));
    }
}

void VfioHost::started() {
    if (started_) std::exchange(started_, nullptr)();
}

void VfioHost::shutdown(std::function<void()> done) {
    shut_down_ = std::move(done);
    waits_ = Waits::shutdown;
    waits_since_ = agenda_.now();
    shutdown_asked_ = false;
    poll();
}

void VfioHost::reset(bool, std::function<void()>, std::function<void()>) {
    SSDTLM_CHECK(false, "a reset by a host whose driver is the guest's");
}

void VfioHost::power_lost() {
    mmio_.restart();
    door_.restart();
    agenda_.cancel(poll_);
    waits_ = Waits::none;
    started_ = shut_down_ = nullptr;
    queues_.reset();
    for (const auto& read : reads_)
        if (read->open) {
            read->data.assign(read->bytes, 0xFF);
            answer(*read);
        }
    session_.reset_done();
}

const char* VfioHost::doing() const {
    if (!service_.socket.connected()) return "without a guest";
    return queues_.enabled() ? "running" : "disabled by the guest";
}

std::vector<std::pair<const char*, std::uint64_t>> VfioHost::figures() const {
    const vfio::Session::Counters& s = session_.counters();
    return {{"guest_clients", service_.clients},
            {"guest_clients_dropped", service_.dropped},
            {"guest_messages", s.messages},
            {"guest_messages_refused", s.refused},
            {"guest_register_reads", s.reads},
            {"guest_register_writes", s.writes},
            {"guest_interrupts", session_.irqs.signalled()},
            {"guest_admin_commands", admin_},
            {"guest_other_commands", others_},
            {"guest_function_resets", resets_of_function_},
            {"guest_partial_register_writes", partial_writes_},
            {"guest_dma_refused", wrong_addresses_},
            {"guest_dma_by_message", dma_by_message_}};
}

std::string VfioHost::dump() const {
    return fmt::format("guest: {}, CC={:08x}, {} memory regions, {} messages, {}\n",
                       service_.socket.connected() ? "connected" : "not connected", queues_.cc(),
                       session_.regions.count(), session_.counters().messages,
                       session_.busy() ? "the next one waits" : "none waits");
}

}  // namespace ssdtlm
