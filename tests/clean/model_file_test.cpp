// Models on disk: files that are damaged, forged or not of one another are refused.

#include "clean/model_file.hpp"
#include "data/npy_write.hpp"
#include "report/json_file.hpp"
#include "support.hpp"
#include "tool.hpp"

#include <limits>

namespace duplex::testing {
namespace {

using test::expect_refused;
using test::read_file;
using test::run_tool;
using test::ScratchFolder;

/// Exclusive or by two hidden units: max(0, a + b) − 2 max(0, a + b − 1) is 1 where one of them is.
clean::Model exclusive_or() {
  return {.classes = {"same", "other"},
          .feature_names = {"a", "b"},
          .features = 2,
          .hidden = 2,
          .hidden_weights = {1, 1, 0, 1, 1, -1},
          .weights = {0, 0, 0.5F, 1, -2, 0}};
}

class NetworkModel : public ::testing::Test {
protected:
  void SetUp() override { write(clean::model_files(exclusive_or())); }

  void write(const std::vector<report::NamedContent> &files) const {
    for (const auto &file : files) {
      (void)scratch.file(file.name, file.content);
    }
  }
  [[nodiscard]] std::string refused() const {
    return refusal([&] { (void)clean::read_model(scratch.path()); });
  }
  /// Another member of model.json, with the right checksum.
  [[nodiscard]] std::string forged(const std::function<void(report::Json &)> &change) const {
    write(clean::model_files(exclusive_or()));
    auto json = report::parsed_json(read_file(scratch.path() / "model.json"), "model.json");
    change(json);
    (void)scratch.file("model.json", report::sealed_text(std::move(json)));
    return refused();
  }

