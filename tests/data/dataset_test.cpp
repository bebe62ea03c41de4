// Files on disk, and datasets that must fit each other.

#include "data_support.hpp"
#include "tool.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

namespace duplex::testing {
namespace {

using test::ScratchFolder;
using Names = std::vector<std::string>;

const std::filesystem::path fashion_mnist = "/usr/share/datasets/fashion-mnist";

ReadOptions labels_in(const std::string &file) {
  ReadOptions options;
  options.labels_file = file;
  return options;
}

const std::string two_images("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x01xy", 18);
const std::string two_labels("\0\0\x08\x01\0\0\0\x02\x04\x05", 10);

class DataFile : public ::testing::Test {
protected:
  [[nodiscard]] std::string refused(const std::string &file, const ReadOptions &options = {}) const {
    return refusal([&] { (void)data::read_dataset(file, options); });
  }

  ScratchFolder folder_;
};

TEST_F(DataFile, ThatIsMissingOrAFolderOrEmptyIsRefused) {
  const std::string missing = (folder_.path() / "no.csv").string();
  EXPECT_EQ(refused(missing), missing + ": cannot be opened for reading: No such file or directory");
  EXPECT_EQ(refused(folder_.path().string()), folder_.path().string() + ": is a folder, expected a file");
  const auto empty = folder_.file("empty.csv", "");
  EXPECT_EQ(refused(empty), empty + ": is empty, expected rows of data");
  const auto packed = folder_.file("empty.csv.gz", gzipped(""));
  EXPECT_EQ(refused(packed), packed + ": is empty, expected rows of data");
}

TEST_F(DataFile, OfAnUnknownKindIsRefused) {
  const auto unknown = folder_.file("data.parquet", "PAR1");
  EXPECT_CONTAINS(refused(unknown), unknown + ": the extension '.parquet' is not known, expected .csv, .tsv");
  const auto archive = folder_.file("data.npz", "PK\x03\x04");
  EXPECT_CONTAINS(refused(archive), archive + ": is an archive (.zip, .npz)");
}

TEST_F(DataFile, WithOptionsOfAnotherFormatIsRefused) {
  const auto csv_file = folder_.file("a.csv", "a,label\n1,2\n");
  EXPECT_EQ(refused(csv_file, labels_in("y.npy")),
            csv_file + ": labels file = 'y.npy', expected none: the file has its labels in itself");
  const auto svm = folder_.file("a.svm", "1 1:2\n");
  EXPECT_EQ(refused(svm, label_column("k")),
            svm + ": label = 'k', expected none: only CSV files have columns to choose from");
}

TEST_F(DataFile, WithoutItsLabelsIsRefusedUnlessNoneAreExpected) {
  const auto images = folder_.file("pictures.idx", two_images);
  EXPECT_EQ(refused(images), images + ": holds no labels; say which file holds them");
  EXPECT_EQ(data::read_dataset(images, without_labels()).features.rows(), 2);
  const auto missing = (folder_.path() / "no.idx").string();
  EXPECT_CONTAINS(refused(images, labels_in(missing)), missing + ": cannot be opened");
}

TEST_F(DataFile, IsReadByExtensionAndFirstBytesGzippedOrNot) {
  const std::string text = "a\tlabel\n1\tx\n2\ty\n";
  for (const auto &file : {folder_.file("a.tsv", text), folder_.file("a.TXT", text),
                           folder_.file("a.csv.gz", gzipped(text)), folder_.file("b.csv", gzipped(text))}) {
    const auto dataset = data::read_dataset(file);
    EXPECT_EQ(dataset.source, file);
    EXPECT_EQ(names_by_row(dataset), (Names{"x", "y"}));
  }
  EXPECT_EQ(data::read_dataset(folder_.file("a.libsvm.gz", gzipped("1 2:3\n"))).features.columns(), 2);
  EXPECT_EQ(
      data::read_dataset(folder_.file("odd.bin", two_images), labels_in(folder_.file("y.bin", two_labels))).labels,
      (std::vector<std::uint32_t>{0, 1}));
}

TEST_F(DataFile, FindsTheUsualSiblingWithLabels) {
  const auto images = folder_.file("t-images-idx3-ubyte", two_images);
  EXPECT_CONTAINS(refused(images), "holds no labels");
  (void)folder_.file("t-labels-idx1-ubyte.gz", gzipped(two_labels));
  EXPECT_EQ(data::read_dataset(images).label_names, (Names{"4", "5"}));
}

TEST_F(DataFile, ReportsProgressAndStopsWhenAskedTo) {
  std::string text = "a,label\n";
  while (text.size() < (13U << 20U)) {
    text += "1.25,x\n2.5,y\n3.75,z\n";
  }
  const auto file = folder_.file("large.csv", text);
  std::atomic<bool> interrupt = false;
  std::vector<std::uint64_t> seen;
  ReadOptions options;
  options.interrupt = &interrupt;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(total, text.size());
    seen.push_back(done);
  };
  (void)data::read_dataset(file, options);
  ASSERT_GE(seen.size(), 3U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  options.progress = [&](std::uint64_t, std::uint64_t) { interrupt = true; };
  EXPECT_EQ(refusal<Interrupted>([&] { (void)data::read_dataset(file, options); }), file + ": reading was interrupted");
}

TEST(FashionMnist, HoldsSixtyThousandImagesOfBytes) {
  ASSERT_TRUE(std::filesystem::exists(fashion_mnist)) << "install the package dataset-fashion-mnist";
  const auto dataset = data::read_dataset(fashion_mnist / "train-images-idx3-ubyte.gz");
  EXPECT_EQ(dataset.features.rows(), 60000);
  EXPECT_EQ(dataset.features.columns(), 784);
  EXPECT_EQ(dataset.features.storage(), Storage::byte);
  EXPECT_EQ(dataset.image, (data::ImageShape{28, 28, 1}));
  EXPECT_EQ(dataset.label_names, (Names{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}));
  std::vector<Index> counts(10);
  for (const auto label : dataset.labels) {
    ++counts[label];
  }
  EXPECT_EQ(counts, std::vector<Index>(10, 6000));
  EXPECT_EQ(dataset.labels.front(), 9U); // an ankle boot
}

TEST(SameFeatures, RefusesOtherCountsNamesOrdersAndShapes) {
  const auto refused = [](const Dataset &reference, const Dataset &other) {
    return refusal([&] { data::require_same_features(reference, other); });
  };
  const auto reference = csv("a,b,label\n1,2,x\n");
  EXPECT_EQ(refused(reference, csv("a,label\n1,x\n")), "data.csv: found 1 features, expected 2 as in data.csv");
  EXPECT_EQ(refused(reference, csv("a,c,label\n1,2,x\n")), "data.csv: feature 2 is 'c', expected 'b' as in data.csv");
  EXPECT_EQ(refused(reference, csv("b,a,label\n1,2,x\n")),
            "data.csv: feature 1 is 'b', expected 'a' as in data.csv; the same columns, in another order");
  EXPECT_EQ(refused(reference, csv("label,a,b\nx,1,2\n")), "");
  EXPECT_EQ(refused(reference, csv("1,2,x\n", label_column("3"))), "");
  auto wide = csv("a,b,label\n1,2,x\n");
  auto high = csv("a,b,label\n1,2,x\n");
  wide.image = {2, 1, 1};
  high.image = {1, 2, 1};
  EXPECT_EQ(refused(wide, high), "data.csv: found images of 1×2×1, expected 2×1×1 as in data.csv");
  EXPECT_EQ(refused(wide, reference), "");
}

TEST(LabelsByName, RefusesLabelsThatTheReferenceDoesNotKnow) {
  const auto reference = csv("a,label\n1,cat\n2,dog\n");
  auto other = csv("a,label\n1,dog\n2,cow\n");
  other.source = "trusted.csv";
  EXPECT_EQ(refusal([&] { data::map_labels_onto(reference, other); }),
            "trusted.csv: row 2: found the label 'cow', expected one of those in data.csv: cat, dog");
  EXPECT_EQ(names_by_row(other), (Names{"dog", "cow"}));
  auto unlabelled = csv("a\n1\n", without_labels());
  EXPECT_EQ(refusal([&] { data::map_labels_onto(reference, unlabelled); }),
            "data.csv: has no labels, expected one a row");
}

TEST(LabelsByName, AreRenumberedOntoTheReference) {
  const auto reference = csv("a,label\n1,ant\n2,cat\n3,dog\n");
  auto other = csv("a,label\n1,dog\n2,cat\n3,dog\n");
  data::map_labels_onto(reference, other);
  EXPECT_EQ(other.labels, (std::vector<std::uint32_t>{2, 1, 2}));
  EXPECT_EQ(other.label_names, reference.label_names);
}

} // namespace
} // namespace duplex::testing
