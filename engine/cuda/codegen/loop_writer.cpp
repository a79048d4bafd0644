// The nest of loops of a sweep and what stands in it. Order inside a batch: all loads, then all
// stores, because a result may lie in place of a value that the same thread reads.
#include "engine/cuda/codegen/loop_writer.h"

#include "engine/core/error.h"
#include "engine/cuda/codegen/element_source.h"

#include <algorithm>

namespace halfscope::cuda {

void SourceLines::line(const std::string& words) {
    if (words.front() == '}') --m_depth;
    m_text += std::string(static_cast<size_t>(4 * m_depth), ' ') + words + "\n";
    if (words.back() == '{') ++m_depth;
}

LoopWriter::LoopWriter(const KernelSite& site, const LoopFacts& facts, const LoopLayout& layout,
                       SourceLines& out, KernelText& kernelText)
    : m_site(site), m_facts(facts), m_layout(layout), m_out(out), m_text(kernelText) {
    m_text.blocks = std::max(m_text.blocks, static_cast<int>(layout.blocks));
    m_flushes = layout.rowsPerBlock / layout.rowsAtOnce > kMaxRun;
}

void LoopWriter::needShared(int64_t bytes) {
    m_text.sharedBytes = std::max(m_text.sharedBytes, static_cast<size_t>(bytes + 15) / 16 * 16);
}

std::string LoopWriter::pointer(DType type, size_t offset) const {
    return "((" + storageType(type) + "*)(arena + " + std::to_string(offset) + "))";
}

LoopWriter::Place LoopWriter::placeOf(Level level) const {
    if (level == Level::Scalar) return Place::Function;
    if (m_layout.flat || level == Level::Full) return Place::Element;
    if (level == Level::Column) return Place::Row;
    return m_layout.ownsColumns() ? Place::Tile : Place::Pack;
}

/// A value as an expression at a place inside its own: values of columns are arrays.
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
    declareAccumulators(ReduceKind::All);
    if (m_layout.flat)
        writeFlat();
    else
        writeTiles();
    finishAll();
    line("}");
}

/// Loads and members of a place where each is one value (not an array). Elements' loads are packs.
void LoopWriter::writeValues(Place place, const std::string& row) {
    for (const LoopLoad& load : m_facts.loads) {
        if (isFull(load) || placeOf(m_facts.level(load.value)) != place) continue;
        const std::string from = pointer(load.dtype, load.offset);
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

/// Loads and members of a place where each is an array over the pack's columns.
void LoopWriter::writeRowValues(Place place, const std::string& column) {
    const std::string width = text(m_layout.vector);
    std::vector<std::string> inner;
    for (const LoopLoad& load : m_facts.loads) {
        if (placeOf(m_facts.level(load.value)) != place) continue;
        const std::string own = name(load.value), pack = "q" + own;
        line("Pack<" + storageType(load.dtype) + ", " + width + "> " + pack + ";");
        line(pack + ".load(" + pointer(load.dtype, load.offset) + " + " + column + ");");
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

/// Batches of kThreads packs, unroll of them at once; what does not fill a pack at the end.
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
    closeBatch();
    line("}");
    if (whole == m_facts.elements()) return;
    line("if (block == 0 && thread < " + text(m_facts.elements() - whole) + "u) {");
    line("const " + index() + " i = " + text(whole) + "u + thread;");
    line("constexpr int u = 0;");
    declarePacks(1);
    writeLoads(1);
    writeElements(1);
    closeBatch();
    line("}");
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
    if (m_facts.reduces(ReduceKind::Columns) && !onlyTile) {
        m_columnScratch = takeScratch(m_layout.rowBlocks * m_layout.tiles * m_layout.rowsPerBlock *
                                      m_facts.reductionsOf(ReduceKind::Columns));
        m_columnTickets = takeTickets(m_layout.rowBlocks);
    }
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
    finishColumnBlocks();
}

/// Every thread keeps its columns and walks down the rows, unroll steps at once.
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
    declareAccumulators(ReduceKind::Rows);
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
        if (!loads) declareAccumulators(ReduceKind::Columns);
        line(guard);
        line("const " + index() + " i = row * " + text(m_facts.columns) + "u + column;");
        if (loads) {
            writeLoads(m_layout.vector);
        } else {
            writeValues(Place::Row, "row");
            writeElements(m_layout.vector);
        }
        line("}");
        if (!loads) finishRow("row");
        line("}");
    }
    closeBatch();
    line("}");
    finishTile();
}

/// Every thread keeps a row and walks across its columns, unroll packs at once.
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
    declareAccumulators(ReduceKind::Columns);
    line("for (" + index() +
         " first = tileBegin; first < tileEnd; first += " + text(step * m_layout.unroll) + "u) {");
    forEach(ReduceKind::Columns, [&](const LoopReduction& reduction) {
        line(valueType(m_facts.node(reduction.input).dtype) + " batch" +
             std::to_string(reduction.node) + " = 0;");
    });
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
    forEach(ReduceKind::Columns, [&](const LoopReduction& reduction) {
        const std::string id = std::to_string(reduction.node);
        line("rowSum" + id + " += wide(batch" + id + ");");
    });
    closeBatch();
    line("}");
    finishRow("rowFirst + y");
    line("}");
}

// ---- elements ----------------------------------------------------------------------------------

/// All that is done with the pack at i: members, stores, sums.
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
             pointer(m_facts.node(store.value).dtype, store.offset) + " + i);");
}

} // namespace halfscope::cuda
