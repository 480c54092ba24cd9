import { CommunicationProtocolEnum } from '@dapr/dapr'
import { expect } from 'vitest'
import { openDaprApp } from '../support/dapr-app.ts'
import { freePort } from '../support/free-port.ts'
import { idsOf, openOrders, openSdkApp, withDaprd } from './stack.ts'

withDaprd.for([
  { protocol: 'http', communicationProtocol: CommunicationProtocolEnum.HTTP },
  { protocol: 'grpc', communicationProtocol: CommunicationProtocolEnum.GRPC },
] as const)('events reach a @dapr/dapr server over $protocol', async ({ protocol, communicationProtocol }) => {
  const appPort = await freePort()
  const { daprd, emulator, subscribed, publish } = await openOrders({ daprd: { appPort, appProtocol: protocol } })
  const daprPort = protocol === 'http' ? daprd.httpPort : daprd.grpcPort
  const handled = await openSdkApp(appPort, daprPort, communicationProtocol)
  await daprd.ready()
  await subscribed()
  await publish(['one'])
  await emulator.settled()
  expect(handled).toMatchObject([{ id: 'one' }, { id: 'one' }])
  expect(emulator.records.deliveries.all().map(({ status }) => status)).toEqual([500, 200])
})

withDaprd('an event on which the application hangs comes again, and others do not wait for it', async () => {
  const app = await openDaprApp()
  let hung = false
  app.answerWith(({ body }) => {
    if (hung || !body.includes('"one"')) return 200
    hung = true
    return 'hang'
  })
  const { daprd, emulator, subscribed, publish } = await openOrders({
    fields: { handlerTimeout: '2s' },
    daprd: { appPort: app.port },
  })
  await daprd.ready()
  await subscribed()
  await publish(['one'])
  await app.received('POST', 1)
  await publish(['two'])
  await emulator.records.deliveries.waitFor(({ eventIds, status }) => eventIds[0] === 'two' && status === 200)
  await emulator.settled()
  const ids = idsOf(app.calls)
  expect(ids.filter((id) => id === 'two')).toHaveLength(1)
  // At least once: a call that begins just before the time limit of its delivery is made again.
  expect(ids.filter((id) => id === 'one').length).toBeGreaterThanOrEqual(2)
})

withDaprd('nothing is lost while the application drops connections, dies and comes back', async () => {
  const app = await openDaprApp()
  app.answerWith((_call, index) => (index < 2 ? 'drop' : 200))
  const { daprd, emulator, subscribed, publish } = await openOrders({ daprd: { appPort: app.port } })
  await daprd.ready()
  await subscribed()
  await publish(['one'])
  await emulator.settled()
  expect(idsOf(app.calls)).toEqual(['one', 'one', 'one'])

  await app.close()
  await publish(['two'])
  await emulator.records.deliveries.waitFor(({ eventIds, status }) => eventIds[0] === 'two' && status === 500)
  const next = await openDaprApp({ port: app.port })
  await emulator.settled()
  expect(idsOf(next.calls)).toEqual(['two'])
})

withDaprd('an application that is unhealthy gets no events, and gets them when it is back', async () => {
  const app = await openDaprApp()
  const health = ['--enable-app-health-check', '--app-health-check-path', '/health']
  const pace = ['--app-health-probe-interval', '1', '--app-health-threshold', '1']
  const { daprd, emulator, subscribed, publish, serving } = await openOrders({
    daprd: { appPort: app.port, args: [...health, ...pace] },
  })
  await daprd.ready()
  await subscribed()
  await serving.line(/the host reads events/)
  app.feel(false)
  await serving.line(/the host stopped reading events/)
  await publish(['one'])
  await emulator.records.deliveries.waitFor(({ status }) => status === 503)
  expect(idsOf(app.calls)).toEqual([])
  app.feel(true)
  await emulator.settled()
  expect(idsOf(app.calls)).toEqual(['one'])
})
