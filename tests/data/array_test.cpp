// NumPy and IDX arrays: headers are held against the file before memory is asked for.

#include "data/npy_write.hpp"
#include "data_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <ctime>

namespace duplex::testing {
namespace {

using Values = std::vector<float>;
using Names = std::vector<std::string>;

std::string npy(const std::string &header, const std::string &elements, int version = 1) {
  const std::size_t length = header.size();
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(version), '\0', static_cast<char>(length & 0xFFU), static_cast<char>(length >> 8U)};
  file += version == 1 ? std::string{} : std::string(2, '\0');
  return file + header + elements;
}

std::string described(const std::string &type, const std::string &shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

std::string array(const std::string &type, const std::string &shape, const std::string &elements) {
  return npy(described(type, shape), elements);
}

std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24U), static_cast<char>(value >> 16U), static_cast<char>(value >> 8U),
          static_cast<char>(value)};
}

std::string idx(char type, std::initializer_list<std::uint32_t> shape, const std::string &elements) {
  std::string file = {'\0', '\0', type, static_cast<char>(shape.size())};
  for (const auto size : shape) {
    file += big_endian(size);
  }
  return file + elements;
}

Dataset read_pair(std::string_view features, std::string_view labels, const ReadOptions &options = {}) {
  const auto x = data::unpacked(std::make_unique<data::MemorySource>("x.npy", features));
  const auto y = data::unpacked(std::make_unique<data::MemorySource>("y.npy", labels));
  return data::read_arrays(*x, labels.empty() ? nullptr : y.get(), options);
}

std::string pair_refusal(std::string_view features, std::string_view labels = {}, const ReadOptions &options = {}) {
  return refusal([&] { (void)read_pair(features, labels, options); });
}

/// What a one-column array of these labels gives, row by row.
Names labels_of(const std::string &labels, Index rows) {
  const auto column = data::npy_file(Values(static_cast<std::size_t>(rows)), std::array<Index, 2>{rows, 1});
  return names_by_row(read_pair(column, labels));
}

class LyingHeader : public ::testing::TestWithParam<const char *> {};

TEST_P(LyingHeader, IsRefusedAtOnceBeforeMemoryIsAskedFor) {
  const std::string file = array("<f8", GetParam(), "12345678");
  for (const auto &bytes : {file, gzipped(file)}) {
    const std::clock_t begin = std::clock();
    EXPECT_CONTAINS(pair_refusal(bytes), "x.npy: ");
    EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LyingHeader,
                         ::testing::Values("(1000000000000, 1000000)", "(1, 1000000000000)", "(2, 2)",
                                           "(18446744073709551615, 18446744073709551615)", "(4294967296, 4294967296)",
                                           "(1, 4294967296, 4294967296)", "(18446744073709551615, 1)",
                                           "(3, 16777216)"));

TEST(Npy, SaysWhatTheHeaderPromisesAndWhatTheFileHolds) {
  EXPECT_EQ(pair_refusal(array("<f4", "(3, 2)", "1234")),
            "x.npy: the header promises shape (3, 2) of <f4, 24 bytes; found 4 bytes");
  EXPECT_EQ(pair_refusal(array("<f4", "(1, 1)", "12345")),
            "x.npy: the header promises shape (1, 1) of <f4, 4 bytes; found 5 bytes");
  EXPECT_EQ(pair_refusal(gzipped(array("<f4", "(3, 2)", "123456789"))),
            "x.npy: the data end in row 2, the header promises 3 rows: the file is truncated");
  EXPECT_EQ(pair_refusal(gzipped(array("<f4", "(1, 1)", std::string(5, '\0')))),
            "x.npy: found more bytes than the header promises, expected the end");
}

class BadHeader : public ::testing::TestWithParam<const char *> {};

TEST_P(BadHeader, IsRefused) {
  EXPECT_CONTAINS(pair_refusal(npy(GetParam(), "1234")),
                  "expected a dictionary of 'descr', 'fortran_order' and 'shape'");
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadHeader,
    ::testing::Values("", "{", "{}", "x", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)",
                      "{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4', 'shape': (1, 1)}",
                      "{'fortran_order': False, 'shape': (1, 1)}",
                      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)}",
                      "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1, 1)}",
                      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, -1)}",
                      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 99999999999999999999)}",
                      "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
                      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), 'more': 1}",
                      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)} and more"));

