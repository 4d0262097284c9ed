// SPDX-License-Identifier: Apache-2.0
// A user's scheduler with a mistake of every kind, for tests: round_robin_scheduler with its outputs spoilt from the 20th
// grant on, or from the first if 256 is added. scheduler.starvation_limit, written to its register, says how (see FAULTS in
// test_faulty_scheduler.py).
module faulty_scheduler #(
    parameter int CHANNELS = 1,
    parameter int DIES = 16,
    parameter int PLANES = 8,
    parameter int DEPTH = 256,
    parameter int TAG_BITS = 16,
    parameter int PAGE_BITS = 16,
    parameter int DIE_BITS = DIES > 1 ? $clog2(DIES) : 1,
    parameter int PLANE_BITS = PLANES > 1 ? $clog2(PLANES) : 1,
    parameter int COUNT_BITS = $clog2(PLANES + 1)
) (
    input logic clk,
    input logic rst_n,
    input logic [CHANNELS-1:0] push_valid,
    output logic [CHANNELS-1:0] push_ready,
    input logic [CHANNELS*TAG_BITS-1:0] push_tag,
    input logic [CHANNELS*DIE_BITS-1:0] push_die,
    input logic [CHANNELS*3-1:0] push_class,
    input logic [CHANNELS*PLANE_BITS-1:0] push_plane,
    input logic [CHANNELS*PAGE_BITS-1:0] push_page,
    input logic [CHANNELS-1:0] query_valid,
    output logic [CHANNELS-1:0] query_ready,
    input logic [CHANNELS*7-1:0] query_classes,
    input logic [CHANNELS*DIES-1:0] query_idle_dies,
    input logic [CHANNELS*PLANES*DIES-1:0] query_idle_read_planes,
    output logic [CHANNELS-1:0] grant_valid,
    input logic [CHANNELS-1:0] grant_ready,
    output logic [CHANNELS-1:0] grant_hit,
    output logic [CHANNELS*DIE_BITS-1:0] grant_die,
    output logic [CHANNELS*3-1:0] grant_class,
    output logic [CHANNELS*COUNT_BITS-1:0] grant_count,
    output logic [CHANNELS*PLANES*TAG_BITS-1:0] grant_tags,
    output logic [CHANNELS*DIES-1:0] suspend_request,
    input logic awvalid,
    output logic awready,
    input logic [11:0] awaddr,
    input logic wvalid,
    output logic wready,
    input logic [31:0] wdata,
    input logic [3:0] wstrb,
    output logic bvalid,
    input logic bready,
    output logic [1:0] bresp,
    input logic arvalid,
    output logic arready,
    input logic [11:0] araddr,
    output logic rvalid,
    input logic rready,
    output logic [31:0] rdata,
    output logic [1:0] rresp
);
  logic [31:0] fault;
  logic [31:0] kept;  // the fault, which no reset takes away
  logic [31:0] grants;
  wire broken = grants >= 20 || fault[8];

  logic inner_push_ready;
  logic inner_query_ready;
  logic inner_grant_valid;
  logic inner_hit;
  logic [DIE_BITS-1:0] inner_die;
  logic [2:0] inner_class;
  logic [COUNT_BITS-1:0] inner_count;
  logic [PLANES*TAG_BITS-1:0] inner_tags;
  round_robin_scheduler #(
      .CHANNELS(CHANNELS),
      .DIES(DIES),
      .PLANES(PLANES),
      .DEPTH(DEPTH),
      .TAG_BITS(TAG_BITS),
      .PAGE_BITS(PAGE_BITS)
  ) inner (
      .clk(clk),
      .rst_n(rst_n || kept == 23),
      .push_valid(push_valid),
      .push_tag(push_tag),
      .push_die(push_die),
      .push_class(push_class),
      .push_plane(push_plane),
      .push_page(push_page),
      .query_classes(query_classes),
      .query_idle_dies(query_idle_dies),
      .query_idle_read_planes(query_idle_read_planes),
      .grant_ready(grant_ready || fault == 21),
      .suspend_request(suspend_request),
      .push_ready(inner_push_ready),
      .query_valid(query_valid && !(broken && (fault[7:0] == 13 || fault[7:0] == 15))),
      .query_ready(inner_query_ready),
      .grant_valid(inner_grant_valid),
      .grant_hit(inner_hit),
      .grant_die(inner_die),
      .grant_class(inner_class),
      .grant_count(inner_count),
      .grant_tags(inner_tags),
      .awvalid(1'b0),
      .awready(unused_outputs[0]),
      .awaddr('0),
      .wvalid(1'b0),
      .wready(unused_outputs[1]),
      .wdata('0),
      .wstrb('0),
      .bvalid(unused_outputs[2]),
      .bready(1'b1),
      .bresp(unused_outputs[4:3]),
      .arvalid(1'b0),
      .arready(unused_outputs[5]),
      .araddr('0),
      .rvalid(unused_outputs[6]),
      .rready(1'b1),
      .rdata(unused_data),
      .rresp(unused_outputs[8:7])
  );
  logic [8:0] unused_outputs;
  logic [31:0] unused_data;
  wire unused = &{1'b0, unused_outputs, unused_data, wstrb, bready, rready, fault[31:9]};

  // What a fault needs to know: the youngest request, the tag granted last, the first die that is busy, the first class
  // that was not asked for.
  logic [TAG_BITS-1:0] youngest_tag;
  logic [DIE_BITS-1:0] youngest_die;
  logic [2:0] youngest_class;
  logic [TAG_BITS-1:0] last_tag;
  logic [DIE_BITS-1:0] busy_die;
  logic [2:0] other_class;
  always_comb begin
    busy_die = inner_die;
    for (int d = DIES - 1; d >= 0; d--) if (!query_idle_dies[d]) busy_die = DIE_BITS'(d);
    other_class = inner_class;
    for (int c = 6; c >= 0; c--) if (!query_classes[c]) other_class = 3'(c);
  end
  wire pass = youngest_die == inner_die && youngest_class == inner_class;

  always_comb begin
    push_ready = inner_push_ready;
    query_ready = inner_query_ready;
    grant_valid = inner_grant_valid;
    grant_hit = inner_hit;
    grant_die = inner_die;
    grant_class = inner_class;
    grant_count = inner_count;
    grant_tags = inner_tags;
    // Only stress shows these.
    if (kept == 20 && !rst_n) grant_valid = 1'b1;
    if (fault == 22 && inner_query_ready) push_ready = 1'b1;
    if (broken) begin
      case (fault[7:0])
        1: grant_count = COUNT_BITS'(12);
        2: grant_count = '0;
        3: grant_tags[TAG_BITS-1:0] = TAG_BITS'(32'hDEADBEEF);
        4: grant_tags[TAG_BITS-1:0] = last_tag;
        5: grant_die = DIE_BITS'(DIES - 1);
        6: grant_die = busy_die;
        7: grant_class = 3'd7;
        8: grant_class = other_class;
        9: if (pass) grant_tags[TAG_BITS-1:0] = youngest_tag;
        10: grant_hit = 1'b0;
        11: grant_valid = 1'b0;
        12: push_ready = 1'b0;
        13: query_ready = 1'b0;
        14: grant_valid = 1'b1;
        15: begin
          query_ready = 1'b0;
          grant_valid = query_valid;
        end
        default: ;
      endcase
    end
  end

  // What it has to say itself.
  wire quiet = !(broken && inner_grant_valid);
  assert property (@(posedge clk) disable iff (!rst_n) fault[7:0] != 16 || quiet)
  else $error("an assertion of the user's");
  always_ff @(posedge clk) begin
    if (rst_n && !quiet && fault[7:0] == 17) $fatal(1, "a fatal of the user's");
    if (rst_n && !quiet && fault[7:0] == 18) $finish;
    if (rst_n && !quiet && fault[7:0] == 19) $display("a word of the user's");
  end

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      grants <= '0;
      fault <= '0;
    end else begin
      if (awvalid && wvalid && awaddr == 12'h014) begin
        fault <= wdata;
        kept <= wdata;
      end
      if (push_valid && push_ready) begin
        youngest_tag <= push_tag;
        youngest_die <= push_die;
        youngest_class <= push_class;
      end
      if (grant_valid && grant_ready && grant_hit) begin
        grants <= grants + 1'b1;
        last_tag <= inner_tags[TAG_BITS-1:0];
      end
    end
  end
  assign {awready, wready, arready, bresp, rresp} = {3'b111, 4'h0};
  always_ff @(posedge clk) rdata <= arvalid && araddr == '0 ? 32'h53434844 : '0;
  always_ff @(posedge clk) bvalid <= rst_n && awvalid && wvalid;
  always_ff @(posedge clk) rvalid <= rst_n && arvalid;
endmodule
