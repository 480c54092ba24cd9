import { expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../src/binding/binding.ts'
import { startFakeArm } from '../provision/fake-arm.ts'
import { startScripted } from '../provision/scripted-arm.ts'
import { captureLog } from '../support/captured-log.ts'

const accepted = { status: 201, body: { properties: { provisioningState: 'Creating' } } }

it.each(['azure-asyncoperation', 'operation-location', 'location'])(
  'the token for ARM does not go to a host that %s names',
  async (header) => {
    const stranger = await startScripted(() => ({ status: 200, body: { status: 'Succeeded' } }))
    const arm = await startFakeArm({
      once: ({ method, body }) => {
        if (method !== 'PUT') return undefined
        arm.write(body)
        return { ...accepted, headers: { [header]: `${stranger.url}/operationsStatus/1` } }
      },
    })
    const credential = { getToken: async () => ({ token: 'a-token', expiresOnTimestamp: Date.now() + 3_600_000 }) }
    const logger = captureLog()
    const binding = new Binding({ credential, logger, endpoints: { resourceManager: arm.url, ca: arm.ca } })
    onTestFinished(() => binding.close())
    await binding.init({
      subscriptionId: 's1',
      subscriberEndpoint: 'https://app.example.com/api/events',
      handshakePort: '0',
      scope: '/subscriptions/s1/resourceGroups/rg1',
      deliveryToken: 'a-source-of-32-characters-or-more',
    })
    expect(stranger.asked).toEqual([])
    expect(arm.writes()).toHaveLength(1)
    expect(logger.text()).toContain(`it names another host, ${new URL(stranger.url).host}`)
    expect(arm.asked.every(({ headers }) => headers.authorization === 'Bearer a-token')).toBe(true)
  },
)
