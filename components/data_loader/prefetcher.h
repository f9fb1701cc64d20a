// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "components/data_loader/batch_layout.h"
#include "components/data_loader/batch_sequence.h"
#include "components/data_loader/sample_reader.h"
#include "core/activity/own_threads.h"
#include "core/memory/shared_pool.h"

namespace trainyard {

/// Reads batches ahead on worker threads and returns them in the order in which they were requested.
///
/// It is a ring of slots, each for one batch: the owner adds jobs at the tail, workers process them in order, and the
/// owner removes the results at the head. A slot is reused when its result has been removed, so the amount of memory is
/// limited. All public functions must be called on the owner's thread. Without workers, head() reads the batch itself.
class Prefetcher {
 public:
  struct Slot {
    Job job;
    Buffer buffer;             ///< The fields, in the layout of BatchLayout; empty for a batch without samples.
    std::exception_ptr error;  ///< The exception that reading the batch threw, or null.
    /// When the batch was read, in nanoseconds of core::span_clock_ns(); 0 if nobody recorded spans (trainyard trace).
    std::int64_t read_began_ns = 0, read_ended_ns = 0;
    std::uint32_t worker = 0;  ///< The worker that read the batch, counted from 1; 0 is the owner's thread.

   private:
    friend class Prefetcher;
    std::atomic<bool> done{false};
    std::atomic<bool> discarded{false};
  };

  /// `layout` is the layout of the fields of `reader`; both must outlive the prefetcher. `pool` supplies the memory of
  /// the batches, and must also outlive the prefetcher. `slots` is the maximum number of batches that are read ahead,
  /// and `workers` is the number of threads. When head() or skip_discarded() has found an unfinished job, `wake` is
  /// called on a worker's thread as soon as any job is done; the owner should then try again. `activity` records how
  /// busy the workers are; it may be null, and must otherwise outlive the prefetcher.
  Prefetcher(const SampleReader& reader, const BatchLayout& layout, core::SharedPool& pool, std::size_t slots,
             std::size_t workers, std::function<void()> wake, core::OwnThreads* activity = nullptr);

  /// Stops the workers when they have read their current samples, and waits for them.
  ~Prefetcher() = default;

  std::size_t size() const { return slots_.size(); }
  /// Returns the number of free slots.
  std::size_t room() const { return slots_.size() - static_cast<std::size_t>(pushed_ - popped_); }

  /// Adds a job. Workers begin it only after the next publish(). room() must be greater than 0.
  void push(const Job& job);
  /// Makes all added jobs available to the workers.
  void publish();

  /// Returns the slot of the oldest job if this job is done. Returns null if there is no job, or if the job is not done
  /// yet; in the second case, `wake` is called later.
  Slot* head();
  /// Frees the slot that head() has returned.
  void pop();

  /// Frees the slots of discarded jobs at the head, as head() does, too. If one of these jobs is not done yet, stops
  /// there and returns false; `wake` is called later.
  bool skip_discarded();

  /// Discards the newest `count` jobs, or all jobs if there are fewer. head() does not return their results.
  void discard(std::uint64_t count);

 private:
  /// Memory that each thread reuses for all its batches.
  struct Scratch {
    std::vector<std::uint64_t> samples;
    std::vector<std::span<std::byte>> fields;  ///< The fields of the sample being read.
    SampleReader::Scratch reader;
    std::uint32_t worker = 0;  ///< See Slot::worker.
  };

  Slot& slot(std::uint64_t job) { return slots_[job % slots_.size()]; }
  bool is_done(Slot& slot);
  void work(const std::stop_token& stop, std::size_t number);
  void fill(Slot& slot, Scratch& scratch, const std::stop_token& stop) const;
  void read(Slot& slot, Scratch& scratch, const std::stop_token& stop) const;
  Buffer allocate(const Job& job, std::uint64_t rows) const;
  bool records_spans() const;

  const SampleReader& reader_;
  const BatchLayout& layout_;
  core::SharedPool& pool_;
  std::function<void()> wake_;
  core::OwnThreads* activity_;
  std::vector<Slot> slots_;
  Scratch own_scratch_;  ///< Used when there are no workers.

  // Jobs are numbered from 0. Job n is in slot n modulo the number of slots.
  std::uint64_t popped_ = 0;
  std::uint64_t pushed_ = 0;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  /// The number of jobs that have been made available to workers. Guarded by `mutex_`, like `claimed_` and `idle_`.
  std::uint64_t published_ = 0;
  std::uint64_t claimed_ = 0;
  std::size_t idle_ = 0;                 ///< The number of workers that are asleep.
  std::atomic<bool> waited_for_{false};  ///< True if a worker must call `wake` when it has done a job.

  // Declared last, so that the workers end before the members that they use are destroyed.
  std::vector<std::jthread> workers_;
};

}  // namespace trainyard
