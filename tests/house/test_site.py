"""How the site is made: links that lead nowhere, pages that do not print what they show, scenes and pictures in their places."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from kinetree.scripts.developer import figures
from kinetree.scripts.site import __main__ as site
from kinetree.scripts.site import code_blocks, gallery, law_figures
from kinetree.scripts.site.link_check import broken

GOOD = '<h1 id="top">Top</h1><a href="#top">up</a><a href="inner/">in</a><a href="https://elsewhere.example">out</a><img src="p.png">'


def test_links_of_a_built_site_are_checked(tmp_path: Path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "scenes").mkdir()
    (tmp_path / "p.png").write_bytes(b"")
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "scenes" / "a.html").write_text('<a href="nothing.html">never looked at</a>')
    inner = tmp_path / "inner" / "index.html"
    inner.write_text(
        '<a href="../index.html#top">up</a><iframe src="../scenes/a.html#bare"></iframe>'
    )
    assert broken(tmp_path) == []
    other = tmp_path / "wrong.html"
    other.write_text(
        '<a href="gone.html">a</a><a href="index.html#gone">b</a><script src="https://cdn.example/x.js"></script>'
        '<link rel="stylesheet" href="//cdn/y.css">'
        "<p>| a | b | |---|---|</p>"
    )
    assert broken(tmp_path) == [
        "wrong.html: https://cdn.example/x.js is fetched from elsewhere",
        "wrong.html: //cdn/y.css is fetched from elsewhere",
        "wrong.html: a table that is not drawn as one",
        "wrong.html: gone.html leads nowhere",
        "wrong.html: index.html#gone: no such place",
    ]


PAGE = """# Page

<!-- file: a.txt -->
```toml
a = 1
```

```sh
cat a.txt   # a comment
kinetree --version
```

```text
a = 1
...
kinetree …
this is not printed
```

<!-- not run: it needs a screen -->
```sh
exit 3
```

    python3 -c "open('b.png', 'w')"

