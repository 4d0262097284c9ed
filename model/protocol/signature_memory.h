// SPDX-License-Identifier: Apache-2.0
// Host memory that knows that of user data only signatures are moved. A host of another make has no use for those: it
// gets bytes, or is refused.
#pragma once

#include <tlm>

namespace ssdtlm {

/// The interface to which the socket of such a memory is bound.
class SignatureMemory : public tlm::tlm_fw_transport_if<> {};

}  // namespace ssdtlm