TEST(Npy, RefusesFilesThatAreNoneOrBreakOff) {
  EXPECT_EQ(pair_refusal("hello, world"), "x.npy: begins with 'hello,', expected a NumPy or IDX array");
  EXPECT_CONTAINS(pair_refusal("\x93NUMPY\x01"), "x.npy: ends inside the header");
  EXPECT_CONTAINS(pair_refusal(array("<f4", "(1, 1)", "").substr(0, 30)), "x.npy: ends inside the header");
  EXPECT_EQ(pair_refusal(npy(described("<f4", "(1, 1)"), "1234", 4)),
            "x.npy: found version 4.0 of the format, expected 1.0, 2.0 or 3.0");
  EXPECT_EQ(pair_refusal(std::string("\x93NUMPY\x02\0\xff\xff\xff\x7f", 12)),
            "x.npy: found a header of 2147483647 bytes, expected at most 65536");
}

TEST(Npy, RefusesFortranOrder) {
  EXPECT_EQ(pair_refusal(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1)}", "1234")),
            "x.npy: the array lies in Fortran order, expected C order (save numpy.ascontiguousarray(x) instead)");
}

TEST(Npy, RefusesTypesThatAreNotNumbersOrText) {
  for (const std::string type :
       {"<c8", "|O", "<M8[ns]", "<f16", "<i3", "f4", "<f", "|V4", "|f4", "<U0", "<U99999999"}) {
    EXPECT_CONTAINS(pair_refusal(array(type, "(1, 1)", "1234")),
                    "x.npy: found elements of type '" + type + "', expected");
  }
  EXPECT_EQ(pair_refusal(array("<U1", "(1, 1)", std::string("a\0\0\0", 4))),
            "x.npy: the features are text (<U1), expected numbers");
}

TEST(Npy, RefusesShapesWithoutRowsOrColumns) {
  EXPECT_CONTAINS(pair_refusal(array("<f4", "(0, 3)", "")), "shape (0, 3), expected at least one row and one column");
  EXPECT_CONTAINS(pair_refusal(array("<f4", "(3, 0)", "")), "shape (3, 0), expected");
  EXPECT_CONTAINS(pair_refusal(array("<f4", "()", "1234")), "shape (), expected");
  EXPECT_EQ(pair_refusal(array("<f4", "(1,)", "1234")),
            "x.npy: the features have shape (1,), expected rows and columns");
}

TEST(Npy, NamesRowAndColumnOfWhatIsNotFinite) {
  constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(pair_refusal(array("<f4", "(2, 2)", bytes_of_values<float>({1, 2, 3, not_a_number}))),
            "x.npy: row 2, column 2: found nan, expected a finite number");
  EXPECT_EQ(pair_refusal(array("<f8", "(1, 2)", bytes_of_values<double>({-infinity, 0}))),
            "x.npy: row 1, column 1: found -inf, expected a finite number");
  EXPECT_EQ(pair_refusal(array("<f8", "(1, 2)", bytes_of_values<double>({0, 1e300}))),
            "x.npy: row 1, column 2: found 1e+300, expected a number of at most 3.4028235e+38 in size");
  EXPECT_EQ(pair_refusal(array("<f2", "(1, 1)", bytes_of_values<std::uint16_t>({0x7C00}))),
            "x.npy: row 1, column 1: found inf, expected a finite number");
}

