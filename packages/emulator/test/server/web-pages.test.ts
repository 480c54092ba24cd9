import { request } from 'node:http'
import { expect, it } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'

const event = JSON.stringify({ specversion: '1.0', id: 'a', source: '/shop', type: 'order', data: {} })

/** Publishes with any headers, the host included. Returns the status. */
function publish(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const out = request(url, { method: 'POST', headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    out.on('error', reject).end(event)
  })
}

it.each([
  { page: 'whose name was made to point here', host: 'evil.example', origin: 'http://evil.example', status: 403 },
  { page: 'of another site', host: '127.0.0.1', origin: 'http://evil.example', status: 403 },
  { page: 'of no origin', host: '127.0.0.1', origin: 'null', status: 403 },
  { page: 'of another port', host: '127.0.0.1', origin: 'http://127.0.0.1:1', status: 403 },
  { page: 'that the browser calls foreign', host: '127.0.0.1', site: 'cross-site', status: 403 },
  { page: 'of its own', host: '127.0.0.1', origin: 'own', status: 200 },
  { page: 'that is a program, by any name', host: 'emulator', status: 200 },
  { page: 'that is a program in a container', host: 'host.docker.internal', status: 200 },
])('a request of a page $page is answered $status at topic and namespace', async ({ host, origin, site, status }) => {
  const emulator = await startEmulator({ namespaces: [{ name: 'shop', topics: [{ name: 'parcels' }] }] })
  const { port } = new URL(emulator.proxy)
  const named = `${host}:${port}`
  const own = origin === 'own' ? `http://${named}` : origin?.replace('evil.example', `evil.example:${port}`)
  const headers = {
    host: named,
    'content-type': 'application/cloudevents+json; charset=utf-8',
    ...(own && { origin: own }),
    ...(site && { 'sec-fetch-site': site }),
  }
  const { key } = emulator.topic()
  const topic = `${emulator.proxy}/topics/orders/api/events`
  expect(await publish(topic, { ...headers, 'aeg-sas-key': key })).toBe(status)
  const { key: namespaceKey } = emulator.namespaceTopic()
  const parcels = `${emulator.proxy}/namespaces/shop/topics/parcels:publish?api-version=2024-06-01`
  const authorization = `SharedAccessKey ${namespaceKey}`
  expect(await publish(parcels, { ...headers, authorization })).toBe(status)
  expect(emulator.figures()).toMatchObject(status === 200 ? { published: 2, refused: 0 } : { published: 0, refused: 2 })
})

it('listens at an IPv4 address that IPv6 maps under its usual name, and the page answers there', async () => {
  for (const host of ['::ffff:127.0.0.1', '::ffff:7f00:1', '[::ffff:127.0.0.1]']) {
    const emulator = await startEmulator({ host })
    expect(new URL(emulator.proxy).hostname).toBe('127.0.0.1')
    expect((await fetch(`${emulator.proxy}/emulator/state`)).status).toBe(200)
  }
})
