// SPDX-License-Identifier: Apache-2.0
// A worked example of a scheduler that uses the tenant and the size of a request: reads of four groups of tenants share
// the dies by bytes. On each die the group that was given least goes first. Programs and erases are a fifth group, in
// order of arrival. Dies take turns, and one plane is granted at a time. It has no registers. It serves one channel:
// the model has an instance for each.
module tenant_bytes_scheduler #(
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
    input logic [CHANNELS*16-1:0] push_tenant,
    input logic [CHANNELS*32-1:0] push_bytes,
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
  localparam int GROUPS = 5;
  localparam logic [2:0] OTHERS = 3'd4;
  localparam logic [6:0] READS = 7'b0010011;  // host_read, mapping_read, gc_read
  localparam int SLOT_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam int HELD_BITS = $clog2(DEPTH + 1);
  localparam logic [31:0] LEAST = 32'd4096;  // what an erase counts

  // For each die and group a ring of DEPTH requests, rounded up to a power of two; {die, group, slot} is an address.
  logic [TAG_BITS+34:0] ring[1<<(DIE_BITS+3+SLOT_BITS)];  // bytes, class, tag
  logic [SLOT_BITS-1:0] first[DIES][GROUPS];
  logic [SLOT_BITS-1:0] behind[DIES][GROUPS];
  logic [2:0] next_class[DIES][GROUPS];  // of the first request
  logic [DIES-1:0][GROUPS-1:0] waiting;
  logic [HELD_BITS-1:0] held;
  logic [HELD_BITS-1:0] held_of[GROUPS];
  logic [31:0] given[GROUPS];  // bytes, modulo 2**32: differences count
  logic [31:0] level;          // of the group that was granted last, before the grant
  logic [DIES-1:0] after_last;  // dies behind the one granted last
  logic answering;
  logic [TAG_BITS-1:0] tag;

  assign push_ready = !answering && held != HELD_BITS'(DEPTH);
  assign query_ready = !answering && !(push_valid && push_ready);
  assign grant_valid = answering;

  // A tenant is always of the same group, so reads of one flow keep their order.
  wire [2:0] group = READS[push_class] ? {1'b0, push_tenant[1:0]} : OTHERS;

  // On each die that is idle the group that was given least, of those whose first request is of a class that is asked for.
  logic [DIES-1:0] able;
  logic [2:0] best[DIES];
  logic [DIE_BITS-1:0] pick;
  logic [31:0] behind_best;  // how much more the best so far was given; below zero: less
  always_comb begin
    behind_best = '0;
    for (int d = 0; d < DIES; d++) begin
      able[d] = 1'b0;
      best[d] = '0;
      for (int g = 0; g < GROUPS; g++) begin
        behind_best = given[best[d]] - given[g];
        if (waiting[d][g] && query_idle_dies[d] && query_classes[next_class[d][g]] && (!able[d] || (!behind_best[31] && behind_best != '0))) begin
          able[d] = 1'b1;
          best[d] = 3'(g);
        end
      end
    end
    pick = '0;
    for (int d = DIES - 1; d >= 0; d--) if (able[d]) pick = DIE_BITS'(d);
    for (int d = DIES - 1; d >= 0; d--) if (able[d] && after_last[d]) pick = DIE_BITS'(d);
  end
  wire [2:0] from = best[pick];
  wire [SLOT_BITS-1:0] second = first[pick][from] + 1'b1;
  wire [SLOT_BITS-1:0] next_behind = behind[push_die][group] + 1'b1;
  wire [31:0] bytes = ring[{pick, from, first[pick][from]}][TAG_BITS+3+:32];
  wire [31:0] lead = given[group] - level;  // of the group that pushes

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      answering <= 1'b0;
      waiting <= '0;
      held <= '0;
      after_last <= '1;
      level <= '0;
      for (int d = 0; d < DIES; d++)
        for (int g = 0; g < GROUPS; g++) begin
          first[d][g] <= '0;
          behind[d][g] <= '0;
        end
      for (int g = 0; g < GROUPS; g++) begin
        held_of[g] <= '0;
        given[g] <= '0;
      end
    end else if (push_valid && push_ready) begin
      ring[{push_die, group, behind[push_die][group]}] <= {push_bytes, push_class, push_tag};
      behind[push_die][group] <= next_behind;
      if (!waiting[push_die][group]) next_class[push_die][group] <= push_class;
      waiting[push_die][group] <= 1'b1;
      held <= held + 1'b1;
      held_of[group] <= held_of[group] + 1'b1;
      // A group that asked for nothing for a while has no claim to that time.
      if (held_of[group] == '0 && lead[31]) given[group] <= level;
    end else if (query_valid && query_ready) begin
      answering <= 1'b1;
      grant_hit <= able != '0;
      grant_die <= pick;
      grant_count <= COUNT_BITS'(1);
      {grant_class, tag} <= ring[{pick, from, first[pick][from]}][TAG_BITS+2:0];
      if (able != '0) begin
        first[pick][from] <= second;
        next_class[pick][from] <= ring[{pick, from, second}][TAG_BITS+:3];
        waiting[pick][from] <= second != behind[pick][from];
        held <= held - 1'b1;
        held_of[from] <= held_of[from] - 1'b1;
        level <= given[from];
        given[from] <= given[from] + (bytes == '0 ? LEAST : bytes);
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
  wire unused = &{1'b0, push_plane, push_page, push_tenant, query_idle_read_planes, lead[30:0], awaddr, wdata, wstrb, araddr};
endmodule