TEST(Npy, RefusesLabelsThatDoNotFit) {
  const std::string features = array("|u1", "(2, 1)", "ab");
  EXPECT_EQ(pair_refusal(features, array("|u1", "(3,)", "abc")),
            "y.npy: found 3 labels, expected 2 as there are rows in x.npy");
  EXPECT_EQ(pair_refusal(features, array("|u1", "(2, 2)", "abcd")),
            "y.npy: the labels have shape (2, 2), expected one label a row");
  EXPECT_EQ(pair_refusal(features, array("<f4", "(2,)", "12345678")),
            "y.npy: the labels have type <f4, expected whole numbers or text");
  EXPECT_CONTAINS(pair_refusal(features, array("|S2", "(2,)",
                                               "a\xff"
                                               "bc")),
                  "y.npy: row 1: found 'a\\xff', expected a label of valid text");
  EXPECT_CONTAINS(pair_refusal(features, array("<U1", "(2,)", bytes_of_values<std::uint32_t>({'a', 0xD800}))),
                  "y.npy: row 2: found '', expected a label of valid text");
}

TEST(Npy, RefusesMoreThanTheMemoryGiven) {
  ReadOptions options;
  options.memory_limit = 7;
  EXPECT_CONTAINS(pair_refusal(array("|i1", "(2, 1)", "ab"), {}, options), "x.npy: 2 rows of 1 features need 4 bytes");
}

TEST(Npy, KeepsBytesAndHalvesAndReadsAllElseAsFloats) {
  const auto first_row = [](const std::string &type, const std::string &elements, Storage storage) {
    const auto dataset = read_pair(array(type, "(1, 2)", elements), {});
    EXPECT_EQ(dataset.features.storage(), storage) << type;
    return row_of(dataset, 0);
  };
  EXPECT_EQ(first_row("|u1", "\x01\xff", Storage::byte), (Values{1, 255}));
  EXPECT_EQ(first_row("|b1", std::string("\x01\0", 2), Storage::byte), (Values{1, 0}));
  EXPECT_EQ(first_row("|i1", "\x01\xff", Storage::float32), (Values{1, -1}));
  EXPECT_EQ(first_row("<u2", "\x01\x02\xff\xff", Storage::float32), (Values{513, 65535}));
  EXPECT_EQ(first_row(">u2", "\x01\x02\xff\xff", Storage::float32), (Values{258, 65535}));
  EXPECT_EQ(first_row("<i2", "\x01\x02\xff\xff", Storage::float32), (Values{513, -1}));
  EXPECT_EQ(first_row("<i4", bytes_of_values<std::int32_t>({-7, 1 << 20}), Storage::float32), (Values{-7, 1048576}));
  EXPECT_EQ(first_row("<u4", bytes_of_values<std::uint32_t>({7, 1U << 31U}), Storage::float32),
            (Values{7, 2147483648.0F}));
  EXPECT_EQ(first_row("<i8", bytes_of_values<std::int64_t>({-7, 8}), Storage::float32), (Values{-7, 8}));
  EXPECT_EQ(first_row("<u8", bytes_of_values<std::uint64_t>({7, 8}), Storage::float32), (Values{7, 8}));
  EXPECT_EQ(first_row("<f4", bytes_of_values<float>({0.1F, -8}), Storage::float32), (Values{0.1F, -8}));
  EXPECT_EQ(first_row(">f4", "\x3f\x80\x01\x01\xbf\x80\x01\x01", Storage::float32), (Values{1.0000306F, -1.0000306F}));
  EXPECT_EQ(first_row("<f8", bytes_of_values<double>({0.1, -8}), Storage::float32), (Values{0.1F, -8}));
  EXPECT_EQ(first_row("<f2", bytes_of_values<std::uint16_t>({0x3C00, 0xC100}), Storage::float16), (Values{1, -2.5F}));
  EXPECT_EQ(first_row(">f2", std::string("\x3c\0\xc1\0", 4), Storage::float16), (Values{1, -2.5F}));
}

