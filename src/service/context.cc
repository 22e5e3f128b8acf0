#include "service/context.h"

#include <thread>
#include <utility>

#include "profile/metrics/catalogue.h"
#include "program/model/bundle/bundle.h"

namespace perfcast::service {

Result<const program::Forecaster*> Context::forecaster() const {
  return forecaster_.get([this]() -> Result<program::Forecaster> {
    if (files_.bundle.empty()) {
      return infeasible_error("no-bundle", "there is no bundle of trained models here", "", "a service with a bundle");
    }
    // The catalogue of metrics is needed by the bundle's models: it is read meanwhile.
    const std::jthread catalogue([] { Catalogue::built_in(); });
    auto bundle = program::read_bundle(files_.bundle);
    if (!bundle) return bundle.error();
    return program::Forecaster(std::make_shared<const program::Bundle>(std::move(*bundle)));
  });
}

Result<const program::HostMatcher*> Context::hosts() const {
  using Matcher = std::unique_ptr<program::HostMatcher>;
  const auto hosts = hosts_.get([this]() -> Result<Matcher> {
    const auto known = forecaster();
    if (!known) return known.error();
    return std::make_unique<program::HostMatcher>((*known)->bundle().platforms);
  });
  if (!hosts) return hosts.error();
  return static_cast<const program::HostMatcher*>((*hosts)->get());
}

std::shared_ptr<const std::vector<CoreDesign>> Context::core_designs() const {
  using Designs = std::shared_ptr<const std::vector<CoreDesign>>;
  const auto designs = core_designs_.get([this]() -> Result<Designs> {
    auto read = read_core_designs(files_.core_designs);
    return read ? Designs(std::make_shared<const std::vector<CoreDesign>>(std::move(*read))) : Designs();
  });
  return **designs;
}

Result<const ai::DeviceProvider*> Context::devices() const {
  const auto devices = devices_.get([this] { return ai::open_devices(files_.devices); });
  if (!devices) return devices.error();
  return static_cast<const ai::DeviceProvider*>((*devices)->get());
}

Result<const ai::EngineBundle*> Context::engines() const {
  return engines_.get([this] { return ai::read_engine_bundle(files_.engines); });
}

Result<const std::vector<DeviceFacts>*> Context::device_facts() const {
  return device_facts_.get([this]() -> Result<std::vector<DeviceFacts>> {
    auto read = ai::read_device_catalogue(files_.devices.catalogue);
    if (!read) return read.error();
    return std::move(read->devices);
  });
}

Result<const ai::KnownModels*> Context::audit_models() const {
  return audit_models_.get([this] { return ai::read_known_models(files_.audit_models); });
}

}  // namespace perfcast::service
