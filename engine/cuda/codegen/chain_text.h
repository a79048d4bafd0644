// The element code of chains: structs that the device templates of chains (kernels/tile.cuh,
// panel.cuh) get as sources and sinks.
#pragma once

#include "engine/cuda/codegen/chain_terms.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace halfscope::cuda {

/// Values at (row, column) and its right neighbour, from what the kernel loads: groups of V columns
/// of tensors of the space, values of a row, values of a column. There are two at once, because
/// 16-bit values are converted, and added, two at a time. In names and expressions, @ stands for a
/// or b, whichever of the two it is, and # for 0 or 1.
class ElementText {
public:
    ElementText(const Program&, const Kernel&, int64_t rows, int64_t columns, const ChainWay&,
                NodeId product = kNoNode);

    /// Returns the name of the value in the body.
    std::string value(NodeId);
    /// Returns one column of a stored (rows, few) tensor, by row.
    std::string rowValue(NodeId tensor, int column);
    /// Returns the value of a stored row vector at the column: operand b of a product with one
    /// column.
    std::string columnValue(NodeId tensor);
    /// Returns the expression for the first or the second of the two.
    static std::string ofLane(std::string expression, int lane);

    /// Returns kRows, kColumns, Raw<V>, Column, fetch(), ahead() and columns().
    std::string members() const;
    /// Statements that define all values asked for, from ka and kb (Column), x (Raw), i, the first
    /// one's place in the group, and product (a Pack).
    const std::string& body() const { return m_body; }

private:
    struct Leaf {
        std::string name, type;
        std::string index; ///< Row, Column: the element, from `row` or `column`
        size_t offset = 0;
        bool paired = false; ///< Column: neighbours are side by side at `index`
    };
    const Node& node(NodeId id) const { return m_program.graph[id]; }
    Leaf leafOf(std::string name, NodeId memory, std::string index) const;
    std::string expressionOf(NodeId);
    void define(const std::string& name, const std::string& expression);
    /// Defines a word with both values, and the values from it.
    std::string defineWord(NodeId, const std::string& word);
    std::string wordOf(NodeId);    ///< the word that holds both values; empty when there is none
    std::string pairSum(NodeId);   ///< 16-bit values added two at a time
    std::string collected(NodeId); ///< as a sum of products; empty when it is not one
    /// Returns a product of columns' values, or a sum of such products, computed once for the
    /// column.
    std::string coefficient(const std::vector<ElementTerm>&);
    std::string fullTensor(NodeId);
    std::string expanded(NodeId);
    std::string notAbove(NodeId); ///< whether it is <= 0, or nothing
    std::string narrowProduct(NodeId);
    std::string addRow(Leaf); ///< returns the value, by its name in Raw
    void addColumn(Leaf);
    std::string columnsText() const;
    bool isLate(const Leaf&) const; ///< a row's value that stays as stored until it is used
    std::string fetchText() const;
    std::string aheadText() const;

    const Program& m_program;
    const Kernel& m_kernel;
    int64_t m_rows, m_columns;
    ElementForm m_form;
    bool m_lean; ///< ChainWay::lean
    NodeId m_product;
    std::map<NodeId, std::string> m_values, m_words;
    std::vector<Leaf> m_full, m_row, m_column;
    std::set<std::string> m_names;
    std::vector<std::pair<std::string, std::string>> m_coefficients; ///< name, and value of k[i]
    std::string m_body;
};

/// Returns "reinterpret_cast<const T*>(arena + offset)".
std::string pointerText(const std::string& type, size_t offset, bool constant = true);

/// Returns the statement that stores x, a Pack<T, V>, at (row, column) of a tensor.
std::string storeText(const Program&, NodeId tensor, int64_t columns);

/// Returns an operand (rows, columns) of a product as a source. `keeps` is the 16-bit type to which
/// the product's arithmetic rounds it, so that a last cast to it can be left out. With `stores`,
/// the operand is also written to memory.
std::string sourceText(const std::string& name, const Program&, const Kernel&, NodeId operand,
                       std::optional<DType> keeps, bool stores, const ChainWay&);
/// Returns the sums of a Rows or Pass chain as a sink.
std::string sinkText(const std::string& name, const Program&, const Kernel&, const ChainShape&,
                     const ChainWay&);

} // namespace halfscope::cuda
