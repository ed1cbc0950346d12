"""`kinetree equations`: every language to the screen and to a file, quantities, symbols, slopes, and what it refuses."""

from pathlib import Path

import pytest

from kinetree.scripts.cli import main

MARKS = {
    "text": "der(der(phi)) = ",
    "latex": r"\begin{align*}",
    "c": "void Pendulum_accelerations(double t,",
    "python": "def Pendulum_accelerations(t, q, u, x, inputs, parameters):",
    "modelica": "function Pendulum_accelerations",
    "casadi": 'ca.Function("Pendulum_accelerations"',
}


@pytest.mark.parametrize("language", MARKS)
def test_equations_command_writes_every_language(language: str, capsys, tmp_path: Path):
    """The same text on the screen and in the file; the file's line says what it is."""
    assert main(["equations", "lib:pendulum", "--to", language]) == 0
    shown = capsys.readouterr().out
    assert MARKS[language] in shown
    path = tmp_path / "equations.txt"
    assert main(["equations", "lib:pendulum", "--to", language, "-o", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == shown
    assert "operations" in capsys.readouterr().out


def test_equations_command_selects_quantities_symbols_and_derivatives(capsys):
    assert (
        main(
            [
                "equations",
                "lib:pendulum",
                "--of",
                "energy",
                "--parameters",
                "symbols",
                "--to",
                "c",
                "--name",
                "bob",
            ]
        )
        == 0
    )
    text = capsys.readouterr().out
    assert "void bob_energy(" in text and "parameters[" in text
    assert main(["equations", "lib:pendulum", "--gradient", "phi", "--to", "text"]) == 0
    assert "d der(der(phi)) / d phi = " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "cobol"], "--to"),
        (["--form", "ITR-M"], "iterates"),
        (["--gradient", "foo"], "unknown: foo"),
        (["--of", "colour"], "--of"),
    ],
)
def test_unsupported_equation_requests_are_refused(options: list[str], message: str, capsys):
    assert main(["equations", "lib:pendulum", *options]) == 2
    assert message in capsys.readouterr().err


def test_modelica_of_a_large_mechanism_is_an_external_function(capsys):
    """OpenModelica takes minutes to take 431 operations apart."""
    for name, external in (("pendulum", False), ("four-bar", True)):
        assert main(["equations", f"lib:{name}", "--to", "modelica"]) == 0
        assert ('external "C"' in capsys.readouterr().out) == external
