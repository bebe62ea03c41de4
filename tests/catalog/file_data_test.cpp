// Samples from files: what is refused, and what is made of the rest.

#include "file_samples.hpp"
#include "tool.hpp"

#include "catalog/file_data.hpp"
#include "data/npy_write.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

namespace duplex::testing {
namespace {

using catalog::FileData;
using test::ScratchFolder;

constexpr Index any_classes = 1000;

LabelledParts read(const FileData &files, std::uint64_t seed = 0, Index most_classes = any_classes) {
  std::vector<std::string> remarks;
  return files.read(seed, most_classes, remarks);
}

std::string refused(const FileData &files, Index most_classes = any_classes) {
  return refusal([&] { (void)read(files, 0, most_classes); });
}

std::vector<std::vector<float>> rows_of(const LabelledSamples &samples) {
  std::vector<std::vector<float>> rows;
  for (Index i = 0; i < samples.features->rows(); ++i) {
    rows.emplace_back();
    for (Index j = 0; j < samples.features->columns(); ++j) {
      rows.back().push_back(samples.features->value(i, j));
    }
  }
  return rows;
}

TEST(SamplesFromFiles, RefuseFilesThatAreNoSamples) {
  const ScratchFolder folder;
  const auto file = [&](const std::string &name, const std::string &text) { return folder.file(name, text); };
  EXPECT_CONTAINS(refused({.data = "nowhere.csv"}), "nowhere.csv: cannot be opened");
  EXPECT_CONTAINS(refused({.data = "-"}), "found '-', expected files");
  EXPECT_CONTAINS(refused({.data = file("t.csv", training_csv), .label = "colour"}),
                  "t.csv: unknown label column 'colour' (known: a, b, c, kind)");
  EXPECT_CONTAINS(refused({.data = file("nan.svm", "1 1:nan\n0 1:2\n")}),
                  "nan.svm:1: found '1:nan', expected a finite");
  EXPECT_CONTAINS(refused({.data = file("one.csv", "a,kind\n1,x\n2,x\n"), .label = "kind"}),
                  "one.csv: found one class only, 'x', expected at least two; is --label the right column?");
  std::string many = "a,kind\n";
  for (int i = 0; i < 30; ++i) {
    many += std::to_string((7 * i) % 11) + ",l" + std::to_string(i) + "\n";
  }
  EXPECT_CONTAINS(refused({.data = file("many.csv", many), .label = "kind"}),
                  "many.csv: found 30 different labels in 30 rows, expected several rows of each class");
  EXPECT_CONTAINS(refused({.data = file("three.svm", "3 1:2\n1 1:1\n2 1:1\n")}, 2),
                  "three.svm: found 3 classes, expected 2; for more use --problem softmax");
  EXPECT_CONTAINS(refused({.data = file("t.csv", training_csv), .label = "kind", .drop = "a,,b"}),
                  "--drop = 'a,,b', expected names of columns with commas between them");
  EXPECT_CONTAINS(refused({.data = file("rare.svm", "1 1:2\n2 1:1\n"), .validation_part = 0.5}), "no row of class '");
  EXPECT_CONTAINS(refused({.data = file("rare.svm", "1 1:2\n2 1:1\n"), .validation_part = 0.5}),
                  "among the 1 that are trained on, expected some of each class; take another --seed");
}

TEST(SamplesFromFiles, RefuseAValidationFileThatDoesNotFitTheOther) {
  const ScratchFolder folder;
  const auto with = [&](const std::string &text) {
    return refused(
        {.data = folder.file("t.csv", training_csv), .label = "kind", .validation = folder.file("v.csv", text)});
  };
  EXPECT_CONTAINS(with("a,b,c,kind\n1,2,3,no\n1,2,3,perhaps\n"),
                  "v.csv: row 2: found the label 'perhaps', expected one of those in ");
  EXPECT_CONTAINS(with("a,x,c,kind\n1,2,3,no\n"), "v.csv: has no column 'b'");
  EXPECT_CONTAINS(refused({.data = folder.file("t.svm", "0 1:1\n1 1:2 2:1\n"),
                           .validation = folder.file("v.svm", "0 1:1 3:1\n1 2:1\n")}),
                  "v.svm:1: found '3:1', expected an index from 1 to 2");
}

TEST(SamplesFromFiles, RefuseOptionsThatWouldBeIgnored) {
  const auto refused_with = [](const std::map<std::string, std::string> &options) {
    return refusal([&] { problem_with("softmax", options)->validate(); });
  };
  EXPECT_CONTAINS(refused_with({{"label", "kind"}}), "softmax: --label without --data");
  EXPECT_CONTAINS(refused_with({{"validation-part", "0.5"}}), "--validation-part without --data");
  EXPECT_CONTAINS(refused_with({{"data", "a.csv"}, {"validation-labels", "b.npy"}}),
                  "--validation-labels without --validation");
  EXPECT_CONTAINS(refused_with({{"data", "a.csv"}, {"validation", "b.csv"}, {"validation-part", "0.5"}}),
                  "--validation-part beside --validation");
  EXPECT_CONTAINS(refused_with({{"data", "a.csv"}, {"validation-part", "1"}}), "validation-part = 1, expected");
  for (const std::string option : {"samples", "features", "classes", "separation"}) {
    EXPECT_CONTAINS(refused_with({{"data", "a.csv"}, {option, "3"}}),
                    "softmax: --" + option + " beside --data: it is about synthetic samples");
  }
  EXPECT_EQ(refused_with({{"data", "a.csv"}, {"seed", "3"}, {"penalties", "one"}}), "");
  EXPECT_CONTAINS(refusal([] {
                    problem_with("hyper-cleaning", {{"data", "a.csv"}, {"noise", "0.1"}})->validate();
                  }),
                  "hyper-cleaning: --noise beside --data");
}

TEST(SamplesFromFiles, HaveNoOptionThatASolverOrARunHasToo) {
  std::set<std::string, std::less<>> of_files;
  const FileData files;
  FileData::fields(files, [&](std::string_view name, const auto &...) { of_files.emplace(name); });
  auto others = catalog::describe(Options{});
  for (const auto &solver : catalog::solver_names()) {
    const auto more = catalog::make_solver(solver)->options();
    others.insert(others.end(), more.begin(), more.end());
  }
  for (const auto &option : others) {
    EXPECT_FALSE(of_files.contains(option.name)) << option.name;
  }
  EXPECT_EQ(of_files.size(), 9U);
}

TEST(SamplesFromFiles, AreTheSameInEveryFormat) {
  const ScratchFolder folder;
  const std::string svm = "no 1:1 2:2 3:7\nyes 1:2 3:7\nno 1:4 2:1 3:7\nyes 1:5 2:5 3:7\n";
  const std::vector<float> numbers{1, 2, 7, 2, 0, 7, 4, 1, 7, 5, 5, 7};
  const std::vector<std::int64_t> labels{0, 1, 0, 1};
  const std::string of_numbers = folder.file("t.npy", data::npy_file(numbers, std::vector<Index>{4, 3}));
  const std::string of_labels = folder.file("l.npy", data::npy_file(labels, std::vector<Index>{4}));
  const std::string training = folder.file("t.csv", training_csv);
  for (const FileData &files :
       {FileData{.data = training, .label = "kind", .validation = training, .standardize = false},
        FileData{.data = folder.file("t.svm", svm), .validation = folder.file("v.svm", svm), .standardize = false},
        FileData{.data = of_numbers,
        .data_labels = of_labels,
        .validation = of_numbers,
        .validation_labels = of_labels,
        .standardize = false}}) {
    const auto parts = read(files);
    EXPECT_EQ(parts.classes, 2);
    for (const auto *part : {&parts.training, &parts.validation}) {
      EXPECT_EQ(rows_of(*part), training_rows) << files.data;
      EXPECT_EQ(*part->labels, training_labels) << files.data;
    }
  }
}

TEST(SamplesFromFiles, AreStandardizedByTheTrainingRowsAlone) {
  const ScratchFolder folder;
  const auto parts = read({.data = folder.file("t.csv", training_csv),
                           .label = "kind",
                           .validation = folder.file("v.csv", validation_csv)});
  for (Index j = 0; j < 2; ++j) {
    const auto at = static_cast<std::size_t>(j);
    double mean = 0.0;
    double square = 0.0;
    for (const auto &row : training_rows) {
      mean += static_cast<double>(row[at]) / 4.0;
    }
    for (const auto &row : training_rows) {
      square += std::pow(static_cast<double>(row[at]) - mean, 2) / 4.0;
    }
    for (const auto &[samples, rows] :
         {std::pair(parts.training, training_rows), {parts.validation, validation_rows}}) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_NEAR(static_cast<double>(samples.features->value(static_cast<Index>(i), j)),
                    (static_cast<double>(rows[i][at]) - mean) / std::sqrt(square), 1e-6);
      }
    }
  }
  for (Index i = 0; i < 2; ++i) {
    EXPECT_EQ(parts.validation.features->value(i, 2), 0.0F); // it never varies where it is trained on
  }
}

