// `npm run test:witness`: clients of Azure in other languages against the emulator, and of Dapr against `run`. Exit code 1
// if any of them saw a thing that is not so.
// Where a witness can't run it is skipped and said to be; with CI set that is a failure.
import { azureCli } from './azure-cli.ts'
import { daprGoSdk, daprPythonSdk } from './dapr-sdks.ts'
import { goTestExample, jestExample, junitExample, pytestExample } from './emulator-examples.ts'
import { goAzure, goNamespaces } from './go-azure.ts'
import { goBinding } from './go-binding.ts'
import { goHashicorp } from './go-hashicorp.ts'
import { javaSdk } from './java-sdk.ts'
import { languageWitnesses } from './languages.ts'
import { pythonBrokers } from './python-brokers.ts'
import { pythonFunctions } from './python-functions.ts'
import { pythonSdks } from './python-sdks.ts'
import { terraformAzapi, terraformAzurerm } from './terraform.ts'
import type { Step, Witness } from './witness.ts'

const inCi = process.env.CI !== undefined && process.env.CI !== '' && process.env.CI !== 'false'
const witnesses: readonly Witness[] = [
  pythonSdks,
  pythonBrokers,
  pythonFunctions,
  azureCli,
  goAzure,
  goNamespaces,
  goHashicorp,
  goBinding,
  javaSdk,
  pytestExample,
  goTestExample,
  junitExample,
  jestExample,
  ...languageWitnesses,
  daprPythonSdk,
  daprGoSdk,
  // Terraform is on no machine of the gate, and its providers are large.
  ...(inCi ? [] : [terraformAzapi, terraformAzurerm]),
]
const wanted = process.argv[2]

let passed = 0
let failed = 0
let skipped = 0

for (const witness of witnesses) {
  if (wanted !== undefined && !witness.name.toLowerCase().includes(wanted.toLowerCase())) continue
  const started = performance.now()
  const steps = await testimony(witness)
  if (steps === undefined) continue
  for (const { step, error } of steps) {
    if (error === undefined) passed++
    else failed++
    console.log(
      `  ${error === undefined ? 'ok    ' : 'FAILED'}  ${step}${error === undefined ? '' : `\n          ${error}`}`,
    )
  }
  console.log(`${witness.name}: ${steps.length} steps in ${((performance.now() - started) / 1000).toFixed(1)} s\n`)
}
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

/** What a witness has seen; undefined if it can't run here and needn't. */
async function testimony(witness: Witness): Promise<readonly Step[] | undefined> {
  console.log(witness.name)
  try {
    const { missing } = await witness.prepare()
    if (missing === undefined) return await witness.run()
    if (inCi) return [{ step: 'it can run', error: missing }]
    console.log(`  skipped: ${missing}\n`)
    skipped++
    return undefined
  } catch (error) {
    return [
      { step: 'it runs to its end', error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
    ]
  }
}
