// The one function that the tool looks for in this library.

#include "clean/network/classifier.hpp"

extern "C" const duplex::clean::NetworkLibrary *duplex_network_library() {
  static constexpr duplex::clean::NetworkLibrary library{.require_device = duplex::clean::require_network_device,
                                                         .make = duplex::clean::make_network};
  return &library;
}