  ScratchFolder scratch;
};

TEST_F(NetworkModel, IsRefusedWhereAnyByteOfItsFilesIsDamaged) {
  EXPECT_EQ(refused(), "");
  for (const auto &file : clean::model_files(exclusive_or())) {
    for (std::size_t i = 0; i < file.content.size(); ++i) {
      for (const unsigned flip : {0x01U, 0x20U, 0x80U}) {
        std::string damaged = file.content;
        damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ flip);
        (void)scratch.file(file.name, damaged);
        ASSERT_NE(refused(), "") << file.name << ", byte " << i;
      }
    }
    (void)scratch.file(file.name, file.content + "\n");
    EXPECT_NE(refused(), "") << file.name;
    (void)scratch.file(file.name, file.content);
  }
  EXPECT_EQ(refused(), "");
}

TEST_F(NetworkModel, IsRefusedWhereAFileIsOfAnotherModelOrMissing) {
  auto other = exclusive_or();
  other.weights[0] = 7;
  for (const auto &file : clean::model_files(other)) {
    if (file.name == "model.npy") {
      (void)scratch.file(file.name, file.content);
    }
  }
  EXPECT_CONTAINS(refused(), "model.npy: is damaged, or of another model");
  SetUp();
  (void)scratch.file("model-hidden.npy", "nonsense");
  EXPECT_CONTAINS(refused(), "model-hidden.npy: has 8 bytes, expected");
  std::filesystem::remove(scratch.path() / "model-hidden.npy");
  EXPECT_CONTAINS(refused(), "model-hidden.npy: cannot be read");
}

TEST_F(NetworkModel, IsRefusedWhereItIsOfAnotherVersion) {
  (void)scratch.file("model.json", R"({"format": "duplex softmax regression", "format_version": 1, "classes": ["a"]})");
  EXPECT_CONTAINS(refused(), "model.json: a model of version 1, expected 3: duplex clean writes it anew");
  EXPECT_CONTAINS(forged([](auto &json) { json["format"] = "another"; }), "not a model of this version");
}

TEST_F(NetworkModel, IsRefusedWhereItsNumbersDoNotFitEachOther) {
  EXPECT_CONTAINS(forged([](auto &json) { json["hidden"] = 0; }),
                  "hidden = 0, expected a whole number from 1 to 65536");
  EXPECT_CONTAINS(forged([](auto &json) { json["hidden"] = "two"; }), "hidden = \"two\"");
  EXPECT_CONTAINS(forged([](auto &json) { json["hidden"] = 3; }), "model-hidden.npy: 2 x 3 numbers, expected 3 x 3");
  EXPECT_CONTAINS(forged([](auto &json) {
                    json["features"] = 3;
                    json["feature_names"] = report::Json::array();
                  }),
                  "model-hidden.npy: 2 x 3 numbers, expected 2 x 4");
  EXPECT_CONTAINS(forged([](auto &json) { json["feature_names"] = {"a", "b", "c"}; }), "3 feature_names, expected 2");
  EXPECT_CONTAINS(forged([](auto &json) { json["classes"] = {"a", "b", "c"}; }), "2 x 3 numbers, expected 3 x 3");
  EXPECT_CONTAINS(forged([](auto &json) { json["classes"] = report::Json::array(); }), "classes = [], expected");
  EXPECT_CONTAINS(forged([](auto &json) { json["classes"][1] = 7; }), "expected a list of texts");
  EXPECT_CONTAINS(forged([](auto &json) { json.erase("files"); }), "has no member 'files'");
  EXPECT_CONTAINS(forged([](auto &json) { json["files"].erase("model.npy"); }), "has no member 'model.npy'");
}

/// Two columns that make the features of exclusive_or() and one of which nothing is made.
std::shared_ptr<const data::TablePlan> two_columns() {
  data::TablePlan plan{.has_names = true, .width = 3};
  plan.columns.push_back({.name = "a", .place = 0});
  plan.columns.push_back({.name = "b", .place = 2, .kind = data::ColumnKind::category, .levels = {"x"}});
  return std::make_shared<const data::TablePlan>(std::move(plan));
}

TEST_F(NetworkModel, IsRefusedWhereItsColumnsAreNone) {
  auto model = exclusive_or();
  model.plan = two_columns();
  const auto with = [&](const std::function<void(report::Json &)> &change) {
    write(clean::model_files(model));
    auto json = report::parsed_json(read_file(scratch.path() / "model.json"), "model.json");
    change(json["columns"]);
    (void)scratch.file("model.json", report::sealed_text(std::move(json)));
    return refused();
  };
  EXPECT_EQ(with([](auto & /*columns*/) {}), "");
  EXPECT_EQ(clean::read_model(scratch.path()).plan->columns[1].levels, std::vector<std::string>{"x"});
  EXPECT_CONTAINS(with([](auto &columns) { columns = 7; }), "columns: found 7, expected an object");
  EXPECT_CONTAINS(with([](auto &columns) { columns["width"] = 0; }), "width = 0");
  EXPECT_CONTAINS(with([](auto &columns) { columns["list"] = report::Json::array(); }), "list = [], expected 1 to 3");
  EXPECT_CONTAINS(with([](auto &columns) { columns["list"].erase(1); }), "columns that make 1 features, expected 2");
  EXPECT_CONTAINS(with([](auto &columns) { columns["list"][1]["place"] = 3; }), "column 2: place = 3");
  EXPECT_CONTAINS(with([](auto &columns) { columns["list"][1]["place"] = 0; }), "two columns at the place 0");
  EXPECT_CONTAINS(with([](auto &columns) { columns["list"][0]["kind"] = "picture"; }), "kind = \"picture\"");
  EXPECT_CONTAINS(with([](auto &columns) { columns["list"][0]["fill"] = 1e300; }), "a number that float32 can hold");
  EXPECT_CONTAINS(with([](auto &columns) { columns["list"][0]["origin"] = nullptr; }), "origin = null");
  EXPECT_CONTAINS(with([](auto &columns) {
                    columns["list"][0]["low"] = 2;
                    columns["list"][0]["high"] = 1;
                  }),
                  "low = 2, expected at most");
  EXPECT_CONTAINS(with([](auto &columns) { columns["list"][1]["usual"] = 1; }), "usual = 1");
  EXPECT_CONTAINS(with([](auto &columns) { columns["list"][1]["levels"] = report::Json::array(); }), "levels = []");
}

TEST_F(NetworkModel, IsRefusedWhereAWeightIsNotFinite) {
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto model = exclusive_or();
    model.weights[2] = wrong;
    write(clean::model_files(model));
    EXPECT_CONTAINS(refused(), "model.npy");
  }
}

TEST_F(NetworkModel, IsRefusedByTheToolInPlainWords) {
  const auto data = scratch.file("data.csv", "a,b\n0,0\n0,1\n");
  const std::string command = "predict --model " + scratch.path().string() + " --data " + data;
  (void)scratch.file("model.json", "{\"format\": 1");
  expect_refused(command, {"model.json: is damaged: no JSON from byte"});
  EXPECT_EQ(run_tool(command).output.find("json.exception"), std::string::npos);
}

TEST_F(NetworkModel, PredictsByItsTwoLayers) {
  const auto data = scratch.file("data.csv", "a,b,label\n0,0,same\n0,1,other\n1,0,other\n1,1,same\n");
  const auto run = run_tool("predict --label label --model " + scratch.path().string() + " --data " + data);
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_CONTAINS(run.output, "accuracy on 4 rows: 100.00 %");
  EXPECT_CONTAINS(run.output, "1,same,same,0.622459") << "1/(1 + exp(-1/2))\n" << run.output;
}

