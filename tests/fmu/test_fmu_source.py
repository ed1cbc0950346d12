"""The source back end: kernels as C99 against the compiled engine, and archives that are compiled where they are verified."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from translated_engine import QUICK, in_its_place

import kinetree.fmu.source.archive as archive_module
from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.source.archive import FRONTS, STRICT, compile_sources, source_files
from kinetree.fmu.source.program import Program
from kinetree.fmu.unit import fmu_unit
from kinetree.models import load
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.scripts.fmi.sensitivity import deviation, horizon, rounded, run, step_error
from kinetree.scripts.fmi.verify import verify
from kinetree.solvers.library.c_compiler import compiler, cross_compiler

# the same operations in the same order, contracted or not: some roundings per step, which a regular motion of a second keeps below 1e-12
SAME = 1e-12
ENDS = {
    "andrews": 0.1
}  # s; three times the published horizon: in a second its crank turns through 1000 rad, whose rounding alone is 2e-13
MODELS = (
    "regulator",
    "puma560",
    "four-bar",
    "andrews",
    "bouncing-ball",
    "pendulum-stop",
    "chain6",
    "mobile-robot",
)
DEFINITION = {
    "format": "kinetree/1",
    "name": "stages in C",
    "gravity": [0, 0, -9.81],
    "bodies": {
        "a": {"mass": 2.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        "b": {"mass": 1.0, "com": [0, 0, -0.5], "inertia": [0.1, 0.1, 0.05, 0, 0, 0]},
    },
    "joints": {
        "slide": {
            "parent": "ground",
            "child": "a",
            "transforms": [{"shift": "x", "coordinate": "s", "speed": 1.0}],
        },
        "hinge": {
            "parent": "a",
            "child": "b",
            "transforms": [{"rotate": "y", "coordinate": "p", "start": 0.4}],
        },
    },
    "stages": [
        {"name": "swing", "ends": {"when": "s > 0.3"}, "free": ["hinge"]},
        {"name": "apart", "ends": {"at": 0.6}, "lock": ["slide"]},
        {"name": "locked"},
    ],
}


def motion(model, integrator: str, end: float):
    result = (
        load(model)
        .compile()
        .simulate(stop_time=end, integrator=integrator, output_step=0.05, step=1e-3)
    )
    return result, np.stack(
        [result[name] for name in result.columns() if name not in ("solver_steps",)], axis=1
    )


def compare(model, integrator: str, allowed: float, end: float = 1.0) -> int:
    right, expected = motion(model, integrator, end)
    with in_its_place():
        found, table = motion(model, integrator, end)
    assert [event.kind for event in found.events] == [event.kind for event in right.events]
    scale = np.maximum(1.0, np.nanmax(np.abs(expected), axis=0))
    assert np.nanmax(np.abs(table - expected) / scale) <= allowed
    return len(right.events)


@pytest.mark.parametrize("name", MODELS)
def test_translated_engine_matches_compiled_engine(name: str):
    """Trees, loops, contacts, impacts: rk4 by both engines."""
    compare(f"lib:{name}", "rk4", SAME, ENDS.get(name, 1.0))


@pytest.mark.parametrize("integrator", ["adams", "rk45", "radau", "semi-implicit"])
def test_every_integrator_is_translated(integrator: str):
    """Steps that are chosen by errors of 1e-8 and Jacobians by differences carry roundings further."""
    compare("lib:regulator", integrator, 1e-9)


def test_source_fmu_handles_stages_and_locks():
    """A release, a lock with its momentum balance: both events, the same motion."""
    assert compare(DEFINITION, "rk4", SAME) == 2


def integer_arithmetic(a, b):
    return (a // b) * 1000 + a % b


def real_arithmetic(x, y):
    return (x % y, max(x, y, 0.5), abs(min(x, y)), 1.0 if x < y < 2.0 else 0.0)


def test_translated_c_keeps_python_arithmetic(tmp_path):
    """Division and remainder round down, comparisons may be chained, all right sides are read before the first left side is written."""
    program = Program()
    whole, _ = program.request(integer_arithmetic, ("int64_t", "int64_t"))
    real, kind = program.request(real_arithmetic, ("double", "double"))
    from kinetree.fmu.source.program import HEAD, HELPERS

    calls = f"int64_t whole(int64_t a, int64_t b) {{ return {whole}(a, b); }}\n"
    calls += f"double real(double x, double y, int k) {{ {kind.name} r = {real}(x, y); return r.v[k]; }}\n"
    text = "\n".join([HEAD, *program.tuples.values(), *HELPERS.values(), *program.text, calls])
    (tmp_path / "a.c").write_text(text)
    subprocess.run(
        [
            *compiler(),
            "-std=c99",
            "-shared",
            "-fPIC",
            str(tmp_path / "a.c"),
            "-lm",
            "-o",
            str(tmp_path / "a.so"),
        ],
        check=True,
    )
    library = ctypes.CDLL(str(tmp_path / "a.so"))
    library.whole.restype, library.whole.argtypes = ctypes.c_int64, [ctypes.c_int64] * 2
    library.real.restype, library.real.argtypes = (
        ctypes.c_double,
        [ctypes.c_double, ctypes.c_double, ctypes.c_int],
    )
    for a, b in ((7, 3), (-7, 3), (7, -3), (-7, -3), (6, 3), (0, 5)):
        assert library.whole(a, b) == integer_arithmetic(a, b)
    for x, y in ((7.5, 2.0), (-7.5, 2.0), (0.25, 0.75), (-1.0, -3.0)):
        assert tuple(library.real(x, y, k) for k in range(4)) == real_arithmetic(x, y)


@pytest.mark.parametrize("version", [2, 3])
def test_archive_is_compiled_and_verified(version: int, tmp_path, monkeypatch):
    """What `kinetree verify` does: sources to a binary without a warning, the same motion, steps and states as promised. Both versions have the same
    engine, which is optimised in one; the front of the other is compiled as strictly without it."""
    path = build_fmu(load("lib:pendulum-stop"), tmp_path / "stop.fmu", "source", version)
    with ZipFile(path) as archive:
        names = archive.namelist()
        description = archive.read("modelDescription.xml").decode()
    assert (
        not any(name.startswith("binaries/") for name in names)
        and "resources/model.kinetree" not in names
    )
    assert {f"sources/{name}" for name in source_files(version)} <= set(names)
    assert ('<File name="core.c"' in description) == (version == 2) and (
        "sources/buildDescription.xml" in names
    ) == (version == 3)
    if version == 3:
        with ZipFile(path) as archive:
            archive.extractall(tmp_path / "stop")
        for front in FRONTS[3]:
            source = tmp_path / "stop" / "sources" / front
            subprocess.run(
                [
                    *compiler(),
                    *STRICT,
                    "-c",
                    f"-I{source.parent}",
                    str(source),
                    "-o",
                    str(tmp_path / "front.o"),
                ],
                check=True,
            )
        monkeypatch.setattr(archive_module, "STRICT", QUICK)
    report = verify(path, 0.5)
    assert report.good, [check for check in report.checks if not check.good]
    assert any(check.what == "sources" for check in report.checks)


def test_two_source_models_link_together(tmp_path):
    """Linked together under the prefixes of the standard: no name stands twice, and each function is its own model's."""
    objects = []
    for name in ("bouncing-ball", "pendulum-stop"):
        folder, path = (
            tmp_path / name,
            build_fmu(load(f"lib:{name}"), tmp_path / f"{name}.fmu", "source", 2),
        )
        with ZipFile(path) as archive:
            archive.extractall(folder)
        for source in sorted((folder / "sources").glob("*.c")):
            objects.append(folder / f"{source.stem}.o")
            flags = [
                "-std=c99",
                "-O0",
                "-fPIC",
                f"-DFMI2_FUNCTION_PREFIX={name.replace('-', '_')}_",
                f"-I{folder / 'sources'}",
            ]
            subprocess.run(
                [*compiler(), *flags, "-c", str(source), "-o", str(objects[-1])], check=True
            )
    both = tmp_path / "both.so"
    subprocess.run([*compiler(), "-shared", *map(str, objects), "-lm", "-o", str(both)], check=True)
    library = ctypes.CDLL(str(both))
    assert library.bouncing_ball_fmi2DoStep and library.pendulum_stop_fmi2DoStep


