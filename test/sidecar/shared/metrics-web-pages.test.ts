import { request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { openMetricsServer } from '../../../src/sidecar/shared/health-and-metrics-server.ts'

it.each([
  { host: '127.0.0.1', named: 'evil.example', status: 403 },
  { host: '127.0.0.1', named: 'localhost', status: 200 },
  { host: '127.0.0.1', named: '127.0.0.1', origin: 'http://evil.example', status: 403 },
  { host: '127.0.0.1', named: '127.0.0.1', site: 'cross-site', status: 403 },
  // In a cluster, Prometheus asks by a name of the cluster, and the kubelet by the pod's address.
  { host: '0.0.0.0', named: 'orders.shop.svc.cluster.local', status: 200 },
  { host: '0.0.0.0', named: '10.1.2.3', status: 200 },
  { host: '0.0.0.0', named: 'evil.example', origin: 'http://other.example', status: 403 },
])('health and metrics at $host asked for as $named, origin $origin $site, are answered $status', async (one) => {
  const metrics = { contentType: 'text/plain', text: async () => '' }
  const observed = { draining: false, ready: true, health: () => ({}), active: () => ({}), metrics }
  const server = await openMetricsServer(observed, { host: one.host, port: 0 })
  onTestFinished(() => server.close())
  const headers = {
    host: `${one.named}:${server.address.port}`,
    ...(one.origin && { origin: one.origin }),
    ...(one.site && { 'sec-fetch-site': one.site }),
  }
  for (const path of ['/metrics', '/healthz', '/readyz', '/config']) {
    const status = await new Promise((resolve, reject) => {
      const asked = { host: '127.0.0.1', port: server.address.port, path, headers }
      request(asked, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end()
    })
    expect(status).toBe(one.status)
  }
})