/// Two landmarks on a line, of which each speaks for a class; the second column is left out by its scale.
clean::Model two_landmarks() {
  return {.classes = {"low", "high"},
          .feature_names = {"a", "b"},
          .features = 2,
          .columns = {.kind = clean::ColumnMap::clipped},
          .scales = {0.5F, -1.0F, 0.0F, 0.0F},
          .landmarks = {-1, 0, 1, 0},
          .kernel_scale = 2.0,
          .weights = {1, 0, 0, 0, 1, 0}};
}

std::string refused_with(const clean::Model &model, const std::function<void(report::Json &)> &change) {
  const ScratchFolder scratch;
  for (const auto &file : clean::model_files(model)) {
    (void)scratch.file(file.name, file.content);
  }
  auto json = report::parsed_json(read_file(scratch.path() / "model.json"), "model.json");
  change(json);
  (void)scratch.file("model.json", report::sealed_text(std::move(json)));
  return refusal([&] { (void)clean::read_model(scratch.path()); });
}

TEST(KernelModel, IsRefusedWhereItsMembersDoNotFitEachOther) {
  EXPECT_EQ(refused_with(two_landmarks(), [](auto &) {}), "");
  EXPECT_CONTAINS(refused_with(two_landmarks(), [](auto &json) { json["column_map"] = "stretched"; }), "stretched");
  EXPECT_CONTAINS(refused_with(two_landmarks(), [](auto &json) { json["column_map"] = "ranks"; }),
                  "model-columns.npy: 2 x 2 numbers, expected 2 x 98");
  EXPECT_CONTAINS(refused_with(two_landmarks(), [](auto &json) { json["landmarks"] = 3; }),
                  "model-landmarks.npy: 2 x 2 numbers, expected 3 x 2");
  for (const report::Json &scale : {report::Json(0.0), report::Json(-1.0), report::Json("wide")}) {
    EXPECT_CONTAINS(refused_with(two_landmarks(), [&](auto &json) { json["kernel_scale"] = scale; }),
                    "expected a finite number > 0");
  }
  auto network = two_landmarks();
  network.hidden = 2;
  network.hidden_weights = {1, 1, 1, 1, 1, 1};
  EXPECT_CONTAINS(refused_with(network, [](auto &) {}), "0 where there is a hidden layer");
  auto falling = two_landmarks();
  falling.columns.kind = clean::ColumnMap::ranks;
  falling.columns.knots.assign(4 * clean::knots_of_ranks, 0.0F);
  falling.columns.knots[3] = 1.0F;
  EXPECT_CONTAINS(refused_with(falling, [](auto &) {}), "knots of column 1 do not grow");
}

TEST(KernelModel, PredictsByItsLandmarksOnceFeaturesAreMapped) {
  const ScratchFolder scratch;
  for (const auto &file : clean::model_files(two_landmarks())) {
    (void)scratch.file(file.name, file.content);
  }
  const auto model = clean::read_model(scratch.path());
  data::Dataset rows;
  rows.features = FeatureTable(Storage::float32, 2);
  rows.feature_names = {"a", "b"};
  rows.features.append(std::vector<float>{4.0F, 1e30F, 1e9F, 0.0F}); // 1 and 6, clipped, of the column that counts
  const auto predictions = clean::predict(model, rows);
  ASSERT_EQ(predictions.size(), 2U);
  EXPECT_EQ(predictions[0].label, 1U);
  EXPECT_NEAR(predictions[0].probability, 1.0 / (1.0 + std::exp(std::exp(-2.0) - 1.0)), 1e-6);
  EXPECT_EQ(predictions[1].label, 1U);
  EXPECT_NEAR(predictions[1].probability, 1.0 / (1.0 + std::exp(std::exp(-24.5) - std::exp(-12.5))), 1e-6);
  const auto probabilities = clean::probabilities_of(model, rows);
  ASSERT_EQ(probabilities.rows(), 2);
  ASSERT_EQ(probabilities.cols(), 2);
  for (Index i = 0; i < 2; ++i) {
    EXPECT_NEAR(probabilities.row(i).sum(), 1.0, 1e-12);
    EXPECT_EQ(static_cast<float>(probabilities(i, 1)), predictions[static_cast<std::size_t>(i)].probability);
  }
}

} // namespace
} // namespace duplex::testing
