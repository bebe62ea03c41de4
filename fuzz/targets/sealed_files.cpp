// Files that know their checksum, which is put right before they are read.

#include "fuzz.hpp"

#include "checkpoint/manifest.hpp"
#include "clean/model_file.hpp"
#include "data/readers.hpp"
#include "report/hash.hpp"
#include "report/json_file.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace duplex::fuzz {

namespace {

constexpr std::string_view between_files = "\n%%\n";

/// The next of the files in the input.
std::string_view next_file(std::string_view &input) {
  const std::size_t end = std::min(input.find(between_files), input.size());
  const auto file = input.substr(0, end);
  input.remove_prefix(std::min(end + between_files.size(), input.size()));
  return file;
}

clean::Model small_model(Index hidden) {
  return {.classes = {"a", "b"},
          .feature_names = {"x", "y"},
          .features = 2,
          .hidden = hidden,
          .hidden_weights = std::vector<float>(static_cast<std::size_t>(3 * hidden), 0.5F),
          .weights = std::vector<float>(static_cast<std::size_t>(2 * ((hidden > 0 ? hidden : 2) + 1)), -0.5F)};
}

void predict_with(const clean::Model &model) {
  constexpr Index few = 64;
  if (model.features > few || static_cast<Index>(model.classes.size()) > few || model.hidden > few) {
    return;
  }
  const std::string table = "x,y,z\n1,u,2026-03-01\n,v,\n3,u,2026-03-02\n";
  use_or_refuse([&] {
    data::MemorySource source("table", table);
    (void)data::read_csv(source, {.plan = clean::plan_of(model), .expect_labels = false});
  });
  data::Dataset rows;
  rows.features = FeatureTable(Storage::float32, model.features);
  rows.features.append(std::vector<float>(static_cast<std::size_t>(model.features), 1.0F));
  for (const auto &prediction : clean::predict(model, rows)) {
    if (prediction.label >= model.classes.size()) {
      throw std::logic_error("a prediction of no class");
    }
  }
}

} // namespace

void read_manifest(std::string_view input) {
  use_or_refuse([&] { (void)checkpoint::parse_manifest(input, "input"); });
  use_or_refuse([&] {
    auto json = report::parsed_json(input, "input");
    if (!json.is_object()) {
      return;
    }
    const auto manifest = checkpoint::parse_manifest(report::sealed_text(std::move(json)), "input");
    (void)checkpoint::command_line(manifest);
    const auto again = checkpoint::parse_manifest(manifest_text(manifest), "again");
    if (manifest_text(again) != manifest_text(manifest)) {
      throw std::logic_error("a manifest that changes when it is written");
    }
  });
}

void read_model(std::string_view input) {
  const std::string_view text = next_file(input);
  const std::string weights(next_file(input));
  const std::string hidden(next_file(input));
  const auto bytes_of = [&](const char *name) { return std::string(name) == "model.npy" ? weights : hidden; };
  use_or_refuse([&] { predict_with(clean::parse_model(text, "input", bytes_of)); });
  use_or_refuse([&] {
    auto json = report::parsed_json(text, "input");
    if (!json.is_object()) {
      return;
    }
    json["files"] = {{"model.npy", {{"bytes", weights.size()}, {"hash", report::hash_of(weights)}}},
                     {"model-hidden.npy", {{"bytes", hidden.size()}, {"hash", report::hash_of(hidden)}}}};
    predict_with(clean::parse_model(report::sealed_text(std::move(json)), "input", bytes_of));
  });
}

std::vector<std::string> manifest_seeds() {
  checkpoint::Manifest manifest{.id = report::hash_of(""),
                                .command = "solve",
                                .arguments = {"solve", "--out", "\xff"},
                                .started_in = "/tmp",
                                .version = "0.1.0",
                                .started = "2026-03-01T09:30:00Z",
                                .inputs = {{"a", "/tmp/a", {3, report::hash_of("a")}}, {"p", "/tmp/p", {}}},
                                .results = {{"solve.json", {3, report::hash_of("b")}}, {"solve.csv", {}}},
                                .older = {"solution.csv"}};
  return {manifest_text(manifest)};
}

std::vector<std::string> model_seeds() {
  std::vector<std::string> seeds;
  data::MemorySource table("table", "x,y,label\n1,u,a\n,u,b\n3,u,b\n");
  for (const Index hidden : {Index{0}, Index{2}, Index{-1}}) {
    std::string weights;
    std::string hidden_weights;
    std::string json;
    auto model = small_model(std::max<Index>(hidden, 0));
    if (hidden < 0) { // of a table
      model.plan = data::read_csv(table, {}).plan;
      model.feature_names = model.plan->feature_names();
      model.features = model.plan->features();
      model.weights.assign(static_cast<std::size_t>(2 * (model.features + 1)), 0.5F);
    }
    for (const auto &file : clean::model_files(model)) {
      (file.name == "model.json" ? json : file.name == "model.npy" ? weights : hidden_weights) = file.content;
    }
    seeds.push_back(json + std::string(between_files) + weights + std::string(between_files) + hidden_weights);
  }
  return seeds;
}

} // namespace duplex::fuzz
