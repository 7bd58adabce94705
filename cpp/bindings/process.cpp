// The process (threads, forks, interrupts, instruction set) and keyed random draws.
#include "arrays.hpp"
#include "common/random.hpp"
#include "simd/kmeans_kernels.hpp"

namespace ceiba::bindings {
namespace {

// Only the main thread runs signal handlers; in other threads this is always false.
bool interrupt_pending() {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

void uniforms(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, Array1<double> out) {
    kmeans_kernels<double>().uniforms(seed, stream, first, out.shape(0), out.data());
}

nb::ndarray<nb::numpy, std::uint64_t> keyed_bits(std::uint64_t seed, std::uint64_t stream,
                                                 Array1<const std::uint64_t> numbers) {
    std::vector<std::uint64_t> bits;
    bits.reserve(numbers.shape(0));
    for (std::size_t i = 0; i < numbers.shape(0); ++i)
        bits.push_back(even_half(philox(seed, stream, numbers.data()[i])));
    return owned(std::move(bits));
}

}  // namespace

void bind_process(nb::module_& module) {
    set_interrupt_poll(interrupt_pending);
    register_fork_handler();
    module.def("max_threads", &max_threads,
               "Return the number of threads that OpenMP allows; 1 in a forked child.");
    module.def("startable_threads", &startable_threads, "wanted"_a,
               "Return how many threads, up to wanted, the process could start now.");
    module.def("forked", &forked, "Return whether this process is a forked child.");
    module.def("instruction_set", &instruction_set,
               "Return the instruction set of the kernels in use.");
    module.def("uniforms", &uniforms, "seed"_a, "stream"_a, "first"_a, "out"_a.noconvert(),
               "Fill out with uniform draws keyed by (seed, stream, first + i).");
    module.def("keyed_bits", &keyed_bits, "seed"_a, "stream"_a, "numbers"_a.noconvert(),
               "Return 64 random bits keyed by (seed, stream, number) for each number.");
    nb::class_<DrawKey>(module, "DrawKey", "Key of one random draw per row.")
        .def(nb::init<std::uint64_t, std::uint64_t, std::uint64_t>(), "seed"_a, "stream"_a,
             "first_row"_a);
}

}  // namespace ceiba::bindings
