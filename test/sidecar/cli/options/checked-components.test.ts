import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import * as check from '../../../../src/sidecar/cli/commands/check.ts'
import * as provision from '../../../../src/sidecar/cli/commands/provision.ts'
import * as replay from '../../../../src/sidecar/cli/commands/replay.ts'
import { UsageError } from '../../../../src/support/command-line/options.ts'
import { createTerminal, type Terminal } from '../../../../src/support/command-line/terminal.ts'
import { startCommand } from '../../../support/command.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** What a command made of its options: the components that it takes, and all that it said. */
interface Made {
  readonly names: readonly string[]
  readonly text: string
}

const { signal } = new AbortController()

/** Runs a command in this process. What it writes to stderr comes last. */
async function inProcess(run: (terminal: Terminal) => Promise<unknown>): Promise<string> {
  const written: string[] = []
  const warned: string[] = []
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => warned.push(String(text)) > 0)
  try {
    await run(createTerminal({ write: (more) => written.push(more) }))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    written.push(error.message)
  } finally {
    stderr.mockRestore()
  }
  return [...written, ...warned].join('')
}

/** The components of a JSON report. */
const reported = (text: string): readonly { name: string | null; checks?: readonly { status: string }[] }[] =>
  text.startsWith('{') ? JSON.parse(text.split('\n')[0] ?? '').components : []

const commands: Readonly<Record<string, (args: readonly string[], component: string) => Promise<Made>>> = {
  async run(args) {
    const { line, lines, ended } = startCommand(['run', '--http-port', '0', ...args])
    const ready = await Promise.race([line(/ready:.* url=(\S+)/).catch(() => undefined), ended.then(() => undefined)])
    const text = ready ? await (await fetch(`${ready[1]}/metadata`)).text() : '{ "components": [] }'
    return { names: reported(text).flatMap(({ name }) => name ?? []), text: lines.join('\n') }
  },
  async check(args) {
    const text = await inProcess((terminal) => check.run(['--offline', '--json', ...args], terminal))
    const whole = reported(text).filter(({ checks }) => checks?.every(({ status }) => status === 'ok'))
    return { names: whole.flatMap(({ name }) => name ?? []), text: text.replaceAll('\\"', '"') }
  },
  async provision(args) {
    const text = await inProcess((terminal) => provision.run(['--dry-run', '--json', ...args], terminal, signal))
    return { names: reported(text).flatMap(({ name }) => name ?? []), text }
  },
  async replay(args, component) {
    const dead = temporaryFolder()
    const letter = { specversion: '1.0', id: '1', source: '/shop', type: 'order.placed' }
    writeFileSync(join(dead, 'a.json'), JSON.stringify([letter]))
    const text = await inProcess((terminal) =>
      replay.run(['--dry-run', '--component', component, ...args, dead], terminal, signal),
    )
    return { names: text.includes('1 event would be published') ? [component] : [], text }
  },
}

interface Parts {
  readonly host?: string
  readonly key?: string
  readonly more?: string
}

const yaml = (name: string, { host = 'orders', key = 'value: k', more = '' }: Parts = {}) => `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: ${name} }
spec:
  type: bindings.azure.eventgrid
  metadata:
    - { name: topicEndpoint, value: "https://${host}.example.com/api/events" }
    - { name: accessKey, ${key} }
${more}
`
const caseOf = (name: string) =>
  readFileSync(resolve(import.meta.dirname, '../../../fixtures/components', name), 'utf8')
const keyOf = (secrets: unknown) => JSON.stringify(secrets)
const utf16 = Buffer.from(`\uFEFF${yaml('orders')}`, 'utf16le')
const secret = { 'event-grid': { accessKey: 'k' } }
const scopedStore = (folder: string) => `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: local }
spec:
  type: secretstores.local.file
  metadata: [{ name: secretsFile, value: ${JSON.stringify(join(folder, 'secrets.json'))} }]
scopes: [shop]
`

interface Case {
  readonly name: string
  readonly files: Readonly<Record<string, string | Buffer>> | ((folder: string) => Readonly<Record<string, string>>)
  /** `.` is the folder of the files; a name that it holds is that file. */
  readonly args: readonly string[]
  /** What is taken. @default nothing */
  readonly names?: readonly string[]
  /** The one that `replay` is asked for. @default 'orders' */
  readonly component?: string
  /** What is said. */
  readonly says?: RegExp
}

