// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ssdtlm {

/// The whole program. Turns every exception into one message on standard error and one exit code (ExitCode).
int ssdtlm_main(int argc, char** argv);

}  // namespace ssdtlm
