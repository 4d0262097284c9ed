// SPDX-License-Identifier: Apache-2.0
#include "controller/sata/sata_front_end.h"
#include "sim/device/front_ends.h"

namespace ssdtlm {
namespace {

SataConfig sata_config_of(const FrontEndSetup& setup, const PolicySettings& own) {
    const std::string rate = own.text("rate");
    SataConfig c;
    c.lba_bytes = setup.config.nvme.lba_bytes;
    c.generation = rate == "1.5Gbps" ? 1 : rate == "3Gbps" ? 2 : 3;
    c.queue_depth = static_cast<std::uint32_t>(own.number("queue_depth"));
    c.decode_time = Ps{own.number("decode_time")};
    c.auto_activate = own.flag("auto_activate");
    return c;
}

const FrontEnds::Registered kSata{
    {"sata",
     "a drive with native command queuing at a Serial ATA link",
     {policy_choice("rate", {"1.5Gbps", "3Gbps", "6Gbps"}, "6Gbps")
          .says("Highest rate of the drive's phy. The link runs at the lower one of its two ends")
          .from("Serial ATA 3.0: generations 1, 2 and 3"),
      policy_integer("queue_depth", 32)
          .range("1", "32")
          .says("Tags of the drive, as its IDENTIFY DEVICE says")
          .from("Serial ATA 3.0, 13.6: at most 32"),
      policy_quantity("decode_time", Dimension::time, 1'000'000)
          .range("0s", "1ms")
          .says("From the arrival of a command's frame until the firmware has the command, one after the other")
          .from("assumed: drives reach 90 to 100 thousand commands a second on a link for 135 thousand"),
      policy_boolean("auto_activate", false)
          .says("Queued writes: the host sends its first Data FIS without a DMA Activate")
          .from("Serial ATA 3.0, 10.3.8; off in drives by default")},
     [](const FrontEndSetup& s, const PolicySettings& own) {
         return std::make_unique<SataFrontEnd>("front_end", s.agenda, s.stages, sata_config_of(s, own), s.drive);
     }}};

}  // namespace
}  // namespace ssdtlm
