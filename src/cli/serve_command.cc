// perfcast serve: forecasts over HTTP, as JSON.

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/process/interrupt.h"
#include "base/text.h"
#include "cli/ai/llm_devices.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "program/corpus/store/store.h"
#include "service/http/http_service.h"

namespace perfcast::cli {
namespace {

constexpr size_t kLeastTokenBytes = 16, kMostTokenBytes = 4096;
constexpr double kDrain_s = 30;

struct ServiceArguments {
  std::string listen = "127.0.0.1:8080", token_file, certificate, key, log = "requests";
  std::vector<std::string> prices;
  double most_requests_per_s = 0, request_limit_s = 30;
  int64_t most_body_mib = 32;
  const CLI::App* verb = nullptr;
};

struct Address {
  std::string host;
  int port = 0;
};

// "127.0.0.1:8080", "[::1]:8080".
Result<Address> address_of(const std::string& text) {
  const size_t colon = text.rfind(':');
  Address address;
  bool fits = colon != std::string::npos;
  if (fits) {
    const char* const end = text.data() + text.size();
    const auto [last, problem] = std::from_chars(text.data() + colon + 1, end, address.port);
    fits =
        problem == std::errc() && last == end && colon + 1 < text.size() && address.port >= 0 && address.port <= 65535;
    address.host = text.substr(0, colon);
    const bool is_six = address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']';
    if (is_six) address.host = address.host.substr(1, address.host.size() - 2);
    fits = fits && !address.host.empty() && (is_six || address.host.find(':') == std::string::npos);
  }
  if (fits) return address;
  return usage_error("bad-usage", "'" + printable(text) + "' is no address with a port", "--listen",
                     "ADDRESS:PORT in digits, such as 127.0.0.1:8080 or [::1]:8080; port 0 finds a free one");
}

Result<std::string> read_token(const std::string& path) {
  if (path.empty()) return std::string();
  if (Status there = check_named_file("--token-file", path); !there) return there.error();
  const auto text = read_file(path, kMostTokenBytes);
  if (!text) return text.error();
  std::string token(trim(*text));
  const bool is_plain = token.find_first_of(" \t\r\n") == std::string::npos;
  if (token.size() >= kLeastTokenBytes && is_plain) return token;
  return usage_error("bad-token", is_plain ? "a token of " + std::to_string(token.size()) + " bytes" : "several words",
                     "--token-file",
                     "one word of 16 bytes or more that nobody guesses, as openssl rand -hex 32 prints");
}

// "lab=prices.csv", or a file alone, whose name without its ending is the list's.
Result<std::map<std::string, std::string>> price_lists_of(const std::vector<std::string>& given) {
  std::map<std::string, std::string> lists;
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    const std::string path = equals == std::string::npos ? text : text.substr(equals + 1);
    if (Status there = check_named_file("--prices", path); !there) return there.error();
    std::string name = equals == std::string::npos ? path.substr(path.rfind('/') + 1) : text.substr(0, equals);
    if (equals == std::string::npos) name.resize(std::min(name.rfind('.'), name.size()));
    if (name.empty() || !lists.emplace(name, path).second) {
      return usage_error("bad-usage", name.empty() ? "a price list without a name" : "two price lists called " + name,
                         "--prices", "NAME=FILE, each name once");
    }
  }
  return lists;
}

class Serve {
 public:
  Serve(const ServiceArguments& arguments, const CommandContext& context)
      : arguments_(arguments), options_(context.options) {}

  int run() {
    service::HttpServiceOptions how;
    service::ContextFiles files;
    if (Status taken = take_options(how, files); !taken) return report_error(taken.error(), options_);
    const InterruptGuard guard;
    const std::string host = how.host;
    const bool is_tls = how.tls != nullptr;
    auto started = service::HttpService::start(std::move(files), std::move(how));
    if (!started) return report_error(as_named_file(started.error(), options_.bundle_given), options_);
    const bool is_six = host.find(':') != std::string::npos;
    const std::string url = fmt::format("{}://{}{}{}:{}", is_tls ? "https" : "http", is_six ? "[" : "", host,
                                        is_six ? "]" : "", (*started)->port());
    const std::string line =
        options_.json ? Json{{"schema", "perfcast.serve/1"}, {"url", url}}.dump() + "\n"
                      : "answers at " + url + "; " + url + "/openapi.json says what it takes; Ctrl-C ends it\n";
    if (const int written = write_result(line, options_); written != kExitDone) return written;
    std::fflush(stdout);
    serve(**started);
    return kExitDone;
  }

