// SPDX-License-Identifier: Apache-2.0
// A port of the host bus adapter: its registers, the commands of its list on their way to the device, and the frames
// that come back. Kernel-free. Sources: AHCI 1.3.1, 3.3 (registers), 5.3 (state machine of a port), 6 (errors).
//
// - Commands: the bits of PxCI are looked at in turn, from the slot behind the last one that was issued on, wrapping at
//   32 (5.3.3, pSlotLoc). Header (32 bytes) and table (128 bytes, without its PRDT) are read one behind the other, one
//   command ahead of the device: it is offered to the link when BSY and DRQ are clear and no data are asked for.
// - A command that is not queued ends with its D2H Register or PIO data: PxCI loses its bit. Of a queued one PxCI loses
//   it when the device releases BSY, and PxSACT when Set Device Bits says so.
// - Received FISes are copied to the area at PxFB while PxCMD.FRE is set, behind the data that came before them. A
// frame
//   that must wait for that, or for room, holds the wire: its R_OK comes later.
// - After a fatal error (ERR in a status, host bus) nothing is issued until PxCMD.ST goes to 0; PxCI and PxSACT stand
//   until then. PxCMD.CR goes when nothing is under way any more.
// - PxSCTL.DET = 1 sends COMRESET; the port is without a device until DET is 0 and the link has trained.
// Not modelled: port multipliers, power management of the link, ATAPI, aggressive power states.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "host_sata/ahci/adapter_ports.h"
#include "host_sata/ahci/ahci_config.h"
#include "host_sata/ahci/data_mover.h"
#include "protocol/ahci.h"
#include "protocol/sata.h"

namespace ssdtlm {

class AhciPort final : private MemoryClient, private DataMover::Listener {
public:
    struct Counters {
        std::uint64_t commands = 0;        ///< frames with a command that the device has taken
        std::uint64_t fises_received = 0;  ///< of all kinds, data among them
        std::uint64_t bytes_to_host = 0;   ///< of data
        std::uint64_t bytes_to_device = 0;
        std::uint64_t comresets = 0;
        std::uint64_t errors = 0;  ///< fatal ones
        std::uint64_t held = 0;    ///< frames that held the wire until the adapter had room
    };

    AhciPort(Agenda& agenda, const AhciConfig& config, AdapterMemory& memory, AdapterSerial& serial,
             PortEvents& events);
    AhciPort(const AhciPort&) = delete;
    AhciPort& operator=(const AhciPort&) = delete;

    /// `offset` from the port's first register on; what is reserved reads as 0, and ignores writes.
    std::uint32_t read(std::uint32_t offset) const;
    void write(std::uint32_t offset, std::uint32_t value);
    /// As GHC.HR does: all registers as at power-on, then COMRESET.
    void reset();

    /// A frame has come. later: it is answered by AdapterSerial::answer().
    enum class Answer : std::uint8_t { taken, refused, later };
    Answer receive(const std::uint8_t* fis, std::uint32_t bytes);
    /// One has come with a CRC error, which is answered with R_ERR. The device sends it again, but for data (6.1.2).
    void broken(const std::uint8_t* fis);
    enum class Sent : std::uint8_t { taken, refused, cut };
    /// The frame of AdapterSerial::send() has been answered; cut: by a reset.
    void frame_sent(Sent how);
    void phy_up(std::uint32_t generation);
    /// Whatever was on the wire is gone: nobody is answered, and frame_sent() does not come.
    void phy_down();

    /// A bit of PxIS is set that PxIE lets through.
    bool interrupts() const { return (status() & ie_) != 0; }
    bool has_outstanding() const { return (ci_ | sact_) != 0; }
    const Counters& counters() const { return counters_; }
    /// A frame waits until the adapter has room for it.
    bool holds_frame() const { return !held_.empty(); }
    std::string dump() const;
    /// Between two entries of the agenda: nobody waits for nothing. Throws CheckFailed.
    void check_waiters() const;

private:
    static constexpr std::uint32_t kNone = ~0u;
    static constexpr std::uint32_t kHeader = 0, kTable = 1;  // cookies of reads
    enum class Issue : std::uint8_t { none, header, table, preparing, ready };
    enum class Sending : std::uint8_t { none, command, data };
    /// What the header of a slot said, as long as its command is outstanding.
    struct Slot {
        std::uint64_t table = 0;
        std::uint32_t flags = 0;  // first dword
        std::uint32_t prds() const { return flags >> ahci::Header::kPrdtlShift; }
    };

