import { z } from 'zod'
import { type Config, configSchema } from './config-schema.ts'

/** What each field is for, as an editor shows it. The compiler sees that none is missing. */
const about: Readonly<Record<keyof Config, string>> = {
  port: 'Port of Resource Manager, Entra and the topics, https. 0 takes a free one. Default: 4430.',
  httpPort: 'Port of the topics over http, the page and the proxy. 0 takes a free one. Default: 4431.',
  host: 'Address to listen on. Default: 127.0.0.1.',
  state: 'File that keeps topics, subscriptions, keys and undelivered events. Relative to this file. Default: memory.',
  tenantId: 'Tenant of the clients and Azure subscriptions that name none.',
  subscriptionId: 'The Azure subscription, where subscriptions is not given.',
  resourceGroup: 'Its resource group, where subscriptions is not given. Default: rg.',
  clients: 'Applications that may sign in, with their roles. Default: one client.',
  subscriptions: 'Azure subscriptions. Default: one, registered.',
  topics: 'Custom topics. Default: one, orders.',
  namespaces: 'Namespaces with topics and Queue event subscriptions, for pull delivery. Default: none.',
  eventSubscriptions: 'Webhook event subscriptions that exist from the start. Default: none.',
  ingress: 'Where public URLs are really served. The first rule that fits is used. Default: none.',
  trustedCertificates: 'PEM files to trust at subscribers, relative to this file. Default: none.',
  retrySchedule: 'Milliseconds between delivery attempts. The last one repeats. Default: those of Event Grid.',
  deadLetterDelay: 'Milliseconds from the last attempt to the dead-letter. Default: 300000.',
  deadLetterConnectionString:
    'Storage account for dead-letters. Needs the package @azure/storage-blob. Default: memory.',
  concurrency: 'Deliveries under way at once, for each event subscription.',
  maxPending: 'The most undelivered events. Publishing more is answered 429.',
  maxPendingBytes: 'The most bytes of undelivered events. Publishing more is answered 429.',
  operationDelayMs: 'Milliseconds that a long-running operation takes at least. Default: 0.',
  operationRetryAfter:
    'Retry-After of the answers 201 and 202 to a long-running operation, in seconds. Default: none sent.',
  conflicts: 'Answer 409 to a change of an event subscription while another one runs? Default: false.',
  throttling: "Answer 429 beyond Azure's rates? Default: false.",
  deliveryTokenVersion: 'Version of the Entra tokens of deliveries. Default: 1.0.',
  tokenLifetimeSeconds: 'Life of the tokens given to clients. Default: 3599.',
}

/**
 * The JSON Schema (draft 7) of the emulator's configuration file, for editors. It is made from the schema that the file
 * is checked against, without the rules that a JSON Schema can't say: names that refer to each other, certificates.
 */
export function configJsonSchema(): object {
  const schema = z.toJSONSchema(configSchema, {
    target: 'draft-7',
    override({ zodSchema, jsonSchema }) {
      if (zodSchema instanceof z.ZodPipe) allowName(jsonSchema)
      // zod's own format, which validators do not know. The pattern beside it says the same.
      if (jsonSchema.format === 'starts_with') delete jsonSchema.format
    },
  })
  const properties = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const description = Object.entries(about).find(([known]) => known === name)?.[1]
    return [name, typeof field === 'object' ? { description, ...field } : field] as const
  })
  return {
    ...schema,
    title: 'Configuration of eventgrid-binding emulate',
    properties: Object.fromEntries(properties),
  }
}

/** A role may be written as its name alone: a pipe makes a mapping of it before it is checked. */
function allowName(role: z.core.JSONSchema.BaseSchema): void {
  const mapping = { ...role }
  for (const key of Object.keys(role)) delete role[key]
  role.anyOf = [{ type: 'string', minLength: 1 }, mapping]
}
