"""FMUs as WebAssembly components of FMI 3.0, by the draft layered standard fmi-ls-wasm."""