def test_failed_source_build_reports_compiler_error(tmp_path):
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "x.c").write_text("int broken(void) { return y; }\n")
    with pytest.raises(Exception, match="do not compile.*y"):
        compile_sources(tmp_path, tmp_path / "x.so")
    with pytest.raises(Exception, match="no sources"):
        compile_sources(Path(tmp_path / "sources"), tmp_path / "x.so")


def four_bar_beside_a_dead_point() -> dict:
    """Crank and rod pass their stretched position at a small angle while the bar still turns; a stage's end opens the loop."""
    sizes = {"crank": (1.0, 0.3), "rod": (2.0, 0.8), "rocker": (1.5, 0.5)}
    bodies = {
        n: {
            "mass": m,
            "com": [s / 2, 0, 0],
            "inertia": [1e-3, m * s * s / 12, m * s * s / 12, 0, 0, 0],
        }
        for n, (m, s) in sizes.items()
    }
    hinge = {"type": "revolute", "axis": "y"}
    closing = [
        {"shift": [0.5, 0, 0]},
        {"rotate": "y", "coordinate": "tau"},
        {"shift": [-0.8, 0, 0]},
    ]
    return {
        "format": "kinetree/1",
        "name": "four-bar that opens",
        "gravity": [0, 0, -9.81],
        "parameters": {"c": {"value": 0.3, "unit": "N.m.s/rad", "tunable": True}},
        "bodies": bodies,
        "joints": {
            "A": {
                "parent": "ground",
                "child": "crank",
                **hinge,
                "coordinates": ["phi"],
                "start": -0.9,
                "speed": -3.0,
            },
            "B": {
                "parent": "crank",
                "child": "rod",
                "at": [0.3, 0, 0],
                **hinge,
                "coordinates": ["psi"],
                "start": 0.3,
            },
            "C": {
                "parent": "ground",
                "child": "rocker",
                "at": [0.7, 0, 0],
                **hinge,
                "coordinates": ["chi"],
                "start": -1.3,
            },
            "D": {"parent": "rocker", "child": "rod", "transforms": closing, "cut": True},
        },
        "forces": {"friction": {"coordinate": "phi", "value": "-c*der(phi)"}},
        "outputs": {"reaction": {"quantity": "reaction", "joint": "C", "axis": "x"}},
        "stages": [
            {"name": "closed", "ends": {"when": "t > 1.3"}, "free": ["D"]},
            {"name": "open"},
        ],
    }


