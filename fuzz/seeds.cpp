// seeds FOLDER: writes the inputs that targets bring with them to FOLDER/TARGET/, for libFuzzer to begin with.

#include "fuzz.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: seeds FOLDER\n";
    return 2;
  }
  for (const auto &target : duplex::fuzz::targets()) {
    const auto folder = std::filesystem::path(argv[1]) / target.name;
    std::filesystem::create_directories(folder);
    int number = 0;
    for (const auto &seed : target.seeds()) {
      std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
    }
    std::cout << target.name << "\n";
  }
}
