/** The TypeErrors for options of Binding, init and invoke that are unknown or of another form. */
import { checkLogger } from '../core/logger.ts'
import { checkNames, checkValues, mustBe, mustHave, type OptionCheck } from '../support/process/option-checks.ts'
import { isRecord } from '../support/text/json-text.ts'

const bindingOptions: Readonly<Record<string, OptionCheck>> = {
  onEvent: checkHandler,
  onError: mustBe('a function', (value) => typeof value === 'function'),
  logger: checkLogger,
  credential: mustHave('getToken'),
  endpoints: checkEndpoints,
  fastify: checkFastify,
}
const checkSignal = mustBe('an AbortSignal', (value) => value instanceof AbortSignal)
const sides = mustBe(
  `a list of 'input' and 'output'`,
  (value) => Array.isArray(value) && value.every((side) => side === 'input' || side === 'output'),
)
const updateOptions: Readonly<Record<string, OptionCheck>> = { signal: checkSignal, sides }
const initOptions: Readonly<Record<string, OptionCheck>> = {
  ...updateOptions,
  subscription: mustBe(`'wait' or 'background'`, (value) => value === 'wait' || value === 'background'),
}
const invokeOptions: Readonly<Record<string, OptionCheck>> = {
  metadata: mustBe('an object of texts', isRecord),
  signal: checkSignal,
}

// For callers without TypeScript: each throws a TypeError for an unknown option or an invalid value.
export const checkBindingOptions = (options: unknown) => checkValues('the options of Binding', options, bindingOptions)
export const checkInitOptions = (options: unknown) => checkValues('the options of init', options, initOptions)
export const checkUpdateOptions = (options: unknown) => checkValues('the options of update', options, updateOptions)
export const checkCloseOptions = (options: unknown) => checkValues('the options of close', options, { sides })
export const checkInvokeOptions = (options: unknown) => checkValues('the options of invoke', options, invokeOptions)

/** @throws TypeError for a handler that is not a function, or is a generator function; `undefined` is fine */
export function checkHandler(name: string, handler: unknown): void {
  if (handler === undefined) return
  if (typeof handler !== 'function') throw new TypeError(`${name} must be a function`)
  // A call of it runs none of its code and throws nothing, so the event would be acknowledged.
  if (/Generator/.test(Object.prototype.toString.call(handler)))
    throw new TypeError(`${name} must not be a generator function: calling it handles no event`)
}

function checkFastify(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function`)
  // fastify-plugin marks a plugin so; one without it takes options too.
  if (value.length > 1 || Symbol.for('skip-override') in value)
    throw new TypeError(
      `${name} takes the server alone, and this is a plugin: write (server) => server.register(plugin)`,
    )
}

function checkEndpoints(subject: string, value: unknown): void {
  for (const [name, text] of checkNames(subject, value, ['resourceManager', 'authorityHost', 'ca', 'topics'])) {
    if (text === undefined) continue
    if (typeof text !== 'string') throw new TypeError(`${subject}.${name} must be a text`)
    if (name === 'ca' && !/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/.test(text))
      throw new TypeError(`${subject}.ca must hold certificates in PEM: the text of the file, not its path`)
  }
}