const cases: readonly Case[] = [
  {
    name: 'a folder',
    files: { 'a.yaml': yaml('orders'), 'b.txt': 'kind: [' },
    args: ['--components', '.'],
    names: ['orders'],
  },
  {
    name: 'a file beside a folder, of any name, each read once',
    files: { 'a.yaml': yaml('orders'), 'b.txt': yaml('photos') },
    args: ['--components', 'b.txt', '--components', '.', '--components', 'a.yaml'],
    names: ['orders', 'photos'],
  },
  {
    name: 'no option, and no folder ./components',
    files: {},
    args: [],
    says: /\.\/components: can't be read: ENOENT.*; make it, or correct the path/,
  },
  {
    name: 'the component of two with one name that is for the application',
    files: {
      'a.yaml': yaml('orders', { host: '{appID}.{namespace}', more: 'scopes: [shop]' }),
      'b.yaml': yaml('orders', { host: '{podName}', more: 'scopes: [billing]' }),
    },
    args: ['--components', '.', '--app-id', 'shop'],
    names: ['orders'],
  },
  {
    name: 'scopes and no application',
    files: { 'a.yaml': yaml('orders', { more: 'scopes: [shop]' }) },
    args: ['--components', 'a.yaml'],
    says: /component orders is for shop, and there is no application id \(give --app-id NAME\): left out/,
  },
  {
    name: 'scopes and no application, beside a component for all',
    files: { 'a.yaml': yaml('orders'), 'b.yaml': yaml('photos', { more: 'scopes: [shop]' }) },
    args: ['--components', '.'],
    names: ['orders'],
    says: /component photos is for shop, and there is no application id \(give --app-id NAME\): left out/,
  },
  {
    name: 'a secret store with scopes',
    files: (folder) => ({
      'a.yaml': yaml('orders', {
        key: 'secretKeyRef: { name: event-grid, key: accessKey }',
        more: 'scopes: [shop]\nauth: { secretStore: local }',
      }),
      'b.yaml': scopedStore(folder),
      'secrets.json': keyOf(secret),
    }),
    args: ['--components', '.', '--app-id', 'shop'],
    names: ['orders'],
  },
  {
    name: 'a placeholder without a value',
    files: { 'a.yaml': yaml('orders', { host: '{namespace}' }) },
    args: ['--components', '.'],
    says: /refers to \{namespace\}, which has no value.*give --app-id NAME/s,
  },
  { name: 'UTF-16 in a folder', files: { 'a.yaml': utf16 }, args: ['--components', '.'], names: ['orders'] },
  { name: 'UTF-16 as a file', files: { 'a.yaml': utf16 }, args: ['--components', 'a.yaml'], names: ['orders'] },
  ...['.', 'a.yaml'].map((path) => ({
    name: `another encoding at ${path}`,
    files: { 'a.yaml': Buffer.from(yaml('örders'), 'latin1') },
    args: ['--components', path],
    says: /a\.yaml: can't be read: it is neither UTF-8 nor UTF-16/,
  })),
  {
    name: 'secrets of two stores',
    files: {
      'a.yaml': caseOf('two-stores.yaml'),
      'secrets.json': keyOf({ stores: { 'vault-north': secret, 'vault-south': secret } }),
    },
    args: ['--components', '.', '--app-id', 'shop', '--secrets', 'secrets.json'],
    names: ['north', 'south'],
    component: 'north',
  },
  {
    name: 'secrets of two stores without their names',
    files: { 'a.yaml': caseOf('two-stores.yaml'), 'secrets.json': keyOf(secret) },
    args: ['--components', '.', '--app-id', 'shop', '--secrets', 'secrets.json'],
    component: 'north',
    says: /give the secrets by store, such as \{ "stores": \{ "vault-north": \{ "event-grid"/,
  },
  {
    name: "another vendor's component",
    files: { 'a.yaml': caseOf('other-vendor.yaml') },
    args: ['--components', '.'],
    names: ['orders'],
  },
  {
    name: 'one name twice',
    files: { 'a.yaml': yaml('orders'), 'b.yaml': yaml('orders') },
    args: ['--components', '.'],
    says: /"orders" is (defined at|called).* too|component in \S+a\.yaml is called "orders" too/,
  },
]

describe.each(Object.entries(commands))('%s', (command, make) => {
  it.each(cases)('makes of $name what the others make of it', async ({ files, args, says, ...one }) => {
    const folder = temporaryFolder()
    const written = Object.entries(typeof files === 'function' ? files(folder) : files)
    for (const [name, content] of written) writeFileSync(join(folder, name), content)
    const placed = args.map((word) => (word === '.' || word in Object.fromEntries(written) ? join(folder, word) : word))
    const { names = [], component = 'orders' } = one
    const made = await make(placed, component)
    if (says) expect(made.text).toMatch(says)
    const taken = command === 'replay' ? names.filter((name) => name === component) : names
    // The report of a fault has the other components too.
    if (one.names || command !== 'check') expect(made.names.toSorted()).toEqual(taken)
  })
})

it.each(['provision', 'replay'])('%s warns of a field that does nothing', async (command) => {
  const folder = temporaryFolder()
  const file = join(folder, 'a.yaml')
  writeFileSync(file, yaml('orders', { more: '    - { name: publishTimout, value: 5s }' }))
  const made = await commands[command]?.(['--components', file], 'orders')
  expect(made?.text).toMatch(/publishTimout.*publishTimeout/)
  expect(made?.names).toEqual(['orders'])
})
