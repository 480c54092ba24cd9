import { expect, it } from 'vitest'
import { credentialOf } from '../../../../test/support/azure-clients.ts'
import { openQueue, order, queue } from './open-queue.ts'

const scope = 'https://eventgrid.azure.net/.default'
const publishing = { 'content-type': 'application/cloudevents+json' }

/** A topic, and a publish to it, or to another one, with these roles. Returns how it was answered. */
async function openWithRoles(...roles: readonly { readonly role: string; readonly scope?: string }[]) {
  const opened = await openQueue({ clients: [{ roles }] })
  const { token } = await credentialOf(opened.emulator).getToken(scope)
  const as = (authorization: string, path = ':publish') => opened.call(path, order, { ...publishing, authorization })
  return { ...opened, as, bearer: `Bearer ${token}` }
}

const noCredential = expect.stringMatching(/^The request carries no credential\. Emulator: .* SharedAccessKey KEY/)
const receivePath = '/eventsubscriptions/app:receive?maxWaitTime=10'

it('takes the keys of the namespace and of the topic, each of both', async () => {
  const { emulator, topic, call } = await openQueue({
    namespaces: queue().namespaces.map((one) => ({ ...one, keys: ['b25l', 'dHdv'] })),
  })
  const statuses = []
  for (const key of ['b25l', 'dHdv']) {
    statuses.push((await call(':publish', order, { ...publishing, authorization: `SharedAccessKey ${key}` })).status)
  }
  expect(statuses).toEqual([200, 200])
  expect(emulator.namespaceTopic().key).toBe(topic.key)
})

it.each([
  { what: 'no credential', authorization: '', message: noCredential },
  { what: 'another kind of credential', authorization: 'Basic eDp5', message: noCredential },
  {
    what: 'a token that is none',
    authorization: 'Bearer x',
    message: expect.stringMatching(/^The access token is not valid\. \S/),
  },
  {
    what: 'an empty key',
    authorization: 'SharedAccessKey',
    message: expect.stringMatching(/^The access key is not valid\. Emulator: /),
  },
])('answers 401 for $what', async ({ authorization, message }) => {
  const { as } = await openWithRoles()
  expect(await as(authorization)).toMatchObject({ status: 401, answer: { error: { code: 'Unauthorized', message } } })
})

it('answers 403 for a token without the role, names that, and takes it once it has it', async () => {
  const { emulator, topic, as, bearer } = await openWithRoles({ role: 'EventGrid Data Receiver' })
  const refused = await as(bearer)
  expect(refused).toMatchObject({
    status: 403,
    answer: {
      error: { code: 'Forbidden', message: expect.stringContaining(`permission to send events at ${topic.id}.`) },
    },
  })
  expect(JSON.stringify(refused.answer)).toContain('EventGrid Data Sender')
  expect(emulator.records.requests.last?.clientId).toBe(emulator.clientId)
  emulator.assignRole(emulator.clientId, 'EventGrid Data Sender', topic.id)
  expect((await as(bearer)).status).toBe(200)
  expect((await as(bearer, receivePath)).status).toBe(200)
})

it('lets a sender not receive', async () => {
  const { as, bearer } = await openWithRoles({ role: 'EventGrid Data Sender' })
  expect((await as(bearer)).status).toBe(200)
  const refused = await as(bearer, receivePath)
  expect(refused.status).toBe(403)
  expect(JSON.stringify(refused.answer)).toContain('EventGrid Data Receiver')
})

it('says only who may use the namespace that a topic is not there', async () => {
  const { emulator, topic, bearer } = await openWithRoles({
    role: 'EventGrid Data Sender',
    scope: '/subscriptions/other',
  })
  const ask = async () => {
    const url = `${emulator.proxy}/namespaces/shop/topics/nothing:publish?api-version=2024-06-01`
    return (await fetch(url, { method: 'POST', headers: { authorization: bearer } })).status
  }
  expect(await ask()).toBe(403)
  emulator.assignRole(emulator.clientId, 'EventGrid Data Sender', topic.id.replace(/\/topics\/.*/, ''))
  expect(await ask()).toBe(404)
})
