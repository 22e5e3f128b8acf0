#include "program/model/bundle/bundle.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/file.h"
#include "base/json.h"
#include "learn/tensors/tensor_codec.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/bundle/bundle_records.h"
#include "program/model/scaling/scaling_model.h"

namespace perfcast::program {
namespace {

constexpr std::string_view kMagic = "PCBUNDLE";
constexpr uint32_t kVersion = 1;
constexpr const char* kOwnHalfWidth = "own_half_width_log";
constexpr size_t kAlignment = 64;
constexpr size_t kPreamble = 8 + 4 + 8;
constexpr size_t kFileLimit = size_t{1} << 30;

Error bad_bundle(const std::string& message, const std::string& where) {
  return Error{"bad-bundle", message, where, "a file written by perfcast train"};
}

template <typename T, typename Read>
Status read_records(JsonReader& in, const char* key, std::vector<T>& records, Read read) {
  const Json* array = in.require_array(key);
  if (array == nullptr) return in.finish();
  records.reserve(array->size());
  for (size_t i = 0; i < array->size(); ++i) {
    auto record = read((*array)[i], in.path() + "." + key + "[" + std::to_string(i) + "]");
    if (!record) return record.error();
    records.push_back(std::move(*record));
  }
  return {};
}

template <typename Records>
Json header_rows(const Records& records) {
  Json rows = Json::array();
  for (const auto& record : records) rows.push_back(header_of(record));
  return rows;
}

// Only what was not measured may be NaN.
bool may_have_gaps(std::string_view tensor) {
  return tensor.starts_with("training_") || tensor == "residuals" || tensor == "platform_facts";
}

std::string encode_bundle(const Bundle& bundle) {
  TensorMap tensors;
  bundle.model_inputs.save(tensors);
  tensors.put("training_features", bundle.training_features);
  tensors.put_rounded("training_log_rpv", bundle.training_log_rpv);
  tensors.put("training_log_seconds_per_instruction_mean", bundle.training_log_seconds_per_instruction_mean);
  tensors.put_rounded("residual_covariance", bundle.calibration.residual_covariance);
  tensors.put_rounded("residuals", bundle.calibration.residuals);
  tensors.put("platform_scale", bundle.calibration.platform_scale);
  if (bundle.calibration.own_half_width.size() > 0) tensors.put(kOwnHalfWidth, bundle.calibration.own_half_width);
  const FactMatrix facts = facts_as_matrix(bundle.platforms);
  tensors.put("platform_facts", facts.values);
  tensors.put_bytes("servers", servers_as_text(bundle.servers));
  TensorMap state;
  bundle.predictor->save(state);
  tensors.put_within("predictor", state);
  if (bundle.scaling) {
    TensorMap scaling;
    bundle.scaling->save(scaling);
    tensors.put_within("scaling", scaling);
  }

  ByteWriter data;
  Json index;
  TensorCodec::encode(tensors, kAlignment, index, data);
  Json header = {{"schema", "perfcast.bundle/1"},
                 {"card", header_of(bundle.card)},
                 {"platforms", header_rows(bundle.platforms)},
                 {"fact_names", facts.names},
                 {"programs", header_rows(bundle.programs)},
                 {"instruction_sets", bundle.instruction_sets},
                 {"feature_names", bundle.feature_names},
                 {"typical_rates", Json(bundle.typical_rates)},
                 {"coverage", bundle.calibration.coverage},
                 {"multiple", {{"all", bundle.calibration.multiple}}},
                 {"disagreement_limit", bundle.calibration.disagreement_limit},
                 {"distance_limit", bundle.distance_limit},
                 {"kernel_share_limit", bundle.kernel_share_limit},
                 {"predictor", bundle.predictor->family()},
                 {"values", TensorCodec::json_values(tensors)},
                 {"tensors", index}};
  if (bundle.calibration.seconds_half_width) header["seconds_half_width_log"] = *bundle.calibration.seconds_half_width;
  const std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);

