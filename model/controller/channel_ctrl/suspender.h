// SPDX-License-Identifier: Apache-2.0
// Carries out what SuspendControl decides: the sequences that stop and resume a die's operation, and what the channel's
// books say of it. Exists only if there is a policy.
#pragma once

#include "controller/channel_ctrl/die_tracker.h"
#include "controller/channel_ctrl/sequence_builder.h"
#include "controller/channel_ctrl/suspend_control.h"
#include "controller/channel_ctrl/wait_accounting.h"

namespace ssdtlm {

class Suspender : public SuspendControl {
public:
    /// All must outlive it.
    Suspender(const SuspendPolicy& policy, const NandConfig& nand, DieTracker& dies, WaitAccounting& waits,
              SequenceBuilder& sequences)
        : SuspendControl(policy, nand), dies_(dies), waits_(waits), sequences_(sequences) {}

    /// What the scheduler may grant beside a suspended operation; nothing: `any` is false.
    struct Question {
        GrantQuery query;
        bool any = false;
    };
    Question reads_beside(SimTime now);
    /// Nothing was granted: what is suspended on these dies goes on.
    void give_up(const GrantQuery& refused);
    /// The sequence that the free bus carries now for a suspend or a resume; null: none, `again_at` says when to look
    /// again.
    OnfiPayload* next(SimTime now, SimTime& again_at);
    /// A suspend's answer. True: the array has stopped; false: the operation has ended instead.
    bool stopped(const OnfiExtension& onfi, SimTime now);

private:
    OnfiPayload& suspend(std::uint32_t die, SimTime now);
    OnfiPayload& resume(std::uint32_t die, SimTime now);

    DieTracker& dies_;
    WaitAccounting& waits_;
    SequenceBuilder& sequences_;
};

}  // namespace ssdtlm
