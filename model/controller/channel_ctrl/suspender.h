// SPDX-License-Identifier: Apache-2.0
// Carries out the decisions of SuspendControl. It has the sequences that stop and resume a die's operation, and updates
// the channel's records. It exists only if there is a policy.
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

    /// A query for requests that the scheduler may grant beside a suspended operation. If there is none, `any` is
    /// false.
    struct Question {
        GrantQuery query;
        bool any = false;
    };
    Question reads_beside(SimTime now);
    /// The scheduler granted nothing, so the suspended operations on these dies continue.
    void give_up(const GrantQuery& refused);
    /// Returns the sequence for a suspend or a resume that the free bus carries now. If there is none it is null, and
    /// `again_at` says when to call again.
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
