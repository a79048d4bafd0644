// Writes the elements of chains: which values are read ahead, which belong to a row or a column,
// and the expressions between them.
#include "engine/cuda/codegen/chain_text.h"

#include "engine/core/error.h"
#include "engine/cuda/codegen/element_source.h"
#include "engine/passes/fuse.h"

#include <algorithm>

namespace halfscope::cuda {

namespace {

bool contains(const std::vector<NodeId>& list, NodeId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}
std::string numbered(const char* letter, NodeId id) { return letter + std::to_string(id); }

} // namespace

std::string pointerText(const std::string& type, size_t offset, bool constant) {
    return "reinterpret_cast<" + std::string(constant ? "const " : "") + type + "*>(arena + " +
           std::to_string(offset) + "ll)";
}

ElementText::ElementText(const Program& program, const Kernel& kernel, int64_t rows,
                         int64_t columns, const ChainWay& way, NodeId product)
    : m_program(program), m_kernel(kernel), m_rows(rows), m_columns(columns), m_form(way.form),
      m_lean(way.lean), m_product(product) {}

ElementText::Leaf ElementText::leafOf(std::string name, NodeId memory, std::string index) const {
    const size_t offset = m_program.memory.offset[static_cast<size_t>(memory)];
    require(offset != MemoryPlan::kNowhere, "cuda chain: a value that is read has no place");
    return {std::move(name), storageType(node(memory).dtype), std::move(index), offset, false};
}

std::string ElementText::addRow(Leaf leaf) {
    const std::string name = isLate(leaf) ? "value(x." + leaf.name + ")" : "x." + leaf.name;
    if (m_names.insert(leaf.name).second) m_row.push_back(std::move(leaf));
    return name;
}
void ElementText::addColumn(Leaf leaf) {
    if (m_names.insert(leaf.name).second) m_column.push_back(std::move(leaf));
}

std::string ElementText::rowValue(NodeId tensor, int column) {
    const std::string name = numbered("r", tensor) + "_" + std::to_string(column);
    return addRow(
        leafOf(name, tensor,
               "row * " + std::to_string(node(tensor).shape[1]) + " + " + std::to_string(column)));
}

std::string ElementText::columnValue(NodeId tensor) {
    const std::string name = numbered("c", tensor);
    Leaf leaf = leafOf(name, tensor, "column");
    leaf.paired = true;
    addColumn(std::move(leaf));
    return "k@." + name;
}

std::string ElementText::ofLane(std::string expression, int lane) {
    for (char& letter : expression) {
        if (letter == '@') letter = lane == 0 ? 'a' : 'b';
        if (letter == '#') letter = lane == 0 ? '0' : '1';
    }
    return expression;
}

void ElementText::define(const std::string& name, const std::string& expression) {
    for (int lane : {0, 1})
        m_body +=
            "        const float " + ofLane(name, lane) + " = " + ofLane(expression, lane) + ";\n";
}

std::string ElementText::defineWord(NodeId id, const std::string& word) {
    const std::string name = numbered("p", id);
    m_body += "        const u32 " + name + " = " + word + ";\n";
    m_words[id] = name;
    return "half2At<" + storageType(node(id).dtype) + ">(" + name + ", #)";
}

std::string ElementText::value(NodeId id) {
    const auto known = m_values.find(id);
    if (known != m_values.end()) return known->second;
    const std::string expression = expressionOf(id);
    std::string name = numbered("v", id) + "@";
    define(name, expression);
    m_values[id] = name;
    return name;
}

std::string ElementText::wordOf(NodeId id) {
    value(id);
    const auto word = m_words.find(id);
    return word == m_words.end() ? "" : word->second;
}

std::string ElementText::fullTensor(NodeId id) {
    require(node(id).shape == Shape({m_rows, m_columns}), "cuda chain: a tensor of another space");
    const std::string name = numbered("t", id);
    m_full.push_back(leafOf(name, id, ""));
    if (isLow(node(id).dtype)) return defineWord(id, "wordOf(x." + name + ", i / 2)");
    return "x." + name + "[i + #]";
}

std::string ElementText::expressionOf(NodeId id) {
    const Node& it = node(id);
    if (id == m_product)
        return isLow(it.dtype) ? defineWord(id, "wordOf(product, i / 2)") : "product[i + #]";
    if (contains(m_kernel.loads, id)) return fullTensor(id);
    if (it.op == Op::Expand) return expanded(id);
    if (it.op == Op::LessEqual && node(it.in[1]).op == Op::Constant &&
        std::get<ConstantAttrs>(node(it.in[1]).attrs).value == 0)
        return notAbove(it.in[0]);
    if (it.op == Op::Add && isLow(it.dtype)) return pairSum(id);
    if (m_form != ElementForm::AsWritten) {
        std::string sum = collected(id);
        if (!sum.empty()) return sum;
    }
    std::string unrounded;
    std::vector<std::string> operands;
    if (it.op == Op::Matmul)
        unrounded = narrowProduct(id);
    else
        for (NodeId in : it.in)
            operands.push_back(value(in));
    const bool low = isLow(it.dtype) && (it.op == Op::Matmul || roundsResult(m_program.graph, id));
    if (unrounded.empty()) {
        if (!low) return elementExpression(m_program.graph, id, operands);
        unrounded = unroundedExpression(m_program.graph, id, operands);
    }
    if (!low) return unrounded;
    return defineWord(id, "pack2<" + storageType(it.dtype) + ">(" + ofLane(unrounded, 0) + ", " +
                              ofLane(unrounded, 1) + ")");
}

std::string ElementText::pairSum(NodeId id) {
    std::string call = "addPairs<" + storageType(node(id).dtype) + ">(";
    for (size_t i = 0; i < 2; ++i) {
        const NodeId in = node(id).in[i];
        std::string word = wordOf(in);
        if (word.empty())
            word = "pack2<" + storageType(node(in).dtype) + ">(" + ofLane(value(in), 0) + ", " +
                   ofLane(value(in), 1) + ")";
        call += (i == 0 ? "" : ", ") + word;
    }
    return defineWord(id, call + ")");
}

/// Returns x <= 0 as 0 or 1. relu does not change it, and rounding to 16 bits makes a zero exactly
/// of what is at most half the smallest number (the tie goes to the even zero).
std::string ElementText::notAbove(NodeId id) {
    double bound = 0;
    if (node(id).op == Op::Relu && !contains(m_kernel.loads, id)) id = node(id).in[0];
    if (node(id).op == Op::Cast && !contains(m_kernel.loads, id) && isLow(node(id).dtype) &&
        node(node(id).in[0]).dtype == DType::F32) {
        bound = formatOf(node(id).dtype).minSubnormal / 2;
        id = node(id).in[0];
    }
    return "(" + value(id) + " <= " + literal(static_cast<float>(bound)) + " ? 1.0f : 0.0f)";
}

/// Returns a value of the column, of the row, or of all.
std::string ElementText::expanded(NodeId id) {
    const Shape strides = loadStrides(m_program.graph, id);
    const NodeId memory = node(id).in[0];
    require(contains(m_kernel.loads, memory), "cuda chain: a value of columns is not stored");
    if (strides[0] == 0) {
        Leaf leaf = leafOf(numbered("c", id), memory, strides[1] == 0 ? "0" : "column");
        leaf.paired = strides[1] == 1;
        addColumn(std::move(leaf));
        return "k@." + numbered("c", id);
    }
    require(strides[1] == 0, "cuda chain: an expansion of another kind");
    return addRow(leafOf(numbered("r", id), memory, "row * " + std::to_string(strides[0])));
}

std::string ElementText::narrowProduct(NodeId id) {
    const Node& it = node(id);
    const NodeId a = it.in[0], b = it.in[1];
    const int64_t depth = node(a).shape[1];
    const bool transposed = std::get<MatmulAttrs>(it.attrs).transposeB;
    std::string sum;
    for (int64_t k = 0; k < depth; ++k) {
        const std::string name = numbered("w", id) + "_" + std::to_string(k);
        Leaf leaf =
            leafOf(name, b,
                   transposed ? "column * " + std::to_string(depth) + " + " + std::to_string(k)
                              : std::to_string(k * m_columns) + " + column");
        leaf.paired = !transposed || depth == 1;
        addColumn(std::move(leaf));
        std::string left = rowValue(a, static_cast<int>(k)), right = "k@." + name;
        if (it.math == MathMode::TF32) {
            left = "floatOf(tf32Bits(" + left + "))";
            right = "floatOf(tf32Bits(" + right + "))";
        }
        sum = k == 0 ? left + " * " + right : "fmaf(" + left + ", " + right + ", " + sum + ")";
    }
    return it.in.size() < 3 ? sum : "(" + sum + " + " + columnValue(it.in[2]) + ")";
}

std::string ElementText::columnsText() const {
    std::string whole, single;
    for (const Leaf& leaf : m_column) {
        const std::string at = pointerText(leaf.type, leaf.offset) + " + (" + leaf.index + ")";
        const std::string loop = "for (int i = 0; i < V; ++i)\n            ";
        if (leaf.paired)
            whole += "        Pack<" + leaf.type + ", V> " + leaf.name + ";\n        " + leaf.name +
                     ".load(" + at + ");\n        HS_UNROLL\n        " + loop + "k[i]." +
                     leaf.name + " = " + leaf.name + "[i];\n";
        else
            single += "            k[i]." + leaf.name + " = load(" + at + ");\n";
    }
    if (m_columns % 8 != 0) { // neighbours may be past the end, and unaligned
        whole.clear(), single.clear();
        for (const Leaf& leaf : m_column)
            single += "            k[i]." + leaf.name + " = load(" +
                      pointerText(leaf.type, leaf.offset) + " + (" + leaf.index + "));\n";
    }
    std::string text =
        "    template <int V>\n"
        "    static HS_D void columns(const char* arena, int column0, Column (&k)[V]) {\n"
        "        static_cast<void>(arena), static_cast<void>(column0), static_cast<void>(k);\n";
    if (!whole.empty()) text += "        const int column = column0;\n" + whole;
    if (!single.empty())
        text += "        HS_UNROLL\n        for (int i = 0; i < V; ++i) {\n"
                "            const int right = column0 + i;\n"
                "            const int column = right < kColumns ? right : kColumns - 1;\n"
                "            static_cast<void>(column);\n" +
                single + "        }\n";
    if (!m_coefficients.empty()) {
        text += "        HS_UNROLL\n        for (int i = 0; i < V; ++i) {\n";
        for (const auto& [name, expression] : m_coefficients)
            text += "            k[i]." + name + " = " + expression + ";\n";
        text += "        }\n";
    }
    return text + "    }\n";
}

bool ElementText::isLate(const Leaf& leaf) const {
    return m_lean && (leaf.type == "F16" || leaf.type == "BF16");
}

std::string ElementText::fetchText() const {
    std::string text =
        "    template <int V>\n"
        "    static HS_D void fetch(const char* arena, i64 row, int column, Raw<V>& x) {\n"
        "        static_cast<void>(arena), static_cast<void>(row), static_cast<void>(column);\n"
        "        static_cast<void>(x);\n";
    for (const Leaf& leaf : m_full) {
        const std::string from = pointerText(leaf.type, leaf.offset) + " + row * kColumns + column";
        if (m_columns % 8 == 0)
            text += "        x." + leaf.name + ".load(" + from + ");\n";
        else
            text += "        for (int i = 0; i < V; ++i)\n            x." + leaf.name +
                    ".elements[i] = column + i < kColumns ? (" + from + ")[i] : " + leaf.type +
                    "{};\n";
    }
    for (const Leaf& leaf : m_row) {
        const std::string from = pointerText(leaf.type, leaf.offset) + " + (" + leaf.index + ")";
        text += isLate(leaf) ? "        x." + leaf.name + " = *(" + from + ");\n"
                             : "        x." + leaf.name + " = load(" + from + ");\n";
    }
    return text + "    }\n";
}

std::string ElementText::aheadText() const {
    std::string text =
        "    static HS_D void ahead(bool wanted, const char* arena, i64 row, int column) {\n"
        "        static_cast<void>(arena), static_cast<void>(row), static_cast<void>(column);\n"
        "        static_cast<void>(wanted);\n";
    for (const Leaf& leaf : m_full)
        text += "        readAhead(wanted, " + pointerText(leaf.type, leaf.offset) +
                " + row * kColumns + column);\n";
    return text + "    }\n";
}

std::string ElementText::members() const {
    std::string text =
        "    static constexpr bool kStreams = " + std::string(m_full.empty() ? "false" : "true") +
        ";\n    static constexpr i64 kRows = " + std::to_string(m_rows) +
        ";\n    static constexpr int kColumns = " + std::to_string(m_columns) +
        ";\n    template <int V>\n    struct Raw {\n";
    for (const Leaf& leaf : m_full)
        text += "        Pack<" + leaf.type + ", V> " + leaf.name + ";\n";
    for (const Leaf& leaf : m_row)
        text += "        " + (isLate(leaf) ? leaf.type : "float") + " " + leaf.name + ";\n";
    text += "    };\n    struct Column {\n";
    for (const Leaf& leaf : m_column)
        text += "        float " + leaf.name + ";\n";
    for (const auto& [name, expression] : m_coefficients)
        text += "        float " + name + ";\n";
    return text + "    };\n" + fetchText() + aheadText() + columnsText();
}

// ---- collected sums of products (ElementForm::Collected) ---------------------------------------

/// Multiplies and adds in the order of the terms, with the value of the columns first, so that
/// every kernel computes the same bits.
std::string ElementText::collected(NodeId id) {
    if (node(id).dtype != DType::F32 || node(id).op == Op::Cast) return "";
    const std::vector<ElementTerm> terms = collectedTerms(m_program.graph, m_kernel, m_product, id);
    if (terms.size() == 1 && terms[0].base == id) return "";
    std::vector<std::vector<ElementTerm>> groups; // by what they multiply; columns alone come first
    for (const bool ofColumns : {true, false})
        for (const ElementTerm& term : terms) {
            if ((term.base == kNoNode) != ofColumns) continue;
            const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
                return group[0].base == term.base && group[0].times == term.times;
            });
            if (same == groups.end())
                groups.push_back({term});
            else
                same->push_back(term);
        }
    std::string sum;
    for (const auto& group : groups) {
        const std::string scale = coefficient(group);
        if (group[0].base == kNoNode) {
            sum = scale;
            continue;
        }
        std::string left = value(group[0].base), right = scale;
        if (group[0].times != kNoNode) {
            const std::string other = value(group[0].times);
            left = scale.empty() ? left : "(" + left + " * " + scale + ")";
            right = other;
        }
        if (right.empty())
            sum = sum.empty() ? left : "(" + left + " + " + sum + ")";
        else
            sum = sum.empty() ? left + " * " + right
                              : "fmaf(" + left + ", " + right + ", " + sum + ")";
    }
    return sum;
}

