// The nest of loops of a sweep and what is inside. In a batch all loads come before all stores,
// because a result may be in the place of a value that the same thread reads.
#include "engine/cuda/codegen/loop_writer.h"

#include "engine/core/error.h"
#include "engine/cuda/codegen/element_source.h"

#include <algorithm>

namespace halfscope::cuda {

namespace {

/// Returns the axes of a strided read after merging, innermost first: extent and stride.
std::vector<std::pair<int64_t, int64_t>> collapsed(const Shape& space, const Shape& strides) {
    std::vector<std::pair<int64_t, int64_t>> axes;
    for (int axis = space.rank() - 1; axis >= 0; --axis) {
        if (space[axis] == 1) continue;
        if (!axes.empty() && strides[axis] == axes.back().first * axes.back().second)
            axes.back().first *= space[axis];
        else
            axes.emplace_back(space[axis], strides[axis]);
    }
    return axes;
}

} // namespace

LoopWriter::LoopWriter(const KernelSite& site, const LoopFacts& facts, const LoopLayout& layout,
                       SourceLines& out, KernelText& kernelText)
    : m_facts(facts), m_layout(layout), m_out(out), m_sums(site, facts, layout, out, kernelText) {
    kernelText.blocks = std::max(kernelText.blocks, static_cast<int>(layout.blocks));
}

LoopWriter::Place LoopWriter::placeOf(Level level) const {
    if (level == Level::Scalar) return Place::Function;
    if (m_layout.flat || level == Level::Full) return Place::Element;
    if (level == Level::Column) return Place::Row;
    return m_layout.ownsColumns() ? Place::Tile : Place::Pack;
}

/// Returns a value as an expression at a place inside its own: values of columns are arrays.
std::string LoopWriter::valueAt(NodeId id, Place user) const {
    const Place own = placeOf(m_facts.level(id));
    const bool array = own == Place::Tile || own == Place::Pack;
    require(user >= own, "cuda loop: a value is read outside its loop");
    return name(id) + (array ? "[k]" : "");
}

void LoopWriter::write() {
    line("{");
    const std::string columns = text(m_facts.columns);
    line("// " + text(m_facts.rows) + " x " + columns + ", packs of " + text(m_layout.vector) +
         (m_layout.flat
              ? ", flat"
              : ", " + text(m_layout.rowsAtOnce) + " x " + text(m_layout.lanes) + " threads, " +
                    text(m_layout.rowBlocks) + " x " + text(m_layout.columnBlocks) + " blocks"));
    line("const u32 thread = threadIdx.x;");
    writeValues(Place::Function, "");
    m_sums.declare(ReduceKind::All);
    if (m_layout.flat)
        writeFlat();
    else
        writeTiles();
    m_sums.finishAll();
    line("}");
}

/// Writes the loads and members of a place where each is one value (not an array). Loads of
/// elements are packs.
void LoopWriter::writeValues(Place place, const std::string& row) {
    for (const LoopLoad& load : m_facts.loads) {
        if (isFull(load) || placeOf(m_facts.level(load.value)) != place) continue;
        const std::string from = arenaPointer(load.dtype, load.offset);
        line("const " + valueType(load.dtype) + " " + name(load.value) + " = load(" + from +
             (row.empty() ? "" : " + " + row) + ");");
    }
    for (NodeId id : m_facts.computed) {
        if (placeOf(m_facts.level(id)) != place) continue;
        std::vector<std::string> operands;
        for (NodeId in : m_facts.node(id).in)
            operands.push_back(valueAt(in, place));
        line("const " + valueType(m_facts.node(id).dtype) + " " + name(id) + " = " +
             elementExpression(*m_facts.graph, id, operands) + ";");
    }
}

/// Writes the loads and members of a place where each is an array over the pack's columns.
void LoopWriter::writeRowValues(Place place, const std::string& column) {
    const std::string width = text(m_layout.vector);
    std::vector<std::string> inner;
    for (const LoopLoad& load : m_facts.loads) {
        if (placeOf(m_facts.level(load.value)) != place) continue;
        const std::string own = name(load.value), pack = "q" + own;
        line("Pack<" + storageType(load.dtype) + ", " + width + "> " + pack + ";");
        line(pack + ".load(" + arenaPointer(load.dtype, load.offset) + " + " + column + ");");
        line(valueType(load.dtype) + " " + own + "[" + width + "];");
        inner.push_back(own + "[k] = " + pack + "[k];");
    }
    for (NodeId id : m_facts.computed) {
        if (placeOf(m_facts.level(id)) != place) continue;
        std::vector<std::string> operands;
        for (NodeId in : m_facts.node(id).in)
            operands.push_back(valueAt(in, place));
        line(valueType(m_facts.node(id).dtype) + " " + name(id) + "[" + width + "];");
        inner.push_back(name(id) + "[k] = " + elementExpression(*m_facts.graph, id, operands) +
                        ";");
    }
    if (inner.empty()) return;
    line("HS_UNROLL");
    line("for (int k = 0; k < " + width + "; ++k) {");
    for (const std::string& words : inner)
        line(words);
    line("}");
}

// ---- the nests ---------------------------------------------------------------------------------

/// Writes batches of kThreads packs, `unroll` of them at once, and at the end what does not fill a
/// pack.
void LoopWriter::writeFlat() {
    const int64_t vector = m_layout.vector, whole = m_facts.elements() / vector * vector;
    const int64_t batch = kThreads * vector * m_layout.unroll;
    const std::string unroll = text(m_layout.unroll);
    if (m_layout.blocks == 1 && batch >= whole) {
        line("{");
        line("const " + index() + " first = 0;");
    } else {
        line("for (" + index() + " first = (" + index() + ")block * " + text(batch) +
             "u; first < " + text(whole) + "u; first += " + text(batch * m_layout.blocks) + "u) {");
    }
    const std::string at =
        "const " + index() + " i = first + (u * kThreads + thread) * " + text(vector) + "u;";
    const std::string guard = whole % batch == 0 ? "{" : "if (i < " + text(whole) + "u) {";
    declarePacks(m_layout.vector);
    for (const bool loads : {true, false}) {
        line("HS_UNROLL");
        line("for (int u = 0; u < " + unroll + "; ++u) {");
        line(at);
        line(guard);
        loads ? writeLoads(m_layout.vector) : writeElements(m_layout.vector);
        line("}");
        line("}");
    }
    m_sums.closeBatch();
    line("}");
    if (whole == m_facts.elements()) return;
    line("if (block == 0 && thread < " + text(m_facts.elements() - whole) + "u) {");
    line("const " + index() + " i = " + text(whole) + "u + thread;");
    writeSingle();
    m_sums.closeBatch();
    line("}");
}

void LoopWriter::writeSingle() {
    line("constexpr int u = 0;");
    declarePacks(1);
    writeLoads(1);
    writeElements(1);
}

void LoopWriter::writeOne() {
    require(m_layout.flat && m_facts.reductions.empty(), "cuda loop: sums need all its elements");
    writeValues(Place::Function, "");
    writeSingle();
}

void LoopWriter::writeTiles() {
    const bool onlyTile = m_layout.tiles == 1;
    line("const u32 lane = thread % " + text(m_layout.lanes) + "u, y = thread / " +
         text(m_layout.lanes) + "u;");
    line("const int rowBlock = block / " + text(m_layout.columnBlocks) + ";");
    line("const " + index() + " rowBegin = (" + index() + ")rowBlock * " +
         text(m_layout.rowsPerBlock) + "u;");
    const std::string rows = text(m_facts.rows) + "u";
    if (m_facts.rows % m_layout.rowsPerBlock == 0)
        line("const " + index() + " rowEnd = rowBegin + " + text(m_layout.rowsPerBlock) + "u;");
    else
        line("const " + index() + " rowEnd = rowBegin + " + text(m_layout.rowsPerBlock) + "u < " +
             rows + " ? rowBegin + " + text(m_layout.rowsPerBlock) + "u : " + rows + ";");
    m_sums.startColumnBlocks();
    line(onlyTile ? "constexpr int tile = 0;"
                  : "for (int tile = block % " + text(m_layout.columnBlocks) + "; tile < " +
                        text(m_layout.tiles) + "; tile += " + text(m_layout.columnBlocks) + ")");
    line("{");
    line("const " + index() + " tileBegin = (" + index() + ")tile * " +
         text(m_layout.columnsPerTile) + "u;");
    if (m_layout.ownsColumns())
        writeRowsOfTile();
    else
        writeAcrossRow();
    line("}");
    m_sums.finishColumnBlocks();
}

/// Every thread keeps its columns and walks down the rows, `unroll` steps at once.
void LoopWriter::writeRowsOfTile() {
    const int64_t step = int64_t{m_layout.rowsAtOnce} * m_layout.unroll;
    const bool allColumns = m_facts.columns % m_layout.columnsPerTile == 0;
    const bool allRows =
        m_facts.rows % m_layout.rowsPerBlock == 0 && m_layout.rowsPerBlock % step == 0;
    line("const " + index() + " ownColumn = tileBegin + lane * " + text(m_layout.vector) + "u;");
    if (!allColumns) line("const bool inside = ownColumn < " + text(m_facts.columns) + "u;");
    line("const " + index() +
         " column = " + (allColumns ? "ownColumn;" : "inside ? ownColumn : 0u;"));
    writeRowValues(Place::Tile, "column");
    m_sums.declare(ReduceKind::Rows);
    line("for (" + index() + " first = rowBegin; first < rowEnd; first += " + text(step) + "u) {");
    std::string guard;
    if (!allRows) guard = "row < rowEnd";
    if (!allColumns) guard += guard.empty() ? "inside" : " && inside";
    guard = guard.empty() ? "{" : "if (" + guard + ") {";
    declarePacks(m_layout.vector);
    for (const bool loads : {true, false}) {
        line("HS_UNROLL");
        line("for (int u = 0; u < " + text(m_layout.unroll) + "; ++u) {");
        line("const " + index() + " row = first + u * " + text(m_layout.rowsAtOnce) + "u + y;");
        if (!loads) m_sums.declare(ReduceKind::Columns);
        line(guard);
        line("const " + index() + " i = row * " + text(m_facts.columns) + "u + column;");
        if (loads) {
            writeLoads(m_layout.vector);
        } else {
            writeValues(Place::Row, "row");
            writeElements(m_layout.vector);
        }
        line("}");
        if (!loads) m_sums.finishRow("row");
        line("}");
    }
    m_sums.closeBatch();
    line("}");
    m_sums.finishTile();
}

/// Every thread keeps a row and walks across its columns, `unroll` packs at once.
void LoopWriter::writeAcrossRow() {
    const int64_t step = int64_t{m_layout.lanes} * m_layout.vector;
    const std::string columns = text(m_facts.columns) + "u";
    line("const " + index() + " tileStop = tileBegin + " + text(m_layout.columnsPerTile) + "u;");
    line("const " + index() + " tileEnd = tileStop < " + columns + " ? tileStop : " + columns +
         ";");
    line("for (" + index() + " rowFirst = rowBegin; rowFirst < rowEnd; rowFirst += " +
         text(m_layout.rowsAtOnce) + "u) {");
    line("const bool live = rowFirst + y < rowEnd;");
    line("const " + index() + " row = live ? rowFirst + y : rowBegin;");
    writeValues(Place::Row, "row");
    m_sums.declare(ReduceKind::Columns);
    line("for (" + index() +
         " first = tileBegin; first < tileEnd; first += " + text(step * m_layout.unroll) + "u) {");
    m_sums.declareBatches(ReduceKind::Columns);
    declarePacks(m_layout.vector);
    for (const bool loads : {true, false}) {
        line("HS_UNROLL");
        line("for (int u = 0; u < " + text(m_layout.unroll) + "; ++u) {");
        line("const " + index() + " column = first + u * " + text(step) + "u + lane * " +
             text(m_layout.vector) + "u;");
        line("if (live && column < tileEnd) {");
        line("const " + index() + " i = row * " + columns + " + column;");
        if (loads) {
            writeLoads(m_layout.vector);
        } else {
            writeRowValues(Place::Pack, "column");
            writeElements(m_layout.vector);
        }
        line("}");
        line("}");
    }
    m_sums.closeRowBatch();
    m_sums.closeBatch();
    line("}");
    m_sums.finishRow("rowFirst + y");
    line("}");
}

// ---- loads -------------------------------------------------------------------------------------

void LoopWriter::declarePacks(int vector) {
    for (const LoopLoad& load : m_facts.loads)
        if (isFull(load))
            line("Pack<" + storageType(load.dtype) + ", " + text(vector) + "> p" +
                 std::to_string(load.value) + "[" +
                 text(vector == m_layout.vector ? m_layout.unroll : 1) + "];");
    m_sums.declareBatches(ReduceKind::All);
}

/// Writes loads by packs of neighbours where these are contiguous, and element by element where
/// not.
void LoopWriter::writeLoads(int vector) {
    for (const LoopLoad& load : m_facts.loads)
        if (isFull(load)) fillPack(load, vector);
}

/// Writes p[u].elements[k] = memory[at("i + k")], one by one.
void LoopWriter::fillEach(const LoopLoad& load, int vector,
                          const std::function<std::string(std::string)>& at) {
    const std::string pack = "p" + std::to_string(load.value) + "[u]";
    line("HS_UNROLL");
    line("for (int k = 0; k < " + text(vector) + "; ++k)");
    line("    " + pack + ".elements[k] = " + arenaPointer(load.dtype, load.offset) + "[" +
         at(vector == 1 ? "i" : "(i + k)") + "];");
}

/// Fills the pack of elements i, i + 1, ... of the space. Rows and columns matter only in flat
/// loops.
void LoopWriter::fillPack(const LoopLoad& load, int vector) {
    const std::string pack = "p" + std::to_string(load.value) + "[u]";
    const std::string from = arenaPointer(load.dtype, load.offset);
    const std::string columns = text(m_facts.columns) + "u";
    const bool inRow = m_facts.columns % vector == 0;
    switch (load.kind) {
    case LoadKind::Full: line(pack + ".load(" + from + " + i);"); return;
    case LoadKind::Row:
        if (inRow)
            line(pack + ".load(" + from + " + i % " + columns + ");");
        else
            fillEach(load, vector, [&](const std::string& i) { return i + " % " + columns; });
        return;
    case LoadKind::Column:
        fillEach(load, vector, [&](const std::string& i) {
            return (inRow ? std::string("i") : i) + " / " + columns;
        });
        return;
    case LoadKind::Strided: fillStrided(load, vector); return;
    case LoadKind::Scalar: break;
    }
    failInvariant("cuda loop: a scalar is loaded once");
}

/// Returns the element of the load's memory for an element of the space, both counted from 0.
std::string LoopWriter::stridedIndex(const LoopLoad& load, const std::string& element) const {
    const auto axes = collapsed(m_facts.space, load.strides);
    std::string sum;
    int64_t inner = 1;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
        const auto& [extent, stride] = axes[axis];
        if (stride != 0) {
            std::string term = inner == 1 ? element : element + " / " + text(inner) + "u";
            if (axis + 1 < axes.size()) term = "(" + term + ") % " + text(extent) + "u";
            sum += (sum.empty() ? "" : " + ") + ("(" + term + ")") +
                   (stride == 1 ? "" : " * " + text(stride) + "u");
        }
        inner *= extent;
    }
    return sum.empty() ? "0" : sum;
}

