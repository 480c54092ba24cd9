import { type Answer, type Asked, type Json, type Properties, record, startScripted } from './scripted-arm.ts'

type Operation = { readonly status: string; readonly error?: Json }

/**
 * The bit of ARM that one event subscription sees: PUT and PATCH as long-running operations, GET that hides what ARM hides, and the two
 * calls that reveal it. Odd answers are scripted: `once` is asked first, and an answer from it stands for the fake's own.
 */
export async function startFakeArm(
  options: {
    once?: (asked: Asked) => Answer | undefined
    /** What stands in the place of a secret attribute's properties. */
    hide?: (properties: Properties) => Json
  } = {},
) {
  const { hide = (properties) => ({ ...properties, value: 'Hidden' }) } = options
  const state: { properties: Properties | undefined } = { properties: undefined }
  /** How the next operations end; succeeded when there is none. */
  const operations: Operation[] = []
  const under = new Map<string, Operation>()

  const shown = (): Json => {
    const { destination, ...rest } = state.properties ?? {}
    const { endpointType, properties } = record(destination)
    const { endpointUrl, deliveryAttributeMappings: mappings, ...web } = record(properties)
    const attributes = Array.isArray(mappings)
      ? mappings.map((mapping: Json) => {
          const { properties: inner, ...named } = record(mapping)
          const secret = record(inner).isSecret === true
          return { ...named, properties: secret ? hide(record(inner)) : inner }
        })
      : []
    return {
      id: '/subscriptions/s1/resourceGroups/rg1/providers/Microsoft.EventGrid/eventSubscriptions/events1',
      name: 'events1',
      type: 'Microsoft.EventGrid/eventSubscriptions',
      properties: {
        topic: 'x',
        labels: null,
        ...rest,
        destination: {
          endpointType: endpointType ?? null,
          properties:
            endpointType === 'WebHook'
              ? {
                  maxEventsPerBatch: 1,
                  preferredBatchSizeInKilobytes: 64,
                  ...web,
                  endpointUrl: null,
                  endpointBaseUrl: String(endpointUrl).split('?')[0] ?? '',
                  deliveryAttributeMappings: attributes,
                }
              : record(properties),
        },
      },
    }
  }

  const fill = (properties: Properties): Properties => ({
    eventDeliverySchema: 'EventGridSchema',
    retryPolicy: { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 },
    ...properties,
    filter: { subjectBeginsWith: '', subjectEndsWith: '', ...record(properties.filter) },
  })

  const begin = (url: string): Answer => {
    const end = operations.shift() ?? { status: 'Succeeded' }
    const id = `op${under.size}`
    under.set(id, end)
    if (state.properties) {
      state.properties.provisioningState = end.status === 'InProgress' ? 'Updating' : end.status
    }
    return {
      status: 201,
      body: { properties: { ...state.properties, provisioningState: 'Creating' } },
      headers: { 'azure-asyncoperation': `${url}/operationsStatus/${id}?api-version=2025-02-15` },
    }
  }

  /** Takes the body of a PUT, as if its operation had succeeded. */
  const write = (body: Json) => {
    state.properties = { ...fill(record(record(body).properties)), provisioningState: 'Succeeded' }
  }

  const server = await startScripted(async (asked) => {
    const scripted = options.once?.(asked)
    if (scripted) return scripted
    const { method, path, body } = asked
    if (path.startsWith('/operationsStatus/')) {
      const id = path.slice('/operationsStatus/'.length)
      return { status: 200, body: { id, name: id, ...under.get(id) } }
    }
    if (method === 'PUT') {
      write(body)
      return begin(server.url)
    }
    if (method === 'GET' && path.endsWith('/eventSubscriptions')) {
      return { status: 200, body: { value: state.properties ? [shown()] : [] } }
    }
    if (!state.properties) {
      const error = { code: 'ResourceNotFound', message: "Event subscription doesn't exist." }
      return { status: 404, body: { error } }
    }
    if (method === 'PATCH') {
      state.properties = fill({ ...state.properties, ...record(body) })
      return begin(server.url)
    }
    const web = record(record(state.properties.destination).properties)
    if (path.endsWith('/getFullUrl')) return { status: 200, body: { endpointUrl: web.endpointUrl } }
    if (path.endsWith('/getDeliveryAttributes'))
      return { status: 200, body: { value: web.deliveryAttributeMappings ?? [] } }
    return { status: 200, body: shown() }
  })

  const writes = () => server.asked.filter(({ method }) => method === 'PUT' || method === 'PATCH')
  return { ...server, state, operations, write, writes }
}

/** A refusal as Resource Manager words it. */
export const refused = (status: number, code: string, message = 'no', details: Json = []) => ({
  status,
  body: { error: { code, message, details } },
})

/** How an operation ends whose handshake the endpoint has answered so. */
export const handshakeFailed = (answer: string) => ({
  status: 'Failed',
  error: {
    code: 'Url validation',
    message:
      'Webhook validation handshake failed for https://app.example.com/api/events. Http OPTIONS ' +
      `request failed with response code ${answer}. For troublehooting, visit ` +
      'https://aka.ms/esvalidationcloudevent. Activity id:x, timestamp: y (UTC).',
  },
})