  ByteWriter out(kMagic);
  out.put(kVersion);
  out.put_text(text);
  out.pad_to(kAlignment);
  out.put_raw(data.bytes().data(), data.size());
  return std::move(out).finish();
}

Status read_numbers(const Json& header, const TensorMap& tensors, const std::string& source, Bundle& bundle) {
  JsonReader in(header, source);
  if (const Json* multiples = in.require_object("multiple")) {
    // The first bundles name quantiles of program groups besides; nothing ever read them.
    const auto all = multiples->find("all");
    if (all == multiples->end() || !all->is_number() || !(all->get<double>() >= 0)) {
      in.complain("multiple.all", all == multiples->end() ? "nothing" : all->dump(), "a number of at least 0");
    } else {
      bundle.calibration.multiple = all->get<double>();
    }
  }
  if (const Json* rates = in.require_object("typical_rates")) {
    for (const auto& [metric, rate] : rates->items()) {
      if (!rate.is_number() || !(rate.get<double>() >= 0)) {
        in.complain("typical_rates." + metric, rate.type_name(), "a number of at least 0");
        continue;
      }
      bundle.typical_rates[metric] = rate.get<double>();
    }
  }
  bundle.calibration.coverage = in.number("coverage");
  bundle.calibration.disagreement_limit = in.number("disagreement_limit");
  bundle.calibration.seconds_half_width = in.optional_amount("seconds_half_width_log");
  bundle.distance_limit = in.number("distance_limit");
  bundle.kernel_share_limit = in.number("kernel_share_limit");
  if (auto status = in.finish(); !status) return bad_bundle(status.error().message, source);

  const auto programs = static_cast<int64_t>(bundle.programs.size());
  const auto platforms = static_cast<int64_t>(bundle.platforms.size());
  const auto features = static_cast<int64_t>(bundle.feature_names.size());
  if (Status status = bundle.model_inputs.load(tensors); !status) return status;
  if (bundle.model_inputs.names() != bundle.feature_names) {
    return bad_bundle("its features are not those that its names say", source + ".feature_names");
  }
  auto training_features = tensors.get("training_features", programs, features);
  if (!training_features) return training_features.error();
  auto rpv = tensors.get("training_log_rpv", programs, platforms);
  if (!rpv) return rpv.error();
  auto seconds = tensors.get("training_log_seconds_per_instruction_mean", programs, 1);
  if (!seconds) return seconds.error();
  auto covariance = tensors.get("residual_covariance", platforms, platforms);
  if (!covariance) return covariance.error();
  auto residuals = tensors.get("residuals", programs, platforms);
  if (!residuals) return residuals.error();
  auto scale = tensors.get("platform_scale", platforms, 1);
  if (!scale) return scale.error();
  bundle.training_features = std::move(*training_features);
  bundle.training_log_rpv = std::move(*rpv);
  bundle.training_log_seconds_per_instruction_mean = seconds->col(0);
  bundle.calibration.residual_covariance = std::move(*covariance);
  bundle.calibration.residuals = std::move(*residuals);
  bundle.calibration.platform_scale = scale->col(0);
  if (!(bundle.calibration.platform_scale.array() > 0).all()) {
    return bad_bundle("tensor 'platform_scale' holds a number that is not above 0", source);
  }
  if (tensors.has(kOwnHalfWidth)) {  // only where platforms joined the trained ones
    const auto own = tensors.get(kOwnHalfWidth, platforms, 1);
    if (!own) return own.error();
    if (!(own->array() >= 0).all()) {
      return bad_bundle(std::string("tensor '") + kOwnHalfWidth + "' holds a number below 0", source);
    }
    bundle.calibration.own_half_width = own->col(0);
  }
  if (!(bundle.calibration.residual_covariance.diagonal().array() > 0).all()) {
    return bad_bundle("tensor 'residual_covariance' holds a variance that is not above 0", source);
  }
  return {};
}

Result<Bundle> decode_header(const Json& header, std::string_view data, const std::shared_ptr<const void>& owner,
                             const std::string& source) {
  Bundle bundle;
  JsonReader in(header, source);
  const std::string family = in.string("predictor");
  bundle.instruction_sets = in.strings("instruction_sets");
  bundle.feature_names = in.strings("feature_names");
  const Json* card = in.require_object("card");
  const Json* index = in.require_array("tensors");
  const Json* values = in.require_object("values");
  if (auto status = in.finish(); !status) return bad_bundle(status.error().message, source);

  auto read_card = card_from_header(*card, source + ".card");
  if (!read_card) return bad_bundle(read_card.error().message, read_card.error().where);
  bundle.card = std::move(*read_card);
  for (const Status& status : {read_records(in, "platforms", bundle.platforms, platform_from_header),
                               read_records(in, "programs", bundle.programs, program_from_header)}) {
    if (!status) return bad_bundle(status.error().message, status.error().where);
  }

  if (bundle.platforms.empty() || bundle.programs.empty())
    return bad_bundle("it names no platform or no program", source);

  TensorMap tensors;
  if (auto status = TensorCodec::decode(*index, data, owner, source, may_have_gaps, tensors); !status)
    return status.error();
  TensorCodec::set_json_values(*values, tensors);
  if (auto status = read_numbers(header, tensors, source, bundle); !status) return status.error();
  const auto text = tensors.get_bytes("servers");
  if (!text) return text.error();
  auto servers = servers_from_text(*text, source);
  if (!servers) return servers.error();
  bundle.servers = std::move(*servers);
  FactMatrix facts{in.strings("fact_names"), {}};
  if (auto status = in.finish(); !status) return bad_bundle(status.error().message, source);
  if (!facts.names.empty()) {
    auto numbers = tensors.get("platform_facts", static_cast<int64_t>(bundle.platforms.size()),
                               static_cast<int64_t>(facts.names.size()));
    if (!numbers) return numbers.error();
    facts.values = std::move(*numbers);
    set_facts(facts, bundle.platforms);
  }

  auto predictor = make_predictor(family);
  if (!predictor) return bad_bundle("its model '" + family + "' is unknown to this version", source + ".predictor");
  if (auto status = (*predictor)->load(tensors.within("predictor")); !status) return status.error();
  if ((*predictor)->outputs() != static_cast<int64_t>(bundle.platforms.size())) {
    return bad_bundle("its model forecasts another number of platforms than it names", source + ".predictor");
  }
  bundle.predictor = std::move(*predictor);
  const TensorMap scaling = tensors.within("scaling");
  if (scaling.has("classes")) {  // older bundles, and those of corpora without whole machines, have none
    auto model = std::make_shared<ScalingModel>();
    if (auto status = model->load(scaling); !status) return status.error();
    bundle.scaling = std::move(model);
  }
  return bundle;
}

}  // namespace

