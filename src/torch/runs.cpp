#include <duplex/torch/runs.hpp>

namespace duplex {

template class detail::ExactResponse<Tensors>;
template Summary detail::run_loop(detail::RunContext<Tensors>, const Monitor<Tensors> &);
template std::unique_ptr<automatic::AnyOpening<Tensors>> automatic::make_opening(const ProblemView<Tensors> &, double,
                                                                                 bool, const State<Tensors> &);
template std::unique_ptr<automatic::AnyRun<Tensors>>
automatic::make_run(const Automatic &, const ProblemView<Tensors> &, std::unique_ptr<automatic::AnyOpening<Tensors>>,
                    const State<Tensors> &);

} // namespace duplex
