import { expect, it } from 'vitest'
import { readFolder } from '../../../src/metadata/component/component-folder.ts'
import { componentChecks } from '../../../src/sidecar/check/component-checks.ts'
import { loadChecked } from '../../../src/sidecar/check/load-checked.ts'
import { checkIds } from '../../../src/sidecar/check/report/check-ids.ts'
import { runChecks } from '../../../src/sidecar/check/run-checks.ts'
import { openCheck, subscribe } from './open-check.ts'

it('fails where the topic takes no event in time, and leaves no promise that rejects unheard', async () => {
  const world = await openCheck()
  await subscribe(world, {})
  const { emulator, folder } = world
  emulator.failNext({ route: 'topic', status: 503, times: Number.POSITIVE_INFINITY })
  const texts = await readFolder(folder.path)
  const [component] = loadChecked(texts, { env: {}, fill: (value) => value, secrets: () => ({}), excerptWidth: 120 })
  if (!component) throw new Error('the folder has no component')
  const { signal } = new AbortController()
  const { checks, close } = componentChecks({
    ...{ component, signal, portTakenBy: undefined, samples: [], roundTrip: true },
    surroundings: {
      ...{ endpoints: emulator.endpoints, emulator: emulator.endpoints.resourceManager, offline: false },
      sidecar: undefined,
      selected: new Set(checkIds),
    },
  })
  const asked = checks.filter(({ id }) => id === 'round-trip/event').map((check) => ({ ...check, limitMs: 1_000 }))
  const outcomes = await runChecks(asked, { signal, clean: (text) => text })
  await close()
  expect(outcomes).toMatchObject([{ status: 'failed', detail: 'no answer within 1 s' }])
  expect(emulator.figures()).toMatchObject({ published: 0 })
})
