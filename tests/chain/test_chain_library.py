"""The library's chains: structure and stiffness."""

import math

import numpy as np

from kinetree.models.library import chains


def test_helical_spring_rate_matches_handbook_formula():
    """G d^4/(8 D^3 N) neglects curvature, pitch and shear of the wire: 1 % for D/d = 12."""
    m, F, C = chains.helical_spring(turns=8)
    rate = 1.0 / np.linalg.inv(C)[-4, -4]
    handbook = 206e9 / 2.6 * 0.005**4 / (8 * 0.06**3 * 8)
    assert abs(rate / handbook - 1) < 0.01
    assert np.array_equal(C, C.T) and np.linalg.eigvalsh(C)[0] > 0


def test_blocks_of_the_spring_are_tridiagonal_and_full():
    C = chains.helical_spring(turns=6)[2].reshape(6, 6, 6, 6).transpose(0, 2, 1, 3)
    for i in range(6):
        for j in range(6):
            assert bool(np.abs(C[i, j]).max() > 0) == (abs(i - j) <= 1)
    assert np.count_nonzero(np.abs(C[2, 3]) > 1e-9 * np.abs(C[2, 3]).max()) > 12


def test_rigid_motion_of_rings_causes_no_force():
    """Rigid motion: rotation about the x axis through the clamp moves every ring but the first pair of blocks keeps balance inside the chain."""
    C = chains.helical_spring(turns=5, pitch=0.012)[2]
    rigid = np.zeros((5, 6))
    for i in range(5):
        rigid[i, :3] = np.cross([0.3, -0.2, 0.1], [0, 0, 0.012 * (i + 1)])
        rigid[i, 3:] = [0.3, -0.2, 0.1]
    force = (C @ rigid.reshape(-1)).reshape(5, 6)
    assert (
        np.abs(force[1:]).max() < 1e-9 * np.abs(C).max()
    )  # only the ring next to the clamp is held


def test_chain_drive_coordinates_are_uncoupled():
    m, F, C = chains.chain_drive(10)
    blocks = C.reshape(10, 6, 10, 6)
    for a in range(6):
        for b in range(6):
            assert a == b or not blocks[:, a, :, b].any()
    frequencies = np.sqrt(np.linalg.eigvalsh(blocks[:, 1, :, 1]) / m[1])
    assert math.isclose(
        frequencies[0], 2 * math.sqrt(300 / 0.0127 / 0.02) * math.sin(math.pi / 22), rel_tol=1e-12
    )


def test_stretched_trains_have_the_requested_frequency_ratio():
    for make in (chains.stretched_train, lambda n, ratio: chains.two_mass_train(n // 2, ratio)):
        m, F, C = make(60, 1e3)
        values = np.linalg.eigvalsh(C)
        assert abs(math.sqrt(values[-1] / values[0]) / 1e3 - 1) < 0.01


def test_run_command_runs_library_chains(capsys):
    """Summary and data of a run ask a chain for what they ask other systems."""
    from kinetree.scripts import cli

    assert cli.main(["run", "lib:train", "--stop-time", "0.2"]) == 0
    assert cli.main(["run", "lib:train", "--stop-time", "0.2", "--json"]) == 0
    assert '"unreached"' in capsys.readouterr().out
