/**
 * Whatever replicas start, change and end, whatever an operator writes meanwhile and however late requests arrive: in the end the event
 * subscription holds the credential of each replica, nothing of the operator's is lost, and no delivery was refused for good.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { deriveDeliveryCredentials } from '../../../src/core/delivery-credential.ts'
import { Secret } from '../../../src/core/secret.ts'
import { Binding } from '../../../src/index.ts'
import { openArmRelay } from '../../support/arm-relay.ts'
import { managementOf, sendArm } from '../../support/azure-clients.ts'
import { eventually } from '../../support/eventually.ts'
import { fieldsFor } from '../../support/open-world.ts'
import { noBackend, openIngress } from '../../support/public-ingress.ts'
import { quickenTime } from '../../support/quick-time.ts'
import { tryWorlds } from '../../support/random-worlds.ts'
import { startEmulator } from '../../support/start-emulator.ts'

const tokens = ['one', 'two', 'three'].map((name) => name.padEnd(32, '-'))
const token = fc.constantFrom(...tokens)
const theirs = fc.constantFrom('labels', 'subjectEndsWith', 'eventTimeToLive', 'expiration')
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('start'), token }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('update'), which: fc.nat(9), token }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end'), which: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('operator'), theirs }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('publish') }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.constantFrom(1, 300, 2_000) }) },
)
const world = fc.record({
  first: token,
  script: fc.array(step, { minLength: 1, maxLength: 12 }),
  /** How long requests to Resource Manager are under way, one after the other, in ms. */
  delays: fc.array(fc.constantFrom(0, 0, 5, 50, 400, 2_500), { minLength: 1, maxLength: 7 }),
})

