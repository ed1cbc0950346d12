"""`python -m kinetree.scripts.site`: builds the site into out/site, where warnings are errors, and
checks its links; --renew runs the tutorials first.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from kinetree.scripts.site.code_blocks import DOCS, ROOT, pictures, run_shell
from kinetree.scripts.site.link_check import broken

SITE = ROOT / "out" / "site"


def renew() -> int:
    """Run every tutorial and keep the pictures that its commands write."""
    failed = 0
    for page in sorted((DOCS / "tutorials").glob("*.md")):
        with TemporaryDirectory() as folder:
            for line in run_shell(page, Path(folder)):
                failed = 1
                print(f"{page.name}: its commands do not print: {line}")
            for target, made in pictures(page, Path(folder)):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(made, target)
                print(f"written: {target.relative_to(ROOT)}")
    return failed


def build(site: Path = SITE) -> int:
    """Build the site by MkDocs in strict mode, then check its links."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = {
        **os.environ,
        "NO_MKDOCS_2_WARNING": "1",
    }  # a note of the theme's authors on what follows it: decision 18
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout + done.stderr)
        return done.returncode
    wrong = broken(site)
    print(
        "\n".join(wrong)
        or f"written: {site / 'index.html'} ({len(list(site.rglob('*.html')))} pages and scenes, no warning, all links lead somewhere)"
    )
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py docs", description=__doc__)
    parser.add_argument(
        "--renew", action="store_true", help="run the tutorials first and keep their pictures"
    )
    options = parser.parse_args()
    return (renew() if options.renew else 0) or build()


if __name__ == "__main__":
    sys.exit(main())
