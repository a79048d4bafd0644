// The sums of a fused loop's tiles: short runs in f32, the rest in double, in a fixed order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halfscope {

inline constexpr int64_t kMostTileElements = 2048; ///< elements in a tile

/// Ends the sums of a tile over its rows: sums[c] += partial[s][c], strand by strand.
void addStrands(const float* partial, size_t strands, size_t columns, double* sums);
/// Does the same, and leaves zeros for the next tile.
void moveStrands(float* partial, size_t strands, size_t columns, double* sums);
/// Adds sums[c] += x[r][c] over the rows of a tile: first each strand, which is every strands-th
/// row, in f32, then strand by strand in double.
void addRows(const float* x, size_t rows, size_t columns, size_t strands, double* sums);
/// Adds sums[c] += x[c].
void addSums(const double* x, size_t n, double* sums);
/// Returns the sum of n values: 16 lanes in f32 over runs of 256, then in double each lane over the
/// runs, then the lanes by halves.
double addAll(const float* x, size_t n);

} // namespace halfscope
