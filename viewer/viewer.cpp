// SPDX-License-Identifier: Apache-2.0
#include "viewer/viewer.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/config/bounded_json.h"
#include "core/loop/quiet_thread.h"
#include "messages/error.h"
#include "messages/nearest.h"
#include "viewer/questions.h"
#include "viewer/webhook.h"

namespace trainyard::viewer {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr int kProtocolVersion = 1;
/// How often pages receive what is new.
constexpr auto kPushInterval = 200ms;
constexpr auto kLookInterval = 1s;
/// The largest number of questions of one page that have not been answered yet.
constexpr int kMaxOpenQuestions = 16;
/// The largest number of runs that one page can watch.
constexpr std::size_t kMaxWatched = 64;

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json refusal(const json& id, const Error& error) {
  return {{"id", id}, {"ok", false}, {"error", error.what()}, {"code", name_of(error.code())}};
}

NewsOf news_of(const std::string& name) {
  if (const auto of = find_by_name<NewsOf>(name)) return *of;
  const auto& known = kWords<NewsOf>.values;
  throw Error(Code::kInvalidArgument, "what: '{}' cannot be watched{}", name,
              suggestion(name, {known.begin(), known.end()}));
}

}  // namespace

/// Serves pages, and keeps track of what each page watches.
class Viewer::Impl {
 public:
  explicit Impl(ViewerSettings settings)
      : settings_(std::move(settings)),
        library_([this](const Identity& run, const Alert& alert) { on_alert(run, alert); }),
        server_(settings_.server) {
    if (!settings_.webhook.empty()) webhook_.emplace(settings_.webhook);
    const std::string page = settings_.page.empty() ? shipped_page() : settings_.page;
    if (page.empty()) {
      throw Error(Code::kNotFound, std::string("the files of the page, share/trainyard/viewer, are not installed"));
    }
    server_.serve(web::Files::of_folder(page));
    server_.on_channel({.path = "/ws"}, [this](web::Channel& channel) { return open(channel); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (ticker_.joinable()) ticker_.join();
  }

  void start() {
    if (!settings_.runs_directory.empty()) look_for_runs();
    server_.start();
    ticker_ = core::quiet_thread("viewer", [this] { tick(); });
  }

  Library& library() { return library_; }
  const web::Server& server() const { return server_; }

 private:
  /// What a page watches of one run, and how much of it the page has received.
  struct Watched {
    std::vector<NewsOf> what;
    Positions positions;
  };
  struct Session {
    web::Channel* channel = nullptr;
    std::map<std::string, Watched> runs;
    std::uint64_t revision = 0;
    int open_questions = 0;
  };

  /// The connection of one page.
  class Page final : public web::ChannelHandler {
   public:
    Page(Impl& viewer, std::uint64_t number, web::Channel& channel)
        : viewer_(viewer), number_(number), channel_(channel) {}
    ~Page() override {
      const std::lock_guard lock(viewer_.mutex_);
      viewer_.sessions_.erase(number_);
    }
    void on_message(std::string_view text, bool) override { viewer_.on_question(number_, channel_, text); }

   private:
    Impl& viewer_;
    std::uint64_t number_;
    web::Channel& channel_;
  };

  std::unique_ptr<web::ChannelHandler> open(web::Channel& channel) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t number = next_session_++;
    sessions_[number] = {.channel = &channel, .revision = library_.revision()};
    return std::make_unique<Page>(*this, number, channel);
  }

  void on_question(std::uint64_t number, web::Channel& channel, std::string_view text) {
    const std::optional<json> question = parse_bounded_json(text);
    const json id = question && question->is_object() ? question->value("id", json()) : json();
    if (!question || !question->is_object()) {
      return channel.answer(
          text_of(refusal(id, Error(Code::kInvalidArgument, std::string("the question is not a JSON object")))));
    }
    try {
      answer(number, channel, *question, id);
    } catch (const Error& error) {
      channel.answer(text_of(refusal(id, error)));
    } catch (const std::exception& error) {
      channel.answer(text_of(refusal(id, Error(Code::kInvalidArgument, std::string(error.what())))));
    }
  }

  void answer(std::uint64_t number, web::Channel& channel, const json& question, const json& id) {
    const json op = question.value("op", json());
    if (op == "hello") return channel.answer(text_of({{"id", id}, {"ok", true}, {"result", hello(channel.role())}}));
    if (op == "watch") {
      watch(number, question);
      return channel.answer(text_of({{"id", id}, {"ok", true}, {"result", json::object()}}));
    }
    begin_question(number);
    try {
      const Asker asker{channel.role(), fmt::format("viewer ({})", name_of(channel.role()))};
      answer_question(
          library_, asker, question,
          [this, number, id](json result) {
            reply(number, {{"id", id}, {"ok", true}, {"result", std::move(result)}});
          },
          [this, number, id](const Error& error) { reply(number, refusal(id, error)); });
    } catch (...) {
      end_question(number);
      throw;
    }
  }

  static json hello(web::Role role) {
    return {{"version", kProtocolVersion}, {"role", name_of(role)}, {"trainyard", TRAINYARD_VERSION}};
  }

  void begin_question(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    int& open = sessions_.at(number).open_questions;
    if (open >= kMaxOpenQuestions) {
      throw Error(Code::kUnsupported, "{} questions of this page are not answered yet; wait for them", open);
    }
    ++open;
  }

  void end_question(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto session = sessions_.find(number);
    if (session != sessions_.end()) --session->second.open_questions;
  }

  /// Sends an answer, unless the page has disconnected.
  void reply(std::uint64_t number, const json& answer) {
    std::string text = text_of(answer);
    const std::lock_guard lock(mutex_);
    const auto session = sessions_.find(number);
    if (session == sessions_.end()) return;
    --session->second.open_questions;
    session->second.channel->answer(std::move(text));
  }

  void watch(std::uint64_t number, const json& question) {
    const auto run = question.at("run").get<std::string>();
    std::vector<NewsOf> what;
    for (const auto& each : question.at("what").get<std::vector<std::string>>()) what.push_back(news_of(each));
    const Positions now = library_.find(run).book->read(&Shelves::positions);
    const std::lock_guard lock(mutex_);
    auto& runs = sessions_.at(number).runs;
    if (what.empty()) {
      runs.erase(run);
      return;
    }
    if (runs.size() >= kMaxWatched && !runs.contains(run)) {
      throw Error(Code::kUnsupported, "a page can watch at most {} runs at a time", kMaxWatched);
    }
    runs[run] = {std::move(what), now};
  }

  void tick() {
    auto next_look = std::chrono::steady_clock::now() + kLookInterval;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kPushInterval, [&] { return stop_; })) {
      for (auto& [number, session] : sessions_) push_news(session);
      if (settings_.runs_directory.empty() || std::chrono::steady_clock::now() < next_look) continue;
      next_look = std::chrono::steady_clock::now() + kLookInterval;
      lock.unlock();
      look_for_runs();
      lock.lock();
    }
  }

  // Sends a page what is new. If the queue of the connection is full, the page misses it. Nothing needs to be kept for
  // the page, because it asks again for what it shows.
  void push_news(Session& session) {
    if (const std::uint64_t revision = library_.revision(); session.revision != revision) {
      session.revision = revision;
      session.channel->push(std::make_shared<const std::string>(text_of({{"push", "runs"}})));
    }
    for (auto& [run, watched] : session.runs) {
      try {
        const auto look = [&](const Shelves& shelves) { return shelves.news(watched.what, watched.positions); };
        for (json& news : library_.find(run).book->read(look)) {
          news["run"] = run;
          session.channel->push(std::make_shared<const std::string>(text_of(news)));
        }
      } catch (const Error&) {
        // The run was removed to make room for a newer run.
      }
    }
  }

  void look_for_runs() {
    try {
      for (const visitors::RunInfo& run : visitors::list_runs(settings_.runs_directory)) library_.follow(run);
    } catch (const Error& error) {
      if (std::exchange(complained_, true)) return;
      if (settings_.log) settings_.log(error.what());
    }
  }

  void on_alert(const Identity& run, const Alert& alert) {
    if (settings_.log) settings_.log(fmt::format("{}: {}: {}", run.run, name_of(alert.severity), alert.text));
    if (!webhook_) return;
    json body = json_of(alert);
    body["run"] = run.run;
    webhook_->send(text_of(body));
  }

  ViewerSettings settings_;
  std::optional<Webhook> webhook_;
  std::mutex mutex_;  ///< Protects the members below, up to `complained_`.
  std::condition_variable changed_;
  std::map<std::uint64_t, Session> sessions_;
  std::uint64_t next_session_ = 0;
  bool stop_ = false;
  bool complained_ = false;

  // Members are destroyed in reverse order: first the server with its connections, and then the library with its
  // followers.
  Library library_;
  web::Server server_;
  std::thread ticker_;
};

Viewer::Viewer(ViewerSettings settings) : impl_(std::make_unique<Impl>(std::move(settings))) {}
Viewer::~Viewer() = default;
Library& Viewer::library() { return impl_->library(); }
void Viewer::start() { impl_->start(); }
std::string Viewer::url(web::Role role) const { return impl_->server().url(role); }
web::Counters Viewer::counters() const { return impl_->server().counters(); }

// Searches for `share/trainyard/viewer` in the folder of this library and in the three folders above it.
std::string shipped_page() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&shipped_page), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code none;
  std::filesystem::path folder = std::filesystem::canonical(info.dli_fname, none).parent_path();
  for (int level = 0; level < 4 && folder.has_relative_path(); ++level, folder = folder.parent_path()) {
    const std::filesystem::path page = folder / "share" / "trainyard" / "viewer";
    if (std::filesystem::is_regular_file(page / "index.html", none)) return page;
  }
  return {};
}

}  // namespace trainyard::viewer
