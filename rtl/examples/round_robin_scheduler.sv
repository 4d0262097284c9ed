// SPDX-License-Identifier: Apache-2.0
// A worked example of a scheduler of your own. Each die works strictly in order of arrival, the dies take turns, and
// one plane is granted at a time. It has no classes, no starvation bound and no registers. It serves one channel: the
// model has an instance for each.
module round_robin_scheduler #(
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
  localparam int SLOT_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam int HELD_BITS = $clog2(DEPTH + 1);

  // For each die a ring of DEPTH requests, rounded up to a power of two; {die, slot} is an address.
  logic [TAG_BITS+2:0] ring[1<<(DIE_BITS+SLOT_BITS)];  // class, tag
  logic [SLOT_BITS-1:0] first[DIES];
  logic [SLOT_BITS-1:0] behind[DIES];
  logic [2:0] next_class[DIES];  // of the first request
  logic [DIES-1:0] waiting;
  logic [HELD_BITS-1:0] held;
  logic [DIES-1:0] after_last;  // dies behind the one granted last
  logic answering;
  logic [TAG_BITS-1:0] tag;

  assign push_ready = !answering && held != HELD_BITS'(DEPTH);
  assign query_ready = !answering && !(push_valid && push_ready);
  assign grant_valid = answering;

  // The next die in turn that is idle and whose first request is of a class that is asked for.
  logic [DIES-1:0] able;
  logic [DIE_BITS-1:0] pick;
  always_comb begin
    for (int d = 0; d < DIES; d++) able[d] = waiting[d] && query_idle_dies[d] && query_classes[next_class[d]];
    pick = '0;
    for (int d = DIES - 1; d >= 0; d--) if (able[d]) pick = DIE_BITS'(d);
    for (int d = DIES - 1; d >= 0; d--) if (able[d] && after_last[d]) pick = DIE_BITS'(d);
  end
  wire [SLOT_BITS-1:0] second = first[pick] + 1'b1;
  wire [SLOT_BITS-1:0] next_behind = behind[push_die] + 1'b1;

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      answering <= 1'b0;
      waiting <= '0;
      held <= '0;
      after_last <= '1;
      for (int d = 0; d < DIES; d++) first[d] <= '0;
      for (int d = 0; d < DIES; d++) behind[d] <= '0;
    end else if (push_valid && push_ready) begin
      ring[{push_die, behind[push_die]}] <= {push_class, push_tag};
      behind[push_die] <= next_behind;
      if (!waiting[push_die]) next_class[push_die] <= push_class;
      waiting[push_die] <= 1'b1;
      held <= held + 1'b1;
    end else if (query_valid && query_ready) begin
      answering <= 1'b1;
      grant_hit <= able != '0;
      grant_die <= pick;
      grant_count <= COUNT_BITS'(1);
      {grant_class, tag} <= ring[{pick, first[pick]}];
      if (able != '0) begin
        first[pick] <= second;
        next_class[pick] <= ring[{pick, second}][TAG_BITS+:3];
        waiting[pick] <= second != behind[pick];
        held <= held - 1'b1;
        after_last <= ~((DIES'(2) << pick) - 1'b1);
      end
    end else if (grant_ready) begin
      answering <= 1'b0;
    end
  end

  assign grant_tags = (PLANES * TAG_BITS)'(tag);
  assign suspend_request = '0;
  // No registers: every access is answered with 0.
  assign {awready, wready, arready, bresp, rresp, rdata} = {3'b111, 36'h0};
  always_ff @(posedge clk) bvalid <= rst_n && (awvalid && wvalid || bvalid && !bready);
  always_ff @(posedge clk) rvalid <= rst_n && (arvalid || rvalid && !rready);
  wire unused = &{1'b0, push_plane, push_page, query_idle_read_planes, awaddr, wdata, wstrb, araddr};
endmodule
