// Kernels of one elementwise node, of constants, of random numbers and of the end of a step: one
// thread for each element, or one for all.
#include "engine/cuda/codegen/element_source.h"
#include "engine/cuda/codegen/node_source.h"

#include <algorithm>

namespace halfscope::cuda {

KernelText writeElementwise(const NodeSite& site) {
    const Node& node = site.node();
    const int64_t blocks = elementBlocks(site);
    if (node.op == Op::Constant) {
        const double value = std::get<ConstantAttrs>(node.attrs).value;
        const std::string body = "        (" + site.rawOutput() + ")[i] = " + rawWord(node.dtype) +
                                 "(" + bitsWord(node.dtype, value) + ");\n";
        return site.function("", site.elementLoop(blocks, body), blocks);
    }
    std::vector<std::string> operands;
    for (size_t i = 0; i < site.inputs(); ++i)
        operands.push_back(site.isExact() ? "wide((" + site.input(i) + ")[i])"
                                          : "load(" + site.input(i) + " + i)");
    const std::string value = unroundedExpression(site.graph(), site.id(), operands);
    const std::string body = "        store(" + site.output() + " + i, " + value + ");\n";
    return site.function("", "    using namespace hs;\n" + site.elementLoop(blocks, body), blocks);
}

KernelText writeRandom(const NodeSite& site) {
    const auto& random = std::get<RandomAttrs>(site.node().attrs);
    const int64_t blocks = elementBlocks(site);
    HowText how(site);
    how.use("Counter", storageWord(site.in(0).dtype))
        .word("seed", random.seed)
        .word("stream", random.stream)
        .number("elements", site.node().elements())
        .count("blocks", blocks);
    return site.function(how.text(),
                         "    hs::nodes::uniform<" + site.howName() + ">(" + site.input(0) + ", " +
                             site.output() + ", block);\n",
                         blocks);
}

KernelText writeCount(const NodeSite& site) {
    constexpr int64_t kPartElements = 16384, kMaxParts = 132;
    const DType type = site.graph()[site.loaded()].dtype;
    const int64_t elements = site.in(0).elements();
    const int64_t parts = std::clamp<int64_t>(elements / kPartElements, 1, kMaxParts);
    const int64_t blocks = site.blocksFor(parts);
    uint64_t mask = 0x7f800000u;
    if (type == DType::F16) mask = 0x7c00;
    if (type == DType::BF16) mask = 0x7f80;
    if (type == DType::F64) mask = 0x7ff0000000000000u;
    HowText how(site);
    how.use("Word", rawWord(type))
        .line("static constexpr Word mask = Word(" + std::to_string(mask) + "ull);")
        .flag("packed", site.loadedOffset() % 16 == 0)
        .flag("alone", site.isAlone())
        .number("elements", elements)
        .count("parts", parts)
        .count("blocks", blocks);
    KernelText text = site.function(
        how.text(),
        "    hs::nodes::countNonFinite<" + site.howName() + ">(" + site.rawLoaded() + ", " +
            site.output() + ", " + site.scratch() + ", " + site.tickets() + ", shared, block);\n",
        blocks);
    text.sharedBytes = (kThreads + 4) * sizeof(uint32_t);
    if (parts > 1 && !site.isAlone()) {
        text.scratchBytes = static_cast<size_t>(parts) * sizeof(uint32_t);
        text.tickets = 1;
    }
    return text;
}

KernelText writeScaler(const NodeSite& site) {
    return site.function("",
                         "    hs::nodes::updateScaler(" + site.input(0) + ", " + site.input(1) +
                             ", " + site.input(2) + ", " + site.output() + ", block);\n",
                         1);
}

} // namespace halfscope::cuda
