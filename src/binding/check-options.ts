import { isRecord } from '../metadata/is-record.ts'
import { checkLogger, checkNames, checkValues, mustHave, type OptionCheck } from '../metadata/option-checks.ts'

/** The options of a binding, and what each must be; the compiler sees to it in TypeScript. */
const bindingOptions: Readonly<Record<string, OptionCheck>> = {
  onEvent: checkHandler,
  logger: checkLogger,
  credential: mustHave('getToken'),
  endpoints: checkEndpoints,
}

/** @throws TypeError for an option of `new Binding` that is none, or has a value that it can't have */
export function checkOptions(options: unknown): void {
  checkValues('the options of Binding', options, bindingOptions)
}

/** @throws TypeError for an option of `init` that is none, or has a value that it can't have */
export function checkInitOptions(options: unknown): void {
  const { signal, subscription } = Object.fromEntries(
    checkNames('the options of init', options, ['signal', 'subscription']),
  )
  checkSignal(signal)
  if (subscription !== undefined && subscription !== 'wait' && subscription !== 'background') {
    throw new TypeError(`subscription must be 'wait' or 'background'`)
  }
}

/** @throws TypeError for an option of `invoke` that is none, or has a value that it can't have */
export function checkInvokeOptions(options: unknown): void {
  const { signal, metadata } = Object.fromEntries(checkNames('the options of invoke', options, ['metadata', 'signal']))
  checkSignal(signal)
  if (metadata !== undefined && !isRecord(metadata)) throw new TypeError('metadata must be an object of texts')
}

function checkSignal(signal: unknown): void {
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('signal must be an AbortSignal')
}

/** @throws TypeError for a handler that is no function; `undefined` is fine */
export function checkHandler(name: string, handler: unknown): void {
  if (handler !== undefined && typeof handler !== 'function') throw new TypeError(`${name} must be a function`)
}

function checkEndpoints(subject: string, value: unknown): void {
  for (const [name, text] of checkNames(subject, value, ['resourceManager', 'authorityHost', 'ca'])) {
    if (text === undefined) continue
    if (typeof text !== 'string') throw new TypeError(`${subject}.${name} must be a text`)
    if (name === 'ca' && !/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/.test(text))
      throw new TypeError(`${subject}.ca must hold certificates in PEM: the text of the file, not its path`)
  }
}
