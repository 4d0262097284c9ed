// SPDX-License-Identifier: Apache-2.0
// The scheduler of one channel: a queue per die and class, the choice of each die's next class kept in registers, and a
// small state machine that answers one question at a time.
//
//   IDLE    takes one request per cycle; without one, a question
//   PICK    the next die in turn that has what was asked for (one cycle per die tried)
//   SCAN    looks at one request of its queue per cycle: the head, then partners on other planes; or, for independent
//           plane reads, the first request whose plane is idle
//   UPDATE  counts whom the grant overtook
//   ANSWER  holds the answer until it is taken; the die's next class is chosen
//
// A request's entry is one address in a few small memories, linked to the next of its queue.
module channel_scheduler #(
    parameter int DIES = 16,
    parameter int PLANES = 8,
    parameter int DEPTH = 256,
    parameter int TAG_BITS = 16,
    parameter int PAGE_BITS = 16,
    parameter int AGE_BITS = 32,  // of a running number; no request may wait for 2^(AGE_BITS-1) later ones
    parameter int DIE_BITS = DIES > 1 ? $clog2(DIES) : 1,
    parameter int PLANE_BITS = PLANES > 1 ? $clog2(PLANES) : 1,
    parameter int COUNT_BITS = $clog2(PLANES + 1)
) (
    input logic clk,
    input logic rst_n,

    input logic [scheduler_pkg::CLASSES*scheduler_pkg::PRIORITY_BITS-1:0] cfg_priority,  // per class, 0 goes first
    input logic [scheduler_pkg::LIMIT_BITS-1:0] cfg_starvation_limit,                    // 0: none
    input logic [scheduler_pkg::LOOK_BITS-1:0] cfg_look_ahead,                           // requests of a queue, 1 or more
    input logic cfg_multi_plane,
    input logic cfg_independent_reads,
    input logic [PLANES-1:0] cfg_planes,  // that the dies have

    input logic push_valid,
    output logic push_ready,
    input logic [TAG_BITS-1:0] push_tag,
    input logic [DIE_BITS-1:0] push_die,
    input scheduler_pkg::class_t push_class,
    input logic [PLANE_BITS-1:0] push_plane,
    input logic [PAGE_BITS-1:0] push_page,

    // Held stable from query_valid to the answer; idle dies may be added.
    input logic query_valid,
    output logic query_ready,
    input scheduler_pkg::class_set_t query_classes,
    input logic [DIES-1:0] query_idle_dies,
    input logic [PLANES*DIES-1:0] query_idle_read_planes,  // plane-major

    output logic grant_valid,
    input logic grant_ready,
    output logic grant_hit,  // 0: nothing can start
    output logic [DIE_BITS-1:0] grant_die,
    output scheduler_pkg::class_t grant_class,
    output logic [COUNT_BITS-1:0] grant_count,
    output logic [PLANES*TAG_BITS-1:0] grant_tags,

    // A host read waits for a die that was last given a program or an erase and is not idle.
    output logic [DIES-1:0] suspend_request,

    input logic [DIE_BITS-1:0] debug_die,
    output logic [31:0] debug_status,  // chosen class, starved classes, waiting classes
    output logic [31:0] count_pushed,
    output logic [31:0] count_granted,
    output logic [31:0] count_joined,   // grants of several planes
    output logic [31:0] count_starved,  // grants to a class at its limit
    output logic [31:0] count_nothing
);
  // Yosys knows packages, but no import.
  localparam int CLASSES = scheduler_pkg::CLASSES;
  localparam int CLASS_BITS = scheduler_pkg::CLASS_BITS;
  localparam int PRIORITY_BITS = scheduler_pkg::PRIORITY_BITS;
  localparam int LIMIT_BITS = scheduler_pkg::LIMIT_BITS;
  localparam int LOOK_BITS = scheduler_pkg::LOOK_BITS;
  typedef logic [CLASS_BITS-1:0] class_t;
  typedef logic [CLASSES-1:0] class_set_t;
  localparam class_t HOST_READ = scheduler_pkg::HOST_READ;
  localparam class_set_t READS = scheduler_pkg::READS;
  localparam class_set_t PROGRAMS = scheduler_pkg::PROGRAMS;
  localparam class_set_t SLOW = scheduler_pkg::PROGRAMS | scheduler_pkg::ERASES;

  localparam int ENTRY_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam int DEPTH_BITS = $clog2(DEPTH + 1);
  localparam int QUEUES = (1 << DIE_BITS) << CLASS_BITS;  // indexed by {die, class}

  typedef logic [ENTRY_BITS-1:0] entry_t;
  typedef logic [AGE_BITS-1:0] age_t;
  typedef enum logic [2:0] {
    IDLE,
    PICK,
    SCAN,
    UPDATE,
    ANSWER
  } state_t;

  state_t state;

  // --- requests ---------------------------------------------------------------------------------------------------
  logic [TAG_BITS-1:0] tag_of[DEPTH];
  logic [PAGE_BITS-1:0] page_of[DEPTH];
  logic [PLANE_BITS-1:0] plane_of[DEPTH];
  age_t age_of[DEPTH];
  entry_t next_of[DEPTH];

  entry_t free_stack[DEPTH];  // entries that were used and returned
  logic [DEPTH_BITS-1:0] free_count;
  logic [DEPTH_BITS-1:0] fresh;  // entries from here on were never used
  age_t age;

  // --- queues -----------------------------------------------------------------------------------------------------
  entry_t head[QUEUES];
  entry_t tail[QUEUES];
  age_t head_age[QUEUES];
  logic [LIMIT_BITS-1:0] overtaken[QUEUES];

  class_set_t waiting[DIES];
  class_set_t starved[DIES];
  class_t chosen[DIES];                // valid while something waits
  logic [DIES-1:0] choosing[CLASSES];  // the same, by class
  logic [DIES-1:0] host_read_waits;
  logic [DIES-1:0] slow;               // last granted a program or an erase

  // --- the question under decision --------------------------------------------------------------------------------
  logic [DIES-1:0] candidates;
  logic with_programs;
  logic [DIES-1:0] after_last[2];  // dies behind the last granted; apart for questions with and without programs
  logic [DIE_BITS-1:0] die;
  class_t cls;
  class_set_t other_classes;  // also to be searched for an idle plane
  logic only_head;
  entry_t entry;
  entry_t previous;  // the last one passed, which stays
  logic passed_any;
  logic [LOOK_BITS-1:0] looked;
  logic [PLANES-1:0] seen;
  logic [COUNT_BITS-1:0] taken;
  logic [PAGE_BITS-1:0] first_page;
  age_t first_age;
  logic head_taken;
  logic emptied;

  function automatic logic [DIE_BITS-1:0] lowest_die(input logic [DIES-1:0] set);
    lowest_die = '0;
    for (int d = DIES - 1; d >= 0; d--) if (set[d]) lowest_die = DIE_BITS'(d);
  endfunction

  function automatic logic [CLASS_BITS-1:0] lowest_class(input logic [CLASSES-1:0] set);
    lowest_class = '0;
    for (int c = CLASSES - 1; c >= 0; c--) if (set[c]) lowest_class = CLASS_BITS'(c);
  endfunction

  function automatic logic [PRIORITY_BITS-1:0] priority_of(input logic [CLASS_BITS-1:0] c);
    priority_of = cfg_priority[c*PRIORITY_BITS+:PRIORITY_BITS];
  endfunction

  function automatic logic is_older(input logic [AGE_BITS-1:0] a, input logic [AGE_BITS-1:0] b);
    logic [AGE_BITS-1:0] difference;
    difference = a - b;
    is_older = difference[AGE_BITS-1];
  endfunction

  // Returns the oldest of the most urgent classes of a set: the only one that no other beats. All pairs are compared in
  // parallel.
  function automatic logic [CLASS_BITS-1:0] choose(input logic [CLASSES-1:0] set, input logic by_age,
                                                   input logic [CLASSES*AGE_BITS-1:0] ages);
    logic [CLASSES-1:0] beaten;
    logic [PRIORITY_BITS-1:0] urgency_a;
    logic [PRIORITY_BITS-1:0] urgency_b;
    logic older;
    beaten = '0;
    for (int a = 0; a < CLASSES; a++) begin
      for (int b = a + 1; b < CLASSES; b++) begin
        urgency_a = cfg_priority[a*PRIORITY_BITS+:PRIORITY_BITS];
        urgency_b = cfg_priority[b*PRIORITY_BITS+:PRIORITY_BITS];
        older = is_older(ages[a*AGE_BITS+:AGE_BITS], ages[b*AGE_BITS+:AGE_BITS]);
        if (!by_age && urgency_a != urgency_b) older = urgency_a < urgency_b;
        if (set[a] && set[b] && older) beaten[b] = 1'b1;
        if (set[a] && set[b] && !older) beaten[a] = 1'b1;
      end
    end
    choose = lowest_class(set & ~beaten);
  endfunction

  // --- handshakes -------------------------------------------------------------------------------------------------
  wire full = free_count == '0 && fresh == DEPTH_BITS'(DEPTH);
  assign push_ready = state == IDLE && !full;
  assign query_ready = state == IDLE && !(push_valid && !full);
  assign grant_valid = state == ANSWER;
  assign grant_die = die;
  assign grant_class = cls;
  assign grant_count = taken;
  assign suspend_request = host_read_waits & slow & ~query_idle_dies;
  assign debug_status = 32'({chosen[debug_die], 1'b0, starved[debug_die], 1'b0, waiting[debug_die]});

  // --- PICK: the die ----------------------------------------------------------------------------------------------
  wire [DIES-1:0] in_turn = candidates & after_last[with_programs];
  wire [DIE_BITS-1:0] picked = lowest_die(in_turn != '0 ? in_turn : candidates);
  wire [CLASS_BITS-1:0] picked_class = chosen[picked];

  // --- SCAN: the request under look -------------------------------------------------------------------------------
  wire [PLANE_BITS-1:0] plane = plane_of[entry];
  wire plane_by_plane = cfg_independent_reads && READS[cls];
  wire [PLANES-1:0] seen_now = seen | (PLANES'(1) << plane);
  wire last_look = entry == tail[{die, cls}] || looked == cfg_look_ahead - 1'b1 || seen_now == cfg_planes;
  logic [PLANES-1:0] idle_planes_of_die;
  for (genvar p = 0; p < PLANES; p++) begin : g_planes
    wire [DIES-1:0] idle_dies_of_plane = query_idle_read_planes[p*DIES+:DIES];
    assign idle_planes_of_die[p] = idle_dies_of_plane[die];
  end
  logic fits;
  always_comb begin
    if (plane_by_plane) fits = !seen[plane] && idle_planes_of_die[plane];
    else fits = taken == '0 || (!seen[plane] && page_of[entry] == first_page);
  end

  // --- IDLE: where a pushed request goes --------------------------------------------------------------------------
  wire [ENTRY_BITS-1:0] new_entry = free_count != '0 ? free_stack[ENTRY_BITS'(free_count-1'b1)] : ENTRY_BITS'(fresh);
  wire [ENTRY_BITS-1:0] push_tail = tail[{push_die, push_class}];
  wire [CLASS_BITS-1:0] push_chosen = chosen[push_die];
  wire [CLASS_BITS-1:0] die_chosen = chosen[die];

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      state <= IDLE;
      free_count <= '0;
      fresh <= '0;
      age <= '0;
      host_read_waits <= '0;
      slow <= '0;
      after_last[0] <= '1;
      after_last[1] <= '1;
      for (int d = 0; d < DIES; d++) begin
        waiting[d] <= '0;
        starved[d] <= '0;
        chosen[d] <= '0;
      end
      for (int c = 0; c < CLASSES; c++) choosing[c] <= '0;
      count_pushed <= '0;
      count_granted <= '0;
      count_joined <= '0;
      count_starved <= '0;
      count_nothing <= '0;
    end else begin
      case (state)
        IDLE: begin
          if (push_valid && !full) begin
            count_pushed <= count_pushed + 1'b1;
            age <= age + 1'b1;
            if (free_count != '0) free_count <= free_count - 1'b1;
            else fresh <= fresh + 1'b1;
            tag_of[new_entry] <= push_tag;
            page_of[new_entry] <= push_page;
            plane_of[new_entry] <= push_plane;
            age_of[new_entry] <= age;
            tail[{push_die, push_class}] <= new_entry;
            if (push_class == HOST_READ) host_read_waits[push_die] <= 1'b1;
            if (waiting[push_die][push_class]) begin
              next_of[push_tail] <= new_entry;
            end else begin
              head[{push_die, push_class}] <= new_entry;
              head_age[{push_die, push_class}] <= age;
              overtaken[{push_die, push_class}] <= '0;
              waiting[push_die][push_class] <= 1'b1;
              // The newest request only comes first where it is alone or more urgent.
              if (waiting[push_die] == '0 ||
                  (starved[push_die] == '0 && priority_of(push_class) < priority_of(push_chosen))) begin
                chosen[push_die] <= push_class;
                choosing[push_chosen][push_die] <= 1'b0;
                choosing[push_class][push_die] <= 1'b1;
              end
            end
          end else if (query_valid) begin
            state <= PICK;
            candidates <= able_dies();
            with_programs <= (query_classes & PROGRAMS) != '0;
            slow <= slow & ~query_idle_dies;
            grant_hit <= 1'b0;
            taken <= '0;
          end
        end

        PICK: begin
          die <= picked;
          cls <= picked_class;
          entry <= head[{picked, picked_class}];
          other_classes <= '0;
          // Other reads may use a plane that the chosen class does not want, unless a program or erase waits.
          if (cfg_independent_reads && READS[picked_class] && (waiting[picked] & SLOW) == '0)
            other_classes <= waiting[picked] & query_classes & ~(CLASSES'(1) << picked_class);
          // A starved program or erase may not be passed by requests that skip their queue's busy head.
          only_head <= (starved[picked] & SLOW) != '0;
          passed_any <= 1'b0;
          looked <= '0;
          seen <= '0;
          if (candidates == '0) begin
            count_nothing <= count_nothing + 1'b1;
            state <= ANSWER;
          end else begin
            candidates[picked] <= 1'b0;
            state <= SCAN;
          end
        end

        SCAN: begin
          looked <= looked + 1'b1;
          seen <= seen_now;
          entry <= next_of[entry];
          if (fits) begin
            grant_tags[taken*TAG_BITS+:TAG_BITS] <= tag_of[entry];
            taken <= taken + 1'b1;
            if (taken == '0) begin
              first_page <= page_of[entry];
              first_age <= age_of[entry];
              head_taken <= !passed_any;
            end
            free_stack[ENTRY_BITS'(free_count)] <= entry;
            free_count <= free_count + 1'b1;
            // Take it out of its queue.
            if (passed_any) next_of[previous] <= next_of[entry];
            else head[{die, cls}] <= next_of[entry];
            emptied <= entry == tail[{die, cls}] && !passed_any;
            if (entry == tail[{die, cls}]) tail[{die, cls}] <= previous;
          end else begin
            previous <= entry;
            passed_any <= 1'b1;
          end
          if (plane_by_plane) begin
            if (fits) begin
              state <= UPDATE;
            end else if (last_look || only_head) begin
              cls <= lowest_class(other_classes);
              entry <= head[{die, lowest_class(other_classes)}];
              other_classes <= other_classes & (other_classes - 1'b1);
              passed_any <= 1'b0;
              looked <= '0;
              seen <= '0;
              if (other_classes == '0) state <= PICK;
            end
          end else if (last_look || !cfg_multi_plane) begin
            state <= UPDATE;
          end
        end

        UPDATE: begin
          grant_hit <= 1'b1;
          after_last[with_programs] <= ~(DIES'(1) | ((DIES'(1) << die) - 1'b1) | (DIES'(1) << die));
          slow[die] <= SLOW[cls];
          if (emptied) begin
            waiting[die][cls] <= 1'b0;
            if (cls == HOST_READ) host_read_waits[die] <= 1'b0;
          end else begin
            head_age[{die, cls}] <= age_of[head[{die, cls}]];
          end
          if (head_taken) begin
            overtaken[{die, cls}] <= '0;
            starved[die][cls] <= 1'b0;
          end
          if (cfg_starvation_limit != '0) begin
            for (int c = 0; c < CLASSES; c++) begin
              if (waiting[die][c] && cls != CLASS_BITS'(c) && is_older(head_age[{die, CLASS_BITS'(c)}], first_age)) begin
                if (overtaken[{die, CLASS_BITS'(c)}] + 1'b1 >= cfg_starvation_limit) starved[die][c] <= 1'b1;
                else overtaken[{die, CLASS_BITS'(c)}] <= overtaken[{die, CLASS_BITS'(c)}] + 1'b1;
              end
            end
          end
          count_granted <= count_granted + 1'b1;
          if ((taken >> 1) != '0) count_joined <= count_joined + 1'b1;
          if (starved[die][cls]) count_starved <= count_starved + 1'b1;
          state <= ANSWER;
        end

        default: begin  // ANSWER
          if (grant_ready) begin
            state <= IDLE;
            if (grant_hit) begin
              choosing[die_chosen][die] <= 1'b0;
              if (waiting[die] != '0) begin
                chosen[die] <= next_class();
                choosing[next_class()][die] <= 1'b1;
              end
            end
          end
        end
      endcase
    end
  end

  // Dies whose next class is asked for and which can start it.
  function automatic logic [DIES-1:0] able_dies();
    logic [DIES-1:0] wanting;
    logic [DIES-1:0] wanting_read;
    logic [DIES-1:0] some_plane;
    wanting = '0;
    wanting_read = '0;
    some_plane = '0;
    for (int c = 0; c < CLASSES; c++) begin
      if (query_classes[c]) wanting = wanting | choosing[c];
      if (query_classes[c] && READS[c]) wanting_read = wanting_read | choosing[c];
    end
    if (cfg_independent_reads)
      for (int p = 0; p < PLANES; p++) some_plane = some_plane | query_idle_read_planes[p*DIES+:DIES];
    able_dies = (wanting & query_idle_dies) | (wanting_read & some_plane);
  endfunction

  function automatic logic [CLASS_BITS-1:0] next_class();
    logic [CLASSES*AGE_BITS-1:0] ages;
    for (int c = 0; c < CLASSES; c++) ages[c*AGE_BITS+:AGE_BITS] = head_age[{die, CLASS_BITS'(c)}];
    next_class = choose(starved[die] != '0 ? starved[die] : waiting[die], starved[die] != '0, ages);
  endfunction
endmodule