TEST(Npy, TellsImagesByTheirShape) {
  EXPECT_EQ(read_pair(array("|u1", "(1, 2, 3)", "abcdef"), {}).image, (data::ImageShape{3, 2, 1}));
  EXPECT_EQ(read_pair(array("|u1", "(1, 1, 2, 3)", "abcdef"), {}).image, (data::ImageShape{2, 1, 3}));
  EXPECT_EQ(read_pair(array("|u1", "(1, 3, 1, 2)", "abcdef"), {}).image, std::nullopt);
  EXPECT_EQ(read_pair(array("|u1", "(1, 6)", "abcdef"), {}).image, std::nullopt);
}

TEST(Npy, ReadsLabelsOfNumbersAndText) {
  EXPECT_EQ(labels_of(array("<i8", "(2,)", bytes_of_values<std::int64_t>({10, -9})), 2), (Names{"10", "-9"}));
  EXPECT_EQ(labels_of(array("|u1", "(2, 1)", "\x05\xff"), 2), (Names{"5", "255"}));
  EXPECT_EQ(labels_of(array(">i2", "(2,)", std::string("\0\x05\x01\0", 4)), 2), (Names{"5", "256"}));
  EXPECT_EQ(labels_of(array("|S3", "(2,)", std::string("a\0\0bcd", 6)), 2), (Names{"a", "bcd"}));
  const std::string wide = bytes_of_values<std::uint32_t>({U'ä', 0, U'猫', U'😀'});
  EXPECT_EQ(labels_of(array("<U2", "(2,)", wide), 2), (Names{"ä", "猫😀"}));
  EXPECT_EQ(labels_of(npy(described("<U2", "(2,)"), wide, 3), 2), (Names{"ä", "猫😀"}));
}

TEST(Npy, ReadsManyRowsInSeveralSteps) {
  constexpr Index rows = 300000;
  std::vector<std::int64_t> values(static_cast<std::size_t>(rows) * 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int64_t>(i);
  }
  const auto file = data::npy_file(values, std::array<Index, 2>{rows, 2});
  for (const auto &bytes : {file, gzipped(file)}) {
    const auto dataset = read_pair(bytes, {});
    ASSERT_EQ(dataset.features.rows(), rows);
    for (Index row = 0; row < rows; ++row) {
      ASSERT_EQ(dataset.features.value(row, 1), static_cast<float>(2 * row + 1));
    }
  }
}

TEST(NpyWriting, RefusesAShapeOfAnotherSize) {
  EXPECT_CONTAINS(refusal([] {
                    (void)data::npy_file(Values{1, 2}, std::array<Index, 2>{1, 1});
                  }),
                  "npy: found 2 values");
}

TEST(NpyWriting, IsReadBackToTheBit) {
  const Values values = {1.5F, -0.1F, 3e38F, 1e-45F, 0.0F, 7.0F};
  const auto dataset = read_pair(data::npy_file(values, std::array<Index, 2>{2, 3}),
                                 data::npy_file(std::vector<std::int64_t>{-5, 1LL << 60U}, std::array<Index, 1>{2}));
  EXPECT_EQ(row_of(dataset, 0), Values(values.begin(), values.begin() + 3));
  EXPECT_EQ(row_of(dataset, 1), Values(values.begin() + 3, values.end()));
  EXPECT_EQ(names_by_row(dataset), (Names{"-5", "1152921504606846976"}));
}

TEST(NpyWriting, AlignsTheElementsAsNumpyDoes) {
  const auto file = data::npy_file(Values{1.0F}, std::array<Index, 1>{1});
  EXPECT_EQ(file.size(), 128U + 4U);
  EXPECT_EQ(file[127], '\n');
  EXPECT_CONTAINS(file, "'shape': (1,), }");
}