/// Empty for a factor of one.
std::string ElementText::coefficient(const std::vector<ElementTerm>& terms) {
    std::string sum, single;
    for (const ElementTerm& term : terms) {
        std::string product = term.factor == 1 && !term.columns.empty()
                                  ? ""
                                  : literal(static_cast<float>(term.factor));
        for (NodeId column : term.columns) {
            single = expanded(column);
            std::string read = single;
            read.replace(0, 2, "k[i]");
            product += (product.empty() ? "" : " * ") + read;
        }
        sum += (sum.empty() ? "" : " + ") + product;
    }
    const ElementTerm& first = terms[0];
    if (terms.size() == 1 && first.factor == 1 && first.columns.empty())
        return first.base == kNoNode ? literal(1.0f) : "";
    if (terms.size() == 1 && first.factor == 1 && first.columns.size() == 1) return single;
    const auto known = std::find_if(m_coefficients.begin(), m_coefficients.end(),
                                    [&](const auto& each) { return each.second == sum; });
    if (known != m_coefficients.end()) return "k@." + known->first;
    m_coefficients.emplace_back("g" + std::to_string(m_coefficients.size()), sum);
    return "k@." + m_coefficients.back().first;
}

// ---- whole texts -------------------------------------------------------------------------------

std::string storeText(const Program& program, NodeId tensor, int64_t columns) {
    const std::string to = pointerText(storageType(program.graph[tensor].dtype),
                                       program.memory.offset[static_cast<size_t>(tensor)], false) +
                           " + row * kColumns + column";
    if (columns % 8 == 0) return "        x.store(" + to + ");\n";
    return "        for (int i = 0; i < V; ++i)\n            if (column + i < kColumns) (" + to +
           ")[i] = x.elements[i];\n";
}

