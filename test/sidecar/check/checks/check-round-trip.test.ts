import { expect, it } from 'vitest'
import { componentChecks } from '../../../../src/sidecar/check/component-checks.ts'
import { checkIds } from '../../../../src/sidecar/check/report.ts'
import { runChecks } from '../../../../src/sidecar/check/run-checks.ts'
import { readChecked } from '../../../../src/sidecar/cli/options/checked-components.ts'
import { openCheck, subscribe } from '../open-check.ts'

it('fails where the topic takes no event in time, and leaves no promise that rejects unheard', async () => {
  const world = await openCheck()
  await subscribe(world, {})
  const { emulator, folder } = world
  emulator.failNext({ route: 'topic', status: 503, times: Number.POSITIVE_INFINITY })
  const [component] = (await readChecked({ components: [folder.path], appId: '', secrets: undefined })).all
  if (!component) throw new Error('the folder has no component')
  const { signal } = new AbortController()
  const { checks, close } = componentChecks({
    ...{ component, signal, portTakenBy: undefined, roundTrip: true },
    surroundings: {
      ...{ endpoints: emulator.endpoints, emulator: emulator.endpoints.resourceManager },
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
