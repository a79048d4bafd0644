// What a step sees: the tensors of a batch, and the interface of whatever makes batches step by
// step. All lanes see the same batches.
#pragma once

#include "engine/core/message.h"
#include "engine/core/typed_bytes.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// One tensor of a sample. A batch has one more axis, a leading one for the samples.
struct TensorSpec {
    std::string name; ///< "x", "target"
    Shape shape;      ///< of one sample; [] for a label, [T] for a label at each of T positions
    DType dtype = DType::F32;
    int64_t classes = 0;       ///< of labels and indices (I32), which go from 0 to classes - 1
    bool wholeClasses = false; ///< the names of the classes in a file are whole numbers
    bool padded = false;       ///< of indices: 0 fills samples up to one length
    bool apart = false;        ///< likewise: samples are not pieces of one text, see textOf()
};

/// The tensors of some samples, in the order of their specs.
struct Batch {
    std::vector<TypedBytes> tensors;
    std::vector<Message> skipped{}; ///< why samples were replaced, see readWhole()

    /// Returns a batch of zeros.
    static Batch of(std::span<const TensorSpec>, int64_t rows);
    int64_t rows() const { return tensors.front().shape[0]; }
    /// The values of an F32 or I32 tensor.
    std::span<float> floats(size_t tensor);
    std::span<const float> floats(size_t tensor) const;
    std::span<int32_t> labels(size_t tensor);
    std::span<const int32_t> labels(size_t tensor) const;
    /// Copies one sample of another batch with the same specs.
    void setRow(size_t row, const Batch& from, size_t fromRow);
};
inline constexpr size_t kX = 0, kTarget = 1; ///< the tensors of a batch that a step trains on

/// Some rows of a batch, which are being written; several threads may each write rows of their own.
class BatchRows {
public:
    BatchRows(Batch& batch) : BatchRows(batch, 0, static_cast<size_t>(batch.rows())) {}
    BatchRows(Batch& batch, size_t first, size_t count)
        : m_batch(&batch), m_first(first), m_count(count) {}

    /// Return the values of these rows alone, of an F32 or I32 tensor.
    std::span<float> floats(size_t tensor) const;
    std::span<int32_t> labels(size_t tensor) const;
    size_t count() const { return m_count; }

private:
    Batch* m_batch;
    size_t m_first, m_count;
};

/// The shapes of one step's batch: x (rows, inputs) and target (rows, outputs), both of floats. A
/// loss compares rows of outputs, whatever axes samples have.
struct BatchShape {
    int64_t rows = 0, inputs = 0, outputs = 0;
    Shape sample{};      ///< of one x, where it has other axes than (inputs)
    bool labels = false; ///< the target is (rows) class numbers, I32; `outputs` is how many classes
    int64_t positions = 0; ///< labels of a sample, one at each position; 0: one in all
    int64_t indices = 0;   ///< x is I32 from 0 to indices - 1, for an Embedding; 0: floats
    Shape targetSample{};  ///< of one target of numbers, where it has other axes than (outputs)

    Shape x() const;      ///< with the leading axis
    Shape target() const; ///< likewise
    /// Returns the shape in which predictions are judged: (rows, outputs) or (rows, positions,
    /// outputs).
    Shape prediction() const;
    /// Whether a network that makes this shape has a value for each of the target: it may also be
    /// the target's own, with all its axes.
    bool fits(const Shape& made) const;
    /// What x is stored as where floats are stored as `floats`: no precision rounds an index.
    DType xDType(DType floats = DType::F32) const { return indices > 0 ? DType::I32 : floats; }
};

/// Returns the shape of a batch, taken from the first two specs: x and target.
BatchShape batchShape(std::span<const TensorSpec>, int64_t rows);

class Dataset;
class ThreadPool;

class BatchSource {
public:
    virtual ~BatchSource() = default;
    /// The specs of x and of the target, in this order.
    virtual std::span<const TensorSpec> tensors() const = 0;
    /// The number of samples in a whole batch.
    virtual int64_t rows() const = 0;
    virtual int64_t stepsPerEpoch() const { return 1; }
    /// The number of samples in a step's batch; fewer than rows() in the last batch of an epoch.
    virtual int64_t rows(int64_t /*step*/) const { return rows(); }
    /// Returns the first step that has the same batch as `step`. When two steps have the same
    /// number, nothing need be uploaded for the second.
    virtual int64_t batchNumber(int64_t step) const { return step; }
    /// Returns the batch of a step (1 for the first). Any thread may call it. Throws RunError when
    /// the batch cannot be read. Threads of `pool` help to read it; where they go on with the rows
    /// that they have read, these are in their own caches already.
    virtual std::shared_ptr<const Batch> load(int64_t step, ThreadPool* pool = nullptr) const = 0;

    /// Returns the number, from 0, that a sample of a step's batch has in the data as they are
    /// stored.
    virtual int64_t sampleAt(int64_t /*step*/, int64_t row) const { return row; }

    /// Returns the data set if it has samples to validate on, else nullptr.
    virtual const Dataset* validation() const { return nullptr; }
    /// Returns Dataset::targetsAreSides() of the data set.
    virtual bool targetsAreSides() const { return false; }
    /// Returns Dataset::test() of the data set.
    virtual const Dataset* test() const { return nullptr; }

    BatchShape shape() const { return shape(rows()); }
    BatchShape shape(int64_t rows) const;
    /// Writes the batch of a step, whose tensors are F32. Returns false and writes nothing when the
    /// batch is that of an earlier step.
    bool batch(int64_t step, std::span<float> x, std::span<float> target) const;
};

} // namespace halfscope