    static std::uint32_t bit(std::uint32_t slot) { return 1u << slot; }
    std::uint32_t status() const;
    bool started() const { return (cmd_ & ahci::PxCmd::kSt) != 0; }
    /// Commands and data move.
    bool runs() const { return started() && !halted_ && !draining_ && ready_; }
    bool busy() const { return (tfd_ & (ahci::Tfd::kBsy | ahci::Tfd::kDrq)) != 0; }
    bool quiet() const { return reads_ == 0 && mover_.idle() && sending_ == Sending::none; }
    void set(std::uint32_t is_bits);
    void fail(std::uint32_t is_bits, std::uint32_t serr_bits);

    // Registers.
    void write_cmd(std::uint32_t value);
    void write_sctl(std::uint32_t value);
    void stop();
    void comreset();
    void becomes_ready();
    void drop_device();

    // Commands.
    void advance();
    void fetch_next();
    void memory_read(std::uint32_t cookie, bool ok) override;
    void memory_written(std::uint32_t) override {}
    void prepared();
    void send_command();
    void end_of_command(std::uint32_t slot);

    // Frames.
    bool can_take(const std::uint8_t* fis) const;
    void take(const std::uint8_t* fis, std::uint32_t bytes);
    void take_register(const std::uint8_t* fis);
    void take_device_bits(const std::uint8_t* fis);
    void take_dma_setup(const std::uint8_t* fis);
    void take_activate();
    void take_pio_setup(const std::uint8_t* fis);
    void take_data(const std::uint8_t* fis, std::uint32_t bytes);
    void end_of_pio();
    void set_status(std::uint8_t status, std::uint8_t error) { tfd_ = std::uint32_t{error} << 8 | status; }
    void copy(std::uint32_t at, const std::uint8_t* fis, std::uint32_t bytes);
    bool begin_transfer_of_current(bool to_host);
    void data_moved() override;
    void memory_failed() override { fail(ahci::PxIs::kHbfs, ahci::Serr::kErrE); }

    Agenda& agenda_;
    const AhciConfig config_;
    AdapterMemory& memory_;
    AdapterSerial& serial_;
    PortEvents& events_;
    DataMover mover_;
    Counters counters_;

    std::uint64_t clb_ = 0, fb_ = 0;
    std::uint32_t is_ = 0, ie_ = 0, cmd_ = 0, tfd_ = ahci::Tfd::kReset, sig_ = ~0u;
    std::uint32_t sctl_ = 0, serr_ = 0, sact_ = 0, ci_ = 0;
    std::uint32_t generation_ = 0;  // of the phy; 0: there is no communication
    bool ready_ = false;            // there is, and the driver lets it be
    bool halted_ = false;           // by an error or the loss of the phy, until ST is 0
    bool draining_ = false;         // ST is 0, and something is still under way
    bool takes_signature_ = true;   // of the next D2H Register FIS

    std::array<Slot, ahci::kSlots> slots_{};
    std::uint32_t issued_ = 0;  // a bit for each slot of ci_ or sact_ whose frame has gone
    std::uint32_t last_slot_ = ahci::kSlots - 1;
    std::uint32_t current_ = kNone;  // whose frame was the last to go
    Issue issue_ = Issue::none;
    std::uint32_t issuing_ = 0;  // slot of issue_
    Agenda::Entry preparation_;
    std::uint32_t reads_ = 0;  // of headers and tables, under way
    std::array<std::uint8_t, ahci::kHeaderBytes> header_{};
    std::array<std::uint8_t, ahci::kTableBytes> table_{};
    std::array<std::uint8_t, 64> command_fis_{};
    Sending sending_ = Sending::none;

    bool transfer_begun_ = false;  // of current_, where that is not queued; or of a DMA Setup
    bool transfer_queued_ = false;
    bool pio_ = false;       // a PIO Setup to the host: its data come, or are on their way to memory
    bool pio_data_ = false;  // they have come
    bool pio_interrupt_ = false;
    bool pio_out_ = false;  // the same to the device: the frame behind it ends it
    std::uint8_t pio_end_status_ = 0;
    std::vector<std::uint8_t> held_;  // a frame that waits
};

}  // namespace ssdtlm
