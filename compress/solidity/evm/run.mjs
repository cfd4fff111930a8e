// Reads {source, contract, calls: [hex]} from standard input, or takes a file with the source, the contract's name and a file with one call, compiles the source, deploys the contract and makes the calls. Prints {warnings, bytes, deploy, results: [{value, gas, failed}]}:
// With missing: [number], precompiles are taken away before the contract is deployed, and deployed says whether it was.
// value is the returned word in hex, gas what a transaction with this call would use before any floor.
import { readFileSync } from 'node:fs'
import solc from 'solc'
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createEVM } from '@ethereumjs/evm'
import { bytesToHex, createAddressFromString, hexToBytes } from '@ethereumjs/util'

const [file, contract, call] = process.argv.slice(2)
const job = file
  ? { source: readFileSync(file, 'utf8'), contract, calls: [readFileSync(call, 'utf8').trim()] }
  : JSON.parse(readFileSync(0, 'utf8'))
const output = JSON.parse(solc.compile(JSON.stringify({
  language: 'Solidity',
  sources: { 'verifier.sol': { content: job.source } },
  settings: { optimizer: { enabled: true, runs: 200 }, evmVersion: 'cancun', outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } } },
})))
const problems = output.errors ?? []
if (problems.some((e) => e.severity === 'error')) {
  console.error(problems.map((e) => e.formattedMessage).join('\n'))
  process.exit(1)
}
const compiled = output.contracts['verifier.sol'][job.contract].evm

const customPrecompiles = (job.missing ?? []).map((n) => ({ address: createAddressFromString('0x' + n.toString(16).padStart(40, '0')) })) // without a function there is nothing at the address
const evm = await createEVM({ common: new Common({ chain: Mainnet, hardfork: Hardfork.Cancun }), customPrecompiles })
const gasLimit = 30_000_000n
const deployed = await evm.runCall({ data: hexToBytes('0x' + compiled.bytecode.object), gasLimit })
if (deployed.execResult.exceptionError && job.missing) {
  console.log(JSON.stringify({ deployed: false, results: [] }))
  process.exit(0)
}
if (deployed.execResult.exceptionError) {
  console.error('deployment failed:', deployed.execResult.exceptionError)
  process.exit(1)
}
const results = []
for (const call of job.calls) {
  const data = hexToBytes('0x' + call)
  const { execResult } = await evm.runCall({ to: deployed.createdAddress, data, gasLimit, isStatic: true })
  let intrinsic = 21000n // EIP-2028
  for (const b of data) intrinsic += b === 0 ? 4n : 16n
  results.push({ value: bytesToHex(execResult.returnValue), gas: Number(execResult.executionGasUsed + intrinsic), failed: execResult.exceptionError !== undefined })
}
console.log(JSON.stringify({ deployed: true, warnings: problems.map((e) => e.message), bytes: compiled.deployedBytecode.object.length / 2, deploy: Number(deployed.execResult.executionGasUsed), results }))
