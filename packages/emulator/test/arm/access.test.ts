import { describe, expect, it } from 'vitest'
import { credentialOf, managementOf, send, sendArm } from '../../../../test/support/azure-clients.ts'
import { quickenTime } from '../../../../test/support/quick-time.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import type { EventGridEmulator } from '../../src/index.ts'

const pathOf = (emulator: EventGridEmulator) =>
  `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/shop`

describe('authentication', () => {
  it.each([
    { name: 'no token', headers: {}, code: 'AuthenticationFailed' },
    { name: 'another scheme', headers: { authorization: 'Basic eDp5' }, code: 'AuthenticationFailedInvalidHeader' },
    { name: 'no JWT', headers: { authorization: 'Bearer nonsense' }, code: 'InvalidAuthenticationToken' },
    {
      name: 'an unsigned JWT',
      headers: { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJhdWQiOiJodHRwczovL21hbmFnZW1lbnQuYXp1cmUuY29tIn0.' },
      code: 'InvalidAuthenticationToken',
    },
  ])('refuses $name with 401, the code $code and a challenge', async ({ headers, code }) => {
    const emulator = await startEmulator()
    const answer = await send(emulator, `${pathOf(emulator)}?api-version=2022-06-15`, { headers })
    expect(answer).toMatchObject({ status: 401, body: { error: { code, message: expect.any(String) } } })
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer authorization_uri="https:\/\/login\.windows\.net\//)
    expect(emulator.records.requests.last).toMatchObject({ status: 401, code })
  })

  it('refuses a token for another audience', async () => {
    const emulator = await startEmulator()
    const { token } = await credentialOf(emulator).getToken('https://eventgrid.azure.net/.default')
    const answer = await send(emulator, `${pathOf(emulator)}?api-version=2022-06-15`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'InvalidAuthenticationTokenAudience' } } })
  })

  it('refuses a token of another tenant than the subscription’s', async () => {
    const emulator = await startEmulator({ subscriptions: [{ tenantId: 'c0000000-0000-4000-8000-000000000000' }] })
    const answer = await sendArm(emulator, pathOf(emulator))
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'InvalidAuthenticationTokenTenant' } } })
  })
})

describe('a role', () => {
  const role = 'EventGrid EventSubscription Contributor'
  /** A write that reaches as far as validation, which it fails: an http URL goes to nobody. */
  const attempt = async (emulator: EventGridEmulator) => {
    const http = { endpointType: 'WebHook' as const, endpointUrl: 'http://webhook.example.com' }
    const { eventSubscriptions } = managementOf(emulator)
    return eventSubscriptions.beginCreateOrUpdate(emulator.topic().id.slice(1), 'shop', { destination: http })
  }
  const granted = { code: 'InvalidRequest' }

  it('that is missing is named in Azure’s words, with the action and the scope', async () => {
    const emulator = await startEmulator({ clients: [{ roles: [] }] })
    const id = pathOf(emulator)
    await expect(attempt(emulator)).rejects.toMatchObject({
      statusCode: 403,
      code: 'AuthorizationFailed',
      message: expect.stringMatching(
        new RegExp(
          `^The client '${emulator.clientId}' with object id '[\\da-f-]{36}' does not have authorization ` +
            `to perform action 'Microsoft.EventGrid/eventSubscriptions/write' over scope '${id}' or the ` +
            'scope is invalid. If access was recently granted, please refresh your credentials. Emulator: add the role .* ' +
            `clients: \\[{ clientId: ${emulator.clientId}, roles: \\[EventGrid EventSubscription Contributor\\] }\\].$`,
        ),
      ),
    })
  })

  it.each([
    { name: 'everywhere', scope: () => '/' },
    {
      name: 'at the subscription',
      scope: ({ subscriptionId }: EventGridEmulator) => `/subscriptions/${subscriptionId}`,
    },
    { name: 'at the topic', scope: (emulator: EventGridEmulator) => emulator.topic().id },
    { name: 'in another letter case', scope: (emulator: EventGridEmulator) => emulator.topic().id.toUpperCase() },
  ])('held $name is enough', async ({ scope }) => {
    const emulator = await startEmulator({ clients: [{ roles: [] }] })
    emulator.assignRole(emulator.clientId, role, scope(emulator))
    await expect(attempt(emulator)).rejects.toMatchObject(granted)
  })

  it.each([
    { name: 'at another group', role, scope: 'resourceGroups/other' },
    { name: 'at a group whose name begins alike', role, scope: 'resourceGroups/r' },
    { name: 'that only reads', role: 'EventGrid EventSubscription Reader', scope: '' },
    { name: 'to publish', role: 'EventGrid Data Sender', scope: '' },
  ])('$name is not enough', async ({ role: held, scope }) => {
    const emulator = await startEmulator({ clients: [{ roles: [] }] })
    emulator.assignRole(emulator.clientId, held, `/subscriptions/${emulator.subscriptionId}/${scope}`)
    await expect(attempt(emulator)).rejects.toMatchObject({ statusCode: 403 })
  })

  it('can be taken away again', async () => {
    const emulator = await startEmulator()
    await expect(attempt(emulator)).rejects.toMatchObject(granted)
    emulator.removeRole(emulator.clientId, role)
    await expect(attempt(emulator)).rejects.toMatchObject({ code: 'AuthorizationFailed' })
    emulator.assignRole(emulator.clientId, role)
    await expect(attempt(emulator)).rejects.toMatchObject(granted)
    emulator.removeRoles(emulator.clientId)
    await expect(attempt(emulator)).rejects.toMatchObject({ code: 'AuthorizationFailed' })
  })

  it('that nobody knows is a RangeError', async () => {
    const emulator = await startEmulator()
    expect(() => emulator.assignRole(emulator.clientId, 'Emperor')).toThrow(RangeError)
    expect(() => emulator.assignRole('nobody', role)).toThrow(RangeError)
  })

  it('is assigned, listed and removed through ARM by who may', async () => {
    const emulator = await startEmulator({ clients: [{ roles: [{ role: 'Owner' }] }] })
    const scope = `/subscriptions/${emulator.subscriptionId}`
    const name = 'd0000000-0000-4000-8000-000000000000'
    const path = `${scope}/providers/Microsoft.Authorization/roleAssignments`
    const version = '?api-version=2022-04-01'
    const roleDefinitionId = `${scope}/providers/Microsoft.Authorization/roleDefinitions/428e0ff0-5e57-4d9c-a221-2c70d0e0a443`
    const put = (id: string, principalId = 'somebody') =>
      sendArm(emulator, `${path}/${id}${version}`, {
        method: 'PUT',
        body: JSON.stringify({ properties: { roleDefinitionId, principalId } }),
      })
    expect(await put(name)).toMatchObject({
      status: 201,
      body: { properties: { principalId: 'somebody', roleDefinitionId } },
    })
    expect(await put(name.replace('d', 'e'))).toMatchObject({
      status: 409,
      body: { error: { code: 'RoleAssignmentExists' } },
    })
    expect(await put(name, 'another')).toMatchObject({
      status: 400,
      body: { error: { code: 'RoleAssignmentUpdateNotPermitted' } },
    })
    expect(await put(name)).toMatchObject({ status: 201 })
    const listed = await sendArm(emulator, `${path}${version}&$filter=principalId%20eq%20'somebody'`)
    expect(listed).toMatchObject({ body: { value: [{ name }] } })
    expect(await sendArm(emulator, `${path}/${name}${version}`, { method: 'DELETE' })).toMatchObject({ status: 200 })
    expect(await sendArm(emulator, `${path}/${name}${version}`)).toMatchObject({ status: 404 })
    emulator.removeRoles(emulator.clientId)
    expect(await put(name)).toMatchObject({ status: 403 })
  })
})