TEST(SamplesFromFiles, HaveTheColumnsThatAreKept) {
  const ScratchFolder folder;
  const std::string training = folder.file("t.csv", training_csv);
  const FileData of_all{.data = training, .label = "kind", .validation = training, .standardize = false};
  auto files = of_all;
  files.keep = "b,c";
  const std::vector<std::vector<float>> two_columns{{2, 7}, {0, 7}, {1, 7}, {5, 7}};
  EXPECT_EQ(rows_of(read(files).training), two_columns);
  files = of_all;
  files.drop = "a";
  EXPECT_EQ(rows_of(read(files).training), two_columns);
  EXPECT_EQ(rows_of(read(files).validation), two_columns);
}

TEST(SamplesFromFiles, ThatAreSparseStaySoWithARootMeanSquareOfOne) {
  const ScratchFolder folder;
  std::string svm;
  for (int i = 0; i < 20; ++i) {
    svm += std::to_string(i % 2) + " " + std::to_string(i + 1) + ":" + std::to_string(i + 1) + "\n";
  }
  const auto parts = read({.data = folder.file("t.svm", svm), .validation = folder.file("v.svm", "0 1:3\n1 2:4\n")});
  ASSERT_TRUE(parts.training.features->is_sparse());
  ASSERT_TRUE(parts.validation.features->is_sparse());
  const float alone = std::sqrt(20.0F);
  for (Index i = 0; i < 20; ++i) {
    EXPECT_FLOAT_EQ(parts.training.features->value(i, i), alone);
  }
  EXPECT_FLOAT_EQ(parts.validation.features->value(0, 0), 3.0F * alone);
  EXPECT_FLOAT_EQ(parts.validation.features->value(1, 1), 2.0F * alone);
}

