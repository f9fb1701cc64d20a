// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/batch.h"
#include "messages/reduction.h"
#include "messages/saved_state.h"
#include "messages/scalar.h"
#include "messages/setting.h"
#include "messages/words.h"

namespace trainyard {

/// The kind of an order. On the wire and in JSON, a kind is a word such as "train".
enum class OrderKind : std::uint8_t {
  kTrain,       ///< Train on `batches` micro-batches, with an update after every `micro_batches` of them.
  kEvaluate,    ///< Compute metrics on `batches` batches of `split`, without gradients.
  kPredict,     ///< Compute predictions for `batches` batches of `split`.
  kGenerate,    ///< Let the model generate output without input. `split` is passed to the model, but no sample is read.
  kCheckpoint,  ///< Save a checkpoint. The snapshot for the checkpoint is taken between two steps.
  /// Stop, and discard all earlier orders that are not done. An update in progress is completed; a step that still
  /// lacks micro-batches is discarded.
  kStop,
  /// Pause after a step, or another unit of work, that the ranks agree on. If all ranks are on one host, the pause
  /// overtakes all earlier orders, which continue after kGoOn or are discarded by kStop. Otherwise the earlier orders
  /// are carried out first.
  kPause,
  kGoOn,  ///< Continue after a pause.
};
constexpr auto words_of(OrderKind) {
  return words("kind of order", "train", "evaluate", "predict", "generate", "checkpoint", "stop", "pause", "go_on");
}

/// The message of the strategy manager (the component that directs the run) that tells the data loaders and the
/// accelerator hosts (the components that compute losses and gradients) what to do next. Orders are carried out one
/// after another, in the order of their ids, except that a stop, and in some runs also a pause (OrderKind::kPause),
/// overtakes earlier orders. The strategy manager can send an order before the previous order is done.
struct Order {
  static constexpr const char* kTypeName = "Order";

  std::uint64_t id = 0;  ///< The number of the order: 1, 2, 3, ... in the order of sending.
  OrderKind kind = OrderKind::kTrain;
  /// The split from which the batches are read; "train" for training.
  std::string split;
  std::uint64_t batches = 0;  ///< The number of batches to use; 0 for kinds of orders that use none.
  /// For training: the number of micro-batches in a step. The last step of an order can have fewer.
  std::uint64_t micro_batches = 1;
  std::uint64_t epoch = 0;
  /// The number of steps of the whole run, for learning-rate schedules and time estimates; 0 if it is unknown.
  std::uint64_t total_steps = 0;
  LoaderCursor cursor;            ///< For training: the position in the training data where this order begins.
  std::string reason;             ///< For checkpoint and stop: the reason, such as "interval", "best" or "interrupted".
  std::vector<Scalar> metrics;    ///< For checkpoint: the newest validation metrics.
  std::vector<Setting> settings;  ///< For checkpoint: the settable parameters that were changed during the run.
  /// For checkpoint: the state of the strategy manager at this point of the run, which becomes part of the checkpoint.
  std::vector<SavedState> states;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(id), CEREAL_NVP(kind), CEREAL_NVP(split), CEREAL_NVP(batches), CEREAL_NVP(micro_batches),
            CEREAL_NVP(epoch), CEREAL_NVP(total_steps), CEREAL_NVP(cursor), CEREAL_NVP(reason), CEREAL_NVP(metrics),
            CEREAL_NVP(settings), CEREAL_NVP(states));
  }
};

/// The accelerator host's answer to an Order. It is sent when the order has been carried out; for a pause, as soon as
/// the rank pauses. Orders of the kind kGoOn are not answered. Orders that a stop discarded are not answered either,
/// because the answer to the stop covers them. Every rank sends its own answer, and the strategy manager merges the
/// metrics of all ranks.
struct OrderDone {
  static constexpr const char* kTypeName = "OrderDone";

  std::uint64_t order = 0;
  std::uint32_t rank = 0;
  OrderKind kind = OrderKind::kTrain;
  std::string split;
  /// The number of steps that the run has completed. In a resumed run, this includes the steps before the checkpoint.
  std::uint64_t step = 0;
  /// The number of steps that the run has completed or skipped. Ranks can skip steps independently of each other
  /// (GradientsOfRanks::kIndependent), so `step` can differ between ranks that have done the same work, but this number
  /// cannot.
  std::uint64_t all_steps = 0;
  std::uint64_t epoch = 0;
  /// The number of batches that this order has used. In the answer to a stop: the number of batches that the
  /// interrupted order had used.
  std::uint64_t batches = 0;
  /// The number of samples in these batches. For evaluate: this number is the weight of this rank's metrics when the
  /// metrics of all ranks are merged.
  std::uint64_t samples = 0;
  bool stopped = false;  ///< True in the answer to a stop.
  LoaderCursor cursor;   ///< The position in the training data after the last training batch that was used.
  /// For evaluate: this rank's values, merged over its batches; empty if the rank had no samples.
  std::vector<Scalar> metrics;
  /// The reductions of the metrics that are not merged by a mean over the ranks. The keys are the names of the values.
  Reductions reductions;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(rank), CEREAL_NVP(kind), CEREAL_NVP(split), CEREAL_NVP(step),
            CEREAL_NVP(all_steps), CEREAL_NVP(epoch), CEREAL_NVP(batches), CEREAL_NVP(samples), CEREAL_NVP(stopped),
            CEREAL_NVP(cursor), CEREAL_NVP(metrics), CEREAL_NVP(reductions));
  }
};

}  // namespace trainyard