it('holds all live credentials in the end, loses nothing of the operator, refuses no delivery', async () => {
  quickenTime()
  const ingress = await openIngress()
  const emulator = await startEmulator({
    ...{ trustedCertificates: [ingress.ca], operationDelayMs: 300, conflicts: true },
    ...{ retrySchedule: [200, 1_000, ...Array(28).fill(5_000)], deadLetterDelay: 0 },
  })
  let delays = [0]
  let asked = 0
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  const relay = await openArmRelay(emulator, () => sleep(delays[asked++ % delays.length] ?? 0))
  const endpoints = { ...relay, ca: `${relay.ca}\n${ingress.ca}` }
  const { eventSubscriptions } = managementOf(emulator)
  const scope = emulator.topic('orders').id
  let worlds = 0

  await tryWorlds(world, { count: 6 }, async ({ first, script, delays: ofWorld }) => {
    const eventSubscriptionName = `world${worlds++}`
    delays = ofWorld
    asked = 0
    const replicas: { readonly binding: Binding; token: string }[] = []
    const handled = new Set<string>()
    const published: string[] = []
    const operator: Record<string, string> = {}
    let turn = 0
    ingress.route(() => {
      const ready = replicas.filter(({ binding }) => binding.health().input?.ready)
      return ready[turn++ % Math.max(ready.length, 1)]?.binding.address()?.port ?? noBackend
    })
    const fields = (deliveryToken: string) => ({
      ...{ ...fieldsFor(emulator), eventSubscriptionName, deliveryToken, subscriberEndpoint: ingress.url },
      ...{ accessKey: undefined, topicEndpoint: undefined, maxDeliveryAttempts: '30' },
    })
    const given = (own: string) =>
      Object.fromEntries(Object.entries(fields(own)).filter(([, value]) => value !== undefined))
    const start = async (own: string) => {
      const binding = new Binding({ endpoints, onEvent: ({ cloudEvent: { id } }) => void handled.add(id) })
      replicas.push({ binding, token: own })
      await binding.init(given(own), { subscription: 'background' })
    }
    const standing = () => emulator.eventSubscription(scope, eventSubscriptionName)
    const settled = () => eventually(() => expect(standing()?.provisioningState).toBe('Succeeded'))
    const publish = () => {
      published.push(`${eventSubscriptionName}-${published.length}`)
      emulator.raise(scope, [{ specversion: '1.0', type: 'order', source: '/shop', id: published.at(-1) ?? '' }])
    }
    const writes = {
      labels: (value: string) => ({ labels: [value] }),
      subjectEndsWith: () => ({ filter: { isSubjectCaseSensitive: true } }),
      eventTimeToLive: (value: string) => ({
        retryPolicy: { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 60 + Number(value) },
      }),
      expiration: () => ({ expirationTimeUtc: new Date('2099-01-01T00:00:00Z') }),
    }
    const changes: Promise<unknown>[] = []
    try {
      await start(first)
      await settled()
      for (const [index, one] of script.entries()) {
        if (one.kind === 'pass') await sleep(one.ms)
        else if (one.kind === 'publish') publish()
        else if (one.kind === 'start') await start(one.token)
        else if (one.kind === 'operator') {
          // Azure refuses a change while another one is under way: an operator tries again.
          const change = async () => {
            await eventSubscriptions.beginUpdateAndWait(
              scope.slice(1),
              eventSubscriptionName,
              writes[one.theirs](String(index)),
            )
            operator[one.theirs] = String(index)
          }
          changes.push(change().catch(() => {}))
        } else {
          const replica = replicas[one.which % replicas.length]
          if (!replica) continue
          if (one.kind === 'update') {
            replica.token = one.token
            await replica.binding.update(given(one.token))
          } else if (replicas.length > 1) {
            // As a roll-out does: one ends when another is ready. An operator's write needs somebody who answers its handshake.
            const others = replicas.filter((other) => other !== replica)
            await eventually(() => expect(others.some(({ binding }) => binding.health().input?.ready)).toBe(true))
            replicas.splice(replicas.indexOf(replica), 1)
            await replica.binding.close()
          }
        }
      }
      await Promise.all(changes)
      await eventually(() =>
        expect(replicas.map(({ binding }) => binding.health().input?.eventSubscription?.state)).toEqual(
          replicas.map(() => 'provisioned'),
        ),
      )
      const credentials = new Set(
        replicas.flatMap(({ token: own }) =>
          deriveDeliveryCredentials({
            deliveryAuthentication: { kind: 'secret', sources: [new Secret(own)] },
            scope: { id: scope },
            eventSubscriptionName,
          }).map(({ value }) => value.reveal()),
        ),
      )
      // A replica whose credential a write of the same moment replaced adds it again at its next delivery.
      await eventually(() => {
        publish()
        const text = JSON.stringify(standing())
        expect([...credentials].filter((credential) => !text.includes(credential))).toEqual([])
      })
      await emulator.settled()
      expect(published.filter((id) => !handled.has(id))).toEqual([])
      const { properties } = standing() ?? {}
      if (operator.labels !== undefined) expect(properties?.labels).toEqual([expect.any(String)])
      if (operator.subjectEndsWith !== undefined)
        expect(properties?.filter).toMatchObject({ isSubjectCaseSensitive: true })
      if (operator.eventTimeToLive !== undefined)
        expect(properties?.retryPolicy?.eventTimeToLiveInMinutes).not.toBe(1_440)
      if (operator.expiration !== undefined) expect(JSON.stringify(properties)).toContain('2099-01-01')
      // The notice of the deletion of another world's event subscription may come here: all have one public address.
      const own = emulator.records.deliveries.filter((one) => one.subscriptionName === eventSubscriptionName)
      expect(own.filter(({ status }) => [400, 401, 403, 413].includes(status ?? 0))).toEqual([])
    } finally {
      delays = [0]
      await Promise.all(replicas.map(({ binding }) => binding.close()))
      await sendArm(emulator, `${scope}/providers/Microsoft.EventGrid/eventSubscriptions/${eventSubscriptionName}`, {
        method: 'DELETE',
      })
      await emulator.idle()
    }
  })
})
