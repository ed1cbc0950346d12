"""Licence files of everything contained in an archive."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution, files
from pathlib import Path
from typing import Any

from kinetree.fmu.native.binaries import Binaries

FOLDER = "documentation/licenses"
TREE = Path(__file__).parents[2]
BSD_2 = """Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are
met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer in the
   documentation and/or other materials provided with the distribution.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE
LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE
GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT
LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH
DAMAGE.
"""
HEADERS = f"""sources/fmi2*.h, sources/fmi3*.h: headers of the FMI standard

Copyright (C) 2008-2011 MODELISAR consortium, 2012-2024 Modelica Association Project "FMI". All rights reserved.

{BSD_2}"""
LINKED = """What is linked into the binaries besides the code of this archive, as far as it is used:

helpers of the compiler: where zig linked, compiler-rt of the LLVM project (Apache License 2.0 with LLVM exceptions, https://llvm.org/LICENSE.txt);
where gcc did, libgcc (GPL 3 with the GCC Runtime Library Exception, https://www.gnu.org/licenses/gcc-exception-3.1.html)
"""
WINDOWS = """
start-up code of mingw-w64 in the binary for Windows: copyright (c) the mingw-w64 project, https://www.mingw-w64.org; in the public domain or under
the licence of its runtime, https://sourceforge.net/p/mingw-w64/mingw-w64/ci/master/tree/COPYING
"""
WASI = """
wasi-libc in the component for WebAssembly, https://github.com/WebAssembly/wasi-libc: Apache License 2.0 with LLVM exceptions, or MIT; its parts of
musl: copyright (c) 2005-2020 Rich Felker and others, MIT:
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to
deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or
sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:
The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.
THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
DEALINGS IN THE SOFTWARE.
"""


def licences(backend: str, carried: Binaries, version: int = 2) -> dict[str, bytes | str | Path]:
    """Return the files of the licence folder; the first one is that named by the FMI standard."""
    found: dict[str, bytes | str | Path] = {f"{FOLDER}/license.txt": own()}
    if backend == "source":
        found[f"{FOLDER}/fmi-headers.txt"] = HEADERS
    if backend == "python":
        package = "pythonfmu" if version == 2 else "pythonfmu3"
        found[f"{FOLDER}/{package}.txt"] = of_package(package)
    if carried:
        systems = {target.system for target in carried}
        texts = {"Windows": WINDOWS, "WebAssembly": WASI}
        more = (text for system, text in texts.items() if system in systems)
        found[f"{FOLDER}/linked.txt"] = LINKED + "".join(more)
    return found


def own() -> bytes:
    """Return the licence of Kinetree."""
    listed = [path for path in files("kinetree") or [] if path.name == "LICENSE"]
    for path in (*(Path(str(each.locate())) for each in listed), TREE / "LICENSE"):
        if path.exists():
            return path.read_bytes()
    return b"Kinetree, BSD-3-Clause\n"


def of_package(name: str) -> bytes:
    """Return the licence text with which a Python package was installed."""
    try:
        package = distribution(name)
    except PackageNotFoundError:
        return f"{name}: https://pypi.org/project/{name}\n".encode()
    listed = [
        path
        for path in package.files or []
        if path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING"))
    ]
    texts = [Path(str(path.locate())).read_bytes() for path in listed]
    facts: Any = package.metadata
    return (
        b"\n".join(texts)
        or f"{name} {package.version}: {facts.get('License', '')} https://pypi.org/project/{name}\n".encode()
    )
