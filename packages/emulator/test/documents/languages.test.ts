import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { blockOf } from '../../../../test/support/language-blocks.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'

const root = join(import.meta.dirname, '../../../..')

it('the program for JavaScript runs as the page has it', async () => {
  const emulator = await startEmulator()
  // In the project, where it finds the SDKs.
  const folder = join(root, '.cache/documents')
  mkdirSync(folder, { recursive: true })
  const [file, caFile] = [join(folder, 'languages.mjs'), join(folder, 'languages-ca.pem')]
  writeFileSync(file, blockOf('JavaScript', 'javascript'))
  writeFileSync(caFile, emulator.ca)
  emulator.caFile = caFile
  const { endpoint, key } = emulator.topic('orders')
  const { variables } = emulator.environment().languages.node
  const env = { ...process.env, ...variables, TOPIC_ENDPOINT: endpoint, TOPIC_KEY: key, NO_PROXY: '*' }
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
  expect(stdout).toBe('orders\n')
  expect(emulator.events({ topic: 'orders' }).events.map(({ type }) => type)).toEqual(['order.placed', 'order.placed'])
})

const texts = [
  ...['test/witness/python/requirements.txt', 'test/witness/python/requirements-azure-cli.txt'],
  ...['packages/emulator/examples/pytest/requirements.txt', 'packages/emulator/examples/go-test/go.mod'],
  ...['test/witness/java/pom.xml', 'test/witness/terraform.ts', 'package-lock.json'],
].map((path) => readFileSync(join(root, path), 'utf8').replaceAll(/\s+/g, ' '))

const listed = readFileSync(join(root, 'packages/emulator/docs/languages.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| \[/.test(line))
  .flatMap((line) => [...(line.split('|')[2] ?? '').matchAll(/([\w@/-]+) (\d[\d.]+)/g)])
  .map(([, name = '', version = '']) => ({ name, version }))

it.each(listed)('the page has the version of $name that is run: $version', ({ name, version }) => {
  const forms = [
    ...[`${name}==${version} `, `/${name} v${version} `, `-${name}@v${version}'`],
    `<artifactId>${name}</artifactId> <version>${version}<`,
    `"node_modules/${name}": { "version": "${version}"`,
  ]
  expect(texts.some((text) => forms.some((form) => text.includes(form)))).toBe(true)
})

it('finds the versions', () => {
  expect(listed.length).toBeGreaterThan(12)
})