describe('what is not there', () => {
  const destination = { endpointType: 'WebHook', properties: { endpointUrl: 'https://shop.example/' } }
  const put = { method: 'PUT', body: JSON.stringify({ properties: { destination } }) }
  const at = '/providers/Microsoft.EventGrid/eventSubscriptions/shop'
  const eventGrid = '{}/resourceGroups/rg/providers/Microsoft.EventGrid'
  it.each([
    ['an unknown subscription', '/subscriptions/e0000000-0000-4000-8000-000000000000', 404, 'SubscriptionNotFound'],
    ['no subscription id', '/subscriptions/mine', 400, 'InvalidSubscriptionId'],
    ['an unknown group', '{}/resourceGroups/nowhere', 404, 'ResourceGroupNotFound'],
    ['an unknown topic', `${eventGrid}/topics/none`, 404, 'ResourceNotFound'],
    ['a malformed scope', '{}/resourceGroups', 403, 'AuthorizationFailed'],
    ['a resource without a name', `${eventGrid}/topics`, 403, 'AuthorizationFailed'],
    ['an unknown domain', `${eventGrid}/domains/none/topics/lamps`, 404, 'ParentResourceNotFound'],
    ['an unknown system topic', `${eventGrid}/systemTopics/none`, 400, 'InvalidRequest'],
    ['an unknown namespace', `${eventGrid}/namespaces/none`, 404, 'ResourceNotFound'],
    ['a namespace topic by this path', `${eventGrid}/namespaces/none/topics/none`, 400, 'InvalidRequest'],
    ['a system topic by this path', `${eventGrid}/systemTopics/sys`, 400, 'InvalidRequest'],
  ])('%s (%s) is answered %i %s', async (_name, path, status, code) => {
    const emulator = await startEmulator({ systemTopics: [{ name: 'sys', source: '/subscriptions/1' }] })
    const scope = path.replace('{}', `/subscriptions/${emulator.subscriptionId}`)
    expect(await sendArm(emulator, `${scope}${at}`, put)).toMatchObject({ status, body: { error: { code } } })
  })

  it('is an event subscription to patch', async () => {
    const emulator = await startEmulator()
    const answer = await sendArm(emulator, pathOf(emulator), { method: 'PATCH', body: '{"labels":[]}' })
    expect(answer).toMatchObject({ status: 404, body: { error: { message: "Event subscription doesn't exist." } } })
  })
})

