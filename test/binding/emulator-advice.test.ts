import { expect, it } from 'vitest'
import { openWorld, type World } from '../support/open-world.ts'
import { refusal } from '../support/refusal.ts'

const entra = { topicAuthentication: 'entra', accessKey: undefined }

it.each<{
  fault: string
  code: string
  emulator: string
  azure: string
  prepare?: (world: World) => void
  fields?: Readonly<Record<string, string | undefined>>
  create?: boolean
}>([
  {
    fault: 'a wrong secret',
    code: 'CREDENTIALS_REJECTED',
    fields: { clientSecret: 'wrong' },
    emulator: 'emulate prints its clients with tenant and secret at its start',
    azure: 'az ad app credential reset',
  },
  {
    fault: 'an unknown client',
    code: 'CREDENTIALS_REJECTED',
    fields: { clientId: '00000000-0000-4000-8000-00000000abcd' },
    emulator: 'emulate prints its clients with tenant and secret at its start',
    azure: 'check clientId and tenantId',
  },
  {
    fault: 'a missing role',
    code: 'PERMISSION_DENIED',
    prepare: ({ emulator }) => emulator.removeRoles(emulator.clientId),
    emulator: 'roles: [EventGrid EventSubscription Contributor]',
    azure: 'az role assignment create',
  },
  {
    fault: 'a provider that is not registered',
    code: 'PROVIDER_NOT_REGISTERED',
    prepare: ({ emulator }) => emulator.unregisterProvider(),
    emulator: 'registered: true',
    azure: 'az provider register',
  },
  {
    fault: 'an unknown scope',
    code: 'SCOPE_NOT_FOUND',
    prepare: ({ emulator }) => emulator.removeTopic('orders'),
    emulator: 'emulate prints the scope of each topic at its start',
    azure: 'check scope',
  },
  {
    fault: 'a missing ingress rule',
    code: 'HANDSHAKE_FAILED',
    prepare: ({ emulator }) => emulator.setIngress([]),
    fields: { subscriptionTimeout: '5s' },
    emulator: 'emulate --ingress https://orders.example.com/=http://127.0.0.1:PORT/',
    azure: 'reachable from the internet',
  },
  {
    fault: 'a wrong key',
    code: 'CREDENTIALS_REJECTED',
    fields: { accessKey: 'd3Jvbmcga2V5' },
    emulator: 'emulate prints the keys at its start',
    azure: 'az eventgrid topic key list',
    create: true,
  },
  {
    fault: 'an unknown topic',
    code: 'PUBLISH_REJECTED',
    prepare: ({ emulator }) => emulator.removeTopic('orders'),
    emulator: 'emulate prints the endpoint of each topic at its start',
    azure: "set topicEndpoint to the topic's own",
    create: true,
  },
  {
    fault: 'a missing role to publish',
    code: 'PERMISSION_DENIED',
    fields: entra,
    prepare: ({ emulator }) => emulator.removeRoles(emulator.clientId),
    emulator: 'roles: [EventGrid Data Sender]',
    azure: 'az role assignment create',
    create: true,
  },
])(
  'an error for $fault says what to do on the emulator first, then in Azure',
  async ({ code, emulator, azure, prepare, fields = {}, create = false }) => {
    const world = await openWorld()
    if (create) await world.init(fields, { subscription: 'background' })
    prepare?.(world)
    const error = await refusal(create ? world.binding.invoke('create', { order: 1 }) : world.init(fields))
    expect(error.code).toBe(code)
    const [, afterAdvice] = error.message.split(emulator)
    expect(afterAdvice).toContain(azure)
  },
)
