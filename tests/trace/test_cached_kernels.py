"""Kernels of gradients on disk: beside those of the solvers, in a folder that another state of any source does not find."""

from pathlib import Path

import pytest

import kinetree.models.gradients.kernel_cache as K
from kinetree.models.gradients.backward_steps import go_backwards
from kinetree.models.gradients.forward_steps import go_forwards


@pytest.mark.skipif(bool(K.config.DISABLE_JIT), reason="nothing is compiled")
def test_cached_kernels_share_cache_folder():
    usual = K.config.CACHE_DIR

    def twice(x):
        return 2 * x

    assert K.kept(twice)(3) == 6 and K.config.CACHE_DIR == usual
    for compiled in (go_forwards, go_backwards):
        assert Path(compiled._cache.cache_path).parent.name.startswith(Path(usual).name + "-")
        assert Path(compiled._cache.cache_path).parent.parent.name == "numba"


def test_kernel_cache_folder_depends_on_all_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("x = 1\n")
    monkeypatch.setattr(K, "HERE", tmp_path)
    found = [K.cache_folder(), K.cache_folder()]
    (tmp_path / "b.py").write_text("x = 2\n")
    found.append(K.cache_folder())
    monkeypatch.setattr(K, "sources_hash", lambda: "another")
    found.append(K.cache_folder())
    assert found[0] == found[1] and len(set(found)) == 3
