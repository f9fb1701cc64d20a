// SPDX-License-Identifier: Apache-2.0
// Instantiates the functions of every message type that components exchange. The list must match the `extern template`
// declarations in message_type.h. A type that is in only one of the two lists still works, at the cost of build time.

#include "messages/arena.h"
#include "messages/batch.h"
#include "messages/dataset_info.h"
#include "messages/log_record.h"
#include "messages/message_type.h"
#include "messages/metrics.h"
#include "messages/order.h"
#include "messages/prediction.h"
#include "messages/run_state.h"
#include "messages/saved_state.h"
#include "messages/scalar.h"
#include "messages/step.h"

namespace trainyard {

template const MessageType& message_type<ArenaBlock>();
template const MessageType& message_type<ArenaInfo>();
template const MessageType& message_type<Batch>();
template const MessageType& message_type<CheckpointDone>();
template const MessageType& message_type<DatasetInfo>();
template const MessageType& message_type<Gradients>();
template const MessageType& message_type<LogRecord>();
template const MessageType& message_type<Metrics>();
template const MessageType& message_type<ModelInfo>();
template const MessageType& message_type<OptimizerState>();
template const MessageType& message_type<Order>();
template const MessageType& message_type<OrderDone>();
template const MessageType& message_type<Parameters>();
template const MessageType& message_type<Prediction>();
template const MessageType& message_type<RankMetrics>();
template const MessageType& message_type<RestoredStates>();
template const MessageType& message_type<RunState>();
template const MessageType& message_type<Scalar>();
template const MessageType& message_type<Snapshot>();
template const MessageType& message_type<SnapshotTaken>();
template const MessageType& message_type<StateAnswer>();
template const MessageType& message_type<StateRequest>();
template const MessageType& message_type<StatesTaken>();

}  // namespace trainyard
