#pragma once

#include <map>
#include <string>
#include <vector>

namespace trainyard::launch {

/// How far each process has come on its way into the run. No component is activated before every process has passed
/// every stage, so that no first message finds a receiver missing.
class StartBarrier {
 public:
  enum class Stage {
    kStarting,     ///< Waits for its Hello.
    kConfiguring,  ///< Has its plan; waits for Configured.
    kConfigured,   ///< Waits for the others.
    kConnecting,   ///< Has every endpoint; waits for Connected.
    kConnected,
  };
  using Endpoints = std::map<std::string, std::string>;

  /// All begin at the first stage. External programs are not among them.
  explicit StartBarrier(const std::vector<std::string>& processes);

  /// `process` is one of those that it was made with.
  Stage stage(const std::string& process) const { return stages_.at(process); }
  void set_stage(const std::string& process, Stage stage) { stages_.at(process) = stage; }

  /// Takes the endpoints that a process has bound.
  void configured(const std::string& process, const Endpoints& endpoints);

  /// A process is gone: it starts again from the first stage and its endpoints are not valid any more.
  void reset(const std::string& process);

  /// True if every process has come so far, or farther.
  bool all_at_least(Stage stage) const;

  /// What everybody has bound, by "process/thread" and "process/gateway".
  Endpoints endpoints() const;

  /// "process 'optimizer' did not connect its inputs (no Connected)", one entry for each that is not there.
  std::vector<std::string> missing() const;

 private:
  std::map<std::string, Stage> stages_;
  std::map<std::string, Endpoints> endpoints_;  ///< By process.
};

}  // namespace trainyard::launch
