// SPDX-License-Identifier: Apache-2.0
// The transaction scheduler: one channel_scheduler per channel and the registers they share. Ports of the channels are
// side by side: channel c has bits [c*WIDTH +: WIDTH]. All channels work independently.
module transaction_scheduler #(
    parameter int CHANNELS = 1,
    parameter int DIES = 16,     // per channel
    parameter int PLANES = 8,    // per die
    parameter int DEPTH = 256,   // requests that a channel holds
    parameter int TAG_BITS = 16,
    parameter int PAGE_BITS = 16,
    parameter int DIE_BITS = DIES > 1 ? $clog2(DIES) : 1,
    parameter int PLANE_BITS = PLANES > 1 ? $clog2(PLANES) : 1,
    parameter int COUNT_BITS = $clog2(PLANES + 1)
) (
    input logic clk,
    input logic rst_n,  // synchronous

    // A request, taken with push_valid && push_ready.
    input logic [CHANNELS-1:0] push_valid,
    output logic [CHANNELS-1:0] push_ready,
    input logic [CHANNELS*TAG_BITS-1:0] push_tag,
    input logic [CHANNELS*DIE_BITS-1:0] push_die,
    input logic [CHANNELS*3-1:0] push_class,
    input logic [CHANNELS*PLANE_BITS-1:0] push_plane,
    input logic [CHANNELS*PAGE_BITS-1:0] push_page,
    // Tenant, age and size of the request. This block's order does not use them.
    input logic [CHANNELS*16-1:0] push_tenant,
    input logic [CHANNELS*2-1:0] push_priority,
    input logic [CHANNELS*8-1:0] push_stream,
    input logic [CHANNELS*32-1:0] push_deadline,
    input logic [CHANNELS*32-1:0] push_age,
    input logic [CHANNELS*32-1:0] push_bytes,
    input logic [CHANNELS*32-1:0] push_block,
    // Number of clock periods since the simulation began. The clock stands still while there is no push and no
    // question.
    input logic [63:0] cycle_now,

    // A question, taken with query_valid && query_ready and held until its answer. The idle dies are levels.
    input logic [CHANNELS-1:0] query_valid,
    output logic [CHANNELS-1:0] query_ready,
    input logic [CHANNELS*7-1:0] query_classes,
    input logic [CHANNELS*DIES-1:0] query_idle_dies,
    input logic [CHANNELS*PLANES*DIES-1:0] query_idle_read_planes,

    // Its answer, taken with grant_valid && grant_ready.
    output logic [CHANNELS-1:0] grant_valid,
    input logic [CHANNELS-1:0] grant_ready,
    output logic [CHANNELS-1:0] grant_hit,
    output logic [CHANNELS*DIE_BITS-1:0] grant_die,
    output logic [CHANNELS*3-1:0] grant_class,
    output logic [CHANNELS*COUNT_BITS-1:0] grant_count,
    output logic [CHANNELS*PLANES*TAG_BITS-1:0] grant_tags,

    output logic [CHANNELS*DIES-1:0] suspend_request,

    // Registers: AXI4-Lite
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
  logic [scheduler_pkg::CLASSES*scheduler_pkg::PRIORITY_BITS-1:0] cfg_priority;
  logic [scheduler_pkg::LIMIT_BITS-1:0] cfg_starvation_limit;
  logic cfg_multi_plane;
  logic cfg_independent_reads;
  logic [PLANES-1:0] cfg_planes;
  logic [scheduler_pkg::LOOK_BITS-1:0] cfg_look_ahead;
  logic [DIE_BITS-1:0] debug_die;
  logic [CHANNELS*32-1:0] debug_status;
  logic [CHANNELS*32-1:0] count_pushed;
  logic [CHANNELS*32-1:0] count_granted;
  logic [CHANNELS*32-1:0] count_joined;
  logic [CHANNELS*32-1:0] count_starved;
  logic [CHANNELS*32-1:0] count_nothing;

  wire unused = &{1'b0, push_tenant, push_priority, push_stream, push_deadline, push_age, push_bytes, push_block, cycle_now};

  for (genvar c = 0; c < CHANNELS; c++) begin : g_channel
    channel_scheduler #(
        .DIES(DIES),
        .PLANES(PLANES),
        .DEPTH(DEPTH),
        .TAG_BITS(TAG_BITS),
        .PAGE_BITS(PAGE_BITS)
    ) channel (
        .clk(clk),
        .rst_n(rst_n),
        .cfg_priority(cfg_priority),
        .cfg_starvation_limit(cfg_starvation_limit),
        .cfg_multi_plane(cfg_multi_plane),
        .cfg_independent_reads(cfg_independent_reads),
        .cfg_planes(cfg_planes),
        .cfg_look_ahead(cfg_look_ahead),
        .push_valid(push_valid[c]),
        .push_ready(push_ready[c]),
        .push_tag(push_tag[c*TAG_BITS+:TAG_BITS]),
        .push_die(push_die[c*DIE_BITS+:DIE_BITS]),
        .push_class(push_class[c*3+:3]),
        .push_plane(push_plane[c*PLANE_BITS+:PLANE_BITS]),
        .push_page(push_page[c*PAGE_BITS+:PAGE_BITS]),
        .query_valid(query_valid[c]),
        .query_ready(query_ready[c]),
        .query_classes(query_classes[c*7+:7]),
        .query_idle_dies(query_idle_dies[c*DIES+:DIES]),
        .query_idle_read_planes(query_idle_read_planes[c*PLANES*DIES+:PLANES*DIES]),
        .grant_valid(grant_valid[c]),
        .grant_ready(grant_ready[c]),
        .grant_hit(grant_hit[c]),
        .grant_die(grant_die[c*DIE_BITS+:DIE_BITS]),
        .grant_class(grant_class[c*3+:3]),
        .grant_count(grant_count[c*COUNT_BITS+:COUNT_BITS]),
        .grant_tags(grant_tags[c*PLANES*TAG_BITS+:PLANES*TAG_BITS]),
        .suspend_request(suspend_request[c*DIES+:DIES]),
        .debug_die(debug_die),
        .debug_status(debug_status[c*32+:32]),
        .count_pushed(count_pushed[c*32+:32]),
        .count_granted(count_granted[c*32+:32]),
        .count_joined(count_joined[c*32+:32]),
        .count_starved(count_starved[c*32+:32]),
        .count_nothing(count_nothing[c*32+:32])
    );
  end

  scheduler_csr #(
      .CHANNELS(CHANNELS),
      .DIES(DIES),
      .PLANES(PLANES),
      .DEPTH(DEPTH)
  ) csr (
      .clk(clk),
      .rst_n(rst_n),
      .awvalid(awvalid),
      .awready(awready),
      .awaddr(awaddr),
      .wvalid(wvalid),
      .wready(wready),
      .wdata(wdata),
      .wstrb(wstrb),
      .bvalid(bvalid),
      .bready(bready),
      .bresp(bresp),
      .arvalid(arvalid),
      .arready(arready),
      .araddr(araddr),
      .rvalid(rvalid),
      .rready(rready),
      .rdata(rdata),
      .rresp(rresp),
      .cfg_priority(cfg_priority),
      .cfg_starvation_limit(cfg_starvation_limit),
      .cfg_multi_plane(cfg_multi_plane),
      .cfg_independent_reads(cfg_independent_reads),
      .cfg_planes(cfg_planes),
      .cfg_look_ahead(cfg_look_ahead),
      .debug_die(debug_die),
      .debug_status(debug_status),
      .count_pushed(count_pushed),
      .count_granted(count_granted),
      .count_joined(count_joined),
      .count_starved(count_starved),
      .count_nothing(count_nothing)
  );
endmodule
