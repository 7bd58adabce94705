#include "arrays.hpp"

NB_MODULE(_native, module) {
    // A model that somebody's cache still holds when Python ends is no leak to tell users of.
    nanobind::set_leak_warnings(false);
    module.doc() = "Native kernels of Ceiba: typed arrays in, typed arrays out.";
    ceiba::bindings::bind_process(module);
    ceiba::bindings::bind_cluster(module);
    ceiba::bindings::bind_mixture(module);
    ceiba::bindings::bind_tree_coding(module);
    ceiba::bindings::bind_tree_rules(module);
    ceiba::bindings::bind_tree_growing(module);
    ceiba::bindings::bind_tree_routing(module);
    ceiba::bindings::bind_tree_pruning(module);
    ceiba::bindings::bind_tree_ways(module);
    ceiba::bindings::bind_forest_growing(module);
    ceiba::bindings::bind_forest_routing(module);
}
