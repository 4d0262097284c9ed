// SPDX-License-Identifier: Apache-2.0
// Charges the time of a program to a command that waits for it.
#pragma once

#include "controller/ports/program_job.h"

namespace ssdtlm {

/// Charges a command that waited for this program, from the command's last mark to `now`, with the stages of the
/// program. Where the command began to wait in the middle of the program's flash part, only the end of that part is
/// charged. From the end backwards, it is the wait of a lower page for its upper one, the array time, the bus, and the
/// waits.
void charge_program(Timeline& t, const ProgramJob& program, SimTime now);

}  // namespace ssdtlm
