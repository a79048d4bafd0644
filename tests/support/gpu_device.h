// The device that the gpu tests run on: CUDA, or what HALFSCOPE_TEST_DEVICE names (with cpu, the
// tests themselves are tested).
#pragma once

#include "engine/devices/device_list.h"

#include <QTest>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

namespace halfscope::test {

inline std::string gpuDevice() {
    const char* named = std::getenv("HALFSCOPE_TEST_DEVICE");
    return named != nullptr ? named : "cuda";
}

/// Returns why the tests cannot run; empty when they can.
inline std::string gpuMissing() {
    if (gpuDevice() != "cuda") return {};
    return listDevices().cudaUnavailable.english();
}

inline std::unique_ptr<Executor> gpuExecutor() { return makeExecutor(gpuDevice()); }

/// Runs the body of a test. An exception from the engine fails this row with its message; Qt Test
/// would end the program without the message, and no later row would run.
template <class Body>
void telling(const Body& body) {
    try {
        body();
    } catch (const std::exception& error) {
        QFAIL(error.what());
    }
}

} // namespace halfscope::test

/// For initTestCase: skips every test of the class, with the reason.
#define SKIP_WITHOUT_GPU()                                                                         \
    do {                                                                                           \
        if (const std::string why = halfscope::test::gpuMissing(); !why.empty())                   \
            QSKIP(why.c_str());                                                                    \
    } while (false)