TEST(SamplesFromFiles, AreDrawnOnceEachBySeedAndKeepTheirOrder) {
  const ScratchFolder folder;
  std::string svm;
  for (int i = 0; i < 40; ++i) {
    svm += std::to_string(i % 2) + " 1:" + std::to_string(i + 1) + "\n";
  }
  const FileData files{.data = folder.file("t.svm", svm), .validation_part = 0.25, .standardize = false};
  const auto numbers = [](const LabelledSamples &samples) {
    std::vector<float> out;
    for (const auto &row : rows_of(samples)) {
      out.push_back(row.front());
    }
    return out;
  };
  const auto parts = read(files, 1);
  const auto training = numbers(parts.training);
  const auto validation = numbers(parts.validation);
  EXPECT_EQ(training.size(), 30U);
  EXPECT_EQ(validation.size(), 10U);
  EXPECT_TRUE(std::is_sorted(training.begin(), training.end()));
  EXPECT_TRUE(std::is_sorted(validation.begin(), validation.end()));
  std::vector<float> all;
  std::merge(training.begin(), training.end(), validation.begin(), validation.end(), std::back_inserter(all));
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(all.at(i), static_cast<float>(i + 1));
  }
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(parts.validation.labels->at(i), (static_cast<std::uint32_t>(validation[i]) + 1) % 2);
  }
  EXPECT_EQ(numbers(read(files, 1).validation), validation);
  EXPECT_NE(numbers(read(files, 2).validation), validation);
}

} // namespace
} // namespace duplex::testing
