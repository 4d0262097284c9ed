// SPDX-License-Identifier: Apache-2.0
// Carries out what SuspendControl decides. It has the sequences that stop and resume a die's operation, and keeps the
// channel's books on it. It exists only if there is a policy.
#pragma once

#include "controller/channel_ctrl/die_tracker.h"
#include "controller/channel_ctrl/sequence_builder.h"
#include "controller/channel_ctrl/suspend_control.h"
#include "controller/channel_ctrl/wait_accounting.h"

namespace ssdtlm {

class Suspender : public SuspendControl {
public:
    /// All arguments must outlive it.
    Suspender(const SuspendPolicy& policy, const NandConfig& nand, DieTracker& dies, WaitAccounting& waits,
              SequenceBuilder& sequences)
        : SuspendControl(policy, nand), dies_(dies), waits_(waits), sequences_(sequences) {}

    /// A query for what the scheduler may grant beside a suspended operation. If there is nothing, `any` is false.
    struct Question {
        GrantQuery query;
        bool any = false;
    };
    Question reads_beside(SimTime now);
    /// Nothing was granted: the suspended operations on these dies go on.
    void give_up(const GrantQuery& refused);
    /// The sequence that the free bus carries now for a suspend or a resume. Null: there is none, and `again_at` says
    /// when to look again.
    OnfiPayload* next(SimTime now, SimTime& again_at);
    /// A suspend was answered. True: the array has stopped; false: the operation has ended instead.
    bool stopped(const OnfiExtension& onfi, SimTime now);

private:
    OnfiPayload& suspend(std::uint32_t die, SimTime now);
    OnfiPayload& resume(std::uint32_t die, SimTime now);

    DieTracker& dies_;
    WaitAccounting& waits_;
    SequenceBuilder& sequences_;
};

}  // namespace ssdtlm
