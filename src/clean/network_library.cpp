#include "clean/network.hpp"

#include <duplex/error.hpp>

#ifdef DUPLEX_NETWORK_MODULE
#include <dlfcn.h>

#include <filesystem>
#endif

namespace duplex::clean {

#ifdef DUPLEX_NETWORK_MODULE

namespace {

/// Beside the tool, as it is built, or where it is installed. Never unloaded.
const NetworkLibrary &load_network_library() {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  auto file = here / DUPLEX_NETWORK_MODULE;
  if (!std::filesystem::exists(file)) {
    file = here / DUPLEX_FOLDER_OF_MODULES / DUPLEX_NETWORK_MODULE;
  }
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *found = library != nullptr ? dlsym(library, "duplex_network_library") : nullptr;
  if (found == nullptr) {
    throw NotAvailable(std::string("the network needs LibTorch and its own library, which cannot be loaded: ") +
                       dlerror());
  }
  return *reinterpret_cast<const NetworkLibrary *(*)()>(found)();
}

} // namespace

const NetworkLibrary &network_library() {
  static const NetworkLibrary &library = load_network_library();
  return library;
}

#else

const NetworkLibrary &network_library() {
  throw NotAvailable("built without LibTorch, which the network needs: install it (libtorch-dev on Debian), build "
                     "duplex anew with g++, or take --model linear");
}

#endif

} // namespace duplex::clean
