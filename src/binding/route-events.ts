/** `routeEvents`: which handler an event goes to, by its type, and what becomes of one that no schema or handler takes. */
import type { SystemEventNameToEventData } from '@azure/eventgrid'
import { type EventHandler, type ReceivedEvent, RejectEvent } from '../core/event.ts'
import { issuesInWords, type SchemaIssue } from '../support/process/error-code.ts'
import { checkValues, mustBe } from '../support/process/option-checks.ts'
import { isRecord } from '../support/text/json-text.ts'
import { checkHandler } from './binding-options.ts'

/** Names of Azure's own events, `Microsoft.Storage.BlobCreated` for instance. */
export type SystemEventName = keyof SystemEventNameToEventData

/**
 * The part of Standard Schema (standardschema.dev, version 1) that a validator of any library has: zod, valibot,
 * arktype. Only what {@link routeEvents} reads is declared.
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** The parsed value, or the issues that a validator found. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** How a router treats events whose data its schema refuses. */
export interface RouteOptions {
  /**
   * `reject`: never delivered again (Event Grid dead-letters or drops the event).
   * `retry`: delivered again. @default 'reject'
   */
  readonly onInvalid?: 'reject' | 'retry'
}

/** What happens to events that match no pattern: `ignore` acknowledges them. */
export type Fallback = EventHandler | 'reject' | 'retry' | 'ignore'

/** An {@link EventHandler} made of several: see {@link routeEvents}. */
export interface EventRouter extends EventHandler {
  /**
   * Handles one of Azure's own events; `data` has the type of @azure/eventgrid. The data is not validated.
   *
   * @throws TypeError where the type has a handler already, and for an invalid argument
   */
  on<Name extends SystemEventName>(type: Name, handler: EventHandler<SystemEventNameToEventData[Name]>): EventRouter
  /**
   * Handles events of a type, or of all types that begin with the text before a trailing star (`order.*`).
   * The most specific pattern handles an event. Types are compared with regard to case.
   *
   * @throws TypeError for a star elsewhere, where the pattern has a handler already, and for an invalid argument
   */
  on(pattern: string, handler: EventHandler): EventRouter
  /**
   * The same with a schema: the handler gets the parsed value as `event.cloudEvent.data`.
   *
   * @param schema any Standard Schema: zod, valibot, arktype
   * @throws TypeError as above, and for an unknown option
   */
  on<Output>(
    pattern: string,
    schema: StandardSchema<Output>,
    handler: EventHandler<Output>,
    options?: RouteOptions,
  ): EventRouter
  /**
   * Handles the events that no pattern matches. Without it they are rejected, and the log names their type.
   *
   * @throws TypeError where it was called before, and for an invalid argument
   */
  otherwise(fallback: Fallback): EventRouter
}

/**
 * Makes one {@link EventHandler} out of several, by the `type` of the event.
 *
 * ```ts
 * const onEvent = routeEvents()
 *   .on('Microsoft.Storage.BlobCreated', ({ cloudEvent }) => console.log(cloudEvent.data?.url))
 *   .on('order.placed', z.object({ order: z.string() }), ({ cloudEvent }) => place(cloudEvent.data.order))
 *   .otherwise('ignore')
 * ```
 *
 * @throws TypeError for any argument: it takes none
 */
export function routeEvents(...unexpected: readonly []): EventRouter {
  checkCount('routeEvents', unexpected, 0)
  const routes = new Map<string, EventHandler>()
  // The longest prefix first.
  let prefixes: readonly string[] = []
  let fallback: EventHandler | undefined

  function on(...given: readonly unknown[]): EventRouter {
    checkCount('on', given, 4)
    const [pattern, second, third, options] = given
    checkPattern(pattern)
    const handler =
      given.length > 2
        ? validating(checkedSchema(second), checkedHandler(third), checkedOptions(options))
        : checkedHandler(second)
    if (routes.has(pattern)) throw new TypeError(`${quote(pattern)} has a handler already`)
    routes.set(pattern, handler)
    if (pattern.endsWith('*')) {
      prefixes = [...prefixes, pattern.slice(0, -1)].sort((one, other) => other.length - one.length)
    }
    return router
  }

  function otherwise(...given: readonly unknown[]): EventRouter {
    if (fallback !== undefined) throw new TypeError('otherwise was called already')
    checkCount('otherwise', given, 1)
    fallback = fallbackHandler(given[0])
    return router
  }

  function handle(event: ReceivedEvent): unknown {
    const { type } = event.cloudEvent
    const prefix = prefixes.find((start) => type.startsWith(start))
    const handler =
      routes.get(type) ?? (prefix === undefined ? undefined : routes.get(`${prefix}*`)) ?? fallback ?? rejectUnrouted
    return handler(event)
  }

  const router: EventRouter = Object.assign(handle, { on, otherwise })
  return router
}

