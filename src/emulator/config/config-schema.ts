import { z } from 'zod'
import { nearestName } from '../../support/nearest-name.ts'
import { builtInRoles, findRole } from '../entra/roles.ts'
import { inputSchemaMappingBy } from '../model/input-schema-mapping.ts'

const text = z.string().min(1, 'must not be empty')
const port = z
  .int('must be a whole number')
  .min(0, 'must be a port, 0 to 65535')
  .max(65_535, 'must be a port, 0 to 65535')
const milliseconds = z.number().min(0, 'must be 0 or more milliseconds')
const count = z.int('must be a whole number').min(1, 'must be 1 or more')
const list = <T extends z.ZodType>(item: T) => z.array(item).max(10_000, 'must hold at most 10000 entries')

const role = text.refine((name) => findRole(name) !== undefined, {
  error: ({ input }) => {
    const names = builtInRoles.map(({ name }) => name)
    const meant = nearestName(String(input), names)
    return `must be a role that the emulator knows${meant === undefined ? `: ${names.join(', ')}` : `; did you mean ${meant}?`}`
  },
})
const scope = text.startsWith('/', 'must begin with a slash')
const grant = z.preprocess(
  (value) => (typeof value === 'string' ? { role: value } : value),
  z.strictObject({ role, scope: z.exactOptional(scope) }),
)

const client = z.strictObject({
  tenantId: z.exactOptional(text),
  clientId: z.exactOptional(text),
  clientSecret: z.exactOptional(text),
  objectId: z.exactOptional(text),
  roles: z.exactOptional(list(grant)),
})

const azureSubscription = z.strictObject({
  id: z.exactOptional(text),
  tenantId: z.exactOptional(text),
  registered: z.exactOptional(z.boolean()),
  resourceGroups: z.exactOptional(list(text).min(1, 'must name one at least')),
})

const key = z.string().regex(/^[A-Za-z0-9+/]{4,}={0,2}$/, 'must be base64')
const topic = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9-]{3,50}$/, 'must be 3 to 50 letters, digits and hyphens'),
  subscriptionId: z.exactOptional(text),
  resourceGroup: z.exactOptional(text),
  location: z.exactOptional(text),
  inputSchema: z.exactOptional(z.enum(['CloudEventSchemaV1_0', 'EventGridSchema', 'CustomEventSchema'])),
  inputSchemaMapping: z.exactOptional(inputSchemaMappingBy(z.strictObject)),
  keys: z.exactOptional(z.tuple([key, key])),
  disableLocalAuth: z.exactOptional(z.boolean()),
})

const eventSubscription = z.strictObject({
  name: text,
  topic: z.exactOptional(text),
  scope: z.exactOptional(scope),
  endpoint: z.exactOptional(z.string().refine((url) => isUrl(url, ['https:']), 'must be an https URL')),
  properties: z.exactOptional(z.record(z.string(), z.unknown())),
})

const namespaceName = z.string().regex(/^[A-Za-z0-9-]{3,50}$/, 'must be 3 to 50 letters, digits and hyphens')
const queueSubscription = z.strictObject({
  name: namespaceName,
  properties: z.exactOptional(z.record(z.string(), z.unknown())),
})
const namespaceTopic = z.strictObject({
  name: namespaceName,
  eventRetentionInDays: z.exactOptional(
    z.int('must be a whole number').min(1, 'must be 1 to 7').max(7, 'must be 1 to 7'),
  ),
  eventSubscriptions: z.exactOptional(list(queueSubscription)),
})
const namespace = z.strictObject({
  name: namespaceName,
  subscriptionId: z.exactOptional(text),
  resourceGroup: z.exactOptional(text),
  location: z.exactOptional(text),
  keys: z.exactOptional(z.tuple([key, key])),
  topics: z.exactOptional(list(namespaceTopic)),
})

const ingressRule = z.strictObject({
  from: z.string().refine((url) => isUrl(url, ['https:', 'http:']), 'must be a URL'),
  to: z.string().refine((url) => isUrl(url, ['https:', 'http:']), 'must be a URL'),
})

/** With an account and its key or a signature, or Azurite's short form. */
const connectionString = /^UseDevelopmentStorage=true|(^|;)\s*(AccountKey|SharedAccessSignature)=[^;]+/i

/** The schema of a configuration file: those options of the emulator that are data, under the same names. */
export const configSchema = z.strictObject({
  port: z.exactOptional(port),
  httpPort: z.exactOptional(port),
  host: z.exactOptional(text),
  state: z.exactOptional(text),
  tenantId: z.exactOptional(text),
  subscriptionId: z.exactOptional(text),
  resourceGroup: z.exactOptional(text),
  clients: z.exactOptional(list(client).min(1, 'must name one at least')),
  subscriptions: z.exactOptional(list(azureSubscription).min(1, 'must name one at least')),
  topics: z.exactOptional(list(topic)),
  namespaces: z.exactOptional(list(namespace)),
  eventSubscriptions: z.exactOptional(list(eventSubscription)),
  ingress: z.exactOptional(list(ingressRule)),
  trustedCertificates: z.exactOptional(list(text)),
  retrySchedule: z.exactOptional(list(milliseconds).min(1, 'must hold one pause at least')),
  deadLetterDelay: z.exactOptional(milliseconds),
  deadLetterConnectionString: z.exactOptional(
    text.regex(connectionString, 'must be a connection string of a storage account (AccountName=…;AccountKey=…)'),
  ),
  concurrency: z.exactOptional(count),
  maxPending: z.exactOptional(count),
  maxPendingBytes: z.exactOptional(count),
  operationDelayMs: z.exactOptional(milliseconds),
  operationRetryAfter: z.exactOptional(count),
  conflicts: z.exactOptional(z.boolean()),
  throttling: z.exactOptional(z.boolean()),
  deliveryTokenVersion: z.exactOptional(z.enum(['1.0', '2.0'])),
  tokenLifetimeSeconds: z.exactOptional(count),
})

/** A configuration, well-formed in each field. */
export type Config = z.infer<typeof configSchema>

function isUrl(value: string, protocols: readonly string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol)
}

/** The names that the mapping at a path may have. */
export function namesAt(path: readonly PropertyKey[]): readonly string[] {
  let at: unknown = configSchema
  for (const part of path) {
    const inside = unwrapped(at)
    at =
      inside instanceof z.ZodArray
        ? inside.element
        : inside instanceof z.ZodObject
          ? inside.shape[String(part)]
          : undefined
  }
  const found = unwrapped(at)
  return found instanceof z.ZodObject ? Object.keys(found.shape) : []
}

function unwrapped(schema: unknown): unknown {
  let at = schema
  while (at instanceof z.ZodExactOptional || at instanceof z.ZodPipe)
    at = at instanceof z.ZodPipe ? at.out : at.unwrap()
  return at
}
