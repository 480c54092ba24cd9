import { expect, it } from 'vitest'
import { parseExactJson, readDeadLetter } from '../../../src/sidecar/replay/dead-letters.ts'
import { convertEvent } from '../../../src/sidecar/replay/target-topic.ts'
import { eventGridLetter, letter, openReplay } from './open-replay.ts'

const properties = {
  ...{
    deadletterreason: 'Maximum delivery attempts was exceeded',
    deliveryattempts: 10,
    deliveryresult: 'GeneralError',
  },
  ...{ publishutc: '2026-01-05T10:00:01.3063899Z', deliveryattemptutc: '2026-01-05T10:07:12.3063899Z' },
}
const custom = { customDeliveryProperties: { region: 'west' } }
const event = (id: string) => ({ specversion: '1.0', id, source: '/shop', type: 'order.placed', data: { order: 1 } })

const forms = {
  around: { event: event('around'), ...custom, deadletterProperties: properties },
  beside: { ...event('beside'), deadletterProperties: properties, ...custom },
  prose: { event: event('prose'), brokerProperties: properties, ...custom },
  both: { ...event('both'), brokerProperties: { lockToken: 'x' }, deadletterProperties: properties, ...custom },
}

it('publishes dead letters of namespace topics in all their forms, as they were published first', async () => {
  const { write, replay, dead, published } = await openReplay()
  const path = (name: string) => `shop/orders/all/2026/1/5/10/${name}.json`
  write(path('1'), forms.around)
  write(path('2'), [forms.beside, forms.prose, forms.both])
  // The same event in the other form.
  write(path('3'), { ...event('around'), deadletterProperties: properties })
  expect((await replay(dead)).text).toBe('4 events published, 1 duplicate in the files\n')
  expect(published()).toEqual(['around', 'beside', 'prose', 'both'].map(event))
})

it.each(Object.entries(forms))('knows when one of a namespace topic died: %s', async (_, form) => {
  const { write, replay, dead } = await openReplay()
  write('1.json', form)
  expect((await replay(dead, '--dry-run', '--since', '2026-01-05T10:07:12Z')).text).toContain('1 event would be')
  expect((await replay(dead, '--dry-run', '--since', '2026-01-05T10:07:13Z')).text).toContain('0 events would be')
})

it('takes an event that has another one in a member for the outer one', () => {
  const dead = readDeadLetter({ ...event('outer'), event: event('inner'), deadletterProperties: properties })
  expect(dead).toMatchObject({ id: 'outer', event: { ...event('outer'), event: event('inner') } })
})

const numbers =
  '{"total":1.0,"number":12345678901234567,"sixteen":-9007199254740993,"e":1E400,"small":-0,"zeros":[1.50,2e0],"plain":7}'

it.each([
  { name: 'of a topic', of: letter('1', { data: 'N' }) },
  { name: 'of a topic with the Event Grid schema', of: eventGridLetter('1', { data: 'N' }) },
  { name: 'around the event', of: { event: { ...event('1'), data: 'N' }, deadletterProperties: properties } },
  { name: 'beside the event', of: { ...event('1'), data: 'N', deadletterProperties: properties } },
])('keeps the text of each number, in the other schema too: $name', ({ of }) => {
  const dead = readDeadLetter(parseExactJson(JSON.stringify(of).replace('"N"', numbers)))
  if (typeof dead === 'string') throw new Error(dead)
  expect(JSON.stringify(dead.event)).toContain(`"data":${numbers}`)
  const converted = convertEvent({ ...dead, event: { time: '2026-01-05T10:00:00Z', ...dead.event } }, '/s')
  expect(JSON.stringify(converted)).toContain(`"data":${numbers}`)
})
