#pragma once
// What operations answer from: models, devices, price lists, given when the service begins. Nothing of it changes; a
// reload makes a new one.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ai/audit/known_models.h"
#include "ai/engine/engine_bundle.h"
#include "ai/llm_forecast/named_devices.h"
#include "base/result.h"
#include "machine/facts/device_facts.h"
#include "profile/core/design.h"
#include "program/explain/host_match.h"
#include "program/explain/prices.h"
#include "program/model/forecast/forecaster.h"

namespace perfcast::service {

// Paths. Empty: the service has none of it.
struct ContextFiles {
  std::string bundle;
  ai::DeviceFiles devices;
  std::string engines, audit_models, core_designs;
  std::string corpus;                              // only read
  std::map<std::string, std::string> price_lists;  // by the name that requests give
};

// Read once, when it is first asked for; from any thread. The error stays, too.
template <typename Value>
class ReadOnce {
 public:
  template <typename Read>
  Result<const Value*> get(const Read& read) const {
    const std::lock_guard guard(lock_);
    if (!value_) value_.emplace(read());
    if (!*value_) return value_->error();
    return static_cast<const Value*>(&**value_);
  }

 private:
  mutable std::mutex lock_;
  mutable std::optional<Result<Value>> value_;
};

class Context {
 public:
  explicit Context(ContextFiles files) : files_(std::move(files)) {}

  // "no-bundle" where there is none; errors of read_bundle().
  Result<const program::Forecaster*> forecaster() const;
  Result<const program::HostMatcher*> hosts() const;  // of the forecaster's platforms
  // What profiles' cycles are held against; null where there are none.
  std::shared_ptr<const std::vector<CoreDesign>> core_designs() const;
  Result<const ai::DeviceProvider*> devices() const;
  Result<const ai::EngineBundle*> engines() const;
  Result<const std::vector<DeviceFacts>*> device_facts() const;
  Result<const ai::KnownModels*> audit_models() const;
  const ContextFiles& files() const { return files_; }

 private:
  ContextFiles files_;
  ReadOnce<program::Forecaster> forecaster_;
  ReadOnce<std::unique_ptr<program::HostMatcher>> hosts_;
  ReadOnce<std::shared_ptr<const std::vector<CoreDesign>>> core_designs_;
  ReadOnce<std::unique_ptr<ai::DeviceProvider>> devices_;
  ReadOnce<ai::EngineBundle> engines_;
  ReadOnce<std::vector<DeviceFacts>> device_facts_;
  ReadOnce<ai::KnownModels> audit_models_;
};

}  // namespace perfcast::service
