// A small graph with one input of each kind, to build single nodes on. The tests choose the values.
#pragma once

#include "engine/ops/builder.h"

#include <string>

namespace halfscope::test {

/// A builder with one input of each kind.
struct Bench {
    Graph graph;
    Builder b{graph};
    NodeId x = b.input("x", {2, 3}, DType::F32);
    NodeId h = b.input("h", {2, 3}, DType::F16);
    NodeId mask = b.input("mask", {2, 3}, DType::Bool);
    NodeId index = b.input("index", {2, 3}, DType::I32);
    NodeId column = b.input("column", {2, 1}, DType::F32);

    NodeId like(NodeId id, double value) { return b.constantLike(value, id); }
};

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace halfscope::test
