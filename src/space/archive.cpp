#include <duplex/space/archive.hpp>

#include <cmath>
#include <sstream>

namespace duplex {

void StateWriter::put(const std::string &name, SavedState::Value value) { state().put(name, std::move(value)); }

void StateWriter::put_integer(const std::string &name, std::int64_t value) { put(name, SavedState::Integers{value}); }

void StateWriter::put_number(const std::string &name, double value) { put(name, SavedState::Doubles{value}); }

void StateWriter::put_generator(const std::string &name, const std::mt19937_64 &generator) {
  std::ostringstream text;
  text << generator;
  put(name, text.str());
}

std::int64_t StateReader::integer(const std::string &name) const { return state().first<SavedState::Integers>(name); }

double StateReader::number(const std::string &name, double most) const {
  const double value = state().first<SavedState::Doubles>(name);
  if (std::isfinite(value) && std::abs(value) > most) {
    throw InvalidInput(text_for(name) + " is " + number_text(value) + ", which its type does not hold");
  }
  return value;
}

void StateReader::read_generator(const std::string &name, std::mt19937_64 &generator) const {
  std::istringstream text(state().get<std::string>(name));
  std::mt19937_64 read;
  text >> read;
  bool draws_something = false;
  auto ahead = read;
  for (std::size_t i = 0; i < std::mt19937_64::state_size && !draws_something; ++i) {
    draws_something = ahead() != 0;
  }
  if (!text || !draws_something) { // of zeros alone it would draw nothing else for good
    throw InvalidInput(text_for(name) + " is no generator");
  }
  generator = read;
}

} // namespace duplex
