// The sums of a fused loop's tiles: short runs in f32, the rest in double, in a fixed order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halfscope {

inline constexpr int64_t kMostTileElements = 2048; ///< elements in a tile

/// The sums of a tile over its rows: each strand is the sum of every count-th row, in f32. `pixels`
/// are the rows of a space of rank 4 that is summed over all axes but the last, as images with
/// channels last are: of them four strands are added in f32, which gives as many terms as a lane of
/// addAll() has. All others are added in double, one by one.
struct Strands {
    size_t count, columns;
    bool pixels = false;
};
/// Ends the sums of a tile: sums[c] += partial[s][c] over the strands.
void addStrands(const float* partial, const Strands&, double* sums);
/// Does the same, and leaves zeros for the next tile.
void moveStrands(float* partial, const Strands&, double* sums);
/// Adds sums[c] += x[r][c] over the rows of a tile.
void addRows(const float* x, size_t rows, const Strands&, double* sums);
/// Adds sums[c] += x[c].
void addSums(const double* x, size_t n, double* sums);
/// Returns the sum of n values: 16 lanes in f32 over runs of 256, then in double each lane over the
/// runs, then the lanes by halves.
double addAll(const float* x, size_t n);

} // namespace halfscope