def test_singular_position_amplifies_rounding():
    grid = [0.02 * k for k in range(26)]
    found, response = {}, {}
    for name, mechanism in (("loop", four_bar_beside_a_dead_point()), ("pendulum", "lib:pendulum")):
        twin = InProcess(fmu_unit(load(mechanism), integrator="rk4", step=1e-3))
        expected = run(twin.start(), grid, ["phi"])
        response[name] = horizon(twin, grid, ["phi"], expected)[1][0]
        found[name] = rounded(twin, lambda unit: run(unit, grid, ["phi"]))
    rounding = np.finfo(float).eps
    assert (
        found["loop"] > 100.0 * response["loop"] * rounding
    )  # it decides whether a residual is closed once more
    assert 0.0 < found["pendulum"] < 100.0 * response["pendulum"] * rounding


@pytest.mark.slow
def test_half_step_estimates_fixed_step_error():
    """Of order four: the difference is 15/16 of the error, of which twice is told; where errors choose the steps there is nothing to tell."""
    grid, names = [0.25 * k for k in range(9)], ["phi"]
    twin, exact = (
        InProcess(fmu_unit(load("lib:pendulum"), integrator="rk4", step=step))
        for step in (0.05, 1e-3)
    )
    coarse, fine = (run(each.start(), grid, names) for each in (twin, exact))
    error = deviation(coarse, fine)
    assert error > 1e-7 and step_error(twin, grid, names, coarse) == pytest.approx(
        1.875 * error, rel=0.2
    )
    chosen = InProcess(fmu_unit(load("lib:pendulum"), integrator="rk45"))
    assert step_error(chosen, grid, names, run(chosen.start(), grid, names)) == 0.0


def test_source_fmu_passes_singular_position(tmp_path, monkeypatch):
    monkeypatch.setattr(archive_module, "STRICT", QUICK)
    report = verify(
        build_fmu(load(four_bar_beside_a_dead_point()), tmp_path / "opens.fmu", "source", 2)
    )
    assert report.good, str(report)


@pytest.mark.slow
def test_straight_line_code_passes_near_singular_positions(tmp_path):
    """The engine closes the loops of a step by the factor of another evaluation there: the same code
    in this process agrees to rounding, the engine to a part of the error of a step.
    """
    made = build_fmu(
        load("lib:slider-crank-spatial"),
        tmp_path / "crank.fmu",
        "native",
        integrator="rk4",
        specialised=True,
    )
    report = verify(made)
    results = {check.what: check.result for check in report.checks}
    assert report.good, str(report)
    assert float(results["co-simulation"].split()[2]) < 1e-11
    assert float(results["straight-line code beside the engine"].split()[2]) > 1e-10


