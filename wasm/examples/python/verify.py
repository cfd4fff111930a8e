"""Checks a proof with the module in wasmtime: python verify.py MODULE KEY PROOF [POLICY-JSON]

Needs wasmtime from PyPI. The interface is docs/wasm.md."""

import json
import sys
from pathlib import Path

from wasmtime import Engine, Instance, Module, Store


class Verifier:
    """An instance of the module, for one call at a time. After an exception, make another."""

    def __init__(self, module: bytes):
        engine = Engine()
        self.store = Store(engine)
        self.store.set_limits(memory_size=64 << 20)
        exports = Instance(self.store, Module(engine, module), []).exports(self.store)
        self.memory = exports["memory"]
        self.call = lambda name, *args: exports[name](self.store, *args)
        self.call("_initialize")
        if self.call("abi_version") != 1:
            raise RuntimeError("the module has another interface")

    def verify(self, proof: bytes, key: bytes, policy: bytes = b"") -> dict:
        """The module's result. Only "verdict": "accepted" says that the proof holds."""
        args = []
        for data in (proof, key, policy):
            at = self.call("alloc", len(data)) & 0xFFFFFFFF if data else 0
            if data and at == 0:
                raise ValueError("an input is longer than the module takes")
            self.memory.write(self.store, data, at)
            args += [at, len(data)]
        self.call("verify_with", *args)
        for at in args[::2]:
            self.call("free", at)
        at, size = self.call("result_ptr") & 0xFFFFFFFF, self.call("result_len")
        return json.loads(bytes(self.memory.read(self.store, at, at + size)))


def main() -> int:
    module, key, proof = (Path(name).read_bytes() for name in sys.argv[1:4])
    policy = sys.argv[4].encode() if len(sys.argv) > 4 else b""
    result = Verifier(module).verify(proof, key, policy)
    print(json.dumps(result, indent=2))
    return 0 if result["verdict"] == "accepted" else 3


if __name__ == "__main__":
    sys.exit(main())
