// The process: threads, forks, interrupts, instruction set, and the keyed draws.
#include "arrays.hpp"
#include "random.hpp"
#include "simd/kernels.hpp"

namespace ceiba::bindings {
namespace {

// Only the main thread runs signal handlers; elsewhere this is always false.
bool interrupt_pending() {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

void uniforms(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, Array1<double> out) {
    kernels<double>().uniforms(seed, stream, first, out.shape(0), out.data());
}

}  // namespace

void bind_process(nb::module_& module) {
    set_interrupt_poll(interrupt_pending);
    watch_forks();
    module.def("max_threads", &max_threads,
               "Threads that OpenMP allows in this process; 1 in a forked child.");
    module.def("forked", &forked, "Whether this process is a forked child.");
    module.def("instruction_set", &instruction_set, "Instruction set of the kernels in use.");
    module.def(
        "uniforms", &uniforms, nb::arg("seed"), nb::arg("stream"), nb::arg("first"),
        nb::arg("out").noconvert(),
        "Fill out with the uniform draws of (seed, stream, row), rows first, first + 1, ...");
}

}  // namespace ceiba::bindings