TEST(Idx, RefusesHeadersThatAreNone) {
  EXPECT_EQ(pair_refusal(idx(0x0A, {1, 1}, "a")),
            "x.npy: found elements of type 0x0a, expected 0x08, 0x09 or 0x0b to 0x0e");
  EXPECT_CONTAINS(pair_refusal(idx(0x08, {}, "a")), "x.npy: begins with '\\x00\\x00\\x08\\x00', expected an IDX array");
  EXPECT_CONTAINS(pair_refusal(idx(0x08, {1, 1}, "").substr(0, 9)),
                  "x.npy: ends inside the header, expected an IDX array");
}

TEST(Idx, RefusesHeadersThatPromiseMoreOrLessThanThereIs) {
  EXPECT_EQ(pair_refusal(idx(0x08, {2, 2, 2}, "abc")),
            "x.npy: the header promises shape (2, 2, 2) of uint8, 8 bytes; found 3 bytes");
  EXPECT_EQ(pair_refusal(idx(0x08, {1, 1}, "abc")),
            "x.npy: the header promises shape (1, 1) of uint8, 1 bytes; found 3 bytes");
  EXPECT_EQ(pair_refusal(gzipped(idx(0x08, {3, 2}, "abc"))),
            "x.npy: the data end in row 2, the header promises 3 rows: the file is truncated");
  EXPECT_EQ(pair_refusal(gzipped(idx(0x08, {1, 2}, "abc"))),
            "x.npy: found more bytes than the header promises, expected the end");
  EXPECT_CONTAINS(pair_refusal(gzipped(idx(0x08, {0xFFFFFFFF, 4000, 4000}, "abc"))),
                  "x.npy: 4294967295 rows of 16000000");
}

TEST(Idx, ReadsImagesWithLabels) {
  const auto dataset = read_pair(idx(0x08, {2, 2, 3}, "abcdefghijkl"), idx(0x08, {2}, "\x07\x03"));
  EXPECT_EQ(dataset.features.storage(), Storage::byte);
  EXPECT_EQ(row_of(dataset, 1), (Values{'g', 'h', 'i', 'j', 'k', 'l'}));
  EXPECT_EQ(dataset.image, (data::ImageShape{3, 2, 1}));
  EXPECT_EQ(names_by_row(dataset), (Names{"7", "3"}));
}

TEST(Idx, ReadsOtherNumbersFromTheirBigEnds) {
  EXPECT_EQ(row_of(read_pair(idx(0x0D, {1, 1}, std::string("\x3f\x80\0\0", 4)), {}), 0), (Values{1.0F}));
  EXPECT_EQ(row_of(read_pair(idx(0x0C, {1, 1}, "\xff\xff\xff\xfe"), {}), 0), (Values{-2.0F}));
  EXPECT_EQ(row_of(read_pair(idx(0x0E, {1, 1}, std::string("\x3f\xf0\0\0\0\0\0\0", 8)), {}), 0), (Values{1.0F}));
}

TEST(Gzip, RefusesFilesThatAreTruncatedDamagedOrTooLong) {
  const std::string packed = gzipped(idx(0x08, {2, 2}, "abcd"));
  EXPECT_EQ(pair_refusal(packed.substr(0, packed.size() - 3)),
            "x.npy: the gzip data break off, expected more: the file is truncated");
  EXPECT_EQ(pair_refusal(packed.substr(0, 5)), "x.npy: the gzip data break off, expected more: the file is truncated");
  EXPECT_EQ(pair_refusal(packed + "x"), "x.npy: found bytes after the end of the gzip data, expected none");
  std::string damaged = packed;
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);
  EXPECT_CONTAINS(pair_refusal(damaged), "x.npy: the gzip data are damaged: incorrect data check");
}

TEST(Gzip, ReadsMembersOneAfterTheOther) {
  const std::string whole = idx(0x08, {2, 2}, "abcd");
  EXPECT_EQ(row_of(read_pair(gzipped(whole.substr(0, 7)) + gzipped(whole.substr(7)), {}), 1), (Values{'c', 'd'}));
}

} // namespace
} // namespace duplex::testing