describe('the resource provider', () => {
  it('that is not registered is named with its target', async () => {
    const emulator = await startEmulator()
    emulator.unregisterProvider()
    expect(await sendArm(emulator, pathOf(emulator))).toMatchObject({
      status: 409,
      body: {
        error: {
          code: 'MissingSubscriptionRegistration',
          message: expect.stringContaining("is in 'Unregistered' state"),
          details: [{ target: 'Microsoft.EventGrid' }],
        },
      },
    })
    emulator.registerProvider()
    expect((await sendArm(emulator, pathOf(emulator))).status).toBe(404)
  })

  it('shows its state and is registered through ARM', async () => {
    const emulator = await startEmulator({
      clients: [{ roles: [{ role: 'Contributor' }] }],
      subscriptions: [{ registered: false }],
    })
    const path = `/subscriptions/${emulator.subscriptionId}/providers/Microsoft.EventGrid`
    const version = '?api-version=2021-04-01'
    const state = async () => Object((await sendArm(emulator, `${path}${version}`)).body).registrationState
    expect(await state()).toBe('NotRegistered')
    expect(await sendArm(emulator, `${path}/register${version}`, { method: 'POST' })).toMatchObject({ status: 200 })
    expect(await state()).toBe('Registered')
  })
})

describe('a request', () => {
  const provider = '/providers/Microsoft.EventGrid'
  it.each([
    ['without an api-version', 'GET', '{}?api-version=', 400, 'MissingApiVersionParameter'],
    ['with no date for it', 'GET', '{}?api-version=latest', 400, 'InvalidApiVersionParameter'],
    ['with an unknown one', 'GET', '{}?api-version=2016-01-01', 400, 'NoRegisteredProviderFound'],
    ['with doubled slashes', 'GET', '{}//', 404, 'InvalidResourceType'],
    ['for an unknown action', 'POST', '{}/getMagic', 404, 'InvalidResourceType'],
    ['for an action by GET', 'GET', '{}/getFullUrl', 405, 'MethodNotAllowed'],
    ['by an unknown method', 'POST', '{}', 405, 'MethodNotAllowed'],
    ['for an unknown topic type', 'GET', `${provider}/topicTypes/Contoso.Things`, 404, 'ResourceNotFound'],
    ['for the operations', 'GET', `${provider}/operations`, 400, 'NotSupportedByEmulator'],
    ['to nowhere', 'GET', '/nowhere', 404, 'InvalidResourceType'],
    ['with a broken escape', 'GET', '/subscriptions/%zz', 400, 'BadRequest'],
    ['with a broken sequence', 'GET', '/subscriptions/%ff', 400, 'BadRequest'],
    ['with a huge path', 'GET', `/subscriptions/${'a'.repeat(9000)}`, 404, 'InvalidResourceType'],
  ])('%s: %s', async (_name, method, path, status, code) => {
    const emulator = await startEmulator({
      clients: [{ roles: [{ role: 'EventGrid EventSubscription Contributor' }] }],
    })
    const answer = await sendArm(emulator, path.replace('{}', pathOf(emulator)), { method })
    expect(answer).toMatchObject({ status, body: { error: { code, message: expect.any(String) } } })
    expect(JSON.stringify(answer.body)).not.toMatch(/\bat .*\.[jt]s:\d+/)
  })

  it.each([
    { name: 'no body', body: '' },
    { name: 'half a body', body: '{"properties":' },
    { name: 'a list', body: '[]' },
    { name: 'a number', body: '1' },
    { name: 'null', body: 'null' },
    { name: 'no properties', body: '{}' },
    { name: 'other properties', body: '{"properties":{"__proto__":{"destination":1},"constructor":2}}' },
    { name: 'a deep nest', body: `{"properties":${'['.repeat(5000)}${']'.repeat(5000)}}` },
    {
      name: 'more than 4 MB',
      body: '',
      headers: { 'content-length': '4194305' },
      status: 413,
      code: 'RequestEntityTooLarge',
    },
  ])('to write with $name is refused in Azure’s form', async ({ body, headers = {}, status = 400, code }) => {
    quickenTime()
    const emulator = await startEmulator()
    const answer = await sendArm(emulator, pathOf(emulator), { method: 'PUT', headers, body })
    expect(answer).toMatchObject({
      status,
      body: { error: { code: code ?? expect.stringMatching(/^InvalidRequest/) } },
    })
    expect(emulator.eventSubscriptions()).toEqual([])
  })

  it('accepts every version of the provider that has these shapes', async () => {
    const emulator = await startEmulator()
    for (const version of ['2020-06-01', '2021-12-01', '2022-06-15', '2025-02-15', '2025-04-01-preview']) {
      const { eventSubscriptions } = managementOf(emulator, version)
      await expect(eventSubscriptions.get(emulator.topic().id.slice(1), 'shop')).rejects.toMatchObject({
        code: 'ResourceNotFound',
      })
      expect(emulator.records.requests.last?.url).toContain(`api-version=${version}`)
    }
  })
})
