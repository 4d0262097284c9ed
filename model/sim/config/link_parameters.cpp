// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameters.h"

namespace ssdtlm {

void add_link_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    const std::vector<std::int64_t> sizes{128, 256, 512, 1024, 2048, 4096};
    table.push_back(P::integer(
                        "link.generation", [](auto& c) -> auto& { return c.link.generation; })
                        .range("1", "6")
                        .says("PCIe generation: 2.5, 5, 8, 16, 32 or 64 GT/s per lane")
                        .from("typical NVMe drive of 2016 to 2020"));
    table.push_back(P::integer(
                        "link.lanes", [](auto& c) -> auto& { return c.link.lanes; })
                        .only({1, 2, 4, 8, 16})
                        .says("Lanes, each with one pair per direction")
                        .from("M.2 and U.2"));
    table.push_back(
        P::quantity(
            "link.max_payload", Dimension::bytes, [](auto& c) -> auto& { return c.link.max_payload_bytes; })
            .only(sizes)
            .says("MPS: largest payload of a memory write and of a read completion (Device Control bits 7:5)")
            .from("assumed: what firmware of PCs and servers programs"));
    table.push_back(
        P::quantity(
            "link.max_read_request", Dimension::bytes, [](auto& c) -> auto& { return c.link.max_read_request_bytes; })
            .only(sizes)
            .says("MRRS: largest memory read request of the device (Device Control bits 14:12)")
            .from("Device Control reset value, 512 B"));
    table.push_back(
        P::quantity(
            "link.completion_payload", Dimension::bytes,
            [](auto& c) -> auto& { return c.link.completion_payload_bytes; })
            .only({64, 128, 256, 512, 1024, 2048, 4096})
            .says("Size and alignment in which the root complex splits read completions; at most max_payload")
            .from("assumed: recent root complexes return MPS-sized pieces, older ones 64 B"));
    table.push_back(P::integer(
                        "link.read_tags", [](auto& c) -> auto& { return c.link.read_tags; })
                        .range("1", "768")
                        .says("Memory read requests that the device may have outstanding")
                        .from("5-bit tags, the reset value of the Extended Tag Field Enable bit"));
    table.push_back(P::boolean(
                        "link.ecrc", [](auto& c) -> auto& { return c.link.ecrc; })
                        .says("End-to-end CRC: 4 bytes more on each TLP")
                        .from("off after reset"));
    table.push_back(
        P::fraction(
            "link.data_link_efficiency", [](auto& c) -> auto& { return c.link.data_link_efficiency; })
            .range("50%", "100%")
            .says("Share of the raw bytes that is left for TLPs after acknowledgements, credit updates and skip sets")
            .from("computed: Ack for every 2nd, UpdateFC for every 4th TLP of 256 B and 0.3 % skip sets"));
    table.push_back(
        P::quantity(
            "link.device_to_host_latency", Dimension::time,
            [](auto& c) -> auto& { return c.link.device_to_host_latency; })
            .range("0s", "100us")
            .says("From the last byte of a TLP on the wire to its effect in the root complex or host memory")
            .from("assumed: server class, 200..400 ns"));
    table.push_back(P::quantity(
                        "link.host_to_device_latency", Dimension::time,
                        [](auto& c) -> auto& { return c.link.host_to_device_latency; })
                        .range("0s", "100us")
                        .says("From the last byte of a TLP on the wire to its effect in the device")
                        .from("assumed: posted MMIO write 100..300 ns"));
    table.push_back(
        P::quantity(
            "link.root_complex_latency", Dimension::time, [](auto& c) -> auto& { return c.link.root_complex_latency; })
            .range("0s", "100us")
            .says("From a read request at the root complex to its first completion being offered to the link")
            .from("assumed: makes the 64 B read round trip 550 ns (Neugebauer et al., SIGCOMM 2018)"));
    const std::string server = "assumed: server root port";
    const std::string endpoint = "assumed: NVMe endpoint, which receives doorbells only";
    table.push_back(P::integer(
                        "link.upstream_posted_headers", [](auto& c) -> auto& { return c.link.upstream_posted_headers; })
                        .range("1", "2032")
                        .says("Posted header credits of the root port (device writes)")
                        .from(server));
    table.push_back(P::integer(
                        "link.upstream_posted_data", [](auto& c) -> auto& { return c.link.upstream_posted_data; })
                        .range("1", "32752")
                        .says("Posted data credits of the root port, 16 B each")
                        .from(server));
    table.push_back(
        P::integer(
            "link.upstream_nonposted_headers", [](auto& c) -> auto& { return c.link.upstream_nonposted_headers; })
            .range("1", "2032")
            .says("Non-posted header credits of the root port (device read requests)")
            .from(server));
    table.push_back(
        P::integer(
            "link.downstream_posted_headers", [](auto& c) -> auto& { return c.link.downstream_posted_headers; })
            .range("1", "2032")
            .says("Posted header credits of the device (doorbells)")
            .from(endpoint));
    table.push_back(P::integer(
                        "link.downstream_posted_data", [](auto& c) -> auto& { return c.link.downstream_posted_data; })
                        .range("1", "32752")
                        .says("Posted data credits of the device, 16 B each")
                        .from(endpoint));
    table.push_back(
        P::integer(
            "link.downstream_nonposted_headers", [](auto& c) -> auto& { return c.link.downstream_nonposted_headers; })
            .range("1", "2032")
            .says("Non-posted header credits of the device (register reads)")
            .from(endpoint));
    table.push_back(P::quantity(
                        "link.credit_return_latency", Dimension::time,
                        [](auto& c) -> auto& { return c.link.credit_return_latency; })
                        .range("0s", "100us")
                        .says("From the delivery of a TLP until its sender can use its credits again")
                        .from("assumed: receiver processing and one UpdateFC"));
}

}  // namespace ssdtlm
