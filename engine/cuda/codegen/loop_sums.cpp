// The sums of a sweep: accumulators of a thread, then over its block, then over blocks by tickets.
// They are floats for short runs and doubles from there on, as in the CPU's loops.
#include "engine/cuda/codegen/loop_sums.h"

#include "engine/cuda/codegen/element_source.h"

#include <algorithm>

namespace halfscope::cuda {

namespace {

/// Returns the parts that one block merges: all when there are few, else 16. With as many loads in
/// flight, a merge takes two waits for memory.
int64_t groupOf(int64_t parts, int64_t items) {
    constexpr int64_t kFew = 48, kGroup = 16;
    // With few items, many slices of threads share the parts.
    return parts <= kFew || items <= 16 ? parts : kGroup;
}
int64_t groupsOf(int64_t parts, int64_t items) {
    const int64_t group = groupOf(parts, items), groups = (parts + group - 1) / group;
    return groups == 1 ? 0 : groups;
}

} // namespace

LoopSums::LoopSums(const KernelSite& site, const LoopFacts& facts, const LoopLayout& layout,
                   SourceLines& out, KernelText& kernelText)
    : m_site(site), m_facts(facts), m_layout(layout), m_out(out), m_text(kernelText),
      m_flushes(layout.rowsPerBlock / layout.rowsAtOnce > kMaxRun) {}

void LoopSums::needShared(int64_t bytes) {
    m_text.sharedBytes = std::max(m_text.sharedBytes, static_cast<size_t>(bytes + 15) / 16 * 16);
}

size_t LoopSums::takeScratch(int64_t doubles) {
    constexpr size_t kAlignment = 256;
    const size_t at = m_site.scratchOffset + m_text.scratchBytes;
    m_text.scratchBytes +=
        (static_cast<size_t>(doubles) * sizeof(double) + kAlignment - 1) / kAlignment * kAlignment;
    return at;
}

int LoopSums::takeTickets(int64_t count) {
    const int at = m_site.firstTicket + m_text.tickets;
    m_text.tickets += static_cast<int>(count);
    return at;
}

void LoopSums::declare(ReduceKind kind) {
    forEach(kind, [&](const LoopReduction& reduction) {
        const std::string id = std::to_string(reduction.node);
        const std::string type = valueType(m_facts.node(reduction.input).dtype);
        const std::string width = text(m_layout.vector);
        if (kind == ReduceKind::Rows) {
            line(type + " columnSum" + id + "[" + width + "] = {};");
            if (m_flushes) line("double columnTotal" + id + "[" + width + "] = {};");
        } else if (kind == ReduceKind::Columns) {
            line((m_layout.ownsColumns() ? type : "double") + " rowSum" + id + " = 0;");
        } else {
            line("double sum" + id + " = 0;");
        }
    });
}

void LoopSums::declareBatches(ReduceKind kind) {
    forEach(kind, [&](const LoopReduction& reduction) {
        line(valueType(m_facts.node(reduction.input).dtype) + " batch" +
             std::to_string(reduction.node) + " = 0;");
    });
}

/// Comes after each batch: adds its short sums to the long ones, those of columns after kMaxRun
/// rows.
void LoopSums::closeBatch() {
    forEach(ReduceKind::All, [&](const LoopReduction& reduction) {
        const std::string id = std::to_string(reduction.node);
        line("sum" + id + " += wide(batch" + id + ");");
    });
    if (!m_flushes || m_layout.flat) return;
    const int64_t step = int64_t{m_layout.rowsAtOnce} * m_layout.unroll;
    const int64_t period = step * std::max<int64_t>(kMaxRun / m_layout.unroll, 1);
    line("if ((first - rowBegin) % " + text(period) + "u == " + text(period - step) + "u) {");
    forEach(ReduceKind::Rows, [&](const LoopReduction& reduction) {
        const std::string id = std::to_string(reduction.node);
        line("HS_UNROLL");
        line("for (int k = 0; k < " + text(m_layout.vector) + "; ++k) {");
        line("columnTotal" + id + "[k] += wide(columnSum" + id + "[k]);");
        line("columnSum" + id + "[k] = 0;");
        line("}");
    });
    line("}");
}

void LoopSums::closeRowBatch() {
    forEach(ReduceKind::Columns, [&](const LoopReduction& reduction) {
        const std::string id = std::to_string(reduction.node);
        line("rowSum" + id + " += wide(batch" + id + ");");
    });
}

/// Returns the statement that stores `total` as element `index` of the result.
std::string LoopSums::storeSum(const LoopReduction& reduction, const std::string& index) const {
    const DType type = m_facts.node(reduction.node).dtype;
    const std::string scaled =
        reduction.factor == 1 ? "total" : "total * " + literal(reduction.factor);
    return "store(" + arenaPointer(type, reduction.offset) + " + (" + index + "), static_cast<" +
           valueType(type) + ">(" + scaled + "));";
}

/// Comes before all tiles: makes room for the parts of row sums.
void LoopSums::startColumnBlocks() {
    if (!m_facts.reduces(ReduceKind::Columns) || m_layout.tiles == 1) return;
    m_columnScratch = takeScratch(m_layout.rowBlocks * m_layout.tiles * m_layout.rowsPerBlock *
                                  m_facts.reductionsOf(ReduceKind::Columns));
    m_columnTickets = takeTickets(m_layout.rowBlocks);
}

/// Finishes row sums over the lanes of the row; all threads take part.
void LoopSums::finishRow(const std::string& row) {
    const bool wholeRow = m_layout.tiles == 1;
    const int64_t items = m_layout.rowsPerBlock * m_facts.reductionsOf(ReduceKind::Columns);
    int64_t number = 0;
    forEach(ReduceKind::Columns, [&](const LoopReduction& reduction) {
        const std::string id = std::to_string(reduction.node);
        if (m_layout.lanes > 32) needShared(kThreads / 32 * 8);
        line("{");
        line("const double total = lanesSum<" + text(m_layout.lanes) + ">(wide(rowSum" + id +
             "), (double*)shared);");
        line("if (lane == 0 && " + row + " < rowEnd)");
        if (wholeRow)
            line("    " + storeSum(reduction, row));
        else
            line("    ((double*)(scratch + " + std::to_string(m_columnScratch) +
                 "))[((i64)rowBlock * " + text(m_layout.tiles) + " + tile) * " + text(items) +
                 " + " + text(number * m_layout.rowsPerBlock) + " + (" + row +
                 " - rowBegin)] = total;");
        line("}");
        ++number;
    });
}

/// Finishes the column sums of a tile: over the rows of threads, then over row blocks.
void LoopSums::finishTile() {
    const int64_t width = m_layout.columnsPerTile, parts = m_layout.rowBlocks;
    const int64_t items = width * m_facts.reductionsOf(ReduceKind::Rows);
    if (items == 0) return;
    const bool alone = parts == 1;
    const int64_t groups = groupsOf(parts, items);
    const size_t area = alone ? 0 : takeScratch(m_layout.tiles * (parts + groups) * items);
    const int tickets = alone ? 0 : takeTickets(m_layout.tiles * (1 + groups));
    if (m_layout.rowsAtOnce > 1) needShared(int64_t{kThreads} * m_layout.vector * 8);
    if (!alone) {
        needShared(kThreads * 8);
        line("double* parts = (double*)(scratch + " + std::to_string(area) + ") + (i64)tile * " +
             text((parts + groups) * items) + ";");
        line("double* part = parts + (i64)rowBlock * " + text(items) + ";");
    }
    int64_t number = 0;
    forEach(ReduceKind::Rows, [&](const LoopReduction& reduction) {
        const std::string id = std::to_string(reduction.node);
        const std::string lanes = text(m_layout.lanes), vector = text(m_layout.vector);
        line("{");
        line("double mine[" + vector + "];");
        line("HS_UNROLL");
        line("for (int k = 0; k < " + vector + "; ++k)");
        line("    mine[k] = " + (m_flushes ? "columnTotal" + id + "[k] + " : std::string()) +
             "wide(columnSum" + id + "[k]);");
        line("columnSums<" + lanes + ", " + vector +
             ">(mine, (double*)shared, [&](int c, double total) {");
        if (alone) {
            line("if (tileBegin + c < " + text(m_facts.columns) + "u)");
            line("    " + storeSum(reduction, "tileBegin + c"));
        } else {
            line("part[" + text(number * width) + " + c] = total;");
        }
        line("});");
        line("}");
        ++number;
    });
    if (alone) return;
    line("mergeBlocks<" + text(parts) + ", " + text(groupOf(parts, items)) + ", " + text(items) +
         ">(parts, rowBlock, tickets + " + std::to_string(tickets) + " + tile * " +
         text(1 + groups) + ", (double*)shared, [&](int item, double total) {");
    line("const u32 c = item % " + text(width) + ";");
    line("if (tileBegin + c >= " + text(m_facts.columns) + "u) return;");
    number = 0;
    forEach(ReduceKind::Rows, [&](const LoopReduction& reduction) {
        line("if (item / " + text(width) + " == " + text(number++) + ")");
        line("    " + storeSum(reduction, "tileBegin + c"));
    });
    line("});");
}

/// Finishes row sums of which several column tiles hold parts.
void LoopSums::finishColumnBlocks() {
    const int64_t count = m_facts.reductionsOf(ReduceKind::Columns);
    if (count == 0 || m_layout.tiles == 1) return;
    const int64_t items = m_layout.rowsPerBlock * count;
    needShared(kThreads * 8);
    line("if (isLastBlock(tickets + " + std::to_string(m_columnTickets) + " + rowBlock, " +
         text(m_layout.columnBlocks) + ", shared)) {");
    line("const double* parts = (const double*)(scratch + " + std::to_string(m_columnScratch) +
         ") + (i64)rowBlock * " + text(m_layout.tiles * items) + ";");
    line("mergeParts(parts, " + text(m_layout.tiles) + ", " + text(items) + ", " + text(items) +
         ", (double*)shared, [&](int item, double total) {");
    line(std::string("const ") + m_layout.indexType() + " row = rowBegin + item % " +
         text(m_layout.rowsPerBlock) + ";");
    line("if (row >= rowEnd) return;");
    int64_t number = 0;
    forEach(ReduceKind::Columns, [&](const LoopReduction& reduction) {
        line("if (item / " + text(m_layout.rowsPerBlock) + " == " + text(number++) + ")");
        line("    " + storeSum(reduction, "row"));
    });
    line("});");
    line("}");
}

/// Finishes sums over everything: over the block, then over all blocks.
void LoopSums::finishAll() {
    const int64_t count = m_facts.reductionsOf(ReduceKind::All), parts = m_layout.blocks;
    if (count == 0) return;
    needShared(kThreads * 8);
    const bool alone = parts == 1;
    const size_t area = alone ? 0 : takeScratch(parts * count);
    const int tickets = alone ? 0 : takeTickets(1);
    if (!alone) line("double* allParts = (double*)(scratch + " + std::to_string(area) + ");");
    int64_t number = 0;
    forEach(ReduceKind::All, [&](const LoopReduction& reduction) {
        line("{");
        line("const double total = lanesSum<kThreads>(sum" + std::to_string(reduction.node) +
             ", (double*)shared);");
        line("if (thread == 0)");
        line("    " +
             (alone ? storeSum(reduction, "0")
                    : "allParts[block * " + text(count) + " + " + text(number) + "] = total;"));
        line("}");
        ++number;
    });
    if (alone) return;
    line("mergeBlocks<" + text(parts) + ", " + text(parts) + ", " + text(count) +
         ">(allParts, block, tickets + " + std::to_string(tickets) +
         ", (double*)shared, [&](int item, double total) {");
    number = 0;
    forEach(ReduceKind::All, [&](const LoopReduction& reduction) {
        line("if (item == " + text(number++) + ")");
        line("    " + storeSum(reduction, "0"));
    });
    line("});");
}

} // namespace halfscope::cuda