std::string sourceText(const std::string& name, const Program& program, const Kernel& kernel,
                       NodeId operand, std::optional<DType> keeps, bool stores,
                       const ChainWay& way) {
    const Graph& graph = program.graph;
    const Shape& shape = graph[operand].shape;
    ElementText element(program, kernel, shape[0], shape[1], way);
    const auto rounds = [&](NodeId id) {
        return graph[id].op == Op::Cast && !contains(kernel.loads, id) && keeps == graph[id].dtype;
    };
    std::string result;
    if (const NodeId in = graph[operand].op == Op::Relu ? graph[operand].in[0] : kNoNode;
        in != kNoNode && !contains(kernel.loads, operand) && rounds(in))
        result = "reluOf(" + element.value(graph[in].in[0]) + ")"; // rounding keeps the sign
    else
        result = element.value(rounds(operand) ? graph[operand].in[0] : operand);
    const bool plain = contains(kernel.loads, operand) && keeps == graph[operand].dtype;
    const std::string type = storageType(graph[operand].dtype);
    std::string transfers = std::string("    static constexpr bool kPlain = ") +
                            (plain ? "true" : "false") +
                            ", kStored = " + (stores ? "true" : "false") + ";\n";
    if (plain)
        transfers += "    template <int V>\n    static HS_D const Pack<" + type +
                     ", V>& plain(const Raw<V>& x) { return x.t" + std::to_string(operand) +
                     "; }\n";
    if (stores)
        transfers += "    template <int V>\n    static HS_D void keep(char* arena, i64 row, int "
                     "column, const Pack<" +
                     type + ", V>& x) {\n" + storeText(program, operand, shape[1]) + "    }\n";
    return "struct " + name + " {\n    using Element = " + type + ";\n" + element.members() +
           transfers +
           "    template <class Raw_>\n"
           "    static HS_D void pair(const Column& ka, const Column& kb, const Raw_& x, int i, "
           "float& first, float& second) {\n"
           "        static_cast<void>(ka), static_cast<void>(kb), static_cast<void>(x);\n"
           "        static_cast<void>(i);\n" +
           element.body() + "        first = " + ElementText::ofLane(result, 0) +
           ";\n        second = " + ElementText::ofLane(result, 1) + ";\n    }\n};\n";
}

} // namespace halfscope::cuda
