import { expect, it } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { bannerLines } from '../../src/cli/emulator-banner.ts'

it('shows how to publish to each namespace topic, and how to receive', async () => {
  const topics = [{ name: 'orders' }, { name: 'parcels' }]
  const emulator = await startEmulator({ namespaces: [{ name: 'shop', keys: ['Zmlyc3Q=', 'c2Vjb25k'], topics }] })
  const lines = bannerLines(emulator)
  const { id, endpoint, namespaceEndpoint } = emulator.namespaceTopic('parcels')
  expect(lines.join('\n')).toContain(
    [
      'namespace topic parcels',
      `  topicEndpoint      ${endpoint}`,
      `  namespaceEndpoint  ${namespaceEndpoint}`,
      `  namespaceTopic     ${id}`,
      '  namespaceKey       Zmlyc3Q=',
    ].join('\n'),
  )
  expect(lines).toContain('namespace topic orders')
})

it('shows how to publish to each domain, and what each system topic stands for', async () => {
  const source = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/photos'
  const emulator = await startEmulator({ domains: [{ name: 'shop' }], systemTopics: [{ name: 'uploads', source }] })
  const lines = bannerLines(emulator)
  expect(lines.join('\n')).toContain(`domain shop\n  endpoint  ${emulator.domain('shop').endpoint}\n`)
  expect(lines.join('\n')).toContain(`system topic uploads\n  source    ${source}\n  scope     `)
})

it('shows the blob endpoint of each storage account, and the scope of its event subscriptions', async () => {
  const emulator = await startEmulator({ storage: [{ account: 'acc', azurite: 'http://127.0.0.1:10000/acc' }] })
  const [{ blobEndpoint = '', id = '' } = {}] = emulator.storage()
  expect(blobEndpoint).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*\/acc$/)
  expect(id).toMatch(/\/resourceGroups\/rg\/providers\/Microsoft\.Storage\/storageAccounts\/acc$/)
  const https = blobEndpoint.replace('http:', 'https:')
  const said = `storage account acc\n  BlobEndpoint  ${blobEndpoint}\n  or            ${https}\n  Azurite       http://127.0.0.1:10000\n  scope         ${id}\n`
  expect(bannerLines(emulator).join('\n')).toContain(said)
})
