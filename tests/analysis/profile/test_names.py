"""Bare function names out of what compilers and profilers print."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile.names import function_name


@pytest.mark.parametrize(
    ("demangled", "bare"),
    [
        ("copy", "copy"),
        ("rms_norm(float *, int)", "rms_norm"),
        ("void cutlass::Kernel2<cutlass_80_s8_128x128>(T1::Params)", "Kernel2"),
        ("void at::native::<unnamed>::grid_stride_kernel<float, (int)4>(int)", "grid_stride_kernel"),
        ("(anonymous namespace)::reduce(float*)", "reduce"),
        ("void (anonymous namespace)::f<int>((anonymous namespace)::T)", "f"),
        ("copy_blocked[v1,abc](Array<long long, 1, C>, long long)", "copy_blocked"),
        ("vecCopy(double*, double*, int) [clone .kd]", "vecCopy"),
        ("vecCopy(double*) (.kd)", "vecCopy"),
        ("_ZN7cutlass6KernelE.kd", "Kernel"),
        ("_Z10add_kernelPfS_i", "add_kernel"),
        ("_ZN2at6native12_GLOBAL__N_17fill_itILi4EEEvi", "fill_it"),
        ("_ZNKSt3mapclEv", "map"),
        ("_Zxx", "_Zxx"),
        ("_Z99short", "short"),
        ("", ""),
    ],
)
def test_return_types_namespaces_templates_and_parameters_go(demangled, bare):
    """Only the identifier is left."""
    assert function_name(demangled) == bare
