// Writes the sink of a chain: the terms of its sums, and what is made of the totals of a column.
#include "engine/cuda/codegen/chain_text.h"
#include "engine/cuda/codegen/element_source.h"

#include "engine/core/error.h"
#include "engine/passes/fuse.h"

#include <algorithm>

namespace halfscope::cuda {

namespace {

/// Writes finish(): from a column's totals to the stored sums, and those that follow from them.
class FinishText {
public:
    FinishText(const Program& program, const Kernel& kernel, const ChainShape& shape)
        : m_program(program), m_kernel(kernel), m_shape(shape) {}

    std::string text() {
        int at = 0;
        for (const RowSum& sum : m_shape.sums)
            addSum(sum, at++);
        for (const RowStat& stat : m_shape.stats) {
            addResult(stat.mean, "totals[" + std::to_string(at) + "]", 1, 0);
            addResult(stat.variance, "totals[" + std::to_string(at + 1) + "]", 1, 0);
            at += 2;
        }
        for (const DerivedSum& derived : m_shape.derived)
            addDerived(derived);
        return "    static HS_D void finish(char* arena, int column, const double* totals) {\n"
               "        static_cast<void>(arena), static_cast<void>(column);\n"
               "        static_cast<void>(totals);\n" +
               m_text + "    }\n";
    }

private:
    const Node& node(NodeId id) const { return m_program.graph[id]; }

    void addSum(const RowSum& sum, int at) {
        if (sum.result == kNoNode) return;
        std::string total = "totals[" + std::to_string(at) + "]";
        if (sum.scale != 1) total += " * " + literal(sum.scale);
        addResult(sum.result, total, sum.stride, sum.place);
    }
    void addResult(NodeId id, const std::string& total, int64_t stride, int64_t place) {
        const std::string type = storageType(node(id).dtype);
        const std::string name = "v" + std::to_string(id) + "_" + std::to_string(place);
        m_text += "        const float " + name + " = rounded<" + type + ">(static_cast<float>(" +
                  total + "));\n        store(" + pointer(id, false) + " + column * " +
                  std::to_string(stride) + "ll + " + std::to_string(place) + "ll, " + name + ");\n";
        m_values[id] = name;
    }
    std::string pointer(NodeId id, bool constant) const {
        const size_t offset = m_program.memory.offset[static_cast<size_t>(id)];
        require(offset != MemoryPlan::kNowhere, "cuda chain: a value of columns has no place");
        return pointerText(storageType(node(id).dtype), offset, constant);
    }

    void addDerived(const DerivedSum& derived) {
        std::string sum;
        for (const LinearTerm& term : derived.terms) {
            std::string product = literal(term.factor * derived.scale);
            for (NodeId column : term.columns)
                product += " * static_cast<double>(" + value(column) + ")";
            sum += (sum.empty() ? "" : " + ") + product + " * totals[" + std::to_string(term.sum) +
                   "]";
        }
        addResult(derived.result, sum, 1, 0);
    }

    /// Returns a value of the column: a total of this kernel, a stored value, or one computed from
    /// such.
    std::string value(NodeId id) {
        const auto known = m_values.find(id);
        if (known != m_values.end()) return known->second;
        const Node& it = node(id);
        std::string expression;
        if (std::binary_search(m_kernel.loads.begin(), m_kernel.loads.end(), id)) {
            expression = "load(" + pointer(id, true) + (it.elements() == 1 ? ")" : " + column)");
        } else if (it.op == Op::Reshape || it.op == Op::Expand) {
            return m_values[id] = value(it.in[0]);
        } else {
            std::vector<std::string> operands;
            for (NodeId in : it.in)
                operands.push_back(value(in));
            expression = elementExpression(m_program.graph, id, operands);
        }
        const std::string name = "v" + std::to_string(id);
        m_text += "        const float " + name + " = " + expression + ";\n";
        return m_values[id] = name;
    }

