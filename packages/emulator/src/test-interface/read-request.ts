/** Query and body of a request as their schemas have them. What is unknown or wrong is refused, all faults at once. */
import type { z } from 'zod'
import { didYouMean } from '../../../../src/support/text/nearest-name.ts'
import { cut } from '../../../../src/support/text/text.ts'
import { nestsTooDeeply, tooDeep } from '../model/events/event-text.ts'
import { TestInterfaceProblem } from './problem.ts'
import { jsonSchemaOf } from './requests.ts'

const maxFaults = 20

/** The parameters of a query. Throws a 400 for one that is unknown, given twice, or wrong. */
export function readQuery(schema: z.ZodObject | undefined, query: URLSearchParams): unknown {
  const given: Record<string, unknown> = {}
  for (const [name, value] of query) {
    if (Object.hasOwn(given, name)) throw refused([{ field: name, message: 'is given twice' }])
    given[name] = isInteger(schema, name) && /^\d{1,9}$/.test(value) ? Number(value) : value
  }
  const [unknown] = schema ? [] : Object.keys(given)
  if (unknown !== undefined) throw refused([{ field: unknown, message: 'is unknown: there are no parameters here' }])
  return schema ? parse(schema, given, Object.keys(schema.shape)) : undefined
}

/** Whether a parameter is a whole number, which stands in a query as text. */
function isInteger(schema: z.ZodObject | undefined, name: string): boolean {
  const parameter = schema && jsonSchemaOf(schema).properties?.[name]
  return typeof parameter === 'object' && parameter.type === 'integer'
}

/** The JSON body. An empty one is `{}`, unless the operation needs it. Throws a 400 for one that is missing or wrong. */
export function readBody(schema: z.ZodType | undefined, body: Buffer | undefined, needsBody = false): unknown {
  const isEmpty = body === undefined || body.length === 0
  if (!schema) {
    if (isEmpty) return undefined
    throw new TestInterfaceProblem(400, 'this request takes no body')
  }
  if (isEmpty && needsBody) throw new TestInterfaceProblem(400, 'the body is missing: it is JSON')
  return parse(schema, isEmpty ? {} : jsonOf(body), 'shape' in schema ? Object.keys(Object(schema.shape)) : [])
}

function jsonOf(body: Buffer): unknown {
  if (nestsTooDeeply(body)) throw new TestInterfaceProblem(400, `the body ${tooDeep}`)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new TestInterfaceProblem(400, 'the body is not valid JSON')
  }
}

function parse(schema: z.ZodType, value: unknown, names: readonly string[]): unknown {
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  const faults = error.issues.slice(0, maxFaults).flatMap((issue) => {
    const at = issue.path.map(String).join('.')
    if (issue.code !== 'unrecognized_keys') return [{ field: at, message: issue.message }]
    return issue.keys.slice(0, maxFaults).map((key) => {
      const field = cut([...(at === '' ? [] : [at]), key].join('.'), 200)
      const known = at === '' && names.length > 0 ? `the fields are ${names.join(', ')}` : 'it has no such field'
      return { field, message: `is unknown: ${(at === '' ? didYouMean(key, names) : undefined) ?? known}` }
    })
  })
  throw refused(faults)
}

interface Fault {
  readonly field: string
  readonly message: string
}

const refused = (errors: readonly Fault[]) =>
  new TestInterfaceProblem(400, errors.map(({ field, message }) => `${field || 'the body'} ${message}`).join('; '), {
    errors,
  })
