/** How the operations of the interface become its OpenAPI document. */
import type { z } from 'zod'
import type { TestOperation } from './operation.ts'
import { operations } from './operations.ts'
import { problem } from './problem.ts'
import { jsonSchemaOf } from './requests.ts'

/** Of the interface, not of the package: it changes where a program that uses the interface has to change. */
const version = '1.0.0'

/** What each operation may be refused with, beside what it has of its own. */
const commonRefusals: Readonly<Record<number, string>> = {
  400: 'The request is not as this document has it, or names what does not exist.',
  403: 'The request comes from a web page of another site, or by a host name that is not of the emulator.',
  413: 'The request is too long.',
  500: 'The emulator failed.',
  503: 'The emulator is not ready yet.',
}

/** @param server base URL of the interface */
export function openApiDocument(server: string) {
  const paths: Record<string, Record<string, object>> = {}
  for (const one of operations) {
    paths[one.path] = { ...paths[one.path], [one.method.toLowerCase()]: describe(one) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Test interface of the Event Grid emulator',
      version,
      description:
        'For tests in any language: what was published and what became of it, faults, time, and a clean start.',
    },
    servers: [{ url: server }],
    paths,
    components: {
      schemas: { Problem: jsonSchemaOf(problem) },
    },
  }
}

const problemContent = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }

/** What a path names, by the word before it. */
const named: Readonly<Record<string, string>> = {
  topics: 'Name of a topic, domain or system topic, {namespace}/{topic}, or a resource id; slashes encoded',
  subscriptions: 'Name of an event subscription, or its resource id with its slashes encoded',
  events: 'The key of an event',
}

function describe({ id, summary, path, query, body, needsBody, isStream, answer, refusals }: TestOperation): object {
  const refused = Object.entries({ ...commonRefusals, ...refusals }).map(([status, description]) => [
    status,
    { description, content: problemContent },
  ])
  const parameters = [
    ...[...path.matchAll(/\b(\w+)\/\{(\w+)\}/g)].map(([, of = '', name = '']) => {
      return { ...{ name, in: 'path', required: true, schema: { type: 'string' } }, description: named[of] ?? '' }
    }),
    ...(query ? queryParameters(query) : []),
  ]
  return {
    operationId: id,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: needsBody ?? false, content: { 'application/json': { schema: jsonSchemaOf(body) } } },
    }),
    responses: {
      ...(isStream && {
        200: { description: 'The stream', content: { 'text/event-stream': { schema: { type: 'string' } } } },
      }),
      ...(answer
        ? { 200: { description: 'Done', content: { 'application/json': { schema: jsonSchemaOf(answer) } } } }
        : isStream
          ? {}
          : { 204: { description: 'Done' } }),
      ...Object.fromEntries(refused),
    },
  }
}

function queryParameters(query: z.ZodObject) {
  return Object.entries(jsonSchemaOf(query).properties ?? {}).map(([name, schema]) => ({
    ...{ name, in: 'query', required: false, schema },
  }))
}
