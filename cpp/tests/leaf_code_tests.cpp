// Tests of the bit code of class weights: round trips and damaged input.
#include <algorithm>

#include "check.hpp"
#include "forest/predict/leaf_code.hpp"

namespace ceiba::tests {
namespace {

using forest::Number;

// Class weights of very different sizes, most of them zero.
std::vector<Number> class_weights(std::size_t classes, RandomSource& random) {
    std::vector<Number> weight(classes, 0);
    const std::uint64_t absent = random.between(1, 40);
    const std::size_t bits = random.between(1, 40);
    for (std::size_t k = 0; k < classes; ++k)
        if (random.one_in(absent) || k < 2)
            weight[k] = 1 + Number(random.bits() >> (64 - random.between(1, bits)));
    return weight;
}

void decoding_inverts_encoding() {
    RandomSource random(1);
    forest::LeafWriter writer;
    for (int round = 0; round < 400; ++round) {
        const std::vector<Number> weight = class_weights(random.between(2, 300), random);
        std::vector<std::uint8_t> bytes;
        writer.write(weight.data(), weight.size());
        writer.add_rest(bytes);
        expect(writer.fits() == bytes.empty(), "fits() agrees with the bytes");
        const std::size_t n_bytes = bytes.size();
        bytes.push_back(0xFF);  // first byte of another leaf
        const std::uint8_t* end = bytes.data() + bytes.size();
        forest::LeafReader reader(writer.first(), bytes.data(), end, weight.size());
        std::vector<Number> found(weight.size(), 0);
        while (reader.has_more()) {
            const auto [class_index, class_weight] = reader.next();
            expect(class_index < found.size(), "class index in range");
            found[class_index] = class_weight;
        }
        expect(found == weight && reader.is_valid(), "decoded weights");
        expect(std::max<std::ptrdiff_t>(0, reader.bytes()) == std::ptrdiff_t(n_bytes),
               "number of bytes");
    }
}

void decoding_stays_within_the_bytes() {
    RandomSource random(2);
    for (int round = 0; round < 4000; ++round) {
        // Runs of zeros encode large integers.
        const std::uint64_t first = (random.bits() & random.bits()) << random.below(64);
        std::vector<std::uint8_t> bytes(random.below(40));
        for (std::uint8_t& byte : bytes) byte = std::uint8_t(random.bits() & random.bits());
        const std::size_t classes = random.between(2, 300);
        const std::uint8_t* end = bytes.data() + bytes.size();
        forest::LeafReader reader(first, bytes.data(), end, classes);
        while (reader.has_more()) {
            const auto [class_index, class_weight] = reader.next();
            if (class_index >= classes) break;
            expect(class_weight >= 1, "every weight is positive");
        }
        expect(!reader.is_valid() || reader.bytes() <= end - bytes.data(), "no bytes past the end");
    }
}

}  // namespace

Tests leaf_code_tests() {
    return {
        {"decoding_inverts_encoding", decoding_inverts_encoding},
        {"decoding_stays_within_the_bytes", decoding_stays_within_the_bytes},
    };
}

}  // namespace ceiba::tests
