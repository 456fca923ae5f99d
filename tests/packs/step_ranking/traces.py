"""Torch traces made for tests: operators, launch calls, kernels and ranges, in microseconds."""

import json

H100 = "NVIDIA H100 80GB HBM3"
GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_kernel"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, 3>"
BF16, FP32, INT64 = "c10::BFloat16", "float", "long int"


def event(category, name, start, length, *, tid=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length, "args": args}


def op(name, start, length, dims=None, types=None, *, external=None, concrete=None, strides=None, tid=1):
    args = {} if external is None else {"External id": external}
    if dims is not None:
        args |= {
            "Input Dims": dims,
            "Input type": types,
            "Input Strides": strides or [],
            "Concrete Inputs": concrete or [],
        }
    return event("cpu_op", name, start, length, tid=tid, **args)


def launch(start, correlation, name="cudaLaunchKernel", length=2, tid=1):
    return event("cuda_runtime", name, start, length, tid=tid, correlation=correlation)


def kernel(name, start, length, correlation=None, *, category="kernel", **args):
    more = {} if correlation is None else {"correlation": correlation}
    return event(category, name, start, length, tid=7, device=0, stream=7, **more, **args)


def step_range(number, start, length):
    return event("user_annotation", f"ProfilerStep#{number}", start, length)


def product(start, correlation, length=1000, dims=((8192, 8192), (8192, 8192)), types=(BF16, BF16), name=GEMM):
    """Return a product, its launch 10 us after its start, and its kernel 10 us later."""
    return [
        op("aten::mm", start, 50, [list(one) for one in dims], list(types)),
        launch(start + 10, correlation),
        kernel(name, start + 20, length, correlation),
    ]


def write(path, *events, device=H100):
    path.write_text(json.dumps({"deviceProperties": [{"id": 0, "name": device}], "traceEvents": list(events)}))
    return path
