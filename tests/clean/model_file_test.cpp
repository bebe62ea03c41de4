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
  EXPECT_CONTAINS(refused(), "model.json: a model of version 1, expected 2: duplex clean writes it anew");
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

} // namespace
} // namespace duplex::testing
