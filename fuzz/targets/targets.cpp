#include "fuzz.hpp"

namespace duplex::fuzz {

namespace {

std::vector<std::string> none() { return {}; }

std::vector<std::string> matrix_seeds() {
  return {"# two by two\n2, 0.5\n0.5, +1e0\n", "1;2\r\n3;4",
          "\xEF\xBB\xBF"
          "7\n"};
}

} // namespace

const std::vector<Target> &targets() {
  static const std::vector<Target> all{{"csv", read_csv, none},
                                       {"npy", read_npy, none},
                                       {"libsvm", read_libsvm, none},
                                       {"idx", read_idx, none},
                                       {"matrix", read_matrix, matrix_seeds},
                                       {"checkpoint", read_checkpoint, checkpoint_seeds},
                                       {"solve", go_on_solving, edit_seeds},
                                       {"clean", go_on_cleaning, edit_seeds},
                                       {"manifest", read_manifest, manifest_seeds},
                                       {"model", read_model, model_seeds}};
  return all;
}

} // namespace duplex::fuzz
