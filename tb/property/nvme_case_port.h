// SPDX-License-Identifier: Apache-2.0
// NVMe for the host of a case: the model's bring-up, queue pair, PRP lists and host memory.
#pragma once

#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "common/tlm/pooled_payload.h"
#include "common/tlm/tlm_guard.h"
#include "host_pcie/driver/bring_up.h"
#include "host_pcie/driver/prp_builder.h"
#include "host_pcie/driver/root_complex.h"
#include "property/blocks_in_memory.h"
#include "property/case_port.h"
#include "property/scattered_data.h"
#include "protocol/nvme.h"

namespace ssdtlm {

class NvmeCasePort final : public sc_core::sc_module,
                           public CasePort,
                           public InterruptSink,
                           private MmioPort,
                           private tlm::tlm_bw_transport_if<> {
public:
    tlm::tlm_initiator_socket<> mmio_initiator;

    NvmeCasePort(sc_core::sc_module_name name, Agenda& agenda, const HostConfig& config, std::uint32_t lba_bytes,
                 bool offers_metadata, std::uint32_t depth, CasePortClient& client);
    RootComplex& root_complex() { return root_complex_; }
    /// Before start(). See Device::function_level_reset().
    void set_reset_function(BringUp::ResetFunction f) { reset_function_ = std::move(f); }

    void start(Done started) override;
    const Facts& facts() const override { return facts_; }
    bool has_room(const CaseCommand&) const override { return queue_[0].has_room(); }
    std::uint32_t next_slot() const override { return queue_[0].next_cid(); }
    std::uint8_t* buffer(std::uint32_t slot, std::uint32_t bytes) override;
    std::uint8_t* metadata(std::uint32_t slot, std::uint32_t blocks) override;
    void submit(std::uint32_t slot, const CaseCommand& command) override;
    void announce() override;
    void drop() override;
    void reset(std::uint32_t variant, Done stopped, Done done) override;
    void stop(Done done) override { bring_up_.stop(std::move(done)); }
    void shutdown(Done done) override { bring_up_.shutdown(std::move(done)); }
    void power_lost() override;
    bool resets_end_commands() const override { return true; }
    void erase(std::uint32_t way, std::function<void(Erasure)> ended) override;
    std::uint64_t commands() const override { return commands_; }
    std::string doing() const override { return bring_up_.doing(); }

    void interrupt(std::uint64_t address, std::uint32_t data) override;

private:
    struct Access : tlm::tlm_generic_payload {
        Access() { set_up(*this, tlm::TLM_WRITE_COMMAND, 0, reinterpret_cast<unsigned char*>(&value), sizeof value); }
        std::uint32_t value = 0;
        MmioClient* client = nullptr;
    };
    struct OneJob final : Workload {
        Next next(SimTime) override { return {}; }
        void completed(const HostRequest&, SimTime, SimTime, SimTime, bool) override {}
        std::uint32_t jobs() const override { return 1; }
        std::uint32_t depth(std::uint32_t) const override { return 1; }
        double progress(SimTime) const override { return 0; }
        bool measuring(const HostRequest&, SimTime) const override { return false; }
    };

    void write32(std::uint32_t offset, std::uint32_t value) override {
        access(tlm::TLM_WRITE_COMMAND, offset, value, nullptr);
    }
    void read32(std::uint32_t offset, MmioClient& client) override {
        access(tlm::TLM_READ_COMMAND, offset, 0, &client);
    }
    void access(tlm::tlm_command command, std::uint32_t offset, std::uint32_t value, MmioClient* client);
    void access_done(Access& a);
    void access_done_at_once(std::uint64_t number);
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    void end_of_elaboration() override { registers_ = door_.towards(mmio_initiator.operator->()); }
    void admin_handler() { bring_up_.admin_interrupt(); }
    void brought_up(const Done& then);
    bool take_ended();
    void go_on_erasing(const Done& started);
    void format(std::uint32_t kind);
    void format_ended(Erasure end);
    void look_for_metadata(Done then);
    void ask(nvme::Sqe& sqe, std::function<void(std::uint16_t)> ended);
    void look_at_sanitize();
    void look_at_format();
    void look_again(Then look);
    void leave_failure();
    void erasure_ended(Erasure end) { std::exchange(erased_, nullptr)(end); }
    std::uint8_t* in_memory(std::uint32_t slot, std::uint32_t bytes);
    static void protect(const CaseCommand& c, nvme::Sqe& sqe);
    void name_data(std::uint32_t slot, std::uint32_t bytes, bool is_read, nvme::Sqe& sqe);

    Agenda& agenda_;
    const HostConfig config_;
    const std::uint32_t lba_bytes_;
    const bool offers_metadata_;
    CasePortClient& client_;
    HostMemory memory_;
    InitiatorGuard<> door_;
    RootComplex root_complex_;
    tlm::tlm_fw_transport_if<>* registers_ = nullptr;
    PooledPayloads<Access> accesses_;
    OneJob one_job_;
    QueuePlan plan_;
    BringUp bring_up_;
    std::vector<QueuePair> queue_;  // one, once the controller has granted it
    std::vector<SlotBuffer> buffers_;
    std::vector<ScatteredData> scattered_;  // by slot, if the drive takes SGLs
    std::vector<BlocksInMemory> blocks_;    // by slot, if blocks have metadata
    Random random_{1};
    Facts facts_;
    std::uint32_t announced_ = 0;  // tail of the queue
    std::uint64_t commands_ = 0;
    bool serves_ = false;
    bool resets_ = false;  // a reset is under way, and the drive has not stopped
    BringUp::ResetFunction reset_function_;
    std::function<void(Erasure)> erased_;
    /// Of a sanitize operation, or a format, whose end the host has not seen. Failed: the host has not left the failure
    /// of a sanitize operation.
    enum class Progress : std::uint8_t { none, asked, begun, failed };
    Progress sanitize_ = Progress::none, format_ = Progress::none;
    CaseMetadata asked_;                      // by the last format
    std::uint32_t format_with_metadata_ = 0;  // its number
    Agenda::Entry next_look_;
    std::uint32_t looks_ = 0;  // at what erases, since the host began to look
    std::uint64_t log_ = 0;    // host memory for a log page or a data structure of Identify
};

}  // namespace ssdtlm
