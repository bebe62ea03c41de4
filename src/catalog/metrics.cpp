#include "catalog/catalog.hpp"

template class duplex::MetricBook<duplex::catalog::Problem>;
