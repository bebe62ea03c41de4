// Transport from what was observed, smoothing that is learned, kernels, a network.

#include "zoo/denoising.hpp"
#include "zoo/family.hpp"
#include "zoo/kernel_ridge.hpp"
#include "zoo/network.hpp"
#include "zoo/transport.hpp"

namespace duplex::zoo {

std::vector<Family> inverse_families() {
  std::vector<Family> out;
  out.push_back({{.name = "transport", .title = "costs of entropic transport from an observed plan"},
                 []<class T>() { return Transport<T>({.seed = 35}); }});
  out.push_back({{.name = "transport-gauge",
                  .title = "the same with potentials that are free by a constant",
                  .is_singular = true},
                 []<class T>() { return Transport<T>({.holds_last = false, .seed = 35}); }});
  out.push_back({{.name = "denoise", .title = "a signal smoothed by differences of three orders, log-weights learned"},
                 []<class T>() { return Denoising<T>({.length = 200, .orders = 3, .seed = 40}); }});
  out.push_back({{.name = "denoise-variation", .title = "a signal with jumps, smooth total variation of two orders"},
                 []<class T>() {
                   return Denoising<T>({.length = 120, .roughness = Roughness::variation, .prior = 1e-3, .seed = 41});
                 }});
  out.push_back({{.name = "denoise-local", .title = "a signal with jumps, a log-weight in ±8 for every difference"},
                 []<class T>() { return Denoising<T>({.length = 80, .local = true, .limit = 8.0, .seed = 42}); }});
  out.push_back({{.name = "kernel", .title = "kernel ridge regression, log-width and log-penalty"},
                 []<class T>() { return KernelRidge<T>({.training = 60, .validation = 60, .seed = 43}); }});
  out.push_back({{.name = "network", .title = "a tanh network of 26 weights, two log-decays", .is_convex = false},
                 []<class T>() { return Network<T>({.hidden = 5, .training = 120, .validation = 120, .seed = 44}); }});
  out.push_back(
      {{.name = "network-few", .title = "a network of 31 weights with 40 samples to learn from", .is_convex = false},
       []<class T>() { return Network<T>({.hidden = 6, .training = 40, .validation = 40, .seed = 44}); }});
  return out;
}

} // namespace duplex::zoo
