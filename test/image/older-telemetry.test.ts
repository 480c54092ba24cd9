// OpenTelemetry's API in the bundle works with an SDK that has an older one: else there would be no span, and no word why.

import { fileURLToPath } from 'node:url'
import { it } from 'vitest'
import { openHostWorld } from '../sidecar/host/open-host.ts'

it('makes spans with an SDK by --import that has the oldest API', async () => {
  const world = await openHostWorld()
  const register = fileURLToPath(new URL('./register-older-api.mjs', import.meta.url))
  const host = world.start([], { NODE_OPTIONS: `--import ${register}` })
  await host.line(/a span: upsert event subscription/)
})
