#include <duplex/torch/runs.hpp>

namespace duplex {

template class detail::ExactResponse<Tensors>;
template Summary detail::run_loop(detail::RunContext<Tensors>, const Monitor<Tensors> &);
template std::unique_ptr<automatic::AnyRun<Tensors>> automatic::make_run(const Automatic &,
                                                                         const ProblemView<Tensors> &,
                                                                         const ProblemView<Tensors> &, double,
                                                                         const State<Tensors> &);

} // namespace duplex
