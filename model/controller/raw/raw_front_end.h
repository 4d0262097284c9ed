// SPDX-License-Identifier: Apache-2.0
// The front end "raw": the drive as a TLM-2.0 target, for hosts that bring a protocol of their own. One payload is one
// command. Its transport takes no time: the host models the cost of a link or queues.
//
// - Address and data length are bytes of the drive, in whole logical blocks. The data pointer is the host's memory,
//   which the drive reads and writes between BEGIN_REQ and BEGIN_RESP. With run.data = "signatures" only the first 16
//   bytes of each block mean something (protocol/signature.h).
// - A payload without RawExtension is a read or a write. With one it may be forced, a trim, a flush or a shutdown.
// - Base protocol: BEGIN_REQ is answered at once, by END_REQ or by TLM_COMPLETED with an error. BEGIN_RESP comes when
//   the command has ended. Payloads may overtake each other. b_transport is not served: an LtInitiatorAdapter makes
//   one.
// - At most `commands` of them are in the firmware; the others wait here, in order (stage `arbitration`). All wait
//   while the drive looks for its map.
// - A loss of power forgets payloads without an answer. They are the host's own again.
//
// Response status: TLM_OK; ADDRESS_ERROR outside the drive; BURST_ERROR for no whole blocks, no data, or a streaming
// width; BYTE_ENABLE_ERROR; COMMAND_ERROR for an unknown command; GENERIC_ERROR when the drive has failed:
// RawExtension::status says how.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "common/containers/pool.h"
#include "common/tlm/tlm_guard.h"
#include "controller/ports/front_end.h"
#include "controller/raw/raw_extension.h"

namespace ssdtlm {

class RawFrontEnd final : public sc_core::sc_module,
                          public FrontEnd,
                          private CompletionSink,
                          private HostPort,
                          private tlm::tlm_fw_transport_if<> {
public:
    struct Config {
        std::uint32_t commands = 256;  ///< in the firmware at a time
        std::uint32_t block_bytes = 4096;
    };
    tlm::tlm_target_socket<> target;

    RawFrontEnd(const sc_core::sc_module_name& name, Agenda& agenda, const Config& config, const DriveFacts& drive);

    std::uint64_t bytes() const { return bytes_; }
    std::uint32_t block_bytes() const { return config_.block_bytes; }
    /// Payloads that have no answer yet.
    std::uint32_t pending() const { return static_cast<std::uint32_t>(commands_.in_use()); }

    void bind(CommandSink& firmware) override { firmware_ = &firmware; }
    CompletionSink& completions() override { return *this; }
    HostPort& data() override { return *this; }
    void host_is_gone() override;
    void lose_power(std::uint64_t host_commands) override;
    void drive_is_starting() override { serves_ = false; }
    void drive_is_up() override;
    bool is_shut_down() const override { return shut_down_; }
    bool owns(const void* object) const override;
    FrontEndCounts counts() const override { return counts_; }
    void check_books() const override;
    std::string dump() const override;
    void dump(std::ostream& out) const override { out << dump(); }
    std::vector<std::pair<const char*, std::uint64_t>> figures() const override;
    bool holds_back(std::uint16_t) const override { return !waiting_.empty(); }
    void check_waiters() const override;

private:
    struct RawCommand : Command {
        mutable tlm::tlm_generic_payload* payload = nullptr;  // null: its host is gone
        Timeline own;
    };
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
    void end_of_elaboration() override { host_ = door_.towards(target.operator->()); }

    tlm::tlm_response_status refusal(const tlm::tlm_generic_payload& payload, const RawExtension& more) const;
    void accept(tlm::tlm_generic_payload& payload, const RawExtension& more);
    void submit(RawCommand& command);
    void submit_waiting();
    void complete(Command& command) override;
    void answer(std::uint64_t command);
    void to_host(Command& command, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                 const DmaThen& then, ByteEnables content, const DmaTerms& terms) override;
    void from_host(Command& command, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data, const DmaThen& then,
                   ByteEnables content) override;

    Agenda& agenda_;
    TargetGuard<> door_;
    tlm::tlm_bw_transport_if<>* host_ = nullptr;  // behind the socket
    const Config config_;
    const std::uint64_t bytes_;
    CommandSink* firmware_ = nullptr;
    Pool<RawCommand> commands_;
    std::deque<RawCommand*> waiting_;
    std::uint32_t in_firmware_ = 0;  // or ended there, and not answered
    bool serves_ = true;
    bool shut_down_ = false;
    FrontEndCounts counts_;
    std::uint64_t requests_ = 0, refused_ = 0, forgotten_ = 0, shutdowns_ = 0, handed_over_ = 0;
};

}  // namespace ssdtlm
