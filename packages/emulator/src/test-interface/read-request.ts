/** Whether the query and the body of a request are as their schemas have them: all faults are told at once. */
import type { z } from 'zod'
import { nestsTooDeeply, tooDeep } from '../model/events/event-text.ts'
import { fieldName, readFields } from '../model/schemas.ts'
import { TestInterfaceProblem } from './problem.ts'
import { jsonSchemaOf } from './requests.ts'

/** The parameters of a query. Throws a 400 for one that is unknown, given twice, or wrong. */
export function readQuery(schema: z.ZodObject | undefined, query: URLSearchParams): unknown {
  const given: Record<string, unknown> = {}
  for (const [name, value] of query) {
    if (Object.hasOwn(given, name)) throw refused([{ field: name, message: 'is given twice' }])
    given[name] = isInteger(schema, name) && /^\d{1,9}$/.test(value) ? Number(value) : value
  }
  const [unknown] = schema ? [] : Object.keys(given)
  if (unknown !== undefined) throw refused([{ field: unknown, message: 'is unknown: there are no parameters here' }])
  return schema ? parse(schema, given) : undefined
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
  return parse(schema, isEmpty ? {} : jsonOf(body))
}

function jsonOf(body: Buffer): unknown {
  if (nestsTooDeeply(body)) throw new TestInterfaceProblem(400, `the body ${tooDeep}`)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new TestInterfaceProblem(400, 'the body is not valid JSON')
  }
}

function parse(schema: z.ZodType, value: unknown): unknown {
  const { data, faults } = readFields(schema, value)
  if (faults.length === 0) return data
  throw refused(faults.map((fault) => ({ field: fieldName(fault), message: fault.rule })))
}

interface Fault {
  readonly field: string
  readonly message: string
}

const refused = (errors: readonly Fault[]) =>
  new TestInterfaceProblem(400, errors.map(({ field, message }) => `${field || 'the body'} ${message}`).join('; '), {
    errors,
  })
