// Observers share one signature: a mistake fails to compile instead of being ignored.
#include <duplex/run/observer.hpp>

#include <Eigen/Core>

struct Silent final : duplex::Observer<Eigen::VectorXd> {
  void obsrve(const duplex::Progress<Eigen::VectorXd> &) {}
};

int main() { Silent silent; }
