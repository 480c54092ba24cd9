/**
 * What a fleet asks of Azure, in simulated time: the decisions are the product's own. `npm run simulate` runs the same with
 * 1,000 replicas.
 */
import { expect, it } from 'vitest'
import { scenarios } from '../../bench/simulate/scenarios.ts'
import { judgeScenario, simulate } from '../../bench/simulate/simulate.ts'

const small = { seed: 1, replicas: 20, minutes: 40, sampledPerSecond: 20 }

it.each(scenarios)('$title', async (scenario) => {
  const { faults, figures } = judgeScenario(scenario, await simulate(scenario, small))
  expect(faults).toEqual([])
  expect(figures.total('delivered')).toBeGreaterThan(10_000)
})

it('gives the same figures for the same seed, and others for another', async () => {
  const [scenario] = scenarios
  if (!scenario) throw new Error('there is no scenario')
  const stepsOf = async (seed: number) => (await simulate(scenario, { ...small, seed, minutes: 3 })).steps
  expect(await stepsOf(7)).toEqual(await stepsOf(7))
  expect(await stepsOf(8)).not.toEqual(await stepsOf(7))
})

it('old and new replicas side by side write the event subscription once, however long both live', async () => {
  const figures = await simulate(
    {
      ...{ name: 'side-by-side', title: '', begins: 10 },
      reach: { writes: 1, throttled: 0, foreign: 0 },
      script({ at, orders, version, replicas }) {
        for (let added = 0; added < replicas; added++) at(10, () => orders.addStray(version({ secrets: ['new'] })))
      },
    },
    { ...small, replicas: 10, expectedReplicas: 1, minutes: 60 },
  )
  expect(figures.total('writes', 600_000)).toBe(1)
  expect(figures.total('foreign', 600_000)).toBe(0)
})

it('no replica of many is throttled when all of them start again at once', async () => {
  const figures = await simulate(
    {
      ...{ name: 'many', title: '', begins: 5 },
      reach: { writes: 0, throttled: 0 },
      script: ({ at, orders }) => at(5, () => orders.pods.map((pod) => orders.crash(pod))),
    },
    { ...small, replicas: 500, minutes: 9 },
  )
  expect(figures.total('throttled')).toBe(0)
  expect(figures.total('reads', 300_000)).toBeGreaterThanOrEqual(500)
})
