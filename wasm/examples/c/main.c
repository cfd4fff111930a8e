/* Checks a proof without a WebAssembly runtime: the module translated to C by wasm2c. verify KEY PROOF [POLICY-JSON]
 *
 * The names are those of wabt 1.0.32, Debian's; later versions say Z_verifierZ_alloc for Z_verifierZ_alloc. The interface is docs/wasm.md. A trap ends the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verifier.h"

static Z_verifier_instance_t module;

static u8 *read_file(const char *name, u32 *size) {
  FILE *f = fopen(name, "rb");
  if (f == NULL || fseek(f, 0, SEEK_END) != 0) {
    perror(name);
    exit(4);
  }
  *size = (u32)ftell(f);
  rewind(f);
  u8 *data = malloc(*size + 1);
  if (data == NULL || fread(data, 1, *size, f) != *size) {
    perror(name);
    exit(4);
  }
  fclose(f);
  return data;
}

static u32 put(const void *data, u32 size) {
  if (size == 0) return 0;
  u32 at = Z_verifierZ_alloc(&module, size);
  if (at == 0) {
    fputs("an input is longer than the module takes\n", stderr);
    exit(4);
  }
  memcpy(Z_verifierZ_memory(&module)->data + at, data, size);
  return at;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fputs("usage: verify KEY PROOF [POLICY-JSON]\n", stderr);
    return 2;
  }
  const char *policy = argc > 3 ? argv[3] : "";
  u32 key_size, proof_size, policy_size = (u32)strlen(policy);
  u8 *key = read_file(argv[1], &key_size), *proof = read_file(argv[2], &proof_size);

  wasm_rt_init();
  Z_verifier_init_module();
  Z_verifier_instantiate(&module);
  Z_verifierZ__initialize(&module);
  if (Z_verifierZ_abi_version(&module) != 1) return 1;
  u32 p = put(proof, proof_size), k = put(key, key_size), q = put(policy, policy_size);
  u32 status = Z_verifierZ_verify_with(&module, p, proof_size, k, key_size, q, policy_size);
  u32 at = Z_verifierZ_result_ptr(&module), size = Z_verifierZ_result_len(&module);
  fwrite(Z_verifierZ_memory(&module)->data + at, 1, size, stdout);
  putchar('\n');
  Z_verifier_free(&module);
  wasm_rt_free();
  free(key);
  free(proof);
  return status == 0 ? 0 : 3;
}
