//! Checks a proof with the module in wasmtime: verify MODULE KEY PROOF [POLICY-JSON]
//!
//! The interface is docs/wasm.md.

use std::{env, error::Error, fs, process::ExitCode};
use wasmtime::{Engine, Instance, Memory, Module, Store, StoreLimits, StoreLimitsBuilder, TypedFunc, WasmParams, WasmResults};

/// An instance of the module, for one call at a time. After an error, make another.
struct Verifier {
    store: Store<StoreLimits>,
    instance: Instance,
    memory: Memory,
}

impl Verifier {
    fn new(module: &[u8]) -> Result<Self, Box<dyn Error>> {
        let engine = Engine::default();
        let mut store = Store::new(&engine, StoreLimitsBuilder::new().memory_size(64 << 20).build());
        store.limiter(|limits| limits);
        let instance = Instance::new(&mut store, &Module::new(&engine, module)?, &[])?;
        let memory = instance.get_memory(&mut store, "memory").ok_or("the module has no memory")?;
        let mut verifier = Verifier { store, instance, memory };
        verifier.call::<(), ()>("_initialize", ())?;
        match verifier.call::<(), i32>("abi_version", ())? {
            1 => Ok(verifier),
            version => Err(format!("the module has interface {version}").into()),
        }
    }

    fn call<P: WasmParams, R: WasmResults>(&mut self, name: &str, params: P) -> Result<R, Box<dyn Error>> {
        let f: TypedFunc<P, R> = self.instance.get_typed_func(&mut self.store, name)?;
        Ok(f.call(&mut self.store, params)?)
    }

    fn put(&mut self, data: &[u8]) -> Result<(u32, u32), Box<dyn Error>> {
        if data.is_empty() {
            return Ok((0, 0));
        }
        let size = u32::try_from(data.len())?;
        let at = self.call::<u32, u32>("alloc", size)?;
        if at == 0 {
            return Err("an input is longer than the module takes".into());
        }
        self.memory.write(&mut self.store, at as usize, data)?;
        Ok((at, size))
    }

    /// The module's status and its result in JSON. Only status 0 says that the proof holds.
    fn verify(&mut self, proof: &[u8], key: &[u8], policy: &[u8]) -> Result<(i32, String), Box<dyn Error>> {
        let (p, p_size) = self.put(proof)?;
        let (k, k_size) = self.put(key)?;
        let (q, q_size) = self.put(policy)?;
        let status = self.call("verify_with", (p, p_size, k, k_size, q, q_size))?;
        for at in [p, k, q] {
            self.call::<u32, ()>("free", at)?;
        }
        let at = self.call::<(), u32>("result_ptr", ())?;
        let mut result = vec![0; self.call::<(), u32>("result_len", ())? as usize];
        self.memory.read(&self.store, at as usize, &mut result)?;
        Ok((status, String::from_utf8(result)?))
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let args: Vec<String> = env::args().collect();
    let [_, module, key, proof, rest @ ..] = &args[..] else {
        return Err("usage: verify MODULE KEY PROOF [POLICY-JSON]".into());
    };
    let policy = rest.first().map(String::as_str).unwrap_or("");
    let mut verifier = Verifier::new(&fs::read(module)?)?;
    let (status, result) = verifier.verify(&fs::read(proof)?, &fs::read(key)?, policy.as_bytes())?;
    println!("{result}");
    Ok(if status == 0 { ExitCode::SUCCESS } else { ExitCode::from(3) })
}
