/** A write of the side before an `update` never stands over what the next side writes. */
import { expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../../src/index.ts'
import { openArmRelay } from '../../support/arm-relay.ts'
import { eventually } from '../../support/eventually.ts'
import { fieldsFor } from '../../support/open-world.ts'
import { startEmulator } from '../../support/start-emulator.ts'

it.each(['PUT', 'PATCH'])('a %s that is under way at an update is awaited before the next side reads', async (slow) => {
  const emulator = await startEmulator()
  const held = Promise.withResolvers<void>()
  const passed = Promise.withResolvers<void>()
  let holds = false
  const endpoints = await openArmRelay(emulator, async ({ method }) => {
    if (!holds || method !== slow) return
    holds = false
    held.resolve()
    await passed.promise
  })
  const binding = new Binding({ endpoints, onEvent: () => undefined })
  onTestFinished(() => binding.close())
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${binding.address()?.port}${pathname}`)
  const fields = fieldsFor(emulator)
  const retries = () =>
    emulator.eventSubscription(fields.scope, fields.eventSubscriptionName)?.properties.retryPolicy?.maxDeliveryAttempts
  if (slow === 'PATCH') await binding.init(fields)
  holds = true
  if (slow === 'PATCH') await binding.update({ ...fields, maxDeliveryAttempts: '3' })
  else await binding.init({ ...fields, maxDeliveryAttempts: '3' }, { subscription: 'background' })
  await held.promise
  const updated = binding.update({ ...fields, maxDeliveryAttempts: '7' })
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(retries()).not.toBe(7)
  passed.resolve()
  await updated
  await eventually(() => expect(retries()).toBe(7))
  await eventually(() => expect(binding.health().status).toBe('healthy'))
  await emulator.idle()
  expect(retries()).toBe(7)
})
