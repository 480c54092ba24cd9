import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { openPull, order } from '../support/open-pull.ts'
import { openWorld } from '../support/open-world.ts'

it('shows no secret of the component that a handler throws, whichever side it belongs to', async () => {
  const { binding, emulator, fields, init, log } = await openWorld({
    binding: {
      onEvent() {
        throw `no luck with ${fields.accessKey}, ${encodeURIComponent(fields.clientSecret ?? '')} and ${fields.topicEndpoint}?sig=1`
      },
    },
  })
  await init()
  await binding.invoke('create', {})
  await emulator.records.deliveries.waitFor(({ status }) => status === 500)
  expect(log.text()).toContain('"error":"no luck with (redacted), (redacted) and ')
  for (const secret of [fields.accessKey, fields.clientSecret, 'sig=1']) expect(log.text()).not.toContain(secret)
})

it('does so with pull delivery', async () => {
  const { binding, publish, byKey, log } = await openPull({
    binding: {
      onEvent() {
        throw { key: byKey.namespaceKey }
      },
    },
  })
  await binding.init(byKey)
  await publish(order('one'))
  await expect.poll(() => log.text()).toContain("{ key: '(redacted)' }")
  expect(log.text()).not.toContain(byKey.namespaceKey)
})

it('tells the ids of what failed: each error has lines of its own, the last burst too', async () => {
  const { binding, emulator, init, log } = await openWorld({
    binding: {
      onEvent({ cloudEvent: { data } }) {
        throw new Error(`answered ${data}`)
      },
    },
  })
  await init({ maxDeliveryAttempts: '1' })
  const publish = async (status: number, count: number) =>
    (
      await binding.invoke(
        'create',
        Array(count)
          .fill(status)
          .map((data) => ({ ...event(), data })),
      )
    ).ids
  const missing = await publish(404, 15)
  const failed = await publish(500, 10)
  await emulator.settled()
  await binding.close()
  const lines = log.lines.filter(({ message }) => message.startsWith('the handler failed'))
  const idsOf = (error: string) =>
    lines
      .filter(({ level, fields }) => level === 'warn' && fields?.error === error)
      .flatMap(({ fields }) => String(fields?.id ?? fields?.ids).split(', '))
  expect(idsOf('Error: answered 404').toSorted()).toEqual(missing.toSorted())
  expect(idsOf('Error: answered 500').toSorted()).toEqual(failed.toSorted())
})

const event = () => ({ specversion: '1.0', id: randomUUID(), source: '/shop', type: 'order.placed' })
