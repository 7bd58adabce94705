#include "arrays.hpp"

NB_MODULE(_native, module) {
    // A model in a cache that is alive when Python ends is not a leak to warn users of.
    nanobind::set_leak_warnings(false);
    module.doc() = "Native kernels of Ceiba: typed arrays in, typed arrays out.";
    ceiba::bindings::bind_process(module);
    ceiba::bindings::bind_kmeans(module);
    ceiba::bindings::bind_mixture(module);
    ceiba::bindings::bind_bayes(module);
    ceiba::bindings::bind_neighbors(module);
    ceiba::bindings::bind_vantage(module);
    ceiba::bindings::bind_tree_config(module);
    ceiba::bindings::bind_tree_encode(module);
    ceiba::bindings::bind_tree_grow(module);
    ceiba::bindings::bind_tree_pack(module);
    ceiba::bindings::bind_tree_predict(module);
    ceiba::bindings::bind_tree_prune(module);
    ceiba::bindings::bind_tree_explain(module);
    ceiba::bindings::bind_forest_grow(module);
    ceiba::bindings::bind_forest_predict(module);
    ceiba::bindings::bind_boosting(module);
}
