import { isRecord, type Json, type Properties, record, startScripted } from './scripted-arm.ts'

/** The members whose names begin so are younger than 2025-02-15. */
const youngest = '2025-02-15'
const isYoung = (name: string) => /^(young|minimumTls)/.test(name)

/** What Resource Manager fills in or hides: nobody may send it. */
const notWritable = /"(endpointBaseUrl|provisioningState|topic|systemData)":|"Hidden"|"endpointUrl":null/

/** Members that exclude each other. */
const pairs = [
  ['destination', 'deliveryWithResourceIdentity'],
  ['deadLetterDestination', 'deadLetterWithResourceIdentity'],
] as const

/**
 * Resource Manager as it keeps event subscriptions, by path: whole members as they were written, the ones that no version of ours knows
 * too; a PATCH replaces top-level members; an api-version before 2025-02-15 neither shows nor keeps what is young.
 */
export async function startKeepingArm() {
  /** What stands, by path in lower case. */
  const kept = new Map<string, Properties>()
  /** Bodies that no client may send. */
  const misuse: string[] = []
  const writes: string[] = []

  const { url, ca } = await startScripted(({ method, path, query, body }) => {
    const version = new URLSearchParams(query).get('api-version') ?? ''
    const known = (value: Json): Json => (version < youngest ? withoutYoung(value) : value)
    const id = path.replace(/\/get(FullUrl|DeliveryAttributes)$/, '').toLowerCase()
    const existing = kept.get(id)
    if (method === 'PUT' || method === 'PATCH') {
      const text = JSON.stringify(body)
      if (notWritable.test(text)) misuse.push(text)
      writes.push(`${method} ${version}`)
      const whole = record(known(body))
      const given = method === 'PUT' || id.includes('/namespaces/') ? record(whole.properties) : whole
      kept.set(id, { ...(method === 'PATCH' && without(existing ?? {}, given)), ...given })
      return { status: 200, body: { id: path, properties: { ...given, provisioningState: 'Succeeded' } } }
    }
    if (!existing) return { status: 404, body: { error: { code: 'ResourceNotFound', message: 'none' } } }
    const { destination, deliveryWithResourceIdentity: wrapped } = existing
    const target = record(record(wrapped ? record(wrapped).destination : destination).properties)
    if (path.endsWith('/getFullUrl')) return { status: 200, body: { endpointUrl: target.endpointUrl } }
    if (path.endsWith('/getDeliveryAttributes'))
      return { status: 200, body: { value: target.deliveryAttributeMappings ?? null } }
    const shown = {
      ...existing,
      ...(destination !== undefined && { destination: hidden(destination) }),
      ...(wrapped !== undefined && {
        deliveryWithResourceIdentity: { ...record(wrapped), destination: hidden(record(wrapped).destination) },
      }),
    }
    const filledIn = { provisioningState: 'Succeeded', topic: '/source', systemData: null }
    return { status: 200, body: { id: path, name: 'x', properties: record(known({ ...filledIn, ...shown })) } }
  })
  return {
    ...{ url, ca, misuse, writes },
    /** Puts these event subscriptions in the place of all others. */
    stand(all: Readonly<Record<string, unknown>>) {
      kept.clear()
      const copy: Readonly<Record<string, Properties>> = JSON.parse(JSON.stringify(all))
      for (const [path, properties] of Object.entries(copy)) kept.set(path.toLowerCase(), properties)
    },
    standing: (path: string): unknown => kept.get(path.toLowerCase()),
  }
}

function withoutYoung(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutYoung)
  if (!isRecord(value)) return value
  const old = Object.entries(value).filter(([name]) => !isYoung(name))
  return Object.fromEntries(old.map(([name, member]) => [name, withoutYoung(member)]))
}

function without(existing: Properties, given: Properties): Properties {
  // The state is that of the last write.
  const { provisioningState: _state, ...left } = existing
  for (const [one, other] of pairs) {
    if (one in given) delete left[other]
    if (other in given) delete left[one]
  }
  return left
}

function hidden(destination: Json): Json {
  const { properties, ...rest } = record(destination)
  const { endpointUrl, deliveryAttributeMappings: mappings, ...shown } = record(properties)
  const attributes = Array.isArray(mappings)
    ? mappings.map((mapping: Json) => {
        const inner = record(record(mapping).properties)
        return { ...record(mapping), properties: { ...inner, ...(inner.isSecret === true && { value: 'Hidden' }) } }
      })
    : null
  const base = typeof endpointUrl === 'string' ? endpointUrl.replace(/\?.*/, '') : null
  const url = rest.endpointType === 'WebHook' ? { endpointUrl: null, endpointBaseUrl: base } : {}
  return { ...rest, properties: { ...shown, ...url, deliveryAttributeMappings: attributes } }
}
