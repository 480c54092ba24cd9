/** The options of `Binding` and of its calls, and the errors of wrong use: of unknown options, and of wrong handlers and operations. */
import type { TokenCredential } from '@azure/core-auth'
import type { Endpoints } from '../core/endpoints.ts'
import { BindingError } from '../core/errors.ts'
import type { EventHandler } from '../core/event.ts'
import { checkLogger } from '../core/logger.ts'
import type { FastifyHook } from '../listener/listener.ts'
import { checkValues, mustBe, mustHave, type OptionCheck } from '../support/process/option-checks.ts'
import { isRecord } from '../support/text/json-text.ts'
import type { BindingComponentOptions } from './binding-component.ts'

/** Options of a `Binding`. Each may be left out. */
export interface BindingOptions extends BindingComponentOptions {
  /** Takes each event. Without one, deliveries are answered 503, and pull delivery receives nothing, until `read` sets it. */
  readonly onEvent?: EventHandler
  /** The host's credential, in place of the one that metadata describes. The fields that it replaces are not required. */
  readonly credential?: TokenCredential
  /**
   * Where Azure is; `emulator.endpoints` for an emulator. @default AZURE_RESOURCE_MANAGER_URL and AZURE_AUTHORITY_HOST
   * of the environment, else the cloud of `azureEnvironment`
   */
  readonly endpoints?: Endpoints
  /**
   * Called with the Fastify server of each listener before it listens, and awaited: adds plugins, hooks and routes of the host. These see
   * deliveries too, but the host's parsers and error handler do not. A hook that refuses requests without a login also refuses Event Grid.
   */
  readonly fastify?: FastifyHook
}

/** The operation, `create`. A misspelt literal does not compile; a string that is known at run time does. */
export type GivenOperation<Operation extends string> = string extends Operation ? Operation : 'create'

const isText = (value: unknown) => typeof value === 'string'
const isPem = (value: unknown) => typeof value === 'string' && value.includes('CERTIFICATE-----')
const isListOfSides = (value: unknown) =>
  Array.isArray(value) && value.every((side) => side === 'input' || side === 'output')

const text = mustBe('a text', isText)
const aFunction = mustBe('a function', (value) => typeof value === 'function')
const signal = mustBe('an AbortSignal', (value) => value instanceof AbortSignal)
const sides = mustBe(`a list of 'input' and 'output'`, isListOfSides)
const ca = mustBe('certificates in PEM: the text of the file, not its path', isPem)
const endpoints = { resourceManager: text, authorityHost: text, ca, topics: text }

const checks = {
  Binding: {
    onEvent: checkHandler,
    onError: aFunction,
    logger: checkLogger,
    credential: mustHave('getToken'),
    endpoints: (name, value) => checkValues(name, value, endpoints),
    fastify: aFunction,
  },
  init: {
    signal,
    sides,
    subscription: mustBe(`'wait' or 'background'`, (value) => value === 'wait' || value === 'background'),
  },
  update: { signal, sides },
  close: { sides },
  invoke: { metadata: mustBe('an object of texts', isRecord), signal },
} as const satisfies Readonly<Record<string, Readonly<Record<string, OptionCheck>>>>

/** @throws TypeError for an unknown option or an invalid value */
export const checkCallOptions = (receiver: keyof typeof checks, options: unknown): void =>
  checkValues(`the options of ${receiver}`, options, checks[receiver])

/** @throws TypeError for a handler that is not a function, or is a generator function; `undefined` is fine */
export function checkHandler(name: string, handler: unknown): void {
  if (handler === undefined) return
  aFunction(name, handler)
  // Calling a generator function runs none of its code and throws nothing, so the event would be acknowledged.
  if (/Generator/.test(Object.prototype.toString.call(handler)))
    throw new TypeError(`${name} must not be a generator function: calling it handles no event`)
}

/** The output operations. */
export const operations: readonly string[] = ['create']

/** @throws BindingError OPERATION_UNSUPPORTED; TypeError where it is not a text */
export function checkOperation(operation: unknown): void {
  if (typeof operation !== 'string') {
    throw new TypeError("the operation must be a text: write invoke('create', payload, { metadata })")
  }
  if (operations.includes(operation)) return
  throw new BindingError('OPERATION_UNSUPPORTED', {
    what: `operation ${JSON.stringify(operation.slice(0, 64))} is not one of ours`,
    fix: `use ${operations.join(', ')}, in lower case`,
  })
}