/** Runs the handler with the value that the schema made of `data`. */
function validating(schema: StandardSchema, handler: EventHandler, { onInvalid }: RouteOptions): EventHandler {
  return async (event) => {
    const { type, data } = event.cloudEvent
    const result = await schema['~standard'].validate(data)
    if (result.issues === undefined)
      return handler({ ...event, signal: event.signal, cloudEvent: { ...event.cloudEvent, data: result.value } })
    const message = `the data of an event of type ${quote(type)} is invalid: ${issuesInWords(result.issues)}`
    throw onInvalid === 'retry' ? new Error(message) : new RejectEvent(message)
  }
}

function fallbackHandler(choice: unknown): EventHandler {
  if (choice === 'ignore') return () => {}
  if (choice === 'reject') return rejectUnrouted
  if (typeof choice === 'function') return checkedHandler(choice)
  if (choice === 'retry')
    return ({ cloudEvent }) => {
      throw new Error(unrouted(cloudEvent.type))
    }
  throw new TypeError("otherwise takes a handler, 'reject', 'retry' or 'ignore'")
}

function rejectUnrouted({ cloudEvent }: ReceivedEvent): never {
  throw new RejectEvent(unrouted(cloudEvent.type))
}

const unrouted = (type: string) => `no handler for events of type ${quote(type)}`

// For callers without TypeScript: every argument is checked at the call, because a wrong one would cost each event.

function checkCount(name: string, given: readonly unknown[], most: number): void {
  if (given.length <= most) return
  throw new TypeError(
    `${name} takes ${most === 0 ? 'no' : `at most ${most}`} arguments; handlers are added by on and otherwise`,
  )
}

function checkPattern(pattern: unknown): asserts pattern is string {
  if (typeof pattern === 'string' && /^([^*]+\*?|\*)$/.test(pattern)) return
  throw new TypeError(
    `${quote(String(pattern))} is not a pattern: write an event type, or the begin of types and a star (order.*)`,
  )
}

function checkedHandler(handler: unknown): EventHandler {
  // A schema of arktype is a function, which would take every event.
  if (isSchema(handler)) throw new TypeError('the handler is missing: it comes behind the schema')
  checkHandler('the handler', handler)
  if (isFunction(handler)) return handler
  throw new TypeError('the handler must be a function')
}

// Any function can be called with an event; what else it takes is the caller's affair.
const isFunction = (value: unknown): value is EventHandler => typeof value === 'function'

function checkedSchema(schema: unknown): StandardSchema {
  if (isSchema(schema)) return schema
  throw new TypeError('the schema must be a Standard Schema, for instance of zod, valibot or arktype')
}

// The schemas of arktype are functions.
function isSchema(value: unknown): value is StandardSchema {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  const standard: unknown = isObject && Reflect.get(value, '~standard')
  return isRecord(standard) && standard.version === 1 && typeof standard.validate === 'function'
}

function checkedOptions(options: unknown = {}): RouteOptions {
  checkValues('the options of on', options, { onInvalid: mustBe("'reject' or 'retry'", isOnInvalid) })
  const { onInvalid } = isRecord(options) ? options : {}
  return isOnInvalid(onInvalid) ? { onInvalid } : {}
}

const isOnInvalid = (value: unknown): value is 'reject' | 'retry' => value === 'reject' || value === 'retry'

const quote = (text: string) => JSON.stringify(text.slice(0, 256))
