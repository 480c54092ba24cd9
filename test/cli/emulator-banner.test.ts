import { expect, it } from 'vitest'
import { bannerLines } from '../../src/cli/emulator-banner.ts'
import { startEmulator } from '../support/start-emulator.ts'

it('shows how to publish to each namespace topic, and how to receive', async () => {
  const topics = [{ name: 'orders' }, { name: 'parcels' }]
  const emulator = await startEmulator({ namespaces: [{ name: 'shop', keys: ['Zmlyc3Q=', 'c2Vjb25k'], topics }] })
  const lines = bannerLines(emulator, 'ca.pem')
  const { id, endpoint, namespaceEndpoint } = emulator.namespaceTopic('parcels')
  expect(lines.join('\n')).toContain(
    [
      'namespace topic parcels',
      `  publish   ${endpoint}`,
      `  receive   ${namespaceEndpoint}`,
      '  key       Zmlyc3Q=',
      `  id        ${id}`,
    ].join('\n'),
  )
  expect(lines).toContain('namespace topic orders')
})