 private:
  Status take_options(service::HttpServiceOptions& how, service::ContextFiles& files) const {
    auto address = address_of(arguments_.listen);
    if (!address) return address.error();
    how.host = std::move(address->host);
    how.port = address->port;
    how.threads = static_cast<size_t>(options_.threads);
    how.most_body_bytes = static_cast<size_t>(arguments_.most_body_mib) << 20;
    how.request_limit_s = arguments_.request_limit_s;
    constexpr double kUsualRate = 1000;
    const bool asked = arguments_.verb->count("--rate-limit") > 0;
    how.most_requests_per_s = asked || service::is_loopback(how.host) ? arguments_.most_requests_per_s : kUsualRate;
    how.log = arguments_.log == "none" ? -1 : STDERR_FILENO;
    how.logs_failures_only = arguments_.log == "failures";
    how.version = PERFCAST_VERSION;
    auto token = read_token(arguments_.token_file);
    if (!token) return token.error();
    how.token = *std::move(token);
    if (arguments_.certificate.empty() != arguments_.key.empty()) {
      return usage_error("bad-usage", "a certificate and its key go together",
                         arguments_.key.empty() ? "--tls-cert" : "--tls-key", "both, or none of them");
    }
    if (!arguments_.certificate.empty()) {
      for (const auto& [option, path] :
           {std::pair{"--tls-cert", arguments_.certificate}, {"--tls-key", arguments_.key}}) {
        if (Status there = check_named_file(option, path); !there) return there;
      }
      auto tls = TlsContext::load(arguments_.certificate, arguments_.key);
      if (!tls) return tls.error();
      how.tls = *std::move(tls);
    }
    auto lists = price_lists_of(arguments_.prices);
    if (!lists) return lists.error();
    files.price_lists = *std::move(lists);
    files.bundle = options_.bundle;
    files.devices = shipped_devices();
    files.engines = shipped_file("bundles/engines.json");
    files.audit_models = shipped_file("audit/models.json");
    files.core_designs = shipped_file("cores/designs.json");
    if (options_.corpus_given) {
      if (!program::is_database_address(options_.corpus)) {
        if (Status there = check_named_file("--corpus", options_.corpus); !there) return there;
      }
      files.corpus = options_.corpus;
    }
    return {};
  }

  void serve(service::HttpService& running) const {
    for (;;) {
      while (interrupting_signal() == 0) is_signalled(-1);
      if (interrupting_signal() != SIGHUP) break;
      InterruptGuard::acknowledge();
      forget_interrupt();
      const Status done = running.reload();
      if (!done) std::fprintf(stderr, "perfcast: not reloaded: %s\n", to_text(done.error()).c_str());
    }
    // A second signal doesn't wait for answers under way. What comes within a step is the first one: timeout(1) sends
    // it twice.
    constexpr double kStep_s = 0.1;
    bool is_drained = running.drain(kStep_s);
    InterruptGuard::acknowledge();
    for (double waited_s = kStep_s; waited_s < kDrain_s && !is_drained && !is_signalled(0); waited_s += kStep_s) {
      is_drained = running.drain(kStep_s);
    }
  }

  static bool is_signalled(int wait_ms) {
    pollfd signal = {InterruptGuard::descriptor(), POLLIN, 0};
    return ::poll(&signal, 1, wait_ms) > 0;
  }

  const ServiceArguments& arguments_;
  const CommonOptions& options_;
};

}  // namespace

void add_serve_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<ServiceArguments>();
  CLI::App* verb =
      add_verb(app, {"serve",
                     "Answers forecasts over HTTP, as JSON.",
                     "",
                     {"perfcast serve", "perfcast serve --listen 127.0.0.1:9000 --prices prices.csv",
                      "perfcast serve --listen 0.0.0.0:8443 --token-file token --tls-cert c.pem --tls-key k.pem"},
                     "serve"});
  arguments->verb = verb;
  add_basic(*verb, "--listen", arguments->listen, "ADDRESS:PORT",
            "The address to listen on, in digits. Another than this machine's own needs a token and TLS.")
      ->capture_default_str();
  add_basic(*verb, "--prices", arguments->prices, "NAME=FILE", "A price list that requests may name. Repeatable.")
      ->take_all()
      ->allow_extra_args(false);
  add_basic(*verb, "--token-file", arguments->token_file, "FILE",
            "The file with the token that each request must bear: Authorization: Bearer TOKEN.");
  add_basic(*verb, "--tls-cert", arguments->certificate, "FILE", "The certificate for TLS, with its chain (PEM).");
  add_basic(*verb, "--tls-key", arguments->key, "FILE", "The key of the certificate, without a password (PEM).");
  add_advanced(
      *verb, "--rate-limit", arguments->most_requests_per_s, "N",
      "The most requests that one client may send in a second; 0: any number. Default: 0 on this machine's own "
      "addresses, else 1000.")
      ->check(CLI::Range(0.0, 1e9));
  add_advanced(*verb, "--max-body", arguments->most_body_mib, "MIB", "The most that a request may hold.")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str();
  add_advanced(*verb, "--request-limit", arguments->request_limit_s, "SECONDS",
               "Refuses a request that takes longer to arrive.")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  add_advanced(*verb, "--log", arguments->log, "requests|failures|none", "Which requests get a line of JSON on stderr.")
      ->check(CLI::IsMember({"requests", "failures", "none"}))
      ->capture_default_str();
  verb->footer(
      "The first line that it prints has the address. SIGHUP reads the bundle and the price lists anew. Ctrl-C or "
      "SIGTERM "
      "ends it, once answers under way are finished, or after 30 s.");
  add_common_options(*verb, context, kBundleOption | kCorpusOption | kThreadsOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return Serve(*arguments, context).run(); }; });
}

}  // namespace perfcast::cli
