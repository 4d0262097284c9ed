// SPDX-License-Identifier: Apache-2.0
// A port of the host bus adapter: its registers, the commands of its list on their way to the device, and the frames
// that come back. It needs no SystemC kernel. Sources: AHCI 1.3.1, 3.3 (registers), 5.3 (state machine of a port), 6
// (errors).
//
// - Commands: the bits of PxCI are served in turn. The search begins at the slot after the last one issued, and wraps
//   at 32 (5.3.3, pSlotLoc). Header (32 bytes) and table (128 bytes, without its PRDT) are read one after the other.
//   One command is read ahead of the device. It is offered to the link when BSY and DRQ are clear and no data are
//   requested.
// - A command that is not queued ends with its D2H Register or PIO data, which clear its bit of PxCI. The bit of a
//   queued command in PxCI is cleared when the device releases BSY, and that in PxSACT by Set Device Bits.
// - Received FISes are copied to the area at PxFB while PxCMD.FRE is set, after the data that came before them. A frame
//   that must wait for that, or for room, keeps the wire: its R_OK comes later.
// - After a fatal error (ERR in a status, host bus) nothing is issued until PxCMD.ST is cleared. PxCI and PxSACT keep
//   their values until then. PxCMD.CR is cleared when nothing is under way any more.
// - PxSCTL.DET = 1 sends COMRESET. The port has no device until DET is 0 and the link has trained.
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
        std::uint64_t fises_received = 0;  ///< of all kinds, including data
        std::uint64_t bytes_to_host = 0;   ///< bytes of data
        std::uint64_t bytes_to_device = 0;
        std::uint64_t comresets = 0;
        std::uint64_t errors = 0;  ///< fatal ones
        std::uint64_t held = 0;    ///< frames that kept the wire until the adapter had room
    };

    AhciPort(Agenda& agenda, const AhciConfig& config, AdapterMemory& memory, AdapterSerial& serial,
             PortEvents& events);
    AhciPort(const AhciPort&) = delete;
    AhciPort& operator=(const AhciPort&) = delete;

    /// Accesses a register, `offset` from the port's first one. A reserved register reads as 0 and ignores writes.
    std::uint32_t read(std::uint32_t offset) const;
    void write(std::uint32_t offset, std::uint32_t value);
    /// Does what GHC.HR asks for: sets all registers to their power-on values, then sends COMRESET.
    void reset();

    /// Takes a frame that has come. With `later`, AdapterSerial::answer() answers it.
    enum class Answer : std::uint8_t { taken, refused, later };
    Answer receive(const std::uint8_t* fis, std::uint32_t bytes);
    /// A frame has come with a CRC error, which is answered with R_ERR. The device sends it again, except for data
    /// (6.1.2).
    void broken(const std::uint8_t* fis);
    enum class Sent : std::uint8_t { taken, refused, cut };
    /// The frame of AdapterSerial::send() has been answered. `cut` means that a reset has removed it.
    void frame_sent(Sent how);
    void phy_up(std::uint32_t generation);
    /// The phy is down. All frames on the wire are gone: nobody answers them, and frame_sent() does not come.
    void phy_down();

    /// True if a bit of PxIS is set that PxIE enables.
    bool interrupts() const { return (status() & ie_) != 0; }
    bool has_outstanding() const { return (ci_ | sact_) != 0; }
    const Counters& counters() const { return counters_; }
    /// True if a frame waits until the adapter has room for it.
    bool holds_frame() const { return !held_.empty(); }
    std::string dump() const;
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const;

private:
    static constexpr std::uint32_t kNone = ~0u;
    static constexpr std::uint32_t kHeader = 0, kTable = 1;  // cookies of reads
    enum class Issue : std::uint8_t { none, header, table, preparing, ready };
    enum class Sending : std::uint8_t { none, command, data };
    /// Content of a slot's header, while its command is outstanding.
    struct Slot {
        std::uint64_t table = 0;
        std::uint32_t flags = 0;  // first dword
        std::uint32_t prds() const { return flags >> ahci::Header::kPrdtlShift; }
    };

    static std::uint32_t bit(std::uint32_t slot) { return 1u << slot; }
    std::uint32_t status() const;
    bool started() const { return (cmd_ & ahci::PxCmd::kSt) != 0; }
    /// True while commands and data are processed.
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
    std::uint32_t generation_ = 0;  // generation of the phy; 0: there is no communication
    bool ready_ = false;            // there is communication, and the driver allows it
    bool halted_ = false;           // by an error or the loss of the phy, until ST is 0
    bool draining_ = false;         // ST is 0, and transfers are still under way
    bool takes_signature_ = true;   // from the next D2H Register FIS

    std::array<Slot, ahci::kSlots> slots_{};
    std::uint32_t issued_ = 0;  // a bit for each slot of ci_ or sact_ whose frame was sent
    std::uint32_t last_slot_ = ahci::kSlots - 1;
    std::uint32_t current_ = kNone;  // slot whose frame was sent last
    Issue issue_ = Issue::none;
    std::uint32_t issuing_ = 0;  // slot of issue_
    Agenda::Entry preparation_;
    std::uint32_t reads_ = 0;  // reads of headers and tables under way
    std::array<std::uint8_t, ahci::kHeaderBytes> header_{};
    std::array<std::uint8_t, ahci::kTableBytes> table_{};
    std::array<std::uint8_t, 64> command_fis_{};
    Sending sending_ = Sending::none;

    bool transfer_begun_ = false;  // by current_ if that is not queued, or by a DMA Setup
    bool transfer_queued_ = false;
    bool pio_ = false;       // after a PIO Setup to the host: its data are coming, or go to memory
    bool pio_data_ = false;  // the data of the PIO Setup have come
    bool pio_interrupt_ = false;
    bool pio_out_ = false;  // after a PIO Setup to the device: the next frame ends it
    std::uint8_t pio_end_status_ = 0;
    std::vector<std::uint8_t> held_;  // a frame that waits for room
};

}  // namespace ssdtlm