void LoopWriter::fillStrided(const LoopLoad& load, int vector) {
    const auto axes = collapsed(m_facts.space, load.strides);
    const auto [extent, stride] = axes.front();
    const bool together = extent % vector == 0; // a pack stays in the innermost axis
    const bool aligned = std::all_of(axes.begin() + 1, axes.end(),
                                     [&](const auto& axis) { return axis.second % vector == 0; });
    const std::string pack = "p" + std::to_string(load.value) + "[u]";
    if (together && stride == 1 && aligned) {
        line(pack + ".load(" + arenaPointer(load.dtype, load.offset) + " + (" +
             stridedIndex(load, "i") + "));");
        return;
    }
    if (!together) {
        fillEach(load, vector, [&](const std::string& i) { return stridedIndex(load, i); });
        return;
    }
    line("const " + index() + " from" + std::to_string(load.value) + " = " +
         stridedIndex(load, "i") + ";");
    fillEach(load, vector, [&, step = stride](const std::string&) {
        return "from" + std::to_string(load.value) +
               (step == 0 ? "" : " + k * " + text(step) + "u");
    });
}

// ---- elements ----------------------------------------------------------------------------------

/// Writes all that is done with the pack at i: members, stores, sums.
void LoopWriter::writeElements(int vector) {
    for (const LoopStore& store : m_facts.stores)
        line("Pack<" + storageType(m_facts.node(store.value).dtype) + ", " + text(vector) + "> o" +
             std::to_string(store.value) + ";");
    line("HS_UNROLL");
    line("for (int k = 0; k < " + text(vector) + "; ++k) {");
    for (const LoopLoad& load : m_facts.loads)
        if (isFull(load))
            line("const " + valueType(load.dtype) + " " + name(load.value) + " = p" +
                 std::to_string(load.value) + "[u][k];");
    writeValues(Place::Element, "");
    for (const LoopStore& store : m_facts.stores)
        line("o" + std::to_string(store.value) + ".set(k, " + valueAt(store.value, Place::Element) +
             ");");
    for (const LoopReduction& reduction : m_facts.reductions) {
        const std::string id = std::to_string(reduction.node);
        const std::string value = valueAt(reduction.input, Place::Element);
        if (reduction.kind == ReduceKind::Rows)
            line("columnSum" + id + "[k] += " + value + ";");
        else if (reduction.kind == ReduceKind::Columns && m_layout.ownsColumns())
            line("rowSum" + id + " += " + value + ";");
        else
            line("batch" + id + " += " + value + ";");
    }
    line("}");
    for (const LoopStore& store : m_facts.stores)
        line("o" + std::to_string(store.value) + ".store(" +
             arenaPointer(m_facts.node(store.value).dtype, store.offset) + " + i);");
}

} // namespace halfscope::cuda