![B](b.png)
"""


def test_page_commands_print_what_pages_show(tmp_path: Path):
    page, folder = tmp_path / "page.md", tmp_path / "room"
    folder.mkdir()
    page.write_text(PAGE)
    assert code_blocks.run_shell(page, folder) == ["this is not printed"]
    assert code_blocks.pictures(page, folder) == [
        ((tmp_path / "b.png").resolve(), folder / "b.png")
    ]
    page.write_text("```sh\necho said; exit 3\n```\n")
    with pytest.raises(AssertionError, match="exit code 3\nsaid"):
        code_blocks.run_shell(page, folder)


def test_pictures_of_tutorials_are_renewed_and_the_site_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    tutorials = tmp_path / "docs" / "tutorials"
    tutorials.mkdir(parents=True)
    (tutorials / "page.md").write_text(PAGE)
    for module in (site, code_blocks):
        monkeypatch.setattr(module, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(site, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["dev.py docs", "--renew"])
    assert site.main() == 1
    said = capsys.readouterr().out
    assert (
        "page.md: its commands do not print: this is not printed" in said
        and "written: docs/tutorials/b.png" in said
    )
    assert (tutorials / "b.png").exists()
    status = {"code": 0}

    def mkdocs(command: list[str], **options: object) -> SimpleNamespace:
        built = Path(command[-1])
        built.mkdir(exist_ok=True)
        (built / "index.html").write_text(GOOD)
        return SimpleNamespace(returncode=status["code"], stdout="WARNING", stderr=" of mkdocs")

    monkeypatch.setattr(site.subprocess, "run", mkdocs)
    target = tmp_path / "site"
    assert site.build(target) == 1 and "index.html: inner/ leads nowhere" in capsys.readouterr().out
    (target / "inner").mkdir()
    (target / "inner" / "index.html").write_text("")
    (target / "p.png").write_bytes(b"")
    site.broken.__globals__["read"].cache_clear()
    assert site.build(target) == 0 and "2 pages and scenes, no warning" in capsys.readouterr().out
    status["code"] = 2
    assert site.build(target) == 2 and "WARNING of mkdocs" in capsys.readouterr().out


def test_scenes_are_added_to_the_site(monkeypatch: pytest.MonkeyPatch):
    """A page and a picture of every mechanism; moving scenes where a page asks for them."""
    pytest.importorskip("mkdocs")
    from kinetree.scripts.site import generated_pages, mkdocs_hooks

    assert {"pendulum", "example-crane"} <= set(
        gallery.sources()
    ) and "servo-drive" not in gallery.sources()
    monkeypatch.setattr(
        gallery, "sources", lambda: {"pendulum": "lib:pendulum", "train": "lib:train"}
    )
    for name in ("api", "commands", "changes"):
        monkeypatch.setattr(generated_pages, name, lambda name=name: f"# {name}")
    config = SimpleNamespace(
        plugins=SimpleNamespace(_current_plugin="site"), site_dir="b", use_directory_urls=True
    )
    files = {file.src_uri: file for file in mkdocs_hooks.on_files([], config)}
    assert set(files) == {
        "api.md",
        "commands.md",
        "changes.md",
        "gallery.md",
        *(f"scenes/{n}.png" for n in ("pendulum", "train")),
        "scenes/pendulum-live.html",
        "scenes/train.html",  # a linear chain, which no live page computes
    }
    card = files["gallery.md"].content_string
    assert 'href="scenes/pendulum-live.html"' in card and 'href="scenes/train.html"' in card
    assert "pendulum" not in mkdocs_hooks.embedded_scenes() >= {"carrier"}
    assert (
        files["scenes/pendulum.png"].content_bytes.startswith(b"\x89PNG")
        and "kinetree view lib:train" in files["gallery.md"].content_string
    )
    nav = {
        "nav": [
            {"Start": "README.md"},
            {"More": [{"Control": "tutorials/control.md"}, {"None": "contacts.md"}]},
        ]
    }
    monkeypatch.setattr(mkdocs_hooks, "SLOTS", ("contacts.md",))
    monkeypatch.setattr(mkdocs_hooks, "DOCS", Path("nowhere"))
    assert mkdocs_hooks.on_config(nav)["nav"] == [
        {"Start": "README.md"},
        {"More": [{"Control": "tutorials/control.md"}]},
    ]
    page = SimpleNamespace(file=SimpleNamespace(src_uri="tutorials/a.md"))
    made = mkdocs_hooks.on_page_markdown(
        "a\n\n    kinetree run a.toml\n\n| 47 102 | `1e-16 2 300` | 1e-16 |\n<!-- scene: crane -->",
        page,
        None,
        None,
    )
    assert (
        "```sh\nkinetree run a.toml\n```" in made
        and "47\u00a0102" in made
        and "`1e-16 2 300`" in made
        and "1e-\u206016" in made
    )
    assert 'src="../scenes/crane.html#bare"' in made
    monkeypatch.undo()
    notes = mkdocs_hooks.on_page_markdown(
        "# Decisions",
        SimpleNamespace(file=SimpleNamespace(src_uri="decisions/README.md")),
        None,
        None,
    )
    assert notes.startswith("# Decisions\n## All of them") and "](20-registries" in notes


def test_pictures_of_laws_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Laws as the engine has them; files beside the pictures are gone again."""
    monkeypatch.setattr(law_figures, "FOLDER", tmp_path)
    drawn = []
    monkeypatch.setattr(
        law_figures,
        "scene",
        lambda page, name, at, path, whole=law_figures.scene: (
            drawn.append(name) or (whole(page, name, at, path) if name == "gears.toml" else None)
        ),
    )
    monkeypatch.setattr(law_figures, "HEAVY", 1e6)
    assert law_figures.main() == 0
    assert (
        sorted(path.name for path in tmp_path.iterdir())
        == ["electric_motor.png", "force_laws.png", "gears.png", "impacts.png", "soil.png"]
        and len(drawn) == 5
    )


def test_pictures_of_hydraulics_and_couplings_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    pytest.importorskip("libcosimpy")
    monkeypatch.setattr(figures, "FOLDER", tmp_path)
    monkeypatch.setattr(figures, "STOP", 0.02)
    monkeypatch.delitem(figures.PICTURES, "identification.png")  # a fit takes seconds
    figures.main()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(figures.PICTURES)
    assert (
        all(path.read_bytes().startswith(b"\x89PNG") for path in tmp_path.iterdir())
        and "hydraulics.png" in capsys.readouterr().out
    )
