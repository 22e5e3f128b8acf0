#include "program/evaluate/testing/synthetic_forecaster.h"

#include <memory>
#include <stdexcept>

#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/model/bundle/train_bundle.h"

namespace perfcast::program {

const Forecaster& synthetic_forecaster() {
  static const Forecaster made = [] {
    const Corpus corpus = synthetic_corpus({});
    const auto table = make_training_table(corpus, {});
    auto bundle = train_bundle(*table, {.model = "kernel", .coverage = 0.9, .fit = {}});
    if (!bundle) throw std::runtime_error(to_text(bundle.error()));
    bundle->servers = corpus.servers;
    return Forecaster(std::make_shared<const Bundle>(std::move(*bundle)));
  }();
  return made;
}

}  // namespace perfcast::program
