// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "messages/arena.h"
#include "messages/batch.h"
#include "messages/control.h"
#include "messages/dataset_info.h"
#include "messages/device_handle.h"
#include "messages/histogram.h"
#include "messages/log_record.h"
#include "messages/message_type.h"
#include "messages/metrics.h"
#include "messages/order.h"
#include "messages/plan.h"
#include "messages/prediction.h"
#include "messages/remote_memory.h"
#include "messages/run_state.h"
#include "messages/saved_state.h"
#include "messages/spans.h"
#include "messages/step.h"
#include "messages/subscription.h"
#include "messages/testing/everything.h"
#include "messages/validation_results.h"

namespace trainyard::testing {

/// The list of all message types of Trainyard, and Everything, for `using ... = ::testing::Types<...>` and
/// for_each_message.
template <template <class...> class List>
using AllMessages =
    List<DeviceId, BlockHandle, FenceHandle, SharedArena, ArenaInfo, OptimizerState, ModelInfo, Batch, DatasetInfo,
         LogRecord, Metrics, RankMetrics, Order, OrderDone, Prediction, Histograms, Confusion, SampleResults, Snapshot,
         SnapshotTaken, StateRequest, StateAnswer, RestoredStates, StatesTaken, RemoteMemory, CopyMemory, MemoryCopied,
         MemoryPart, WriteMemory, MemoryWritten, FolderProbe, FolderProbed, RestoredMemory, MemoryRestored,
         CheckpointDone, RunState, Gradients, Parameters, ArenaReadable, ArenaRead, Spans, ProcessPlan, Hello,
         Configured, Connect, Connected, Transition, StateChanged, Heartbeat, RunFinished, PeerGone, Request, Reply,
         Subscribe, Subscribed, Credit, Unsubscribe, Flush, Ended, Everything>;

/// A list of message types over which a program can iterate: AllMessages<MessageVisitor>.
template <class... T>
struct MessageVisitor {
  template <class Visit>
  static void visit(Visit&& visit_type) {
    (visit_type.template operator()<T>(), ...);
  }
};

/// Calls `visit.template operator()<T>()` for every message type of Trainyard and for Everything, so that tests and
/// fuzzers leave none out.
template <class Visit>
void for_each_message(Visit&& visit) {
  AllMessages<MessageVisitor>::visit(visit);
}

}  // namespace trainyard::testing
