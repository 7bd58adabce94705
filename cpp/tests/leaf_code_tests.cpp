// Class weights in few bits: written, read, and read from anything at all.
#include <algorithm>

#include "check.hpp"
#include "forest/leaf_code.hpp"

namespace ceiba::tests {
namespace {

using forest::Number;

// Class weights of very different sizes, most of them none.
std::vector<Number> class_weights(std::size_t classes, Chance& chance) {
    std::vector<Number> weight(classes, 0);
    const std::uint64_t absent = chance.between(1, 40);
    const std::size_t bits = chance.between(1, 40);
    for (std::size_t k = 0; k < classes; ++k)
        if (chance.one_in(absent) || k < 2)
            weight[k] = 1 + Number(chance.bits() >> (64 - chance.between(1, bits)));
    return weight;
}

void a_leaf_says_what_was_written() {
    Chance chance(1);
    forest::LeafWriter writer;
    for (int round = 0; round < 400; ++round) {
        const std::vector<Number> weight = class_weights(chance.between(2, 300), chance);
        std::vector<std::uint8_t> bytes;
        writer.write(weight.data(), weight.size());
        writer.add_rest(bytes);
        expect(writer.fits() == bytes.empty(), "bytes are needed or not");
        const std::size_t used = bytes.size();
        bytes.push_back(0xFF);  // of another leaf
        const std::uint8_t* end = bytes.data() + bytes.size();
        forest::LeafReader reader(writer.first(), bytes.data(), end, weight.size());
        std::vector<Number> found(weight.size(), 0);
        while (reader.more()) {
            const auto [place, own] = reader.next();
            expect(place < found.size(), "a class is there");
            found[place] = own;
        }
        expect(found == weight && reader.sound(), "the weights come back");
        expect(std::max<std::ptrdiff_t>(0, reader.bytes()) == std::ptrdiff_t(used), "no more");
    }
}

void a_damaged_leaf_is_read_to_its_end_at_most() {
    Chance chance(2);
    for (int round = 0; round < 4000; ++round) {
        // Of many zeros comes a large number.
        const std::uint64_t first = (chance.bits() & chance.bits()) << chance.below(64);
        std::vector<std::uint8_t> bytes(chance.below(40));
        for (std::uint8_t& byte : bytes) byte = std::uint8_t(chance.bits() & chance.bits());
        const std::size_t classes = chance.between(2, 300);
        const std::uint8_t* end = bytes.data() + bytes.size();
        forest::LeafReader reader(first, bytes.data(), end, classes);
        while (reader.more()) {
            const auto [place, own] = reader.next();
            if (place >= classes) break;
            expect(own >= 1, "every weight is positive");
        }
        expect(!reader.sound() || reader.bytes() <= end - bytes.data(), "the end is the end");
    }
}

}  // namespace

Tests leaf_code_tests() {
    return {
        {"a_leaf_says_what_was_written", a_leaf_says_what_was_written},
        {"a_damaged_leaf_is_read_to_its_end_at_most", a_damaged_leaf_is_read_to_its_end_at_most},
    };
}

}  // namespace ceiba::tests
