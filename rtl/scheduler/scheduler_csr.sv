// SPDX-License-Identifier: Apache-2.0
// Control and status registers of the scheduler behind AXI4-Lite, 32 bits wide. Settings are for all channels and are to
// be written while nothing is queued. Unknown addresses read 0 and ignore writes; every answer is OKAY.
//
//   000 ID                "SCHD"
//   004 SHAPE             planes, dies per channel, channels (8 bits each)
//   008 DEPTH             requests that a channel holds
//   010 CONTROL           bit 0: join planes; bit 1: planes read independently
//   014 STARVATION_LIMIT  grants that may overtake a waiting class of a die; 0: no limit
//   018 PRIORITY          4 bits per class, class 0 lowest; the smallest goes first, equal ones in order of arrival
//   01C PLANES            bit per plane that the dies have
//   020 DEBUG_SELECT      die (bits 7:0), channel (bits 15:8)
//   024 DEBUG_STATUS      of that die: waiting classes (6:0), starved ones (14:8), the chosen one (18:16)
//   028 LOOK_AHEAD        requests of a queue that a grant looks at for a partner or an idle plane, 1 or more
//   100 + 20 * channel    counters: requests pushed, grants, grants of several planes, grants to a class at its limit,
//                         questions answered with nothing
module scheduler_csr #(
    parameter int CHANNELS = 1,
    parameter int DIES = 16,
    parameter int PLANES = 8,
    parameter int DEPTH = 256,
    parameter int DIE_BITS = DIES > 1 ? $clog2(DIES) : 1
) (
    input logic clk,
    input logic rst_n,

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
    output logic [1:0] rresp,

    output logic [scheduler_pkg::CLASSES*scheduler_pkg::PRIORITY_BITS-1:0] cfg_priority,
    output logic [scheduler_pkg::LIMIT_BITS-1:0] cfg_starvation_limit,
    output logic cfg_multi_plane,
    output logic cfg_independent_reads,
    output logic [PLANES-1:0] cfg_planes,
    output logic [scheduler_pkg::LOOK_BITS-1:0] cfg_look_ahead,

    output logic [DIE_BITS-1:0] debug_die,
    input logic [CHANNELS*32-1:0] debug_status,
    input logic [CHANNELS*32-1:0] count_pushed,
    input logic [CHANNELS*32-1:0] count_granted,
    input logic [CHANNELS*32-1:0] count_joined,
    input logic [CHANNELS*32-1:0] count_starved,
    input logic [CHANNELS*32-1:0] count_nothing
);
  localparam int LIMIT_BITS = scheduler_pkg::LIMIT_BITS;
  localparam int LOOK_BITS = scheduler_pkg::LOOK_BITS;
  localparam int PRIORITIES_BITS = scheduler_pkg::CLASSES * scheduler_pkg::PRIORITY_BITS;
  // Reads, then writes, then garbage collection and erases.
  localparam logic [PRIORITIES_BITS-1:0] READ_FIRST = 28'h222_1100;

  logic [7:0] debug_channel;

  // One write and one read at a time; a write is taken when its address and data are both there.
  assign awready = awvalid && wvalid && !bvalid;
  assign wready = awready;
  assign bresp = 2'b00;
  assign arready = !rvalid;
  assign rresp = 2'b00;

  function automatic logic [31:0] masked(input logic [31:0] old);
    for (int b = 0; b < 4; b++) masked[b*8+:8] = wstrb[b] ? wdata[b*8+:8] : old[b*8+:8];
  endfunction

  function automatic logic [31:0] read(input logic [9:0] word);
    read = '0;
    case (word)
      10'h000: read = "SCHD";
      10'h001: read = {8'h0, 8'(CHANNELS), 8'(DIES), 8'(PLANES)};
      10'h002: read = 32'(DEPTH);
      10'h004: read = {30'h0, cfg_independent_reads, cfg_multi_plane};
      10'h005: read = 32'(cfg_starvation_limit);
      10'h006: read = 32'(cfg_priority);
      10'h007: read = 32'(cfg_planes);
      10'h008: read = {16'h0, debug_channel, 8'(debug_die)};
      10'h00A: read = 32'(cfg_look_ahead);
      10'h009: for (int c = 0; c < CHANNELS; c++) if (debug_channel == 8'(c)) read = debug_status[c*32+:32];
      default:
      for (int c = 0; c < CHANNELS; c++) begin
        if (word[9:3] == 7'(8 + c)) begin
          case (word[2:0])
            3'd0: read = count_pushed[c*32+:32];
            3'd1: read = count_granted[c*32+:32];
            3'd2: read = count_joined[c*32+:32];
            3'd3: read = count_starved[c*32+:32];
            3'd4: read = count_nothing[c*32+:32];
            default: read = '0;
          endcase
        end
      end
    endcase
  endfunction

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      bvalid <= 1'b0;
      rvalid <= 1'b0;
      rdata <= '0;
      cfg_multi_plane <= 1'b1;
      cfg_independent_reads <= 1'b0;
      cfg_starvation_limit <= LIMIT_BITS'(64);
      cfg_priority <= READ_FIRST;
      cfg_planes <= '1;
      cfg_look_ahead <= LOOK_BITS'(1024);
      debug_die <= '0;
      debug_channel <= '0;
    end else begin
      if (bready) bvalid <= 1'b0;
      if (rready) rvalid <= 1'b0;
      if (awready) begin
        bvalid <= 1'b1;
        case (awaddr[11:2])
          10'h004: {cfg_independent_reads, cfg_multi_plane} <= 2'(masked({30'h0, cfg_independent_reads, cfg_multi_plane}));
          10'h005: cfg_starvation_limit <= LIMIT_BITS'(masked(32'(cfg_starvation_limit)));
          10'h006: cfg_priority <= PRIORITIES_BITS'(masked(32'(cfg_priority)));
          10'h007: cfg_planes <= PLANES'(masked(32'(cfg_planes)));
          10'h00A: cfg_look_ahead <= LOOK_BITS'(masked(32'(cfg_look_ahead)));
          10'h008: begin
            debug_die <= DIE_BITS'(masked(32'(debug_die)));
            debug_channel <= 8'(masked({16'h0, debug_channel, 8'h0}) >> 8);
          end
          default: ;
        endcase
      end
      if (arvalid && arready) begin
        rvalid <= 1'b1;
        rdata <= read(araddr[11:2]);
      end
    end
  end

  // Byte addresses: whole words only.
  wire unused = &{1'b0, awaddr[1:0], araddr[1:0]};
endmodule
