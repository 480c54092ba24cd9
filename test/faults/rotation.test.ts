/** A simulated fleet's real counterpart, in small: 24 processes of `serve`, whose secrets are rotated under load. */
import { expect, it } from 'vitest'
import { openServeFleet, type Server } from './serve-fleet.ts'

const replicas = 24
/** New processes a step; as many old ones end when they are ready. */
const surge = 8
const inFlight = 20
const clientSecret = 'the-new-client-secret'.padEnd(32, '-')

it(`${replicas} processes of serve rotate clientSecret and deliveryToken: few writes, and no delivery is refused for good`, {
  timeout: 1_200_000,
}, async () => {
  const fleet = await openServeFleet()
  let servers = await fleet.startServers(replicas, {})
  await Promise.all(servers.map(({ ready }) => ready))
  const state = () => fleet.emulator.eventSubscription(fleet.topic.id, 'fleet')?.provisioningState
  await expect.poll(state, { timeout: 120_000 }).toBe('Succeeded')
  const writes: Record<string, number> = { start: fleet.writes() }
  fleet.load(inFlight)
  await fleet.progress(200)

  const rollOut = async (name: string, changes: Readonly<Record<string, string>>) => {
    const before = fleet.writes()
    const fresh: Server[] = []
    for (let step = 0; step < replicas; step += surge) {
      const started = await fleet.startServers(surge, changes)
      await Promise.all(started.map(({ ready }) => ready))
      fresh.push(...started)
      await Promise.all(servers.slice(step, step + surge).map((old) => old.stop()))
    }
    servers = fresh
    await fleet.progress(200)
    writes[name] = fleet.writes() - before
  }
  fleet.renew(clientSecret)
  await rollOut('clientSecret', { clientSecret })
  // The credential of before was derived from clientSecret, so that is the old one of the list.
  const deliveryToken = `${'the-new-token'.padEnd(32, '-')},${clientSecret}`
  await rollOut('deliveryToken', { clientSecret, deliveryToken })

  const { raised, lost, strangers } = await fleet.settle()
  const { 200: delivered, ...refused } = fleet.answers()
  console.log(`writes ${JSON.stringify(writes)}; ${raised} events; other answers ${JSON.stringify(refused)}`)
  expect({ lost, strangers, delivered }).toEqual({ lost: 0, strangers: [], delivered: raised })
  // A delivery may reach a process that ends, as in every rolling update, or one whose credential is not written yet: only an emulator knows
  // this endpoint's name, so nobody can be asked who serves, and a replica is ready at once. Both are put off, and come again.
  const putOff = ['shutting down', 'no credential that is known here']
  expect(Object.keys(refused).filter((answer) => !putOff.some((words) => answer.includes(words)))).toEqual([])
  for (const count of Object.values(writes)) expect(count).toBeLessThanOrEqual(3)
})
