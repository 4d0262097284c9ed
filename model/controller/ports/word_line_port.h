// SPDX-License-Identifier: Apache-2.0
// Who closes word lines of flash that is programmed in two steps, for those whose waiting may have begun, or come to
// where only that helps.
#pragma once

namespace ssdtlm {

class WordLinePort {
public:
    virtual ~WordLinePort() = default;
    virtual void look() = 0;
};

}  // namespace ssdtlm
