// SPDX-License-Identifier: Apache-2.0
// Purpose of a flash request. The numbers are those of the model's FlashClass.
package scheduler_pkg;
  localparam int CLASSES = 7;
  localparam int CLASS_BITS = 3;
  localparam int PRIORITY_BITS = 4;   // of one class, in the CSR and on the way to the channels
  localparam int LIMIT_BITS = 20;     // starvation limit
  localparam int LOOK_BITS = 12;      // look-ahead: requests of a queue that are looked at for a partner or an idle plane

  typedef logic [CLASS_BITS-1:0] class_t;
  typedef logic [CLASSES-1:0] class_set_t;

  localparam class_t HOST_READ = 3'd0;
  localparam class_t MAPPING_READ = 3'd1;
  localparam class_t HOST_WRITE = 3'd2;
  localparam class_t MAPPING_WRITE = 3'd3;
  localparam class_t GC_READ = 3'd4;
  localparam class_t GC_WRITE = 3'd5;
  localparam class_t ERASE = 3'd6;

  localparam class_set_t READS = (7'd1 << HOST_READ) | (7'd1 << MAPPING_READ) | (7'd1 << GC_READ);
  localparam class_set_t PROGRAMS = (7'd1 << HOST_WRITE) | (7'd1 << MAPPING_WRITE) | (7'd1 << GC_WRITE);
  localparam class_set_t ERASES = 7'd1 << ERASE;
endpackage
