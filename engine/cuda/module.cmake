# The CUDA module: built where CUDA's headers are, and nothing else of CUDA. Its libraries are found
# when it runs (library.cpp), so it is built without a GPU, without nvcc and without a driver.
# Sets CUDA_STATE for the summary.

set(CUDA_HINTS "")
foreach(variable CUDAToolkit_ROOT CUDA_HOME CUDA_PATH CUDNN_ROOT)
    list(APPEND CUDA_HINTS ${${variable}} $ENV{${variable}})
endforeach()
# NVIDIA's packages and tarballs; newest first
file(GLOB versioned LIST_DIRECTORIES true /usr/local/cuda-1[2-9]*)
list(SORT versioned COMPARE NATURAL ORDER DESCENDING)
list(APPEND CUDA_HINTS /usr/local/cuda ${versioned} /opt/cuda)
# conda, and the wheels of a virtual environment (a folder a library; one for all from CUDA 13 on)
if(DEFINED ENV{CONDA_PREFIX})
    list(APPEND CUDA_HINTS $ENV{CONDA_PREFIX} $ENV{CONDA_PREFIX}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux)
endif()
if(DEFINED ENV{VIRTUAL_ENV})
    file(GLOB wheels LIST_DIRECTORIES true $ENV{VIRTUAL_ENV}/lib/python3*/site-packages/nvidia/*)
    list(APPEND CUDA_HINTS ${wheels})
endif()

# version_of(OUT FILE MACRO): the number behind "#define MACRO".
function(version_of out file macro)
    set(number 0)
    if(EXISTS ${file})
        file(STRINGS ${file} line REGEX "^#define ${macro} +[0-9]+" LIMIT_COUNT 1)
        string(REGEX MATCH "[0-9]+$" found "${line}")
        if(found)
            set(number ${found})
        endif()
    endif()
    set(${out} ${number} PARENT_SCOPE)
endfunction()

set(CUDA_HEADERS_MISSING "")
foreach(header cuda nvrtc cublasLt)
    find_path(HALFSCOPE_${header}_INCLUDE ${header}.h HINTS ${CUDA_HINTS} PATH_SUFFIXES include)
    mark_as_advanced(HALFSCOPE_${header}_INCLUDE)
    if(NOT HALFSCOPE_${header}_INCLUDE)
        list(APPEND CUDA_HEADERS_MISSING ${header}.h)
    endif()
endforeach()
find_path(HALFSCOPE_cudnn_INCLUDE cudnn_version.h HINTS ${CUDA_HINTS} PATH_SUFFIXES include)
mark_as_advanced(HALFSCOPE_cudnn_INCLUDE)

version_of(CUDA_NUMBER "${HALFSCOPE_cuda_INCLUDE}/cuda.h" CUDA_VERSION)
version_of(CUDNN_NUMBER "${HALFSCOPE_cudnn_INCLUDE}/cudnn_version.h" CUDNN_MAJOR)
math(EXPR CUDA_MAJOR "${CUDA_NUMBER} / 1000")
math(EXPR CUDA_MINOR "${CUDA_NUMBER} % 1000 / 10")
if(NOT HALFSCOPE_CUDA)
    set(CUDA_STATE "off (HALFSCOPE_CUDA is OFF)" PARENT_SCOPE)
    return()
elseif(CUDA_HEADERS_MISSING)
    list(JOIN CUDA_HEADERS_MISSING ", " missing)
    set(CUDA_STATE "off (not found: ${missing}; CUDAToolkit_ROOT names a toolkit)" PARENT_SCOPE)
    return()
elseif(CUDA_NUMBER LESS 12000)
    set(CUDA_STATE "off (CUDA ${CUDA_MAJOR}.${CUDA_MINOR} is older than 12.0)" PARENT_SCOPE)
    return()
endif()

# All but the exported function, for the tests too.
add_library(halfscope_cuda_host STATIC api.h cache.cpp candidates.cpp compiler.cpp cuda_executor.cpp debug_folder.cpp device.cpp
    gemm.cpp library.cpp loaded_step.cpp metrics_ring.cpp platform_info.cpp staged_inputs.cpp step_version.cpp transfer.cpp trial_values.cpp variant_records.cpp variant_search.cpp variants.cpp)
set_target_properties(halfscope_cuda_host PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
set(CUDA_INCLUDES ${HALFSCOPE_cuda_INCLUDE} ${HALFSCOPE_nvrtc_INCLUDE} ${HALFSCOPE_cublasLt_INCLUDE})
# cuDNN's convolutions by algorithm are marked as old; they stay for all of cuDNN 9
target_compile_options(halfscope_cuda_host PUBLIC -Wno-deprecated-declarations)
if(HALFSCOPE_CUDNN AND CUDNN_NUMBER GREATER_EQUAL 9)
    target_sources(halfscope_cuda_host PRIVATE conv.cpp)
    target_compile_definitions(halfscope_cuda_host PUBLIC HALFSCOPE_CUDNN)
    list(APPEND CUDA_INCLUDES ${HALFSCOPE_cudnn_INCLUDE})
    set(CUDNN_STATE "cuDNN ${CUDNN_NUMBER}")
else()
    target_sources(halfscope_cuda_host PRIVATE conv_absent.cpp)
    set(CUDNN_STATE "no cuDNN: own convolutions")
endif()
list(REMOVE_DUPLICATES CUDA_INCLUDES)
target_include_directories(halfscope_cuda_host SYSTEM PUBLIC ${CUDA_INCLUDES})
get_filename_component(CUDA_ROOT_FOLDER ${HALFSCOPE_cuda_INCLUDE} DIRECTORY)
if(NOT CUDA_ROOT_FOLDER STREQUAL "/usr")
    target_compile_definitions(halfscope_cuda_host PRIVATE HALFSCOPE_CUDA_ROOT="${CUDA_ROOT_FOLDER}")
endif()
target_link_libraries(halfscope_cuda_host PUBLIC halfscope_options Threads::Threads ${CMAKE_DL_LIBS})

# What of the engine the module needs. The rest, the writing of kernels above all, stays in the
# program that loads it (codegen/step_writer.h).
add_library(halfscope_cuda MODULE module.cpp ../core/cancel.cpp ../core/dtype.cpp ../core/dtype_blocks.cpp ../core/error.cpp
    ../core/escape.cpp ../core/message.cpp ../core/sha256.cpp ../core/shape.cpp ../core/text.cpp ../core/vector_set.cpp
    ../io/atomic_file.cpp ../io/growing_file.cpp ../io/input_file.cpp ../io/open_folder.cpp)
set_target_properties(halfscope_cuda PROPERTIES CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
target_link_libraries(halfscope_cuda PRIVATE halfscope_cuda_host)
if(NOT HALFSCOPE_SANITIZE) # their run-time library is the program's
    target_link_options(halfscope_cuda PRIVATE -Wl,--no-undefined)
endif()
# Module and program share types: neither is ever built without the other.
add_dependencies(halfscope_engine halfscope_cuda)
set(CUDA_STATE "on (CUDA ${CUDA_MAJOR}.${CUDA_MINOR}, ${CUDNN_STATE})" PARENT_SCOPE)
