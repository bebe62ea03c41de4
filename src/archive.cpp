#include <duplex/archive.hpp>

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

double StateReader::number(const std::string &name) const { return state().first<SavedState::Doubles>(name); }

void StateReader::read_generator(const std::string &name, std::mt19937_64 &generator) const {
  std::istringstream text(state().get<std::string>(name));
  text >> generator;
  if (!text) {
    throw InvalidInput("'" + name + "' of the saved state is no generator");
  }
}

} // namespace duplex