@pytest.mark.slow
def test_carrier_sources_run_all_stages():
    """Contacts, release and sliding of modules: every stage by both engines, all columns; the energy's residual beside the energy."""

    def run():
        system = load("lib:carrier", modules=2).compile()
        return system.simulate(integrator="rk4", output_step=0.1, step=1e-3)

    right = run()
    with in_its_place():
        found = run()
    assert [(event.kind, event.stage) for event in found.events] == [
        (event.kind, event.stage) for event in right.events
    ]
    assert max(abs(a.time - b.time) for a, b in zip(found.events, right.events, strict=True)) < SAME
    sizes = {
        name: np.nanmax(np.abs(right["energy" if name == "energy_residual" else name]))
        for name in right.columns()
        if name != "solver_steps"
    }
    assert (
        max(
            np.nanmax(np.abs(found[name] - right[name])) / max(1.0, size)
            for name, size in sizes.items()
        )
        < SAME
    )


def test_runs_with_exact_jacobians_agree_to_rounding():
    """Why the linearly implicit method agrees to 1e-9 alone: right-hand sides that differ in roundings have Jacobians by differences that differ by
    eps over its root. With the slopes of dual numbers the same steps by the same two right-hand sides agree as far as these do."""
    system = load("lib:regulator").compile()
    fast, n, h, gamma = system.specialise(), system.n, 1e-3, 1.0 - np.sqrt(0.5)
    fast.engine = "specialised"

    def by_differences(rates, y, f):
        steps = np.copysign(2.0**-26 * np.maximum(np.maximum(np.abs(y), np.abs(h * f)), 1e-10), f)
        return np.array(
            [
                (rates(y + step * unit) - f) / ((y + step) @ unit - y @ unit)
                for step, unit in zip(steps, np.eye(2 * n), strict=True)
            ]
        ).T

    def exact(rates, y, f):
        slopes = system.derivatives(0.0, y[:n], y[n:])
        return np.block([[np.zeros((n, n)), np.eye(n)], [slopes.q, slopes.u]])

    def end(engine, jacobian):
        def rates(y):
            return np.append(y[n:], engine.accelerations(0.0, y[:n], y[n:]))

        y = np.concatenate(system.start())
        for _ in range(300):
            f = rates(y)
            A = np.eye(2 * n) - gamma * h * jacobian(rates, y, f)
            k1 = np.linalg.solve(A, f)
            y = y + h * (1.5 * k1 + 0.5 * np.linalg.solve(A, rates(y + h * k1) - 2.0 * k1))
        return y

    apart = {
        jacobian: np.abs(end(system, jacobian) - end(fast, jacobian)).max()
        for jacobian in (by_differences, exact)
    }
    assert apart[exact] < 1e-14 and 100 * apart[exact] < apart[by_differences] < 1e-9


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> dict[int, Path]:
    """The sources of a closed loop with a guard, by version of FMI."""
    folder = tmp_path_factory.mktemp("sources")
    for version in (2, 3):
        with ZipFile(
            build_fmu(load("lib:four-bar"), folder / f"{version}.fmu", "source", version)
        ) as archive:
            archive.extractall(folder / str(version))
    return {version: folder / str(version) / "sources" for version in (2, 3)}


def test_source_archive_compiles_as_cpp(unpacked, tmp_path):
    """Hosts that build with a C++ compiler take the same files, without an error or a warning; what both versions have is compiled once."""
    compiler_of_cpp = shutil.which("g++") or shutil.which("clang++")
    if not compiler_of_cpp:
        pytest.skip("no C++ compiler here")
    own, others = (
        {path.name: path.read_bytes() for path in unpacked[version].iterdir()} for version in (2, 3)
    )
    new = {name for name, text in others.items() if own.get(name) != text}
    assert all(name.startswith("fmi3") or name == "buildDescription.xml" for name in new), (
        "what is common may include what differs"
    )
    for path in [
        *sorted(unpacked[2].glob("*.c")),
        *(unpacked[3] / name for name in sorted(new) if name.endswith(".c")),
    ]:
        command = [
            compiler_of_cpp,
            "-x",
            "c++",
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{path.parent}",
            "-c",
            str(path),
        ]
        done = subprocess.run(
            [*command, "-o", str(tmp_path / "x.o")], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.platforms
@pytest.mark.parametrize(
    "target",
    [
        "x86_64-linux-gnu",
        "aarch64-linux-gnu",
        "x86_64-windows-gnu",
        "arm-linux-gnueabihf",
        "riscv64-linux-musl",
    ],
)
def test_source_archive_compiles_by_clang_for_other_targets(unpacked, target, tmp_path):
    """zig's clang compiles the sources for processors with 64 and with 32 bits and links them, without a warning."""
    pytest.importorskip("ziglang")
    files = [str(path) for path in sorted(unpacked[2].glob("*.c"))]
    command = [
        *cross_compiler(target),
        *STRICT[:-2],
        "-O1",
        "-shared",
        "-fPIC",
        f"-I{unpacked[2]}",
        *files,
        "-lm",
        "-o",
        str(tmp_path / "x.so"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