Result<Bundle> parse_bundle(std::string bytes, const std::string& source) {
  const auto file = std::make_shared<const std::string>(std::move(bytes));
  const ByteFrame frame = open_frame(*file, kMagic, kVersion);
  switch (frame.state) {
    case ByteFrame::State::kOtherMagic:
      return bad_bundle("the file is no perfcast bundle", source);
    case ByteFrame::State::kOtherVersion:
      if (frame.version <= kVersion || frame.version >= 1000) {
        return bad_bundle("the bundle has the impossible format version " + std::to_string(frame.version), source);
      }
      return Error{"future-version", "the bundle has format version " + std::to_string(frame.version), source,
                   "version " + std::to_string(kVersion) + ", or a newer perfcast"};
    case ByteFrame::State::kCorrupt:
      return bad_bundle("the checksum does not fit: the file is damaged or truncated", source);
    case ByteFrame::State::kGood:
      break;
  }
  ByteReader in(frame.body);
  uint64_t header_bytes = 0;
  if (!in.get(header_bytes) || header_bytes > in.left())
    return bad_bundle("the header does not lie within the file", source);
  const std::string_view content(file->data(), frame.body.data() + frame.body.size() - file->data());
  const size_t header_end = kPreamble + header_bytes;
  const size_t data_start = std::min((header_end + kAlignment - 1) / kAlignment * kAlignment, content.size());
  auto header = parse_json(content.substr(kPreamble, header_bytes), source);
  if (!header) return bad_bundle(header.error().message, header.error().where);
  return decode_header(*header, content.substr(data_start), file, source);
}

Result<Bundle> read_bundle(const std::string& path) {
  auto bytes = read_file(path, kFileLimit);
  if (!bytes) return bytes.error();
  return parse_bundle(std::move(*bytes), path);
}

Result<std::string> bundle_bytes(const Bundle& bundle) {
  if (!bundle.predictor) return Error{"bad-bundle", "the bundle holds no fitted model", "", "a trained bundle"};
  return encode_bundle(bundle);
}

Status write_bundle(const Bundle& bundle, const std::string& path) {
  const auto bytes = bundle_bytes(bundle);
  if (!bytes) return bytes.error();
  return write_file_atomically(path, *bytes);
}

}  // namespace perfcast::program
