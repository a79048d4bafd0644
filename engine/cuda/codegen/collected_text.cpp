// The text of f32 elements as collected sums of products (ElementForm::Collected), and of values of
// a row between its dot product and the sums that need them (ElementForm::OnePass).
#include "engine/cuda/codegen/chain_text.h"
#include "engine/cuda/codegen/element_source.h"

#include <algorithm>

namespace halfscope::cuda {

/// What is multiplied and added is in the order of the terms, with the value of the columns first:
/// every kernel computes the same bits.
std::string ElementText::collected(NodeId id) {
    if (node(id).dtype != DType::F32 || node(id).op == Op::Cast) return "";
    const std::vector<ElementTerm> terms = collectedTerms(m_program.graph, m_kernel, m_product, id);
    if (terms.size() == 1 && terms[0].base == id) return "";
    std::vector<std::vector<ElementTerm>> groups; // by what they multiply, columns alone first
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

std::string ElementText::ofRow(NodeId id) {
    const auto known = m_rowValues.find(id);
    if (known != m_rowValues.end()) return known->second;
    const Node& it = node(id);
    const std::vector<NodeId>& loads = m_kernel.loads;
    if (std::find(loads.begin(), loads.end(), id) != loads.end())
        return m_rowValues[id] = rowValue(id, 0);
    if (it.op == Op::Expand) {
        const std::string name = "s" + std::to_string(id);
        return m_rowValues[id] = addRow(leafOf(name, it.in[0], "0"));
    }
    std::string expression = "rounded<" + storageType(it.dtype) + ">(dot)";
    if (id != m_dot) {
        std::vector<std::string> operands;
        for (NodeId in : it.in)
            operands.push_back(ofRow(in));
        expression = elementExpression(m_program.graph, id, operands);
    }
    const std::string name = "q" + std::to_string(id);
    m_rowBody += "        const float " + name + " = " + expression + ";\n";
    return m_rowValues[id] = name;
}

std::string ElementText::rowsText() const {
    std::string text =
        "    template <class Raw_>\n    static HS_D void rows(float dot, Raw_& x) {\n"
        "        static_cast<void>(dot), static_cast<void>(x);\n" +
        m_rowBody;
    for (const auto& [name, value] : m_dotRows)
        text += "        x." + name + " = " + value + ";\n";
    return text + "    }\n";
}

} // namespace halfscope::cuda
