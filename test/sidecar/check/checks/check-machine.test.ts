import { expect, it, onTestFinished } from 'vitest'
import { openMetricsServer } from '../../../../src/sidecar/shared/health-and-metrics-server.ts'
import { freePort } from '../../../support/free-port.ts'
import { answering } from '../../../support/servers.ts'
import { openComponent } from '../../pluggable/open-component.ts'
import { openCheck } from '../open-check.ts'

it('tells which side of a component daprd has initialised, and what is not well with it', async () => {
  const world = await openCheck()
  const { pluggable, host, fields } = await openComponent()
  const server = await openMetricsServer(pluggable, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => server.close())
  const check = () => world.check('--only', 'machine', '--sidecar', `http://127.0.0.1:${server.address.port}`)
  const before = await check()
  expect(before.idsThat('failed')).toEqual(['machine/sidecar'])
  expect(before.said('machine/sidecar')).toMatch(/input side is not initialised[\s\S]*output side is not initialised/)

  await host.init('output', 'orders', fields)
  const half = await check()
  expect(half.code).toBe(1)
  expect(half.said('machine/sidecar')).not.toContain('the output side is not initialised')

  await host.init('input', 'orders', fields)
  const whole = await check()
  expect(whole.code).toBe(0)
  expect(whole.status['machine/sidecar']).toBe('warning')
  expect(whole.said('machine/sidecar')).toMatch(/the input side is (degraded|unhealthy)\nno application takes events/)
})

it.each([
  { name: 'nobody', sidecar: async () => `http://127.0.0.1:${await freePort()}`, says: /no answer.*ECONNREFUSED/ },
  { name: 'another server', sidecar: () => answering(404), says: /is not the health of serve or run: it answered 404/ },
])('fails where $name answers', async ({ sidecar, says }) => {
  const world = await openCheck()
  const { code, said } = await world.check('--only', 'machine/sidecar', '--sidecar', await sidecar())
  expect(code).toBe(1)
  expect(said('machine/sidecar')).toMatch(says)
})

it.each([
  ['--sidecar', '9464'],
  ['--sidecar', 'http://127.0.0.1:1', '--offline'],
])('takes no %s %s %s', async (...args) => {
  const world = await openCheck()
  await expect(world.check(...args.filter((arg) => arg !== undefined))).rejects.toThrow(/--sidecar/)
})
