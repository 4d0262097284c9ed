// SPDX-License-Identifier: Apache-2.0
// ONFI sequencer of one channel: plays the command, address and data cycles of one transaction on the pins of an 8-bit
// NV-DDR2/NV-DDR3/NV-LPDDR4 bus. The same sequences and the same times as the model's OnfiBusTiming:
//
//   read      00h-5A-30h; several planes: 32h and a wait for tWB + tPLRBSY between them
//   data out  optional 05h-2A-E0h or 06h-5A-E0h and tCCS; tRR, then the burst
//   program   80h-5A-tADL-burst-10h; several planes: 11h and the wait between them
//   erase     60h-3A-D0h; several planes: D1h and the wait between them
//   status    70h or 78h-3A, tWHR, then a burst of two transfers
//
// A plane in SLC mode has one command more in front of its 00h, 80h or 60h, in the same group of cycles.
//
// CE#, CLE, ALE, WE# and the bytes of commands and addresses change with the clock. Strobes need not: the clock is the
// controller's, not the PHY's, and a transfer takes `step` clocks, a fixed-point number. Each clock says how many
// transfers begin in it (`burst_count`) and where the first of them lies (`burst_phase`, a fraction of the clock); the
// PHY's serializer toggles RE# (data out) or DQS (data in) there, and moves a byte of the data buffer with each toggle.
// A burst's end is rounded up to a clock once; what rounding adds to one plane's burst is taken off the next one's tADL.
module onfi_sequencer #(
    parameter int unsigned CHIPS  = 8,    // chip enables, at most 64
    parameter int unsigned PLANES = 8,    // planes of a transaction, at most 8
    parameter int unsigned LANES  = 4     // transfers per clock, at most 15: 4 at 400 MHz are 1600 MT/s
) (
    input  logic                 clk,
    input  logic                 rst_n,

    // Timing, constant while a transaction runs. In clocks, each at least 1, rounded up ...
    input  logic [15:0]          t_cs,
    input  logic [15:0]          t_wc,
    input  logic [15:0]          t_we_fall,   // begin of a cycle to the fall of WE#
    input  logic [15:0]          t_we_rise,   // ... and to its rise, at most t_wc
    input  logic [15:0]          t_adl,       // at least 2
    input  logic [15:0]          t_ccs,
    input  logic [15:0]          t_rr,
    input  logic [15:0]          t_whr,
    input  logic [15:0]          t_plane,     // tWB + tPLRBSY (= tPLPBSY = tPLEBSY)
    input  logic [15:0]          t_wpre,
    input  logic [15:0]          t_rpre,
    input  logic [15:0]          t_rhw,
    // ... and with 20 fractional bits: clocks per transfer (more than 1 / LANES; set while idle,
    // LANES clocks before the next transaction), and from where a further transfer would be to the burst's end.
    input  logic [27:0]          step,
    input  logic [31:0]          post_in,     // tWPST + tWPSTH, at least two clocks
    input  logic [31:0]          post_out,    // the die's access time, tRPST and tRPSTH, at least two clocks
    input  logic [7:0]           slc_prefix,  // command in front of a plane in SLC mode

    // A transaction: taken when both are high.
    input  logic                 start_valid,
    output logic                 start_ready,
    input  logic [2:0]           start_kind,      // 0 read, 1 data out, 2 program, 3 erase, 4 status
    input  logic [1:0]           start_select,    // data out: 0 none, 1 05h, 2 06h; status: 0 70h, 2 78h
    input  logic [5:0]           start_chip,
    input  logic [3:0]           start_planes,
    input  logic [15:0]          start_column,
    input  logic [24*PLANES-1:0] start_rows,
    input  logic [PLANES-1:0]    start_slc,       // read, program, erase: the plane is in SLC mode
    input  logic [17:0]          start_transfers, // per burst; even, not 0 where there is a burst
    output logic                 done,            // for one clock, from the instant at which CE# rises

    // Pins that change with the clock. DQ is released where dq_oe is low and no data-in burst runs.
    output logic [CHIPS-1:0]     ce_n,
    output logic                 cle,
    output logic                 ale,
    output logic                 we_n,
    output logic [7:0]           dq,
    output logic                 dq_oe,
    output logic                 re_n,            // low around a data-out burst, which toggles it
    output logic                 dqs_oe,          // DQS driven, low around a data-in burst, which toggles it

    // Strobes of this clock, for the PHY.
    output logic                 burst_in,
    output logic                 burst_out,
    output logic [3:0]           burst_count,
    output logic [19:0]          burst_phase
);
    localparam logic [2:0] KIND_READ = 3'd0, KIND_OUT = 3'd1, KIND_PROGRAM = 3'd2, KIND_ERASE = 3'd3,
                           KIND_STATUS = 3'd4;
    localparam logic [1:0] SELECT_NONE = 2'd0, SELECT_ENHANCED = 2'd2;

    // A command is up to eight cycles; each kind leaves some out. The prefix comes before the others.
    localparam logic [2:0] SLOT_OPCODE = 3'd0, SLOT_COLUMN = 3'd1, SLOT_ROW = 3'd3, SLOT_LAST_ROW = 3'd5,
                           SLOT_CONFIRM = 3'd6, SLOT_PREFIX = 3'd7;

    localparam logic [3:0] IDLE = 4'd0,  // start_ready
                           LEAD = 4'd1,  // tCS, CLE, ALE and DQ of the first cycle are there
                           CYCLE = 4'd2, // one WE# cycle
                           DELAY = 4'd3, // tADL, tCCS + tRR, tRR or tWHR
                           PRE = 4'd4,   // preamble
                           BURST = 4'd5,
                           TAIL = 4'd6,  // the postamble's first clock
                           POST = 4'd7,  // the rest of it
                           PLANE = 4'd8, // R/B# is low between planes
                           TURN = 4'd9;  // tRHW

    logic [3:0]           state;
    logic [2:0]           slot;
    logic [16:0]          timer;      // clocks left in the state, less one
    logic [15:0]          elapsed;    // clocks spent in the cycle
    logic [2:0]           kind;
    logic [1:0]           select;
    logic [3:0]           planes_left;
    logic [15:0]          column;
    logic [24*PLANES-1:0] rows;       // the current plane's lowest
    logic [PLANES-1:0]    slc;        // the same
    logic [17:0]          transfers;
    logic [17:0]          remaining;  // transfers of this burst
    logic [28:0]          position;   // next transfer from the begin of this clock, 9.20
    logic signed [21:0]   late;       // how much rounding has added, in -1 .. 1 clock, 2.20
    logic                 first_plane;

    localparam logic [28:0] ONE = 29'h0100000;  // a clock, .20

    // --- cycles ----------------------------------------------------------------------------------------------------

    function automatic logic [7:0] opcode(input logic [2:0] k, input logic [1:0] s);
        case (k)
            KIND_OUT:     opcode = s == SELECT_ENHANCED ? 8'h06 : 8'h05;
            KIND_PROGRAM: opcode = 8'h80;
            KIND_ERASE:   opcode = 8'h60;
            KIND_STATUS:  opcode = s == SELECT_ENHANCED ? 8'h78 : 8'h70;
            default:      opcode = 8'h00;
        endcase
    endfunction

    function automatic logic [7:0] confirm(input logic [2:0] k, input logic last);
        case (k)
            KIND_OUT:     confirm = 8'hE0;
            KIND_PROGRAM: confirm = last ? 8'h10 : 8'h11;
            KIND_ERASE:   confirm = last ? 8'hD0 : 8'hD1;
            default:      confirm = last ? 8'h30 : 8'h32;
        endcase
    endfunction

    wire has_column = kind != KIND_ERASE && kind != KIND_STATUS;
    wire has_row    = !((kind == KIND_OUT || kind == KIND_STATUS) && select != SELECT_ENHANCED);
    wire last_plane = planes_left == 4'd1;
    wire burst_next = kind == KIND_PROGRAM || kind == KIND_STATUS;  // after the addresses

    // The slot after the present one, and whether the group of cycles ends with it.
    logic [2:0] next_slot;
    logic       group_ends;
    always_comb begin
        group_ends = 1'b0;
        next_slot  = slot + 3'd1;
        case (slot)
            SLOT_PREFIX: next_slot = SLOT_OPCODE;
            SLOT_OPCODE: begin
                next_slot = has_column ? SLOT_COLUMN : SLOT_ROW;
                group_ends = !has_column && !has_row;
            end
            SLOT_COLUMN + 3'd1: next_slot = has_row ? SLOT_ROW : SLOT_CONFIRM;
            SLOT_LAST_ROW: group_ends = burst_next;
            SLOT_CONFIRM: group_ends = 1'b1;
            default: ;
        endcase
    end

    function automatic logic [7:0] address(input logic [2:0] s, input logic [15:0] c, input logic [23:0] r);
        case (s)
            3'd1:    address = c[7:0];
            3'd2:    address = c[15:8];
            3'd3:    address = r[7:0];
            3'd4:    address = r[15:8];
            default: address = r[23:16];
        endcase
    endfunction

    // --- bursts ----------------------------------------------------------------------------------------------------

    // Multiples of a transfer's time, settled after LANES idle clocks.
    logic [32*LANES+31:0] multiple;
    always_ff @(posedge clk) if (state == IDLE) begin
        multiple[31:0] <= '0;
        for (int k = 1; k <= LANES; k++)
            multiple[32*k +: 32] <= multiple[32*k-32 +: 32] + {4'd0, step};
    end

    // Transfers that begin in this clock, and where the one after them would.
    logic [LANES:0] begins;
    logic [31:0]    sum;
    logic [3:0]     count;
    logic [28:0]    after;
    always_comb begin
        begins = '0;
        count = 4'd0;
        after = position;
        sum = '0;
        if (state == BURST) begin
            for (int k = 0; k < LANES; k++) begin
                sum = {3'd0, position} + multiple[32*k +: 32];
                begins[k] = sum < {3'd0, ONE} && remaining > k[17:0];
            end
            if (begins[0]) after = '0;
            for (int k = 1; k <= LANES; k++)
                if (begins[k-1] && !begins[k]) begin
                    sum = {3'd0, position} + multiple[32*k +: 32];
                    count = count | k[3:0];
                    after = after | sum[28:0];
                end
        end
    end
    wire [17:0] remaining_next = remaining - {14'd0, count};
    wire        last_clock     = remaining_next == 0;

    // In TAIL, the burst's end from the begin of its last clock; rounded up to clocks.
    wire [32:0] burst_end   = {4'd0, position} + {1'b0, kind == KIND_PROGRAM ? post_in : post_out};
    wire [12:0] burst_whole = burst_end[32:20] + {12'd0, |burst_end[19:0]};
    wire [19:0] burst_added = -burst_end[19:0];

    assign burst_in    = state == BURST && kind == KIND_PROGRAM;
    assign burst_out   = state == BURST && kind != KIND_PROGRAM;
    assign burst_count = count;
    assign burst_phase = position[19:0];
    assign start_ready = state == IDLE;

    // --- the machine -----------------------------------------------------------------------------------------------

    wire [PLANES-1:0] slc_planes = start_kind == KIND_OUT || start_kind == KIND_STATUS ? '0 : start_slc;
    wire shorten = kind == KIND_PROGRAM && !first_plane && late > 0;

    always_ff @(posedge clk) begin
        done <= 1'b0;
        timer <= timer - 17'd1;
        elapsed <= elapsed + 16'd1;
        case (state)
            IDLE: if (start_valid) begin
                kind <= start_kind;
                select <= start_select;
                planes_left <= start_planes;
                column <= start_column;
                rows <= start_rows;
                slc <= slc_planes;
                transfers <= start_transfers;
                late <= '0;
                first_plane <= 1'b1;
                for (int c = 0; c < CHIPS; c++) ce_n[c] <= start_chip != c[5:0];
                if (start_kind == KIND_OUT && start_select == SELECT_NONE) begin
                    state <= DELAY;
                    timer <= {1'b0, t_rr} - 17'd1;
                end else begin
                    state <= LEAD;
                    timer <= {1'b0, t_cs} - 17'd1;
                    slot <= slc_planes[0] ? SLOT_PREFIX : SLOT_OPCODE;
                    cle <= 1'b1;
                    dq <= slc_planes[0] ? slc_prefix : opcode(start_kind, start_select);
                    dq_oe <= 1'b1;
                end
            end

            LEAD: if (timer == 0) begin
                state <= CYCLE;
                timer <= {1'b0, t_wc} - 17'd1;
                elapsed <= 16'd0;
            end

            CYCLE: begin
                if (elapsed == t_we_fall - 16'd1) we_n <= 1'b0;
                if (elapsed == t_we_rise - 16'd1) we_n <= 1'b1;
                if (timer == 0) begin
                    if (!group_ends) begin
                        timer <= {1'b0, t_wc} - 17'd1;
                        elapsed <= 16'd0;
                        slot <= next_slot;
                        cle <= next_slot == SLOT_CONFIRM || next_slot == SLOT_OPCODE;
                        ale <= next_slot != SLOT_CONFIRM && next_slot != SLOT_OPCODE;
                        dq <= next_slot == SLOT_CONFIRM  ? confirm(kind, last_plane)
                              : next_slot == SLOT_OPCODE ? opcode(kind, select)
                                                         : address(next_slot, column, rows[23:0]);
                    end else begin
                        cle <= 1'b0;
                        ale <= 1'b0;
                        dq_oe <= 1'b0;
                        if (slot != SLOT_CONFIRM || kind == KIND_OUT) begin
                            state <= DELAY;
                            case (kind)
                                KIND_OUT:    timer <= {1'b0, t_ccs} + {1'b0, t_rr} - 17'd1;
                                KIND_STATUS: timer <= {1'b0, t_whr} - 17'd1;
                                default:     timer <= {1'b0, t_adl} - (shorten ? 17'd2 : 17'd1);
                            endcase
                            if (shorten) late <= late - 22'sh100000;
                        end else if (last_plane) begin
                            state <= IDLE;
                            done <= 1'b1;
                            ce_n <= '1;
                        end else begin
                            state <= PLANE;
                            timer <= {1'b0, t_plane} - 17'd1;
                            rows <= rows >> 24;
                            slc <= slc >> 1;
                            planes_left <= planes_left - 4'd1;
                            first_plane <= 1'b0;
                        end
                    end
                end
            end

            PLANE: if (timer == 0) begin
                state <= LEAD;
                timer <= {1'b0, t_cs} - 17'd1;
                slot <= slc[0] ? SLOT_PREFIX : SLOT_OPCODE;
                cle <= 1'b1;
                dq <= slc[0] ? slc_prefix : opcode(kind, select);
                dq_oe <= 1'b1;
            end

            DELAY: if (timer == 0) begin
                state <= PRE;
                if (kind == KIND_PROGRAM) begin
                    timer <= {1'b0, t_wpre} - 17'd1;
                    dqs_oe <= 1'b1;
                end else begin
                    timer <= {1'b0, t_rpre} - 17'd1;
                    re_n <= 1'b0;
                end
            end

            PRE: if (timer == 0) begin
                state <= BURST;
                remaining <= transfers;
                position <= '0;
            end

            BURST: begin
                remaining <= remaining_next;
                position <= after - (last_clock ? 29'd0 : ONE);
                if (last_clock) state <= TAIL;
            end

            TAIL: begin
                state <= POST;
                timer <= {4'd0, burst_whole} - 17'd3;
                late <= late + $signed({2'b00, burst_added});
            end

            POST: if (timer == 0) begin
                re_n <= 1'b1;
                dqs_oe <= 1'b0;
                if (kind == KIND_PROGRAM) begin
                    state <= LEAD;
                    timer <= {1'b0, t_cs} - 17'd1;
                    slot <= SLOT_CONFIRM;
                    cle <= 1'b1;
                    dq <= confirm(kind, last_plane);
                    dq_oe <= 1'b1;
                end else begin
                    state <= TURN;
                    timer <= {1'b0, t_rhw} - 17'd1;
                    done <= 1'b1;
                    ce_n <= '1;
                end
            end

            TURN: if (timer == 0) state <= IDLE;

            default: state <= IDLE;
        endcase

        if (!rst_n) begin
            state <= IDLE;
            done <= 1'b0;
            ce_n <= '1;
            cle <= 1'b0;
            ale <= 1'b0;
            we_n <= 1'b1;
            dq <= 8'd0;
            dq_oe <= 1'b0;
            re_n <= 1'b1;
            dqs_oe <= 1'b0;
            timer <= '0;
            elapsed <= '0;
            slot <= SLOT_OPCODE;
            kind <= KIND_READ;
            select <= SELECT_NONE;
            planes_left <= 4'd1;
            column <= '0;
            rows <= '0;
            slc <= '0;
            transfers <= '0;
            remaining <= '0;
            position <= '0;
            late <= '0;
            first_plane <= 1'b1;
        end
    end
endmodule
