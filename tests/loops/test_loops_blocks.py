"""Fast ways through the equations of closed loops against the slow ones: planes, blocks of three, forces that join the bias late, near projection."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.flat_blocks import model_fields


def general(system, seed: int = 4):
    """A state away from special angles."""
    rng = np.random.default_rng(seed)
    q, u = system.start()
    return system.project(
        0.0, q + 0.03 * rng.standard_normal(q.size), u + rng.standard_normal(u.size)
    )


def inertia_and_bias(system, q, u):
    """Mass matrix of the tree and the forces that hold the speeds."""
    return system.mass_matrix(0.0, q), -system.inverse_dynamics(0.0, q, u, np.zeros(system.n))


def jacobian(system, q):
    """Rows of speeds, whose residuals are linear in them."""

    def residual(u):
        system._fast.set_state(q, u)
        system._fast.call("constraints", 1, 0.0)
        return system._fast.ws.loop_r.copy()

    rest = residual(np.zeros(system.n))
    return np.array([residual(unit) - rest for unit in np.eye(system.n)]).T


def rest_of_rows(system, q, u, J):
    """J̇ u by what is left of the second derivative: the engine's accelerations keep the loops, so that J u̇ = -J̇ u for any other forces too."""
    tau = 10.0 * np.cos(np.arange(system.n))
    return -J @ system.accelerations(0.0, q, u, tau=tau), tau


@pytest.mark.parametrize(
    "model, settings",
    [
        ("n_four_bar", {"n": 2}),
        ("n_four_bar", {"n": 6}),
        ("andrews", {}),
        ("six_bar", {}),
        ("delta", {}),
    ],
)
def test_loop_solution_matches_dense_system(model, settings):
    """[M Jᵀ; J 0] solved densely by numpy: what the engine finds by paths, blocks and one sweep, to eps times the condition of the whole, 1e5."""
    system = load(f"lib:{model}", **settings).compile()
    q, u = general(system)
    M, f = inertia_and_bias(system, q, u)
    J = jacobian(system, q)
    gamma, _ = rest_of_rows(system, q, u, J)
    n, rows = system.n, J.shape[0]
    whole = np.block([[M, J.T], [J, np.zeros((rows, rows))]])
    dense = np.linalg.lstsq(whole, np.concatenate([f, -gamma]), rcond=1e-12)[0][:n]
    own = system.accelerations(0.0, q, u)
    assert np.abs(own - dense).max() < 1e-10 * max(1.0, np.abs(dense).max())


@pytest.mark.parametrize("model", ["four_bar", "andrews", "six_bar", "n_four_bar"])
def test_planar_treatment_changes_no_result(model):
    """Loops of a plane solved as loops of space: accelerations and reactions agree to rounding."""
    system = load(f"lib:{model}").compile()
    q, u = general(system)
    planes = system._fast.ws.loop_plane
    assert (planes > 0.0).all()
    fast, carried = system.accelerations(0.0, q, u), system.reactions(0.0, q, u)
    kept = planes.copy()
    planes[:] = 0.0
    slow, pushed = system.accelerations(0.0, q, u), system.reactions(0.0, q, u)
    planes[:] = kept
    assert np.abs(fast - slow).max() < 1e-11 * np.abs(slow).max()
    assert np.abs(carried - pushed).max() < 1e-11 * np.abs(pushed).max()


def test_spatial_loops_are_not_treated_as_planar():
    for model in ("bricard", "delta", "slider_crank_spatial"):
        assert not load(f"lib:{model}").compile()._fast.ws.loop_plane.any()


def tilting() -> dict:
    """A four-bar with a pin that a parameter may tilt."""
    bar = {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1, 0, 0, 0]}
    turn = {"type": "revolute", "axis": "z"}
    return {
        "format": "kinetree/1",
        "parameters": {"tilt": 0.0},
        "bodies": {"crank": bar, "coupler": bar, "rocker": bar},
        "joints": {
            "A": {"child": "crank", "coordinates": ["a"], "start": 1.2} | turn,
            "B": {
                "parent": "crank",
                "child": "coupler",
                "at": [1, 0, 0],
                "coordinates": ["b"],
                "start": -1.2,
            }
            | turn
            | {"axis": [0, "sin(tilt)", "cos(tilt)"]},
            "C": {
                "parent": "coupler",
                "child": "rocker",
                "at": [1, 0, 0],
                "coordinates": ["c"],
                "start": -1.9,
            }
            | turn,
            "D": {"child": "rocker", "coordinates": ["d"], "at": [1, 0, 0], "cut": True} | turn,
        },
    }


def test_parameter_tilting_an_axis_disables_planar_treatment():
    """The plane is looked for whenever constants are derived: wrenches of three numbers would miss what an axis out of the plane does."""
    system = load(tilting()).compile()
    instance = system._fast
    assert (instance.ws.loop_plane == 3.0).all()
    instance.ws.val[system.compiled.registers["tilt"]] = 0.3
    instance.call("prepare")
    assert not instance.ws.loop_plane.any()


def test_shared_bodies_are_listed_once():
    """Neighbours of a row of four-bars share one crank; loops that do not meet have no block."""
    fields = model_fields(
        *(lambda c: (c.ints, c.floats))(load("lib:n_four_bar", n=5).compile().compiled)
    )
    assert fields.l_shared_at[-1] == 4
    assert fields.l_block[-1] == 9
    pairs = fields.l_shared.reshape(-1, 2)
    assert (fields.l_body[pairs[:, 0]] == fields.l_body[pairs[:, 1]]).all()


@pytest.mark.parametrize(
    "model, method",
    [("n_four_bar", "rk4"), ("andrews", "adams"), ("slider_crank_spatial", "adams")],
)
def test_projected_states_need_no_further_projection(model, method):
    """The factor of the last evaluation closes positions and speeds as a factor of their own would: what that would change is rounding."""
    stop = {"andrews": 0.01}.get(model, 0.5)
    system = load(f"lib:{model}").compile()
    result = system.simulate(
        stop_time=stop,
        output_step=stop,
        integrator=method,
        step=stop / 200 if method == "rk4" else None,
        tolerance=1e-6,
    )
    q, u = (
        np.array([result[name][-1] for name in names])
        for names in (system.coordinates, system.speeds)
    )
    q2, u2 = system.project(stop, q, u)
    assert np.abs(q2 - q).max() < 1e-12
    assert np.abs(u2 - u).max() < 1e-12 * max(1.0, np.abs(u).max())


@pytest.mark.parametrize("model", ["four_bar", "n_four_bar", "closed_three_link", "andrews"])
def test_derivatives_of_planar_loops_match_differences(model):
    """Exact slopes by forces along the speeds against differences, in which they are linear: the wide workspace began with chance numbers where the
    planes of the loops stand, so that a loop of one plane was solved in another, and its slopes were those of the free tree."""
    system = load(f"lib:{model}").compile()
    q, u = general(system)
    instance = system._fast
    dirty = instance.wide(16)
    assert not dirty.any()
    instance.keep(16, dirty)
    exact = system.derivatives(0.0, q, u).tau
    units = [
        system.accelerations(0.0, q, u, tau=unit) - system.accelerations(0.0, q, u, tau=-unit)
        for unit in np.eye(system.n)
    ]
    differences = np.array(units).T / 2.0
    assert np.abs(exact - differences).max() < 1e-9 * np.abs(differences).max()
