import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { openComponent } from './open-component.ts'

it('tells no secret: not in logs, errors, health, metrics, nor in the objects that it hands out', async () => {
  const { host, fields, pluggable, log } = await openComponent()
  const marked = {
    ...fields,
    clientSecret: 'marked-client-secret',
    accessKey: 'bWFya2VkLWFjY2Vzcy1rZXk=',
    subscriberEndpoint: `${fields.subscriberEndpoint}?code=marked-query`,
  }
  const told: unknown[] = []
  const tell = (error: unknown) => void told.push(String(error), inspect(error, { depth: null, showHidden: true }))
  await host.init('input', 'orders', { ...marked, scope: 'nowhere' }).catch(tell)
  await host.init('input', 'orders', marked).catch(tell)
  await host.init('output', 'orders', marked).catch(tell)
  await host.invoke('orders', { operation: 'create', data: Buffer.from('{}') }).catch(tell)
  expect(told).toHaveLength(4)
  told.push(log.text(), pluggable.health(), await pluggable.metrics.text())
  told.push(inspect(pluggable, { depth: Number.POSITIVE_INFINITY, showHidden: true }))
  expect(JSON.stringify(told)).not.toMatch(/marked-|bWFya2Vk/)
})
