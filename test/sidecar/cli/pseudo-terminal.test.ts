import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { auditConfig, configFile, publish } from '../../../packages/emulator/test/cli/emulate-command.ts'
import { startSubscriber } from '../../../packages/emulator/test/subscriber.ts'
import { type Command, startInTerminal } from '../../support/command.ts'
import { componentYaml, makeComponentFolder, writeSecretStore } from '../../support/component-folder.ts'
import { startEmulator } from '../../support/start-emulator.ts'

/** `script` of other systems has other options. */
const cannotShow = !String(spawnSync('script', ['--version']).stdout).includes('util-linux')
const key = Buffer.from('the key of a topic that is shown in a terminal').toString('base64')

/** The lines as they are seen, with colours as `{31}` and the time as `{time}`. */
const seen = ({ lines }: Command) =>
  lines.map((line) =>
    line
      .replaceAll('\u001b', '~')
      .replaceAll('~[K', '')
      .replaceAll(/~\[(\d+)m/g, '{$1}')
      .replace(/^\{2\}\d\d:\d\d:\d\d\s*\{0\}\s*/, '{time} '),
  )

/** What a terminal of 80 columns breaks within a word: of several words, and not to be pasted. */
const broken = (lines: readonly string[]) =>
  lines
    .map((line) => line.replaceAll(/\{\d+m?\}/g, ''))
    .filter((line) => line.length > 80 && /\S +\S/.test(line) && !/^ *(az|export|scope) /.test(line))

it.skipIf(cannotShow)('emulate has a coloured line in a terminal for each try and each refused publish', async () => {
  const subscriber = await startSubscriber()
  subscriber.answer({ status: 503 })
  const config = auditConfig(`${subscriber.url}/`).replace(
    '- name: orders',
    `- name: orders\n    keys: [${key}, ${key}]`,
  )
  const emulate = startInTerminal(['emulate', '--port', '0', '--http-port', '0', '--config', configFile(config)])
  const [, proxy = ''] = await emulate.line(/ready: https:\S+ (http:\/\/[\d.:]+)/)
  await emulate.line(/handshake audit/)
  const topic = { endpoint: '', scope: '', httpEndpoint: `${proxy}/topics/orders/api/events`, key }
  await publish({ ...topic, key: 'd3Jvbmc=' }, ['0'])
  await publish(topic, ['1'])
  await emulate.line(/audit <- order\.placed 1 {2}at try 2/)
  const lines = seen(emulate)
  expect(
    lines.filter((line) => /^\{time\} \{31\}401 \{0\} publish to orders {2}Unauthorized: /.test(line)),
  ).toHaveLength(1)
  expect(lines.filter((line) => line.includes('audit <-'))).toEqual([
    expect.stringMatching(/^\{time\} \{33\}503 \{0\} audit <- order\.placed 1 {2}try 2 in /),
    '{time} {32}200 {0} audit <- order.placed 1  at try 2',
  ])
  expect(lines.join('\n')).toMatch(/try 2 in .+\n {15}https:\/\/audit\.example/)
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}scope {5}\/subscriptions\/\S+$/))
  expect(broken(lines)).toEqual([])
})

it.skipIf(cannotShow)('run has coloured warnings in a terminal, with the time of the clock on the wall', async () => {
  const component = configFile(
    `apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: orders }
spec:
  type: bindings.azure.eventgrid
  version: v1
  metadata:
    - { name: direction, value: output }
    - { name: topicEndpoint, value: 'http://127.0.0.1:1/topics/orders/api/events' }
    - { name: accessKey, value: ${key} }
    - { name: topicEndpiont, value: 'x' }
`,
    'component.yaml',
  )
  const run = startInTerminal(['run', '--components', dirname(component), '--app-port', '1', '--http-port', '0'])
  await run.line(/topicEndpiont/)
  expect(seen(run).join('\n')).toMatch(/^\{time\} \{33\}warn .+\n {2}"topicEndpiont" .+\{0\}/m)
  expect(broken(seen(run))).toEqual([])
})

it.skipIf(cannotShow)('check breaks no word, and keeps a line to paste', async () => {
  const emulator = await startEmulator({ clients: [{ roles: [] }] })
  const folder = makeComponentFolder()
  folder.write('orders.yaml', componentYaml(emulator, { handshakePort: '9000' }))
  writeSecretStore(folder, emulator, ['orders'])
  folder.write('long.yaml', `apiVersion: dapr.io/v1alpha1\nkind: ${'x'.repeat(60)} # [\nspec: ${'[ '.repeat(60)}`)
  const address = ['--emulator', emulator.proxy]
  const check = startInTerminal(['check', '--components', folder.path, ...address, '--only', 'files,azure'])
  expect(await check.ended).toBe(1)
  const lines = seen(check)
  expect(lines.filter((line) => / az role /.test(line))).toEqual([
    expect.stringMatching(/^ {8}az role assignment create --assignee \S+ --role ".+" --scope \S+$/),
  ])
  expect(lines.filter((line) => line.startsWith(' '.repeat(26)))).not.toEqual([])
  // An excerpt of a file, and the mark below its place.
  const excerpt = lines.findIndex((line) => /^ +\d+ \| /.test(line))
  expect(lines[excerpt]).toHaveLength(79)
  expect(lines[excerpt + 1]).toMatch(/^ +\| +\^/)
  expect(broken(lines)).toEqual([])
})
