#pragma once
// What is given to a target may be used or refused with InvalidInput; all else ends the fuzzer.

#include <duplex/core/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace duplex::fuzz {

struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
  std::vector<std::string> (*seeds)(); ///< inputs that are right, beside those of fuzz/corpus
};

/// Every reader of what may come from anywhere.
[[nodiscard]] const std::vector<Target> &targets();

template <class Use> void use_or_refuse(const Use &use) {
  try {
    use();
  } catch (const InvalidInput &) {
    return;
  }
}

// readers.cpp
void read_csv(std::string_view input);
void read_npy(std::string_view input);
void read_libsvm(std::string_view input);
void read_idx(std::string_view input);
void read_matrix(std::string_view input);

// saved_states.cpp
void read_checkpoint(std::string_view input);
void go_on_solving(std::string_view input);
void go_on_cleaning(std::string_view input);
[[nodiscard]] std::vector<std::string> checkpoint_seeds();
[[nodiscard]] std::vector<std::string> edit_seeds();

// sealed_files.cpp
void read_manifest(std::string_view input);
void read_model(std::string_view input);
[[nodiscard]] std::vector<std::string> manifest_seeds();
[[nodiscard]] std::vector<std::string> model_seeds();

} // namespace duplex::fuzz
