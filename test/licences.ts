/** Lists the packages that an installation of the product brings, by licence; fails on a licence that is not among the permissive ones. */
import { readFileSync } from 'node:fs'
import { permissive } from './support/permissive-licences.ts'

const lock: unknown = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'))

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const packages = isRecord(lock) && isRecord(lock.packages) ? Object.entries(lock.packages) : []
const byLicence = new Map<string, string[]>()
for (const [path, entry] of packages) {
  // Not the packages of this repository, nor the links to them.
  if (
    !path.includes('node_modules/') ||
    !isRecord(entry) ||
    entry.link === true ||
    entry.dev === true ||
    entry.devOptional === true
  )
    continue
  const licence = String(entry.license ?? 'none stated')
  byLicence.set(licence, [...(byLicence.get(licence) ?? []), path.replace(/^.*node_modules\//, '')])
}

let count = 0
for (const [licence, names] of [...byLicence].sort(([, one], [, other]) => other.length - one.length)) {
  count += names.length
  console.log(`${licence} (${names.length}): ${names.sort().join(', ')}`)
}
console.log(`${count} packages`)
const others = [...byLicence.keys()].filter((licence) => !permissive.has(licence))
if (others.length > 0) {
  console.error(`not permissive: ${others.join(', ')}`)
  process.exitCode = 1
}