    const Program& m_program;
    const Kernel& m_kernel;
    const ChainShape& m_shape;
    std::map<NodeId, std::string> m_values;
    std::string m_text;
};

std::string constant(const char* name, int64_t value) {
    return "    static constexpr int " + std::string(name) + " = " + std::to_string(value) + ";\n";
}

/// Returns values(): the terms of an element, in the order that Panel wants. In collected form, a
/// product's factors are added by fmaf: kProducts has a bit for each such term.
std::string valuesText(ElementText& element, const Program& program, const ChainShape& shape,
                       ElementForm form) {
    std::string terms;
    int at = 0;
    uint32_t products = 0;
    const auto set = [&](const char* array, const std::string& term) {
        for (int lane : {0, 1})
            terms += "        " + std::string(array) + "[" + std::to_string(lane) + "][" +
                     std::to_string(at) + "] = " + ElementText::ofLane(term, lane) + ";\n";
    };
    const auto add = [&](const std::string& term) {
        set("terms", term);
        ++at;
    };
    const auto addProduct = [&](const std::string& a, const std::string& b) {
        if (form == ElementForm::AsWritten) return add(a + " * " + b);
        products |= 1u << at;
        set("factors", b);
        add(a);
    };
    // operands of a product, in the form that its arithmetic takes
    const auto operand = [&](NodeId id, const std::string& x) {
        return program.graph[id].math == MathMode::TF32 ? "floatOf(tf32Bits(" + x + "))" : x;
    };
    for (const RowSum& sum : shape.sums) {
        const std::string term = element.value(sum.value);
        if (sum.times != kNoNode)
            addProduct(term, element.value(sum.times));
        else if (sum.factor == kNoNode)
            add(term);
        else
            addProduct(operand(sum.result, term),
                       operand(sum.result, element.rowValue(sum.factor, sum.factorColumn)));
    }
    for (const RowStat& stat : shape.stats)
        add(element.value(stat.value));
    if (shape.dot != kNoNode) {
        const Node& dot = program.graph[shape.dot];
        const std::string row = element.value(dot.in[0]);
        addProduct(operand(shape.dot, row), operand(shape.dot, element.columnValue(dot.in[1])));
    }
    return "    static constexpr u32 kProducts = " + std::to_string(products) + "u;\n" +
           "    template <class Raw_, class Product_, int Terms>\n"
           "    static HS_D void values(const Column& ka, const Column& kb, const Raw_& x, int i, "
           "const Product_& product, float (&terms)[2][Terms], float (&factors)[2][Terms]) {\n"
           "        static_cast<void>(ka), static_cast<void>(kb), static_cast<void>(x);\n"
           "        static_cast<void>(i), static_cast<void>(product), static_cast<void>(terms);\n"
           "        static_cast<void>(factors);\n" +
           element.body() + terms + "    }\n";
}

/// Returns kBias and readBias(): the bias of a product at a column and at its right neighbour.
std::string biasText(const Program& program, const ChainShape& shape) {
    const NodeId product = shape.product;
    if (product == kNoNode || program.graph[product].in.size() < 3)
        return "    static constexpr bool kBias = false;\n";
    const NodeId bias = program.graph[product].in[2];
    return "    static constexpr bool kBias = true;\n"
           "    static HS_D void readBias(const char* arena, int column, float (&bias)[2]) {\n"
           "        HS_UNROLL\n        for (int i = 0; i < 2; ++i)\n"
           "            if (column + i < kColumns) bias[i] = load(" +
           pointerText(storageType(program.graph[bias].dtype),
                       program.memory.offset[static_cast<size_t>(bias)]) +
           " + column + i);\n    }\n";
}

std::string putText(const Program& program, const ChainShape& shape) {
    const auto pointer = [&](NodeId id) {
        return pointerText(storageType(program.graph[id].dtype),
                           program.memory.offset[static_cast<size_t>(id)], false);
    };
    std::string text =
        "    template <int V>\n    static HS_D void putProduct(char* arena, i64 row, "
        "int column, const Pack<Product, V>& x) {\n        static_cast<void>(arena), "
        "static_cast<void>(row), static_cast<void>(column), static_cast<void>(x);\n";
    if (shape.storesProduct) text += storeText(program, shape.product, shape.columns);
    text += "    }\n    static HS_D void putDot(char* arena, i64 row, float x) {\n"
            "        static_cast<void>(arena), static_cast<void>(row), static_cast<void>(x);\n";
    if (shape.dot != kNoNode) {
        const Node& dot = program.graph[shape.dot];
        const std::string bias = dot.in.size() < 3 ? "" : " + load(" + pointer(dot.in[2]) + ")";
        text += "        store(" + pointer(shape.dot) + " + row, x" + bias + ");\n";
    }
    return text + "    }\n";
}

} // namespace

std::string sinkText(const std::string& name, const Program& program, const Kernel& kernel,
                     const ChainShape& shape, const ChainWay& way) {
    ElementText element(program, kernel, shape.rows, shape.columns, way, shape.product);
    const std::string values = valuesText(element, program, shape, way.form);
    const std::string product =
        shape.product == kNoNode ? "float" : storageType(program.graph[shape.product].dtype);
    return "struct " + name + " {\n    using Product = " + product + ";\n" +
           constant("kSums", static_cast<int64_t>(shape.sums.size())) +
           constant("kStats", static_cast<int64_t>(shape.stats.size())) +
           constant("kDots", shape.dot == kNoNode ? 0 : 1) +
           "    static constexpr bool kStoresProduct = " +
           (shape.storesProduct ? "true" : "false") + ";\n" + biasText(program, shape) +
           element.members() + values + putText(program, shape) +
           FinishText(program, kernel, shape).text() + "};\n";
}

} // namespace halfscope::cuda
