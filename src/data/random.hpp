#pragma once

#include <duplex/core/random.hpp>

namespace duplex::data {

using duplex::draw_without_repetition;
using duplex::uniform_below;

} // namespace duplex::data
