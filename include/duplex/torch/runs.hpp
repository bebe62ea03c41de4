#pragma once
// What a run on tensors is made of whatever its problem and method, compiled once, in the library.

#include <duplex/measure/exact.hpp>
#include <duplex/methods/automatic.hpp>
#include <duplex/run/run_loop.hpp>
#include <duplex/torch/tensors.hpp>

#include <memory>

namespace duplex {

extern template class detail::ExactResponse<Tensors>;
extern template Summary detail::run_loop(detail::RunContext<Tensors>, const Monitor<Tensors> &);
extern template std::unique_ptr<automatic::AnyOpening<Tensors>>
automatic::make_opening(const ProblemView<Tensors> &, double, bool, const State<Tensors> &);
extern template std::unique_ptr<automatic::AnyRun<Tensors>>
automatic::make_run(const Automatic &, const ProblemView<Tensors> &, std::unique_ptr<automatic::AnyOpening<Tensors>>,
                    const State<Tensors> &);

} // namespace duplex
