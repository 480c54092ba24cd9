import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { startSubscriber } from '../../emulator/subscriber.ts'
import { type Command, startInTerminal } from '../../support/command.ts'
import { auditConfig, configFile, publish } from './emulate-command.ts'

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
    expect.stringMatching(/^\{time\} \{33\}503 \{0\} audit <- order\.placed 1 {2}try 2 in .+https:\/\/audit\.example/),
    '{time} {32}200 {0} audit <- order.placed 1  at try 2',
  ])
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
  expect(seen(run).filter((line) => line.includes('topicEndpiont'))).toEqual([
    expect.stringMatching(/^\{time\} \{33\}warn .*topicEndpiont.*\{0\}/),
  ])
})
