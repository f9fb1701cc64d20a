#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/batch.h"
#include "messages/reduction.h"
#include "messages/scalar.h"

namespace trainyard {

/// What the strategy manager tells the loader and the accelerator host to do next. Orders are carried out one after
/// another, in the order of their ids; the manager may send the next before the last is done.
///
/// `kind`: train (`batches` micro-batches, a step every `micro_batches`), evaluate (`batches` of `split`, no
/// gradients), predict (`batches` of `split`, or generation if 0), checkpoint (snapshot between two steps), stop (after
/// the current step; every order before it that is not done is dropped).
struct Order {
  static constexpr const char* kTypeName = "Order";

  std::uint64_t id = 0;  ///< 1, 2, 3, ...
  std::string kind;
  // evaluate, predict: which data; "train" for train.
  std::string split;
  std::uint64_t batches = 0;
  std::uint64_t micro_batches = 1;  ///< Per optimizer step; the last step of an order may have fewer.
  std::uint64_t epoch = 0;
  std::uint64_t total_steps = 0;  ///< Of the whole run, for schedules and ETA; 0 = unknown.
  LoaderCursor cursor;            ///< train: where the stream must stand when this order begins.
  std::string reason;             ///< checkpoint, stop: "interval", "best", "final", "interrupted", ...
  std::vector<Scalar> metrics;    ///< checkpoint: the newest validation metrics.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(id), CEREAL_NVP(kind), CEREAL_NVP(split), CEREAL_NVP(batches), CEREAL_NVP(micro_batches),
            CEREAL_NVP(epoch), CEREAL_NVP(total_steps), CEREAL_NVP(cursor), CEREAL_NVP(reason), CEREAL_NVP(metrics));
  }
};

/// The accelerator host's answer to an Order. A step is one optimizer step, everywhere. Orders are answered in turn,
/// once each, except those that a stop overtook: the answer to the stop stands for them, too. Each of several ranks
/// answers for itself; the strategy manager merges their metrics.
struct OrderDone {
  static constexpr const char* kTypeName = "OrderDone";

  std::uint64_t order = 0;
  std::uint32_t rank = 0;
  std::string kind;
  std::string split;
  std::uint64_t step = 0;  ///< Optimizer steps done since the run began.
  std::uint64_t epoch = 0;
  std::uint64_t batches = 0;  ///< Micro-batches used by this order.
  // Rows of those batches; what the metrics of an evaluation weigh.
  std::uint64_t samples = 0;
  bool stopped = false;         ///< Ended early by a stop order.
  LoaderCursor cursor;          ///< After the last training batch used.
  std::vector<Scalar> metrics;  ///< evaluate: means weighted by samples, of this rank; none if it had no samples.
  Reductions reductions;        ///< By name, of those that are merged otherwise: "sum", "max" or "min".

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(order), CEREAL_NVP(rank), CEREAL_NVP(kind), CEREAL_NVP(split), CEREAL_NVP(step),
            CEREAL_NVP(epoch), CEREAL_NVP(batches), CEREAL_NVP(samples), CEREAL_NVP(stopped), CEREAL_NVP(cursor),
            CEREAL_NVP(metrics), CEREAL_NVP(reductions));
  }
};

}  // namespace trainyard
