import { expect, it } from 'vitest'
import { openPublisher } from './open-publisher.ts'
import { event, startTopic } from './scripted-topic.ts'

async function openLogged() {
  const topic = await startTopic()
  const { publisher, log } = openPublisher(topic.endpoint)
  const warnings = () => log.lines.flatMap(({ level, message }) => (level === 'warn' ? [message] : []))
  return { publisher, warnings }
}

it('warns once of each misspelt name in the metadata of a call, with the name that was meant', async () => {
  const { publisher, warnings } = await openLogged()
  const metadata = { SubJet: 'orders/1', 'trace-parent': 'x', Type: 'order.placed', tenant: 'blue', uid: '1' }
  for (const data of [1, 2]) await publisher.publish({ data }, { metadata })
  expect(warnings()).toEqual([
    'create does not know "SubJet" in the metadata of a call: did you mean subject?',
    'create does not know "trace-parent" in the metadata of a call: did you mean traceparent?',
  ])
})

it('warns of a hundred names at most', async () => {
  const { publisher, warnings } = await openLogged()
  const names = Array.from({ length: 120 }, (_, index) => `subject${String.fromCharCode(0x4e00 + index)}`)
  await publisher.publish({ data: 1 }, { metadata: Object.fromEntries(names.map((name) => [name, 'x'])) })
  expect(warnings()).toHaveLength(100)
})

it('does not warn where the payload is a whole event, which takes no attributes of the metadata', async () => {
  const { publisher, warnings } = await openLogged()
  await publisher.publish(event('1'), { metadata: { subjet: 'orders/1' } })
  expect(warnings()).toEqual([])
})
